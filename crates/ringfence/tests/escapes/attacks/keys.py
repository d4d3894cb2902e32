# The keyring of the user, which all its processes share.

USER_KEYRING, SESSION, NAME = -4, -3, b"rf-escape"
READ, SEARCH, UNLINK = 11, 10, 9

if ARGUMENTS == ["make"]:
    @way
    def make():
        key = call("add_key", b"user", NAME, b"secret", 6, USER_KEYRING)
        # Whoever is of the same user may do everything.
        call("keyctl", 5, key, 0x3F3F0000)

if ARGUMENTS == ["use"]:
    def content(key):
        text = ctypes.create_string_buffer(100)
        call("keyctl", READ, key, text, 100)
        sure(text.value == b"secret")

    @way
    def searched():
        content(call("keyctl", SEARCH, USER_KEYRING, b"user", NAME, 0))

    @way
    def requested():
        call("keyctl", 8, USER_KEYRING, SESSION)
        content(call("request_key", b"user", NAME, None, 0))

    @way
    def listed():
        sure("rf-escape" in open("/proc/keys").read())

if ARGUMENTS == ["remove"]:
    @way
    def remove():
        call("keyctl", UNLINK, call("keyctl", SEARCH, USER_KEYRING, b"user", NAME, 0), USER_KEYRING)
