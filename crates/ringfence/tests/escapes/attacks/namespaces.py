# New namespaces, which bring capabilities back, and those of others.


def in_a_child(flags):
    child = call("clone", flags | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


@way
def unshare_user():
    call("unshare", NEWUSER)


@way
def unshare_user_and_mounts():
    call("unshare", NEWUSER | NEWNS)


@way
def clone_user():
    in_a_child(NEWUSER)


@way
def clone_user_and_everything():
    in_a_child(NEWUSER | NEWNS | NEWPID | 0x0E000000 | 0x40000000)


@way
def clone3_user():
    child = call("clone3", struct.pack("8Q", NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


@way
def nested_program():
    subprocess.run(["/usr/bin/unshare", "-Ur", "true"], check=False).returncode and failed(errno.EPERM)


def sleeper():
    """A process in namespaces of its own, as far as one may have them."""
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        admin()
        os.write(told, b"x")
        time.sleep(15)
        os._exit(0)
    os.read(ready, 1)
    return child


@way
def enter_by_file():
    child = sleeper()
    try:
        file = os.open(f"/proc/{child if CONTROL else 1}/ns/user", os.O_RDONLY)
        call("setns", file, 0)
    finally:
        os.kill(child, signal.SIGKILL)


@way
def enter_that_of_a_child():
    child = sleeper()
    try:
        call("setns", os.open(f"/proc/{child}/ns/user", os.O_RDONLY), 0)
    finally:
        os.kill(child, signal.SIGKILL)


@way
def enter_by_process():
    child = sleeper()
    try:
        call("setns", call("pidfd_open", child if CONTROL else 1, 0), NEWUSER | NEWNS)
    finally:
        os.kill(child, signal.SIGKILL)
