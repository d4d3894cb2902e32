# Another process of the same user, by its id.

VICTIM = int(ARGUMENTS[0])
MEMORY = f"/proc/{VICTIM}/mem"


def a_mapping():
    for line in open(f"/proc/{VICTIM}/maps"):
        if "[stack]" in line:
            return int(line.split("-")[0], 16)
    return 0x1000


def vectors(address):
    buffer = ctypes.create_string_buffer(8)
    return buffer, struct.pack("PN", ctypes.addressof(buffer), 8), struct.pack("PN", address, 8)


def mapping_or_guess():
    try:
        return a_mapping()
    except OSError:
        return 0x1000


@way
def seize():
    call("ptrace", 0x4206, VICTIM, 0, 0)


@way
def attach():
    call("ptrace", 16, VICTIM, 0, 0)
    os.waitpid(VICTIM, 0x40000000)


@way
def read_memory():
    buffer, here, there = vectors(mapping_or_guess())
    call("process_vm_readv", VICTIM, here, 1, there, 1, 0)


@way
def write_memory():
    # What is there already.
    buffer, here, there = vectors(mapping_or_guess())
    call("process_vm_readv", VICTIM, here, 1, there, 1, 0)
    call("process_vm_writev", VICTIM, here, 1, there, 1, 0)


@way
def memory_file():
    os.open(MEMORY, os.O_RDWR)


@way
def take_a_descriptor():
    call("pidfd_getfd", call("pidfd_open", VICTIM, 0), 0, 0)


@way
def limit():
    limits = ctypes.create_string_buffer(16)
    call("prlimit64", VICTIM, 7, None, limits)


@way
def slow_down():
    os.setpriority(os.PRIO_PROCESS, VICTIM, 5)


@way
def schedule():
    os.sched_setaffinity(VICTIM, os.sched_getaffinity(0))


@way
def sacrifice():
    write(f"/proc/{VICTIM}/oom_score_adj", "900")


@way
def know_its_command():
    sure(open(f"/proc/{VICTIM}/cmdline").read())
