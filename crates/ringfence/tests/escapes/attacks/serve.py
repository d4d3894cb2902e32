# A server, and whether anybody comes. Unbound, the kernel chooses a port when it listens.


@way
def serve():
    server = socket.socket()
    if ARGUMENTS[0] == "bound":
        server.bind(("0.0.0.0", 0))
    server.listen()
    server.settimeout(2)
    with open(W + "/port.new", "w") as file:
        file.write(str(server.getsockname()[1]))
    os.rename(W + "/port.new", W + "/port")
    try:
        server.accept()
    except TimeoutError:
        failed(errno.ETIMEDOUT)
