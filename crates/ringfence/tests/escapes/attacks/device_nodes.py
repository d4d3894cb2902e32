# Nodes that lead past every rule about paths.

if ARGUMENTS == ["make"]:
    @way
    def character():
        os.mknod(W + "/null", 0o20666, os.makedev(1, 3))

    @way
    def block():
        os.mknod(W + "/disk", 0o60666, os.makedev(7, 0))

if ARGUMENTS == ["use"]:
    @way
    def read():
        os.open(W + "/null", os.O_RDONLY)

    @way
    def written():
        os.open(W + "/null", os.O_WRONLY)
