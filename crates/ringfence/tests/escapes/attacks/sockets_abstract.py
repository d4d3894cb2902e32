# Sockets that have a name but no path.

NAME = "\0" + ARGUMENTS[1]


def connect(kind, suffix):
    socket.socket(socket.AF_UNIX, kind).connect(NAME + suffix)


@way
def stream():
    connect(socket.SOCK_STREAM, "stream")


@way
def packets():
    connect(socket.SOCK_SEQPACKET, "packets")


@way
def datagram():
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"obey", NAME + "datagram")


@way
def message():
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b"obey"], [], 0, NAME + "datagram")


@way
def connected_datagram():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.connect(NAME + "datagram")
    client.send(b"obey")


@way
def end_of_a_pair():
    client, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.connect(NAME + "datagram")
    client.send(b"obey")
