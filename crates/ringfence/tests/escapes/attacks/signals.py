# One way to end the process of the second argument.

VICTIM = int(ARGUMENTS[1])
END = signal.SIGKILL


@one
def plain():
    os.kill(VICTIM, END)


@one
def thread():
    call("tgkill", VICTIM, VICTIM, END)


@one
def queued():
    # siginfo_t: signal, errno, code SI_QUEUE.
    call("rt_sigqueueinfo", VICTIM, END, struct.pack("iii", END, 0, -1) + bytes(116))


@one
def descriptor():
    call("pidfd_send_signal", call("pidfd_open", VICTIM, 0), END, None, 0)


@one
def group():
    # Descriptors of processes can be had from files of /proc as well.
    call("pidfd_send_signal", os.open(f"/proc/{VICTIM}", os.O_RDONLY | os.O_DIRECTORY), END, None, 0)


@one
def owner_of_a_file():
    # The kernel sends a signal to whoever is said to own a file, in the name of who said so.
    reader, writer = os.pipe()
    flags = fcntl.fcntl(reader, fcntl.F_GETFL)
    fcntl.fcntl(reader, 10, END)
    fcntl.fcntl(reader, fcntl.F_SETOWN, VICTIM)
    fcntl.fcntl(reader, fcntl.F_SETFL, flags | os.O_ASYNC)
    os.write(writer, b"x")
