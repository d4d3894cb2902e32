# A program that never was a file, which rules about programs that may run do not know.


def run(*arguments):
    file = os.memfd_create("program", 0)
    os.write(file, open("/bin/cat", "rb").read())
    done = subprocess.run([f"/proc/self/fd/{file}", *arguments], pass_fds=[file], capture_output=True, text=True)
    return done.stdout.strip() if done.stdout.startswith("secret") else failed(errno.EACCES)


@way
def outside():
    return run(O + "/secret")


@way
def closed():
    return run(W + "/closed/secret")


@way
def through_proc():
    return run("/proc/self/root" + O + "/secret")
