# Runs its arguments under a filter that refuses user namespaces, as containers have it.

import ctypes, os, struct, sys

UNSHARE, CLONE, CLONE3 = (272, 56, 435) if os.uname().machine == "x86_64" else (97, 220, 435)
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
NEW_USER, FAIL, ALLOW = 0x10000000, 0x50000, 0x7FFF0000
program = [
    (LOAD, 0, 0, 0),
    (EQUAL, 5, 0, CLONE3),
    (EQUAL, 1, 0, UNSHARE),
    (EQUAL, 0, 2, CLONE),
    (LOAD, 0, 0, 16),
    (ANY_BIT, 2, 0, NEW_USER),
    (RETURN, 0, 0, ALLOW),
    (RETURN, 0, 0, FAIL | 38),
    (RETURN, 0, 0, FAIL | 1),
]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, struct.pack("HP", len(program), ctypes.addressof(code))):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
