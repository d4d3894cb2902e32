//! Record locks of a part of a file; see `fcntl_locking(2)`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// What to do with a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Share it.
    Share,
    /// Have it alone.
    Take,
    /// Give it back.
    GiveBack,
}

/// Changes the lock of `length` bytes from `start` on, of the rest of the file if `length` is 0, without waiting. The
/// lock belongs to the process, which loses it when it closes any descriptor of the file. The file need not be that
/// long.
///
/// # Errors
/// `EAGAIN` or `EACCES` while another process has a lock that does not allow it, `EINVAL` beyond the largest offset.
pub fn change(file: BorrowedFd<'_>, change: Change, start: u64, length: u64) -> io::Result<()> {
    let kind = match change {
        Change::Share => libc::F_RDLCK,
        Change::Take => libc::F_WRLCK,
        Change::GiveBack => libc::F_UNLCK,
    };
    let offset =
        |number: u64| libc::off_t::try_from(number).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL));
    // SAFETY: a structure of integers, of which zero is a value; from the start of the file is 0 too.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    #[allow(
        clippy::cast_possible_truncation,
        reason = "0, 1 or 2; on some systems wider than the field"
    )]
    {
        lock.l_type = kind as libc::c_short;
    }
    lock.l_start = offset(start)?;
    lock.l_len = offset(length)?;
    // SAFETY: the descriptor is borrowed and stays open; the kernel only reads the structure, which lives here.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const lock) };
    if answer == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
