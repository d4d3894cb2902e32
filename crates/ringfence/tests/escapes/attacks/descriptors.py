# What was opened, and ways to go on from there.

KEPT = W + "/a/b/kept"


@one
def directory_before_a_rename():
    # The parent of an open directory is another one after it has moved.
    inner = os.open(W + "/x/y", os.O_RDONLY)
    os.makedirs(W + "/a/b/z", exist_ok=True)
    os.rename(W + "/x/y", W + "/a/b/z/y")
    os.close(os.open("../../kept/new", os.O_WRONLY | os.O_CREAT, dir_fd=inner))


@one
def reopened_for_writing():
    file = os.open(KEPT + "/inner", os.O_RDONLY)
    write(f"/proc/self/fd/{file}", "evil")


@one
def relative_to_a_protected_directory():
    kept = os.open(KEPT, os.O_PATH)
    os.write(os.open("inner", os.O_WRONLY, dir_fd=kept), b"evil")


@one
def working_directory():
    os.chdir(KEPT)
    write("/proc/self/cwd/inner", "evil")


@one
def through_a_thread():
    write(f"/proc/self/task/{os.getpid()}/root{KEPT}/inner", "evil")


@one
def truncate_by_descriptor():
    file = os.open(KEPT + "/inner", os.O_RDONLY)
    os.truncate(f"/proc/self/fd/{file}", 0)


@one
def descriptor_of_a_path():
    # A descriptor that only names a file is not open for anything, and can be opened later.
    file = os.open(KEPT + "/inner", os.O_PATH)
    write(f"/dev/fd/{file}", "evil")


@one
def running_program():
    # CVE-2019-5736: a program is overwritten by what it runs, once it has ended.
    running = subprocess.Popen([KEPT + "/program", "0.1"])
    file = os.open(f"/proc/{running.pid}/exe", os.O_RDONLY)
    running.wait()
    write(f"/proc/self/fd/{file}", "evil")
