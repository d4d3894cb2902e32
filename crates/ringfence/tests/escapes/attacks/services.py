# What sessions and tools are found by.

PATHS = {
    "DBUS_SESSION_BUS_ADDRESS": lambda value: value.removeprefix("unix:path="),
    "DOCKER_HOST": lambda value: value.removeprefix("unix://"),
    "SSH_AUTH_SOCK": lambda value: value,
    "XDG_RUNTIME_DIR": lambda value: value + "/stream",
}


def way_to(name, path):
    def attempt():
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect(path)
    attempt.__name__ = name
    way(attempt)


for name, path in PATHS.items():
    way_to(name, path(os.environ.get(name, "")) or "/nowhere")
if not CONTROL:
    for path in ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private",
                 f"/run/user/{os.getuid()}/bus", "/run/containerd/containerd.sock", "/run/nscd/socket",
                 "/var/run/nscd/socket", "/dev/log", "/run/systemd/journal/socket", "/tmp/.X11-unix/X0"):
        way_to(path, path)
