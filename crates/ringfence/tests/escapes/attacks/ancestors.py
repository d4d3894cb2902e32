# Moves what is above a protected name, and makes another one in its place.


def again():
    os.makedirs(W + "/a/b/kept", exist_ok=True)
    write(W + "/a/b/kept/inner", "evil", os.O_WRONLY | os.O_CREAT)


@one
def parent():
    os.rename(W + "/a/b", W + "/a/aside")
    again()


@one
def grandparent():
    os.rename(W + "/a", W + "/aside")
    again()


@one
def above_a_root():
    os.rename(W + "/n", W + "/aside")
    os.makedirs(W + "/n/data/kept")
    write(W + "/n/data/kept/inner", "evil", os.O_WRONLY | os.O_CREAT)


@one
def exchange_ancestor():
    os.makedirs(W + "/x/b/kept")
    exchange(W + "/x", W + "/a")
    again()


@one
def replace_by_link():
    os.rename(W + "/a/b", W + "/x/b")
    os.symlink(W + "/x/y", W + "/a/b")


@one
def through_a_descriptor():
    above = os.open(W + "/a", os.O_RDONLY)
    os.rename("b", "aside", src_dir_fd=above, dst_dir_fd=above)
    again()


@one
def move_to_the_private_directory():
    # HOME inside is private, and outside a directory like any other.
    os.rename(W + "/a", O + "/a" if CONTROL else os.environ["HOME"] + "/a")
    again()
