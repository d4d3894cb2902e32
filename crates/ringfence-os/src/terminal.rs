//! Terminals; see `ioctl_tty(2)` and `pty(7)`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Sends `SIGINT` to the foreground process group of the terminal with this master.
///
/// The kernel picks the group at that moment, so no other one can be hit. Does nothing where no group is in the
/// foreground.
///
/// # Errors
/// When it is no such master.
pub fn interrupt_foreground(master: BorrowedFd<'_>) -> io::Result<()> {
    const TIOCSIG: libc::c_ulong = 0x4004_5436;
    let argument = libc::c_ulong::from(libc::SIGINT.unsigned_abs());
    // SAFETY: the request takes its argument by value, so the kernel reads and writes no memory of ours; the descriptor
    // is borrowed and stays open.
    let answer = unsafe { libc::ioctl(master.as_raw_fd(), TIOCSIG as _, argument) };
    if answer == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
