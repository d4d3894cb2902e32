# Not the content, but what else there is to change.

FILE, DIRECTORY = O + "/shown/file", O + "/shown/d"


@one
def mode():
    os.chmod(FILE, 0o666)


@one
def mode_by_descriptor():
    os.fchmod(os.open(FILE, os.O_RDONLY), 0o666)


@one
def mode_of_a_directory():
    os.chmod(DIRECTORY, 0o777)


@one
def owner():
    os.chown(FILE, os.getuid(), os.getgid())


@one
def times():
    os.utime(FILE, (1, 1))


@one
def times_by_descriptor():
    os.utime(os.open(FILE, os.O_RDONLY), (1, 1))


@one
def attribute():
    os.setxattr(FILE, "user.evil", b"x")


@one
def attribute_by_descriptor():
    os.setxattr(os.open(FILE, os.O_RDONLY), "user.evil", b"x")


@one
def flags():
    # FS_IOC_SETFLAGS with FS_NODUMP_FL.
    fcntl.ioctl(os.open(FILE, os.O_RDONLY), 0x40086602, struct.pack("l", 0x40))
