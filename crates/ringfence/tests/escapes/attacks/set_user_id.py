# A program whose file says that it runs as its owner.


def is_effective(owner, process):
    for line in open(f"/proc/{process}/status"):
        if line.startswith("Uid:"):
            # Real, effective, saved, that of the file system.
            return str(owner) in line.split()[2:]


@way
def runs_as_its_owner():
    running = subprocess.Popen([ARGUMENTS[0], "9"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        owner = os.stat(ARGUMENTS[0]).st_uid
        # execve(2) closes what is to be closed, by which its start is known, before it changes the ids.
        until = time.monotonic() + 0.5
        while not (becomes := is_effective(owner, running.pid)) and time.monotonic() < until:
            time.sleep(0.01)
        sure(becomes and owner != os.getuid())
    finally:
        # Outside it may not be ours any more; then it ends with its input.
        try:
            running.kill()
        except PermissionError:
            running.stdin.close()
