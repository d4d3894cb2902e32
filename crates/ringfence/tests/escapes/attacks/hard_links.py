# A second name of a protected file where one may write, and names in protected places.

KEPT = W + "/a/b/kept"
FOLLOW, EMPTY_PATH = 0x400, 0x1000


@one
def out_of_a_directory():
    link(KEPT + "/inner", W + "/alias")
    write(W + "/alias", "evil")


@one
def of_a_file():
    link(W + "/a/file", W + "/alias")
    write(W + "/alias", "evil")


@one
def into_a_directory():
    link(W + "/mine", KEPT + "/new")


@one
def by_descriptor():
    file = os.open(KEPT + "/inner", os.O_RDONLY)
    link(f"/proc/self/fd/{file}", W + "/alias", FOLLOW)
    write(W + "/alias", "evil")


@one
def unnamed_file():
    file = os.open(KEPT if CONTROL else W, os.O_TMPFILE | os.O_RDWR)
    os.write(file, b"evil")
    link(f"/proc/self/fd/{file}", KEPT + "/new", FOLLOW)


@one
def out_of_a_readable_place():
    link(O + "/shown/file", W + "/alias")
    write(W + "/alias", "evil")
