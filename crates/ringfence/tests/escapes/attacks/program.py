# The process of the argument: in other tools its program can be opened from inside, and is then overwritten.

OTHER = "/proc/" + ARGUMENTS[0]


@way
def program():
    os.open(OTHER + "/exe", os.O_RDONLY)


@way
def program_named():
    os.open(OTHER + "/exe", os.O_PATH)


@way
def memory():
    os.open(OTHER + "/mem", os.O_RDWR)


@way
def descriptors():
    os.readlink(OTHER + "/fd/0")


@way
def working_directory():
    os.listdir(OTHER + "/cwd")


@way
def root():
    os.listdir(OTHER + "/root")


@way
def environment():
    open(OTHER + "/environ", "rb").read()


@way
def mappings():
    sure(open(OTHER + "/maps").read())


@way
def stack():
    sure(open(OTHER + "/auxv", "rb").read())
