# Sockets in the directory of the first argument.

PLACE = ARGUMENTS[0] + "/"


def receive(kind, path):
    client = socket.socket(socket.AF_UNIX, kind)
    client.connect(path)
    _, files, _, _ = socket.recv_fds(client, 16, 1)
    return os.pread(files[0], 100, 0).decode().strip()


@way
def stream_with_a_descriptor():
    return receive(socket.SOCK_STREAM, PLACE + "stream")


@way
def packets_with_a_descriptor():
    return receive(socket.SOCK_SEQPACKET, PLACE + "packets")


@way
def bound_by_a_relative_name():
    return receive(socket.SOCK_STREAM, PLACE + "relative")


@way
def renamed():
    return receive(socket.SOCK_STREAM, PLACE + "renamed")


@way
def by_a_relative_name():
    os.chdir(PLACE)
    return receive(socket.SOCK_STREAM, "stream")


@way
def by_a_link():
    os.path.lexists(W + "/way") and os.unlink(W + "/way")
    os.symlink(PLACE + "stream", W + "/way")
    return receive(socket.SOCK_STREAM, W + "/way")


@way
def by_a_descriptor():
    place = os.open(PLACE + "stream", os.O_PATH)
    return receive(socket.SOCK_STREAM, f"/proc/self/fd/{place}")


@way
def from_a_bound_socket():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.bind("")
    client.connect(PLACE + "stream")


@way
def datagram_to_an_address():
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"obey", PLACE + "datagram")


@way
def message_to_an_address():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.sendmsg([b"obey"], [], 0, PLACE + "datagram")


@way
def message_with_a_descriptor():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", 1))
    client.sendmsg([b"obey"], [rights], 0, PLACE + "datagram")


@way
def connected_datagram():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.connect(PLACE + "datagram")
    client.send(b"obey")


@way
def end_of_a_pair():
    # A pair is connected already, and can be connected elsewhere.
    client, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.connect(PLACE + "datagram")
    client.send(b"obey")
