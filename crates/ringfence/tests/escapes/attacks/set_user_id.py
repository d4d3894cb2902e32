# A program whose file says that it runs as its owner.


@way
def runs_as_its_owner():
    running = subprocess.Popen([ARGUMENTS[0], "9"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        owner = os.stat(ARGUMENTS[0]).st_uid
        for line in open(f"/proc/{running.pid}/status"):
            if line.startswith("Uid:"):
                # Real, effective, saved, that of the file system.
                sure(str(owner) in line.split()[2:] and owner != os.getuid())
    finally:
        # Outside it may not be ours any more; then it ends with its input.
        try:
            running.kill()
        except PermissionError:
            running.stdin.close()
