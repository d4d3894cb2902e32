# One process changes what a name means as fast as it can, and another uses the name so many times.

WAY, TIMES = ARGUMENTS[0], int(ARGUMENTS[1])
KEPT, SECRET = W + "/a/b/kept", W + "/closed/secret"
NAME, OTHER = W + "/name", W + "/other"


def swap():
    """Exchanges the two names until the parent is gone."""
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        while os.getppid() == parent:
            exchange(NAME, OTHER)
        os._exit(0)
    return child


def opened(path, flags):
    """Opens like this, writes or reads, and tells whether that was the target."""
    file = os.open(path, flags, 0o644)
    try:
        if flags & os.O_WRONLY:
            os.write(file, b"evil")
            return os.readlink(f"/proc/self/fd/{file}").startswith(KEPT)
        return os.read(file, 100).startswith(b"secret")
    finally:
        os.close(file)


def moved():
    os.rename(W + "/loose", NAME + "/loose")
    if os.path.lexists(KEPT + "/loose"):
        return True
    os.rename(NAME + "/loose", W + "/loose")
    return False


# Where the link leads, and how the name is used.
target, attempt = {
    "write": (KEPT + "/inner", lambda: opened(NAME, os.O_WRONLY)),
    "read": (SECRET, lambda: opened(NAME, os.O_RDONLY)),
    "create": (KEPT, lambda: opened(NAME + "/new", os.O_WRONLY | os.O_CREAT)),
    "rename": (KEPT, moved),
    "through_a_directory": (KEPT, lambda: opened(NAME + "/../kept/inner", os.O_WRONLY)),
}[WAY]


@way
def race():
    signal.alarm(60)
    os.symlink(target, OTHER)
    if WAY in ("write", "read"):
        write(NAME, "mine", os.O_WRONLY | os.O_CREAT)
    else:
        os.mkdir(NAME)
    swapper = swap()
    won = tried = 0
    # Unconfined, it is won at some time.
    while tried < TIMES or CONTROL and not won:
        tried += 1
        if WAY == "rename" and not os.path.lexists(W + "/loose"):
            os.symlink("evil", W + "/loose")
        try:
            won += attempt()
        except OSError:
            pass
    os.kill(swapper, signal.SIGKILL)
    os.waitpid(swapper, 0)
    sure(won)
