# Another root directory, or a way back to the first one.


@way
def change_root():
    admin()
    os.chroot(W + "/empty")
    sure(os.listdir("/") == [])


@way
def pivot():
    admin()
    if CONTROL:
        call("mount", "tmpfs", W + "/empty", "tmpfs", 0, None)
    os.chdir(W + "/empty")
    call("pivot_root", ".", ".")


@way
def break_out_of_an_inner_root():
    # The classic: a root that was changed while a directory outside of it is open.
    admin()
    outside = os.open("/", os.O_RDONLY)
    os.chroot(W + "/empty")
    os.fchdir(outside)
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    return steal(O + "/secret")


@way
def root_of_another_process():
    return steal(f"/proc/{os.getppid() if CONTROL else 1}/root{O}/secret")
