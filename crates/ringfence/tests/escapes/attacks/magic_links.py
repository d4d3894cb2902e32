# Every name that might lead to a secret.

HIDDEN = [O + "/secret", W + "/closed/secret", W + "/.env"]
OTHER = str(os.getppid() if CONTROL else 1)


def way_to(name, path):
    def attempt():
        return steal(path)
    attempt.__name__ = name
    way(attempt)


for number, path in enumerate(HIDDEN):
    way_to(f"plain_{number}", path)
    way_to(f"own_root_{number}", "/proc/self/root" + path)
    way_to(f"thread_root_{number}", f"/proc/thread-self/root{path}")
    way_to(f"root_of_another_{number}", f"/proc/{OTHER}/root{path}")
    way_to(f"above_the_root_{number}", "/.." * 9 + path)
    os.path.lexists(W + "/way") and os.unlink(W + "/way")
    os.symlink(path, W + "/way")
    way_to(f"link_{number}", W + "/way")
    way_to(f"link_by_descriptor_{number}", "/proc/self/cwd/way")
    os.unlink(W + "/way")


@way
def directory_of_another():
    directory = os.readlink(f"/proc/{OTHER}/cwd")
    return steal(f"/proc/{OTHER}/cwd/{os.path.relpath(O, directory)}/secret")


@way
def descriptors_of_another():
    owner = OTHER
    if CONTROL:
        holder = subprocess.Popen(["sleep", "9"], stdin=open(O + "/secret"))
        owner = holder.pid
    try:
        for name in os.listdir(f"/proc/{owner}/fd"):
            os.readlink(f"/proc/{owner}/fd/{name}")
            return steal(f"/proc/{owner}/fd/{name}")
    finally:
        if CONTROL:
            holder.kill()
    failed(errno.ENOENT)


@way
def copied_in_the_kernel():
    target = os.open(W + "/copy", os.O_RDWR | os.O_CREAT)
    os.sendfile(target, os.open(O + "/secret", os.O_RDONLY), 0, 100)
    return steal(W + "/copy")
