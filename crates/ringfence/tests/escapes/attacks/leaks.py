# Descriptors that whoever started this has left open, as those that this script has none of its own yet.


@way
def inherited():
    ours = os.pipe()
    for number in range(3, 256):
        if number in ours:
            continue
        for read in (lambda: os.pread(number, 100, 0),
                     lambda: os.read(os.open("secret", os.O_RDONLY, dir_fd=number), 100),
                     lambda: os.read(os.open(f"/proc/self/fd/{number}/secret", os.O_RDONLY), 100)):
            try:
                text = read()
            except OSError:
                continue
            if text.startswith(b"secret"):
                return text.decode().strip()
    failed(errno.EBADF)


@way
def any_at_all():
    # One is that of the directory that is listed.
    sure(len(os.listdir("/proc/self/fd")) > 4)
