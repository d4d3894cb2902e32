# What every script of attacks begins with. One way to attack is one function marked `@way`. Each runs in a process of
# its own at once, and prints a line: its name, and `worked` with what it returned, or the errno, or the signal.

import ctypes, errno, fcntl, mmap, os, signal, socket, stat, struct, subprocess, sys, time

# The workspace, what is outside of it, and whether nothing confines this.
W, O, CONTROL = sys.argv[1], sys.argv[2], sys.argv[3] == "control"
ARGUMENTS = sys.argv[4:]

X86 = os.uname().machine == "x86_64"
# x86-64 and AArch64; from 424 on both have the same numbers.
NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "clone": (56, 220),
    "clone3": 435, "delete_module": (176, 106), "finit_module": (313, 273), "fsconfig": 431, "fsmount": 432,
    "fsopen": 430, "fspick": 433, "init_module": (175, 105), "io_uring_enter": 426, "io_uring_register": 427,
    "io_uring_setup": 425, "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104),
    "keyctl": (250, 219), "mount": (165, 40), "mount_setattr": 442, "move_mount": 429,
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": 428, "open_tree_attr": 467,
    "perf_event_open": (298, 241), "pidfd_getfd": 438, "pidfd_open": 434, "pidfd_send_signal": 424,
    "pivot_root": (155, 41), "prlimit64": (302, 261), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "renameat2": (316, 276), "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138), "setns": (308, 268), "socket": (41, 198), "swapoff": (168, 225),
    "swapon": (167, 224), "syslog": (103, 116), "tgkill": (234, 131), "umount2": (166, 39), "unshare": (272, 97),
    "userfaultfd": (323, 282), "quotactl_fd": 443, "setpriority": (141, 140), "ioctl": (16, 29),
}
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
HERE = -100
NEWNS, NEWUSER, NEWPID = 0x20000, 0x10000000, 0x20000000


def call(name, *arguments):
    """A system call by name or number. Integers fill the whole register, and text becomes a path."""
    number = NUMBERS.get(name, name)
    if isinstance(number, tuple):
        number = number[0 if X86 else 1]

    def register(argument):
        if isinstance(argument, str):
            argument = argument.encode()
        return ctypes.c_long(argument) if isinstance(argument, int) else argument

    result = LIBC.syscall(ctypes.c_long(number), *map(register, arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def failed(code):
    raise OSError(code, os.strerror(code))


def admin():
    """Becomes administrator of namespaces of its own. Whoever may not do that goes on without."""
    user, group = os.getuid(), os.getgid()
    try:
        call("unshare", NEWUSER | NEWNS)
    except OSError:
        return
    for name, text in ("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1"):
        write(f"/proc/self/{name}", text)


def write(path, text, flags=os.O_WRONLY):
    file = os.open(path, flags, 0o644)
    os.write(file, text.encode())
    os.close(file)


def steal(path, at=None):
    """What is in a secret; that it is none counts as a failure."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK, dir_fd=at)
    text = os.read(file, 100).decode(errors="replace").strip()
    return text if text.startswith("secret") else failed(errno.ENODATA)


def sure(condition):
    return None if condition else failed(errno.ENODATA)


def way(function):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        # Nothing an attack does may keep its test waiting for ever.
        signal.alarm(20)
        code = 255
        try:
            result = function()
            print(function.__name__, "worked", "" if result is None else result, flush=True)
            code = 0
        except OSError as error:
            print(function.__name__, errno.errorcode.get(error.errno, f"errno-{error.errno}"), flush=True)
            code = 0
        except BaseException:
            import traceback
            traceback.print_exc()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        print(function.__name__, signal.Signals(os.WTERMSIG(status)).name, flush=True)
    elif status != 0:
        sys.exit(f"the attack itself is wrong: {function.__name__}")


def one(function):
    """As `@way`, for the way that the first argument names."""
    if function.__name__ == ARGUMENTS[0]:
        way(function)


def exchange(first, second):
    call("renameat2", HERE, first, HERE, second, 2)


def link(first, second, flags=0, at=HERE):
    if LIBC.linkat(at, first.encode(), HERE, second.encode(), flags) < 0:
        failed(ctypes.get_errno())
