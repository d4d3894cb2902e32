# W/closed is mounted read-only. Unconfined, the attacker mounts it so.

READ_ONLY, REMOUNT, BIND = 1, 0x20, 0x1000
EMPTY_PATH, CLONE = 0x1000, 1


def close():
    admin()
    if CONTROL:
        call("mount", W + "/closed", W + "/closed", None, BIND, None)
        call("mount", None, W + "/closed", None, REMOUNT | BIND | READ_ONLY, None)
        try:
            write(W + "/closed/kept", "kept")
        except OSError:
            return
        sys.exit("it is writable")


def plant():
    write(W + "/closed/new", "x", os.O_WRONLY | os.O_CREAT)


@way
def remount():
    close()
    call("mount", None, W + "/closed", None, REMOUNT | BIND, None)
    plant()


@way
def change_attributes():
    close()
    call("mount_setattr", HERE, W + "/closed", 0, struct.pack("QQQQ", 0, READ_ONLY, 0, 0), 32)
    plant()


@way
def change_attributes_with_high_bits():
    close()
    call("mount_setattr", HERE, W + "/closed", 1 << 40, struct.pack("QQQQ", 0, READ_ONLY, 0, 0), 32)
    plant()


@way
def clone_with_other_attributes():
    close()
    tree = call("open_tree", HERE, W + "/closed", CLONE)
    call("mount_setattr", tree, b"", EMPTY_PATH, struct.pack("QQQQ", 0, READ_ONLY, 0, 0), 32)
    os.close(os.open("new", os.O_WRONLY | os.O_CREAT, dir_fd=tree))


@way
def below_the_mount():
    close()
    tree = call("open_tree", HERE, W, CLONE)
    os.close(os.open("closed/new", os.O_WRONLY | os.O_CREAT, dir_fd=tree))


@way
def unmount():
    close()
    call("umount2", W + "/closed", 2)
    plant()


@way
def reconfigure():
    close()
    context = call("fspick", HERE, W + "/closed", 0)
    sure(context >= 0)
    call("umount2", W + "/closed", 2)
    plant()
