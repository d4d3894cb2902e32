# Registers are wider than what the kernel reads of them.

HIGH = 1 << 32


def number(name):
    found = NUMBERS[name]
    return found[0 if X86 else 1] if isinstance(found, tuple) else found


@way
def in_the_number():
    call(number("unshare") | HIGH, NEWUSER)


@way
def in_the_number_as_if_negative():
    call(number("unshare") | -1 << 32, NEWUSER)


@way
def in_a_family_of_sockets():
    call("socket", 16 | HIGH, 3, 15)


@way
def in_a_type_of_sockets():
    call("socket", 16, 3 | HIGH, 15)


@way
def in_a_protocol():
    call("socket", 16, 3, 15 | HIGH)


@way
def in_a_request_to_a_terminal():
    # TIOCSETD to the terminal's own discipline.
    _, terminal = os.openpty()
    call("ioctl", terminal, 0x5423 | HIGH, struct.pack("i", 0))


@way
def in_flags_of_a_child():
    # clone reads 32 bits of its flags.
    child = call("clone", NEWUSER | signal.SIGCHLD | HIGH, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
