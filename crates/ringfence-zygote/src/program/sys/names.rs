//! Names in directories: what makes one, or another one of what is there.

use core::ffi::c_int;

use super::{Fd, O_CLOEXEC, Path, Result, call, fd, int, nr, ptr, ptr_mut};

/// Flag of [`link`].
pub(crate) const AT_SYMLINK_FOLLOW: usize = 0x400;
/// See [`AT_SYMLINK_FOLLOW`].
pub(crate) const AT_EMPTY_PATH: usize = 0x1000;
/// Flag of [`rename`].
pub(crate) const RENAME_NOREPLACE: usize = 1;
/// See [`RENAME_NOREPLACE`].
pub(crate) const RENAME_EXCHANGE: usize = 2;

/// `openat(2)` with all its arguments.
pub(crate) fn open_at(dir: &Fd, name: Path<'_>, flags: u64, mode: u64) -> Result<Fd> {
    #[expect(clippy::cast_possible_truncation, reason = "64-bit targets only")]
    let [flags, mode] = [flags | O_CLOEXEC, mode].map(|value| value as usize);
    fd(call(nr::OPENAT, &[int(dir.raw()), name.address(), flags, mode]))
}

/// Replaces the status flags of an open file.
pub(crate) fn set_status_flags(of: &Fd, flags: u64) -> Result<()> {
    const F_SETFL: usize = 4;
    #[expect(clippy::cast_possible_truncation, reason = "64-bit targets only")]
    call(nr::FCNTL, &[int(of.raw()), F_SETFL, flags as usize]).map(drop)
}

/// Makes an open file an empty one.
pub(crate) fn truncate(file: &Fd) -> Result<()> {
    call(nr::FTRUNCATE, &[int(file.raw()), 0]).map(drop)
}

/// `mknodat(2)` of what is no device.
pub(crate) fn mknod(dir: &Fd, name: Path<'_>, mode: usize) -> Result<()> {
    call(nr::MKNODAT, &[int(dir.raw()), name.address(), mode, 0]).map(drop)
}

/// `linkat(2)`.
pub(crate) fn link(from: c_int, old: Path<'_>, dir: &Fd, name: Path<'_>, flags: usize) -> Result<()> {
    let arguments = [int(from), old.address(), int(dir.raw()), name.address(), flags];
    call(nr::LINKAT, &arguments).map(drop)
}

/// `renameat2(2)`.
pub(crate) fn rename(from: &Fd, old: Path<'_>, dir: &Fd, name: Path<'_>, flags: usize) -> Result<()> {
    let arguments = [
        int(from.raw()),
        old.address(),
        int(dir.raw()),
        name.address(),
        flags,
    ];
    call(nr::RENAMEAT2, &arguments).map(drop)
}

/// What a symbolic link contains.
pub(crate) fn read_link(dir: &Fd, name: Path<'_>, to: &mut [u8]) -> Result<usize> {
    let arguments = [int(dir.raw()), name.address(), ptr_mut(to), to.len()];
    call(nr::READLINKAT, &arguments)
}

/// Binds a socket to a path.
pub(crate) fn bind_path(socket: &Fd, path: Path<'_>) -> Result<()> {
    const AF_UNIX: u16 = 1;
    /// `struct sockaddr_un`.
    #[repr(C)]
    struct Address {
        family: u16,
        path: [u8; 108],
    }
    let mut address = Address {
        family: AF_UNIX,
        path: [0; 108],
    };
    let path = path.bytes();
    let Some(room) = address.path.get_mut(..path.len()) else {
        return Err(super::ENAMETOOLONG);
    };
    room.copy_from_slice(path);
    let length = size_of::<u16>() + path.len();
    call(nr::BIND, &[int(socket.raw()), ptr(&address), length]).map(drop)
}
