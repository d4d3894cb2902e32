# The host's loopback, by each way and each spelling.

TCP, UDP, TCP6 = map(int, ARGUMENTS[2:])
FAST_OPEN = 0x20000000


def connect(family, address):
    client = socket.socket(family, socket.SOCK_STREAM)
    client.settimeout(3)
    client.connect(address)


@way
def plain():
    connect(socket.AF_INET, ("127.0.0.1", TCP))


@way
def any_address():
    connect(socket.AF_INET, ("0.0.0.0", TCP))


@way
def another_loopback_address():
    client = socket.socket()
    client.bind(("127.9.9.9", 0))
    client.connect(("127.0.0.1", TCP))


@way
def mapped():
    connect(socket.AF_INET6, ("::ffff:127.0.0.1", TCP))


@way
def version_6():
    connect(socket.AF_INET6, ("::1", TCP6))


@way
def fast_open():
    socket.socket().sendto(b"obey", FAST_OPEN, ("127.0.0.1", TCP))


@way
def fast_open_message():
    socket.socket().sendmsg([b"obey"], [], FAST_OPEN, ("127.0.0.1", TCP))


@way
def fast_open_on_connecting():
    client = socket.socket()
    client.setsockopt(socket.IPPROTO_TCP, 30, 1)
    client.connect(("127.0.0.1", TCP))
    client.send(b"obey")


@way
def connected_datagram():
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect(("127.0.0.1", UDP))
    client.send(b"obey")
    time.sleep(0.1)
    # Nobody there is told by the next call.
    client.send(b"obey")
