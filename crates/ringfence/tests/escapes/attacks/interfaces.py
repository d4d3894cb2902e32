# Interfaces of the kernel that no rule about files mediates, or that make its faults easy to use.

NONE = None


def way_of(name, *arguments):
    def attempt():
        call(name, *arguments)
    attempt.__name__ = name
    way(attempt)


way_of("io_uring_setup", 4, bytes(120))
way_of("userfaultfd", 1)
way_of("bpf", 0, struct.pack("IIII", 2, 4, 8, 1) + bytes(112), 128)
way_of("perf_event_open", struct.pack("IIQQQQ", 1, 112, 0, 0, 0, 0x23) + bytes(72), 0, -1, -1, 0)
way_of("kexec_load", 0, 0, NONE, 0)
way_of("kexec_file_load", -1, -1, 1, b"", 4)
way_of("finit_module", -1, b"", 0)
way_of("delete_module", b"no-such-module", 0)
way_of("syslog", 10, NONE, 0)
way_of("acct", NONE)
way_of("swapon", W + "/nothing", 0)
if X86:
    NUMBERS.update(iopl=172, ioperm=173, modify_ldt=154, uselib=134)
    way_of("iopl", 0)
    way_of("modify_ldt", 0, ctypes.create_string_buffer(16), 16)


@way
def file_by_number():
    # A handle is asked for by whoever sees the file, and can be guessed.
    handle = bytearray(struct.pack("Ii", 128, 0) + bytes(128))
    mount = (ctypes.c_int * 1)()
    buffer = (ctypes.c_char * len(handle)).from_buffer(handle)
    call("name_to_handle_at", HERE, W, buffer, mount, 0)
    call("open_by_handle_at", os.open(W, os.O_RDONLY), buffer, 0)
