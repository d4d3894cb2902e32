# Other objects in the place of protected ones.

KEPT = W + "/a/b/kept"


@one
def exchange_directory():
    exchange(W + "/x", KEPT)


@one
def exchange_file():
    exchange(W + "/mine", W + "/a/file")


@one
def exchange_content():
    exchange(W + "/mine", KEPT + "/inner")


@one
def rename_over_a_file():
    os.rename(W + "/mine", W + "/a/file")


@one
def rename_out():
    os.rename(KEPT + "/inner", W + "/taken")


@one
def rename_in():
    os.rename(W + "/mine", KEPT + "/inner")


@one
def remove():
    os.unlink(W + "/a/file")
