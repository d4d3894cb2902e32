# Devices of the host, none of which the profile names.


def way_to(path):
    def attempt():
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    attempt.__name__ = path
    way(attempt)


for path in ("/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/loop0", "/dev/kvm",
             "/dev/fuse", "/dev/net/tun", "/dev/vhost-vsock", "/dev/vsock", "/dev/console", "/dev/tty0", "/dev/tty1",
             "/dev/vcs", "/dev/uinput", "/dev/hpet", "/dev/rtc0", "/dev/nvram", "/dev/userfaultfd",
             "/dev/cpu/0/msr", "/dev/mapper/control", "/dev/btrfs-control", "/dev/snapshot", "/dev/watchdog"):
    way_to(path)
