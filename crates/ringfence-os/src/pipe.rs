//! Writing to a pipe whose reader may be gone.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `write(2)` that answers [`ErrorKind::BrokenPipe`](io::ErrorKind::BrokenPipe) and never raises `SIGPIPE`, whatever the
/// disposition of that signal in this process.
///
/// # Errors
/// As `write(2)`.
pub fn write(to: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let blocked = Blocked::new()?;
    // SAFETY: the slice is readable for its length and outlives the call; the descriptor is borrowed and stays open.
    let count = unsafe { libc::write(to.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
    let result = usize::try_from(count).map_err(|_| io::Error::last_os_error());
    if let Err(error) = &result
        && error.raw_os_error() == Some(libc::EPIPE)
    {
        blocked.discard();
    }
    result
}

/// `SIGPIPE` blocked in this thread, until this is dropped.
struct Blocked {
    pipe: libc::sigset_t,
    before: libc::sigset_t,
    /// One that was pending already is somebody else's.
    was_pending: bool,
}

impl Blocked {
    fn new() -> io::Result<Self> {
        let mut pipe = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: sigemptyset initializes the set that sigaddset then changes; both only write to it, and it is valid for
        // writes.
        let pipe = unsafe {
            libc::sigemptyset(pipe.as_mut_ptr());
            libc::sigaddset(pipe.as_mut_ptr(), libc::SIGPIPE);
            pipe.assume_init()
        };
        let was_pending = is_pending();
        // SAFETY: the first set is initialized, the second is valid for writes and initialized on success.
        let answer = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const pipe, before.as_mut_ptr()) };
        if answer != 0 {
            return Err(io::Error::from_raw_os_error(answer));
        }
        Ok(Self {
            pipe,
            // SAFETY: the call succeeded, so it wrote the former mask.
            before: unsafe { before.assume_init() },
            was_pending,
        })
    }

    /// Takes the signal that the failed write raised; it is pending for this very thread (write(2)).
    fn discard(&self) {
        if !self.was_pending && is_pending() {
            let mut number = 0;
            // SAFETY: the set is initialized and the number is valid for writes. It returns at once: the signal is
            // pending and blocked, so nobody else takes it.
            unsafe { libc::sigwait(&raw const self.pipe, &raw mut number) };
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the mask is the one this thread had; a null pointer says that the present one is not asked for.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut()) };
    }
}

fn is_pending() -> bool {
    let mut pending = MaybeUninit::uninit();
    // SAFETY: the set is valid for writes, and initialized when the call succeeds; the member is a valid signal.
    unsafe {
        libc::sigpending(pending.as_mut_ptr()) == 0 && libc::sigismember(pending.as_ptr(), libc::SIGPIPE) == 1
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn prc_22_a_broken_pipe_is_an_error_and_no_signal() {
        // SAFETY: the default disposition runs no code of ours. With it, a SIGPIPE would end this process.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let (reader, writer) = io::pipe().unwrap();
        assert_eq!(write(writer.as_fd(), b"abc").unwrap(), 3);
        drop(reader);
        let error = write(writer.as_fd(), b"abc").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert!(!is_pending(), "the signal is still to come");
    }
}
