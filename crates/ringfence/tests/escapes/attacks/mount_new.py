# Filesystems of the attacker's own: what it can put anywhere it can put in the place of something trusted.


def put_in_place(tree):
    call("move_mount", tree, b"", HERE, W + "/empty", 4)
    sure(os.stat(W + "/empty").st_dev != os.stat(W).st_dev)


def memory(name="tmpfs"):
    context = call("fsopen", name, 0)
    call("fsconfig", context, 6, None, None, 0)
    return call("fsmount", context, 0, 0)


@way
def mount():
    admin()
    call("mount", "tmpfs", W + "/empty", "tmpfs", 0, None)
    sure(os.stat(W + "/empty").st_dev != os.stat(W).st_dev)


@way
def new_interface():
    admin()
    put_in_place(memory())


@way
def opening_only():
    admin()
    call("fsopen", "tmpfs", 0)


@way
def picking():
    admin()
    if CONTROL:
        call("mount", "tmpfs", W + "/empty", "tmpfs", 0, None)
    call("fspick", HERE, W + "/empty" if CONTROL else "/tmp", 0)


@way
def bind():
    admin()
    call("mount", "/etc", W + "/empty", None, 0x1000, None)
    sure(os.path.exists(W + "/empty/passwd"))


@way
def propagation():
    admin()
    call("mount", None, "/", None, 0x80000 | 0x4000, None)


@way
def quotas():
    # Whatever the filesystem says, an attacker must not get as far as asking it.
    try:
        call("quotactl_fd", os.open(W, os.O_RDONLY), 0x80000100, 0, 0)
    except OSError as error:
        sure(CONTROL or error.errno != errno.EPERM)
        if not CONTROL:
            raise
