# The first argument is another filesystem, mounted beneath a place that may only be read.

BELOW = ARGUMENTS[0]


@way
def change():
    os.chmod(BELOW + "/file", 0o640)


@way
def overwrite():
    write(BELOW + "/file", "kept")


@way
def create():
    write(BELOW + "/new", "x", os.O_WRONLY | os.O_CREAT)
