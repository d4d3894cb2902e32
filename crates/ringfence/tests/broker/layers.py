# Who confines itself further is confined so, whoever makes names for it: prints what came of making some.

import ctypes, errno, os, sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
CREATE_RULESET, RESTRICT_SELF = 444, 446
CLONE = 56 if os.uname().machine == "x86_64" else 220
CLONE_PARENT, SIGCHLD = 0x8000, 17
CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
# READ_FILE, MAKE_REG and MAKE_DIR.
HANDLED = ctypes.c_uint64(1 << 2 | 1 << 8 | 1 << 7)
# The last one of the ways is named.
WAY = sys.argv[1]
open("there", "w").close()


def restrict():
    ruleset = LIBC.syscall(CREATE_RULESET, ctypes.byref(HANDLED), 8, 0)
    assert ruleset >= 0
    assert LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert LIBC.syscall(RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)


def told(work):
    try:
        work()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"


def make(who):
    """Tries to make names; says what came of it."""
    flags = os.O_CREAT | os.O_RDWR
    tries = {
        "file": lambda: os.close(os.open(f"{who}-file", flags)),
        "existing": lambda: os.close(os.open("there", flags)),
        "directory": lambda: os.mkdir(f"{who}-directory"),
    }
    results = [f"{name} {told(work)}" for name, work in tries.items()]
    os.write(1, f"{who}: {', '.join(results)}\n".encode())


def child(work, wait=True):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    if wait:
        assert os.waitpid(pid, 0)[1] == 0
    return pid


def parentless(work):
    """Does it in a process whose parent has ended, and waits for that."""
    ended, alive = os.pipe()
    began, go = os.pipe()

    def start():
        os.close(ended)
        child(lambda: (os.close(go), os.read(began, 1), work()), wait=False)

    child(start)
    os.close(alive)
    os.close(go)
    os.read(ended, 1)


def restricted(work):
    return lambda: (restrict(), work())


def sister(work):
    """Does it in a child of this process's own parent."""
    ended, alive = os.pipe()
    pid = LIBC.syscall(CLONE, ctypes.c_long(CLONE_PARENT | SIGCHLD), 0, 0, 0, 0)
    if pid == 0:
        work()
        os._exit(0)
    assert pid > 0
    os.close(alive)
    os.read(ended, 1)


def adopted(work):
    """Does it in a grandchild that becomes this process's child."""
    assert LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    child(restricted(lambda: parentless(work)))


make("nobody-yet")
child(restricted(lambda: make("itself")))
child(restricted(lambda: child(lambda: make("child"))))
child(restricted(lambda: parentless(lambda: make("orphan"))))
child(lambda: make("sibling"))
child(lambda: child(lambda: make("nephew")))
for _ in range(200):
    child(restricted(lambda: None))
make("after many")
def in_a_namespace(work):
    """Does it in a grandchild that becomes a child of process 1 of a pid namespace."""
    assert LIBC.unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0
    child(lambda: child(restricted(lambda: parentless(work))))


if WAY == "namespace":
    child(lambda: in_a_namespace(lambda: make("adopted")))
elif WAY == "sister":
    child(lambda: child(restricted(lambda: sister(lambda: make("sister")))))
else:
    child(lambda: adopted(lambda: make("adopted")))
child(restricted(lambda: make("itself again")))
