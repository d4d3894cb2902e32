# Process 1 tells the host how the command ended. What is not its memory is no matter: it can be slowed down.

VICTIM = int(ARGUMENTS[0])


@way
def seize():
    call("ptrace", 0x4206, VICTIM, 0, 0)


@way
def take_a_descriptor():
    call("pidfd_getfd", call("pidfd_open", VICTIM, 0), 0, 0)


@way
def memory_file():
    os.open(f"/proc/{VICTIM}/mem", os.O_RDWR)


@way
def read_memory():
    buffer = ctypes.create_string_buffer(8)
    # Whether one may at all is asked before whether anything is there.
    try:
        here, there = struct.pack("PN", ctypes.addressof(buffer), 8), struct.pack("PN", 8, 8)
        call("process_vm_readv", VICTIM, here, 1, there, 1, 0)
    except OSError as error:
        if error.errno != errno.EFAULT:
            raise


@way
def limit_processor_time():
    call("prlimit64", VICTIM, 0, struct.pack("QQ", 600, 600), None)


@way
def limit_with_high_bits():
    call("prlimit64", VICTIM | 1 << 32, 0, struct.pack("QQ", 500, 500), None)


@way
def sacrifice():
    write(f"/proc/{VICTIM}/oom_score_adj", "900")


@way
def forget_its_memory():
    write(f"/proc/{VICTIM}/clear_refs", "1")


@way
def name():
    write(f"/proc/{VICTIM}/coredump_filter", "0x7f")
