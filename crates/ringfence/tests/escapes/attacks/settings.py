# Files of the kernel's; some make it run a program as root of the host. They are opened, not written.

import glob

PATHS = [
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug",
    "/proc/sys/kernel/poweroff_cmd", "/proc/sys/kernel/sysrq", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches",
    "/proc/sys/fs/binfmt_misc/register", "/proc/sys/kernel/hostname", "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/user/max_user_namespaces", "/proc/irq/default_smp_affinity", "/proc/mtrr", "/proc/kcore", "/proc/kmsg",
    "/proc/timer_list", "/proc/fs/ext4", "/sys/kernel/uevent_helper", "/sys/power/state",
    "/sys/kernel/mm/ksm/run", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/debug", "/sys/kernel/tracing",
    "/sys/kernel/security/lsm", "/sys/module/kernel/parameters/panic", "/proc/scsi/scsi", "/proc/acpi/wakeup",
]
PATHS += glob.glob("/sys/block/*/queue/read_ahead_kb") + glob.glob("/sys/class/net/*/mtu")
# Whoever has not the last one may learn what helps to attack the kernel.
SECRETS = ("/proc/kcore", "/proc/kmsg", "/proc/timer_list", "/sys/kernel/debug", "/sys/kernel/tracing")


def way_to(path):
    def attempt():
        if path in SECRETS:
            sure(os.listdir(path) if os.path.isdir(path) else os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 1))
        else:
            os.open(path, os.O_WRONLY)
    attempt.__name__ = path
    way(attempt)


for path in PATHS:
    way_to(path)


@way
def mode():
    os.chmod("/proc/sys/kernel/core_pattern", 0o666)


@way
def mode_of_the_kernels_objects():
    os.chmod("/sys/kernel", 0o777)
