# Runs its arguments at a new terminal that controls them, and tells what they typed into it.

import fcntl, os, subprocess, sys, termios, tty

master, terminal = os.openpty()
# Nothing waits for the end of a line.
tty.setraw(terminal)


def take():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


done = subprocess.run(sys.argv[1:], stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, preexec_fn=take)
os.set_blocking(terminal, False)
try:
    typed = os.read(terminal, 1000).decode()
except BlockingIOError:
    typed = ""
print(done.stdout.decode() + "typed: " + typed)
sys.exit(done.returncode)
