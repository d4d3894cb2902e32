# Makes namespaces, and tries what their capabilities may be good for: prints what came of each.

import ctypes, errno, os

W = os.getcwd()
X86 = os.uname().machine == "x86_64"
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
OPEN_TREE, OPEN_TREE_CLONE, AT_FDCWD = 428, 1, -100
MS_REMOUNT, MS_BIND, MNT_DETACH = 32, 4096, 2


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def write(path, text, flags=os.O_WRONLY):
    file = os.open(path, flags, 0o600)
    os.write(file, text.encode())
    os.close(file)


def namespaces(more):
    user, group = os.getuid(), os.getgid()
    checked(LIBC.unshare(NEWUSER | more))
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"0 {user} 1")
    write("/proc/self/gid_map", f"0 {group} 1")
    assert os.getuid() == 0


def told(name, work):
    try:
        work()
        result = "done"
    except OSError as error:
        result = errno.errorcode[error.errno]
    os.write(1, f"{name} {result}\n".encode())


def child(work):
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def everything():
    told("make namespaces", lambda: namespaces(NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET))
    told("process 1 of its own", lambda: child(lambda: os.getpid() == 1 or os._exit(1)))
    told("a name of its own", lambda: checked(LIBC.sethostname(b"inner", 5)))
    told("mount", lambda: checked(LIBC.mount(b"none", f"{W}/jail".encode(), b"tmpfs", 0, None)))
    told("bind", lambda: checked(LIBC.mount(W.encode(), f"{W}/jail".encode(), None, MS_BIND, None)))
    told("clone a tree", lambda: checked(LIBC.syscall(OPEN_TREE, AT_FDCWD, b"/", OPEN_TREE_CLONE)))
    attacks()


def read_a_secret():
    if os.read(os.open("key.pem", os.O_RDONLY), 6) != b"secret":
        raise OSError(errno.ENODATA, "it is another one")


def attacks():
    told("remount", lambda: checked(LIBC.mount(None, f"{W}/.git".encode(), None, MS_REMOUNT | MS_BIND, None)))
    told("unmount", lambda: checked(LIBC.umount2(f"{W}/key.pem".encode(), MNT_DETACH)))
    told("read a secret", read_a_secret)
    told("write what is protected", lambda: write(".git/config", "[core]", os.O_WRONLY | os.O_APPEND))
    told("move what is protected", lambda: os.rename(".git", ".gone"))
    told("make a closed name", lambda: os.mkdir(".vscode"))
    told("write in process 1", lambda: os.close(os.open("/proc/1/mem", os.O_RDWR)))


def jailed():
    namespaces(0)
    os.chroot(f"{W}/jail")
    told("make a name in a root of its own", lambda: write(f"{W}/made", "x", os.O_WRONLY | os.O_CREAT))
    told("climb", lambda: write("../../../../../../climbed", "x", os.O_WRONLY | os.O_CREAT))


child(everything)
child(lambda: (namespaces(0), attacks()))
child(jailed)
told("make a name", lambda: write("plain", "x", os.O_WRONLY | os.O_CREAT))
