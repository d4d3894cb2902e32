# Standard input was opened for reading only, standard error for appending only.


@way
def write_input():
    write("/proc/self/fd/0", "evil")


@way
def truncate_input():
    os.truncate("/proc/self/fd/0", 0)


@way
def link_input():
    link("/proc/self/fd/0", W + "/alias", 0x400)
    write(W + "/alias", "evil")


@way
def read_log():
    return steal("/proc/self/fd/2")


@way
def truncate_log():
    os.truncate("/proc/self/fd/2", 0)
