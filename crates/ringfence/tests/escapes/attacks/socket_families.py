# Families, types and protocols that reach hypervisors, kernel code, or other hosts by ways of their own.

STREAM, DATAGRAM, RAW, PACKETS = 1, 2, 3, 5
SOCKETS = {
    "key": (15, RAW, 2), "x25": (9, PACKETS, 0), "netlink_usersock": (16, RAW, 2), "netlink_sock_diag": (16, RAW, 4),
    "netlink_nflog": (16, RAW, 5), "netlink_xfrm": (16, RAW, 6), "netlink_audit": (16, RAW, 9),
    "netlink_connector": (16, RAW, 11), "netlink_netfilter": (16, RAW, 12), "netlink_kobject": (16, RAW, 15),
    "netlink_generic": (16, RAW, 16), "netlink_crypto": (16, RAW, 21), "packet": (17, RAW, 0x300),
    "packet_datagram": (17, DATAGRAM, 0x300), "rds": (21, PACKETS, 0), "can": (29, RAW, 1), "tipc": (30, STREAM, 0),
    "bluetooth": (31, RAW, 1), "alg": (38, PACKETS, 0), "vsock": (40, STREAM, 0), "vsock_datagram": (40, DATAGRAM, 0),
    "kcm": (41, PACKETS, 0), "qrtr": (42, DATAGRAM, 0), "smc": (43, STREAM, 0), "xdp": (44, RAW, 0),
    "mctp": (45, DATAGRAM, 0), "raw": (2, RAW, 255), "icmp": (2, RAW, 1), "ping": (2, DATAGRAM, 1),
    "sctp": (2, STREAM, 132), "sctp_packets": (2, PACKETS, 132), "dccp": (2, 6, 33), "udp_lite": (2, DATAGRAM, 136),
    "mptcp": (2, STREAM, 262), "mptcp_6": (10, STREAM, 262), "smc_by_protocol": (2, STREAM, 256),
    "raw_6": (10, RAW, 58),
}


def way_of(name, arguments, high):
    def attempt():
        call("socket", *(argument | high for argument in arguments))
    attempt.__name__ = name
    way(attempt)


for name, arguments in SOCKETS.items():
    way_of(name, arguments, 0)
    # The kernel looks at the lower half of each register only.
    way_of(name + "_with_high_bits", arguments, 1 << 32)
    way_of(name + "_without_waiting", (arguments[0], arguments[1] | 0x80800, arguments[2]), 0)
