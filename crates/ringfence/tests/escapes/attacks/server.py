# A server of the host: whoever connects is answered, gets a descriptor of a secret, and is told of in a line.

import os, selectors, socket, sys

directory, secret = sys.argv[1:]
os.chdir(directory)
name = "\0rf-" + os.path.basename(os.path.dirname(directory)) + str(os.getpid())
held = os.open(secret, os.O_RDONLY)
waiting = selectors.DefaultSelector()


def serve(family, kind, address):
    server = socket.socket(family, kind)
    server.bind(address)
    if kind != socket.SOCK_DGRAM:
        server.listen()
    waiting.register(server, selectors.EVENT_READ)
    return server


UNIX, STREAM, DATAGRAM = socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM
for prefix in directory + "/", name:
    serve(UNIX, STREAM, prefix + "stream")
    serve(UNIX, DATAGRAM, prefix + "datagram")
    serve(UNIX, socket.SOCK_SEQPACKET, prefix + "packets")
# Bound by a name that says nothing about where it is.
serve(UNIX, STREAM, "relative")
# Renamed since, so that the kernel's list has another name.
serve(UNIX, STREAM, directory + "/before")
os.rename("before", "renamed")
servers = [serve(socket.AF_INET, STREAM, ("127.0.0.1", 0)), serve(socket.AF_INET, DATAGRAM, ("127.0.0.1", 0)),
           serve(socket.AF_INET6, STREAM, ("::1", 0))]
print(name[1:], *(server.getsockname()[1] for server in servers), flush=True)



def answer(server):
    if server.type == DATAGRAM:
        server.recv(16)
        print("datagram", flush=True)
        return
    connection, _ = server.accept()
    print("connection", flush=True)
    try:
        if server.family == UNIX:
            socket.send_fds(connection, [b"hello"], [held])
        else:
            connection.send(b"hello")
    except OSError:
        pass
    connection.close()


waiting.register(0, selectors.EVENT_READ)
while True:
    ready = [key.fileobj for key, _ in waiting.select()]
    servers = [server for server in ready if server != 0]
    for server in servers:
        answer(server)
    # A line of the input asks whether everything is answered that came before.
    if ready == [0]:
        if not os.read(0, 1):
            break
        print("answered", flush=True)
