# Ways of an administrator to become somebody else, or to keep what it has.


@way
def another_user():
    os.setresuid(1, 1, 1)


@way
def another_group():
    os.setgroups([1])


@way
def capabilities():
    # PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN
    LIBC.prctl(47, 2, 21, 0, 0) and failed(ctypes.get_errno())


@way
def capabilities_of_a_file():
    open(W + "/program", "w").close()
    os.setxattr(W + "/program", "security.capability", struct.pack("<5I", 0x2000001, 1 << 21, 0, 0, 0))


@way
def owner_of_a_file():
    open(W + "/given", "w").close()
    os.chown(W + "/given", 1, 1)


@way
def name_of_the_host():
    LIBC.sethostname(b"x" if not CONTROL else socket.gethostname().encode(), 1 if not CONTROL
                     else len(socket.gethostname())) and failed(ctypes.get_errno())


@way
def clock():
    time.clock_settime(time.CLOCK_REALTIME, time.time())
