//! Starting a helper program without forking the host.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// First descriptor number in the child; `fds[i]` becomes `FIRST_FD + i`.
pub const FIRST_FD: RawFd = 3;

/// Executes the program behind `program` in a new process and returns its pidfd.
///
/// The cost does not depend on the size of the host: the child borrows the host's memory until it executes
/// (`CLONE_VM | CLONE_VFORK`), while the calling thread waits. The child has no arguments and an empty
/// environment; its descriptors `FIRST_FD…` are duplicates of `fds`. It inherits every other descriptor of
/// the host that is not close-on-exec, all signals blocked, and ignored signals ignored: the program is to
/// put these right itself.
///
/// The child is an ordinary one: the host gets `SIGCHLD` when it ends, and a host that waits for any child may
/// reap it, which does no harm.
///
/// # Errors
/// Whatever `clone(2)`, `dup3(2)` or `execveat(2)` answers; no process is left in that case.
pub fn spawn(program: BorrowedFd<'_>, fds: &[BorrowedFd<'_>]) -> io::Result<OwnedFd> {
    // Numbers above every target, so that placing one cannot overwrite another.
    let lifted: Vec<OwnedFd> = std::iter::once(&program)
        .chain(fds)
        .map(lift)
        .collect::<io::Result<_>>()?;
    let raw: Vec<RawFd> = lifted.iter().map(AsRawFd::as_raw_fd).collect();
    let mut child = Child {
        program: raw[0],
        fds: &raw[1..],
        errno: 0,
    };
    let mut stack = vec![0u128; STACK_BYTES / 16];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD;
    let mut pidfd: RawFd = -1;

    let pid = {
        let _blocked = AllSignalsBlocked::new();
        let top = stack.as_mut_ptr_range().end.cast::<c_void>();
        // SAFETY: `run_child` never returns to a frame of this thread and only makes system calls; `top` is
        // the 16-byte aligned end of a stack that outlives the child's use of it, because CLONE_VFORK suspends
        // this thread until the child has executed or ended; `child` outlives it for the same reason; the
        // kernel writes the pidfd into `pidfd`. All signals are blocked, so no handler runs in the child.
        unsafe { libc::clone(run_child, top, flags, (&raw mut child).cast(), &raw mut pidfd) }
    };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `clone` succeeded with CLONE_PIDFD, so the kernel put a new descriptor here that nobody else owns.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    // The child wrote it through the shared memory, behind the compiler's back.
    // SAFETY: `child` is a live local; a volatile read of an initialised i32 is always valid.
    let errno = unsafe { (&raw const child.errno).read_volatile() };
    if errno != 0 {
        reap(&pidfd)?;
        return Err(io::Error::from_raw_os_error(errno));
    }
    Ok(pidfd)
}

/// Waits until the process behind a pidfd has ended, and frees its process-table entry unless somebody else has:
/// a host that ignores `SIGCHLD`, or waits for any child, reaps ours too.
///
/// # Errors
/// Whatever else `waitid(2)` answers.
pub fn reap(pidfd: &OwnedFd) -> io::Result<()> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    use std::os::fd::AsFd;
    // `__WALL`: also children that end without a signal.
    let options = WaitIdOptions::EXITED | WaitIdOptions::from_bits_retain(0x4000_0000);
    loop {
        match waitid(WaitId::PidFd(pidfd.as_fd()), options) {
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::CHILD) => return Ok(()),
            other => return Ok(other.map(drop)?),
        }
    }
}

const STACK_BYTES: usize = 64 * 1024;

struct Child<'a> {
    program: RawFd,
    fds: &'a [RawFd],
    errno: i32,
}

/// Runs in the child, on its own stack but in the host's memory.
extern "C" fn run_child(argument: *mut c_void) -> libc::c_int {
    // SAFETY: `spawn` passes a pointer to a `Child` that lives while this thread's parent is suspended, and
    // nobody else touches it meanwhile.
    let child = unsafe { &mut *argument.cast::<Child<'_>>() };
    for (target, fd) in (FIRST_FD..).zip(child.fds) {
        // SAFETY: two integers; the new descriptor belongs to the child's own table (no CLONE_FILES).
        if unsafe { libc::dup3(*fd, target, 0) } < 0 {
            return give_up(child);
        }
    }
    let name = c"ringfence-zygote".as_ptr();
    let arguments = [name, std::ptr::null()];
    let environment = [std::ptr::null::<libc::c_char>()];
    // SAFETY: an empty, NUL-terminated path with AT_EMPTY_PATH names the descriptor; both arrays are
    // null-terminated and live across the call, which returns only when it failed.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            child.program,
            c"".as_ptr(),
            arguments.as_ptr(),
            environment.as_ptr(),
            libc::AT_EMPTY_PATH,
        );
    }
    give_up(child)
}

fn give_up(child: &mut Child<'_>) -> libc::c_int {
    child.errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    127
}

fn lift(fd: &BorrowedFd<'_>) -> io::Result<OwnedFd> {
    const ABOVE_TARGETS: RawFd = 32;
    // SAFETY: fcntl on a borrowed, open descriptor with an integer argument.
    let raw = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, ABOVE_TARGETS) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: fcntl just made this descriptor; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Blocks every signal of this thread, those the C library keeps for itself included, until dropped.
struct AllSignalsBlocked {
    before: u64,
}

impl AllSignalsBlocked {
    fn new() -> Self {
        Self {
            before: set_mask(u64::MAX),
        }
    }
}

impl Drop for AllSignalsBlocked {
    fn drop(&mut self) {
        set_mask(self.before);
    }
}

fn set_mask(mask: u64) -> u64 {
    let mut before = 0u64;
    // SAFETY: the kernel's signal set is 8 bytes on 64-bit Linux; both pointers are to live u64 values.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const mask,
            &raw mut before,
            size_of::<u64>(),
        );
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;

    #[test]
    fn runs_a_program_and_gives_it_exactly_the_descriptors_it_was_promised() {
        let program = std::fs::File::open("/bin/true").unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        let pidfd = spawn(program.as_fd(), &[writer.as_fd()]).unwrap();
        drop(writer);
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
        reap(&pidfd).unwrap();
        assert!(rest.is_empty());
    }

    #[test]
    fn a_program_that_cannot_run_is_an_error_and_leaves_no_child() {
        let program = std::fs::File::open("/etc/passwd").unwrap();
        let error = spawn(program.as_fd(), &[]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EACCES));
    }
}
