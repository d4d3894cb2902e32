# W/hidden is covered by a mount. Unconfined, the attacker covers it.

RECURSIVE, CLONE = 0x8000, 1


def cover():
    admin()
    if CONTROL:
        call("mount", "/dev/null", W + "/hidden", None, 0x1000, None)
        sure(os.stat(W + "/hidden").st_size == 0)


def told(text):
    write(W + "/told", "x", os.O_WRONLY | os.O_CREAT)
    return text


@way
def clone_of_the_parent():
    cover()
    return told(steal("hidden", call("open_tree", HERE, W, CLONE)))


@way
def clone_of_the_root():
    cover()
    # What lies on another filesystem than / is no case of this one.
    top = W if CONTROL else "/"
    tree = call("open_tree", HERE, top, CLONE)
    return told(steal("hidden" if CONTROL else W[1:] + "/hidden", tree))


@way
def clone_with_attributes():
    cover()
    attributes = struct.pack("QQQQ", 0, 0, 0, 0)
    return told(steal("hidden", call("open_tree_attr", HERE, W, CLONE, attributes, len(attributes))))


@way
def bind_of_the_parent():
    cover()
    call("mount", W, W + "/empty", None, 0x1000, None)
    return told(steal(W + "/empty/hidden"))


@way
def clone_moved_elsewhere():
    cover()
    tree = call("open_tree", HERE, W, CLONE)
    call("move_mount", tree, b"", HERE, W + "/empty", 4)
    return told(steal(W + "/empty/hidden"))


@way
def unmount():
    cover()
    call("umount2", W + "/hidden", 0)
    return told(steal(W + "/hidden"))


@way
def lazy_unmount():
    cover()
    call("umount2", W + "/hidden", 2)
    return told(steal(W + "/hidden"))


@way
def move_the_cover_away():
    cover()
    call("mount", "", "/", None, 0x44000, None)
    write(W + "/empty-file", "", os.O_WRONLY | os.O_CREAT)
    call("mount", W + "/hidden", W + "/empty-file", None, 0x2000, None)
    return told(steal(W + "/hidden"))
