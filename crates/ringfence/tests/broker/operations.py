# What ordinary programs do with names, one line each with what came of it. Without confinement and within, in the
# workspace and in a directory that is made there, the lines must be the same.

import ctypes, errno, fcntl, os, resource, signal, socket, stat, struct, subprocess, sys, threading

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
X86 = os.uname().machine == "x86_64"
NUMBERS = {"linkat": (265, 37), "renameat2": (316, 276), "openat2": (437, 437), "bind": (49, 200), "unshare": (272, 97)}
HERE = -100


def call(name, *arguments):
    number = NUMBERS[name][0 if X86 else 1]
    values = [a.encode() if isinstance(a, str) else ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *values)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def tell(what, operation):
    try:
        result = operation()
    except OSError as error:
        result = errno.errorcode[error.errno]
    print(f"{what}: {result}")


def opened(path, flags, mode=0o666):
    file = os.open(path, flags, mode)
    seen = os.fstat(file)
    status = fcntl.fcntl(file, fcntl.F_GETFL)
    closes = fcntl.fcntl(file, fcntl.F_GETFD)
    os.close(file)
    return f"{stat.filemode(seen.st_mode)} {seen.st_size} flags {status:o} {closes}"


def content(path):
    with open(path) as file:
        return file.read()


def put(path, text="text"):
    with open(path, "w") as file:
        file.write(text)


def furnish():
    put("file")
    os.mkdir("directory")
    os.symlink("file", "link")
    os.symlink("nothing", "dangling")
    os.symlink("loop", "loop")
    os.symlink("directory", "way")
    os.mkfifo("pipe")


def files():
    flags = {"plain": 0, "excl": os.O_EXCL, "trunc": os.O_TRUNC, "append": os.O_APPEND, "nofollow": os.O_NOFOLLOW,
             "directory": os.O_DIRECTORY, "nonblock": os.O_NONBLOCK, "sync": os.O_SYNC, "cloexec": os.O_CLOEXEC,
             "noatime": os.O_NOATIME, "unknown": 1 << 26}
    for name, extra in flags.items():
        for access in os.O_RDONLY, os.O_WRONLY, os.O_RDWR:
            for path in ["file", f"new-{name}-{access}", "directory", "link", "dangling", "loop", "way/in", "file/x", "new/",
                         "", ".", "..", "a" * 256, "missing/x", "way/../over", "./dot"]:
                tell(f"open {name} {access} {path[:20]}", lambda: opened(path, os.O_CREAT | access | extra))
                tell("  content", lambda: content("file"))
                if not os.path.exists("file") or os.path.getsize("file") != 4:
                    put("file")
                for made in "nothing", "way/in", "over", "dot":
                    os.path.lexists(made) and os.unlink(made)
    tell("pipe", lambda: opened("pipe", os.O_CREAT | os.O_RDWR))
    tell("pipe nonblock", lambda: opened("pipe", os.O_CREAT | os.O_WRONLY | os.O_NONBLOCK))
    for mode in 0o0, 0o444, 0o4755, 0o7777, 0o170644:
        tell(f"mode {mode:o}", lambda: opened(f"mode-{mode:o}", os.O_CREAT | os.O_RDWR, mode))
    for umask in 0, 0o77, 0o777:
        old = os.umask(umask)
        tell(f"umask {umask:o}", lambda: opened(f"umask-{umask:o}", os.O_CREAT | os.O_RDWR))
        tell("  mkdir", lambda: (os.mkdir(f"umasked-{umask:o}"), stat.filemode(os.stat(f"umasked-{umask:o}").st_mode))[1])
        os.umask(old)
    how = lambda flags, mode, resolve, size=24: call("openat2", HERE, f"how-{flags:x}-{mode:o}-{size}",
                                                     struct.pack("QQQQ", flags, mode, resolve, 0), size) >= 0
    for arguments in [(0o102, 0o600, 0), (0o102, 0o600, 0, 32), (0o102, 0o170644, 0), (0o102 | 1 << 40, 0o600, 0),
                      (0o102 | 1 << 30, 0o600, 0), (0o102, 0o600, 0, 8)]:
        tell(f"openat2 {arguments}", lambda: how(*arguments))


def pipes():
    """Whoever opens a pipe finds the one that waits for it, and nobody else."""
    for number in range(50):
        reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
        with open("pipe", "w") as pipe:
            pipe.write("said")
        said, _ = reader.communicate()
        if said != b"said":
            print("pipe:", number, said)


def directories():
    for path in ["made", "made/", "made//", "file", "link", "dangling", "dangling/", "way/", ".", "..", "a/b", "file/x", ""]:
        tell(f"mkdir {path}", lambda: os.mkdir(path))
    os.chmod("directory", 0o2775)
    tell("in setgid", lambda: (os.mkdir("directory/in"), stat.filemode(os.stat("directory/in").st_mode))[1])
    os.mkdir("gone")
    here = os.getcwd()
    os.chdir("gone")
    os.rmdir(here + "/gone")
    tell("in a removed directory", lambda: os.mkdir("x"))
    os.chdir(here)


def nodes():
    for mode in stat.S_IFREG, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFDIR, 0:
        for path in f"node-{mode:o}", "file", "node/":
            tell(f"mknod {mode:o} {path}", lambda: os.mknod(path, mode | 0o640))
    for path in "sym", "file", "sym2/", "":
        tell(f"symlink {path}", lambda: os.symlink("anything", path))
    tell("empty symlink", lambda: os.symlink("", "sym3"))


def links():
    follow, empty = 0x400, 0x1000
    file = os.open("file", os.O_RDONLY)
    unnamed = os.open(".", os.O_TMPFILE | os.O_RDWR)
    for number, (source, flags) in enumerate([("file", 0), ("link", 0), ("link", follow), ("dangling", 0),
                                              ("dangling", follow), ("directory", 0), ("missing", 0), ("file/", 0),
                                              ("link", empty), ("dangling", empty), ("file", 1), ("file", 0x100),
                                              (f"/proc/self/fd/{unnamed}", follow), (f"/dev/fd/{file}", follow)]):
        def link():
            call("linkat", HERE, source, HERE, f"twin-{number}", flags)
            return stat.filemode(os.lstat(f"twin-{number}").st_mode)
        tell(f"link {number} {flags:x}", link)
    tell("link over", lambda: os.link("file", "directory"))


def renames():
    for number, (old, new, flags) in enumerate([
            ("r1", "r2", 0), ("missing", "r3", 0), ("file", "directory", 0), ("directory", "file", 0), ("r4/", "r5/", 0),
            ("r1/", "r6", 0), ("r4", "r7", 1), ("r1", "file", 1), ("r1", "r4", 2), ("r1", "missing", 2), ("r1", "r8", 3),
            ("r1", "r8", 8), ("directory", "directory/in", 0), (".", "r9", 0), ("r1", "..", 0), ("r4", "way", 0),
            ("link", "r10", 0), ("way/", "r11", 0), ("r1", "r12", 1 << 32)]):
        for name in "r1", "r4":
            if os.path.lexists(name):
                (os.rmdir if os.path.isdir(name) and not os.path.islink(name) else os.unlink)(name)
        put("r1")
        os.mkdir("r4")
        os.path.lexists("link") or os.symlink("file", "link")
        tell(f"rename {number}", lambda: call("renameat2", HERE, old, HERE, new, flags))


def sockets():
    os.mkdir("sub")
    put("sock", "precious")
    for path in "sub/sock", os.getcwd() + "/absolute", "./sub/../dotted", "sock", "sub", "missing/sock":
        def bind():
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            return listener.getsockname().replace(os.getcwd(), "HERE")
        tell(f"bind {path[-9:]}", bind)
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    server.bind("sub/server")
    client.bind(os.getcwd() + "/sub/client")
    client.sendto(b"question", "sub/server")
    _, address = server.recvfrom(99)
    server.sendto(b"answer", address)
    tell("answer", lambda: client.recv(99))

    def alone():
        other, own = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        call("unshare", 0x400)
        os.dup2(own.fileno(), other.fileno())
        address = struct.pack("H", socket.AF_UNIX) + b"of-a-thread"
        tell("bind of a thread", lambda: call("bind", other.fileno(), address, len(address)))
        tell("  its socket", lambda: own.getsockname())
    thread = threading.Thread(target=alone)
    thread.start()
    thread.join()


def limits():
    put("kept", "kept")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, hard))
    held = []
    try:
        while True:
            held.append(os.open(".", os.O_PATH))
    except OSError:
        pass
    tell("no descriptor left", lambda: opened("kept", os.O_CREAT | os.O_TRUNC | os.O_WRONLY))
    for file in held:
        os.close(file)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    tell("  content", lambda: content("kept"))


def at_once():
    """What was just closed can be executed and locked."""
    busy = locked = 0
    for number in range(200):
        program = f"program-{number}"
        put(program, "#!/bin/sh\n")
        os.chmod(program, 0o755)
        try:
            subprocess.run(["./" + program], check=True)
        except OSError:
            busy += 1
        for _ in range(2):
            file = os.open("lock", os.O_CREAT | os.O_RDWR)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                locked += 1
            os.close(file)
    print(f"at once: {busy} busy, {locked} locked")


def signals():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    failures = 0
    for number in range(2000):
        try:
            os.mkdir(f"signalled-{number}")
        except OSError:
            failures += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(f"signals: {failures} failed")


for place in ".", "deep":
    os.path.isdir(place) or os.mkdir(place)
    os.chdir(place)
    for part in furnish, files, pipes, directories, nodes, links, renames, sockets, limits, at_once, signals:
        part()
    for name in sorted(name for name in os.listdir(".") if not name.startswith(("signalled-", "program-"))):
        seen = os.lstat(name)
        print("left", name[:20], stat.filemode(seen.st_mode), seen.st_size if stat.S_ISREG(seen.st_mode) else "")
