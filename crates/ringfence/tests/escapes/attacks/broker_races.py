# What a command changes while a name is made for it: the text of the path, the directories on the way, the directory it
# works in, the descriptor it names, itself. The first argument says how often each way is tried.

import random, threading

ROUNDS = int(ARGUMENTS[0])
CLOSED, OPEN = b".git", b".gix"
INNER = W + "/inner"
os.makedirs(INNER, exist_ok=True)


def appeared():
    """Whether the closed name has come to be; it is taken away again, by whatever made it."""
    path = f"{W}/.git"
    try:
        found = os.lstat(path)
    except OSError:
        return False
    (os.rmdir if stat.S_ISDIR(found.st_mode) else os.unlink)(path)
    return True


def beside(work):
    """A process that does something for ever beside this one."""
    child = os.fork()
    if child == 0:
        while True:
            try:
                work()
            except OSError:
                pass
    return child


def over(child):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def race(attempt, clean, meanwhile=None):
    """Tries often; says how often the closed name came to be."""
    signal.alarm(300)
    other = beside(meanwhile) if meanwhile else None
    seen = 0
    for _ in range(ROUNDS):
        try:
            attempt()
        except OSError:
            pass
        seen += appeared()
        if CONTROL and seen:
            break
        try:
            clean()
        except OSError:
            pass
    if other:
        over(other)
    return sure(seen)


def name():
    """The path in memory that another process writes to, and what flips it."""
    memory = mmap.mmap(-1, 4096)
    memory[:5] = OPEN + b"\0"

    def flip():
        for _ in range(1000):
            memory[3:4] = b"t"
            memory[3:4] = b"x"

    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory))), flip


def flipped(make, clean):
    os.chdir(W)
    path, flip = name()
    return race(lambda: make(path), clean, flip)


@way
def mkdir_of_a_path_that_changes():
    return flipped(lambda path: call(83 if X86 else 34, path, 0o700) if X86 else call(34, HERE, path, 0o700),
                   lambda: os.rmdir(".gix"))


@way
def open_of_a_path_that_changes():
    def make(path):
        os.close(call(257 if X86 else 56, HERE, path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
    return flipped(make, lambda: os.unlink(".gix"))


@way
def rename_to_a_path_that_changes():
    open(W + "/moving", "w").close()

    def make(path):
        call("renameat2", HERE, "moving", HERE, path, 0)

    def clean():
        if os.path.lexists(".gix"):
            os.rename(".gix", "moving")
        elif not os.path.lexists("moving"):
            open("moving", "w").close()
    return flipped(make, clean)


@way
def link_that_leads_elsewhere_meanwhile():
    os.chdir(W)
    for path, target in ("way", "inner"), ("yaw", "."):
        os.path.lexists(path) and os.unlink(path)
        os.symlink(target, path)
    return race(lambda: os.mkdir("way/.git"), lambda: os.rmdir("inner/.git"), lambda: exchange("way", "yaw"))


@way
def link_at_the_end_that_leads_elsewhere_meanwhile():
    os.chdir(W)
    for path, target in ("end", "inner/free"), ("dne", ".git"):
        os.path.lexists(path) and os.unlink(path)
        os.symlink(target, path)
    return race(lambda: write("end", "x", os.O_CREAT | os.O_WRONLY), lambda: os.unlink("inner/free"),
                lambda: exchange("end", "dne"))


def in_threads(attempt, clean, meanwhile):
    """As a race with another thread, which shares the directory and the descriptors."""
    done = threading.Event()

    def work():
        while not done.is_set():
            meanwhile()
    thread = threading.Thread(target=work)
    thread.start()
    try:
        return race(attempt, clean)
    finally:
        done.set()
        thread.join()


@way
def directory_that_is_left_meanwhile():
    def work():
        os.chdir(W)
        os.chdir(INNER)
    return in_threads(lambda: os.mkdir(".git"), lambda: os.rmdir(INNER + "/.git"), work)


@way
def descriptor_that_is_replaced_meanwhile():
    whole, inner = os.open(W, os.O_PATH), os.open(INNER, os.O_PATH)
    used = os.dup(inner)

    def work():
        os.dup2(whole, used)
        os.dup2(inner, used)
    return in_threads(lambda: os.mkdir(".git", dir_fd=used), lambda: os.rmdir(INNER + "/.git"), work)


@way
def processes_that_are_killed_meanwhile():
    os.chdir(W)

    def attempt():
        child = os.fork()
        if child == 0:
            for place in ".gix", "inner/.git", ".git":
                try:
                    os.mkdir(place)
                except OSError:
                    pass
            os._exit(0)
        if random.random() < 0.5:
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    def clean():
        for place in ".gix", "inner/.git":
            os.path.lexists(place) and os.rmdir(place)
    return race(attempt, clean)
