# Standard input and standard error are the caller's terminal.

PUSH, PASTE, DISCIPLINE = 0x5412, 0x541C, 0x5423


def push(terminal, request=PUSH):
    for letter in b"obey":
        call("ioctl", terminal, request, bytes([letter]))


@way
def push_standard_input():
    push(0)


@way
def push_standard_error():
    push(2)


@way
def push_with_high_bits():
    push(0, PUSH | 1 << 32)


@way
def push_by_name():
    push(os.open("/dev/tty", os.O_RDWR))


@way
def push_by_name_of_the_input():
    push(os.open("/proc/self/fd/0", os.O_RDWR))


@way
def push_from_a_new_session():
    # Takes the terminal from whoever has it, if one may.
    if not CONTROL:
        os.fork() and os._exit(0)
        os.setsid()
        fcntl.ioctl(0, 0x540E, 1)
    push(0)


@way
def paste():
    # On a terminal that is no console the kernel knows no such request; inside it is refused before.
    try:
        call("ioctl", 0, PASTE, b"\x03")
    except OSError as error:
        if not CONTROL or error.errno != errno.ENOTTY:
            raise


@way
def change_the_discipline():
    call("ioctl", 0, DISCIPLINE, struct.pack("i", 0))
