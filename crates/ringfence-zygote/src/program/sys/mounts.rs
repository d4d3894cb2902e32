//! Mounts.

use super::{Fd, O_CLOEXEC, Path, Result, call, fd, generic, int, nr, ptr, ptr_mut};

/// `mount(2)`.
pub(crate) fn mount(
    source: Path<'_>,
    target: Path<'_>,
    kind: Path<'_>,
    flags: usize,
    data: Path<'_>,
) -> Result<()> {
    call(
        nr::MOUNT,
        &[
            source.address(),
            target.address(),
            kind.address(),
            flags,
            data.address(),
        ],
    )
    .map(drop)
}

pub(crate) const MS_RDONLY: usize = 1;
pub(crate) const MS_NOSUID: usize = 2;
pub(crate) const MS_NODEV: usize = 4;
pub(crate) const MS_NOEXEC: usize = 8;
pub(crate) const MS_REMOUNT: usize = 1 << 5;
pub(crate) const MS_NOSYMFOLLOW: usize = 1 << 8;
pub(crate) const MS_BIND: usize = 1 << 12;
pub(crate) const MS_REC: usize = 1 << 14;
pub(crate) const MS_UNBINDABLE: usize = 1 << 17;
pub(crate) const MS_PRIVATE: usize = 1 << 18;

/// Detaches the mount at `path`.
pub(crate) fn unmount_detached(path: Path<'_>) -> Result<()> {
    const MNT_DETACH: usize = 2;
    call(nr::UMOUNT2, &[path.address(), MNT_DETACH]).map(drop)
}

/// `pivot_root(".", ".")`: the old root ends up on top of the new one.
pub(crate) fn pivot_root_here() -> Result<()> {
    call(nr::PIVOT_ROOT, &[ptr(b".\0"), ptr(b".\0")]).map(drop)
}

const AT_EMPTY_PATH: usize = 0x1000;
const AT_RECURSIVE: usize = 0x8000;

/// A detached copy of the mount tree at `of`.
pub(crate) fn clone_tree(of: &Fd) -> Result<Fd> {
    const OPEN_TREE_CLONE: usize = 1;
    #[expect(clippy::cast_possible_truncation, reason = "64-bit targets only")]
    let flags = OPEN_TREE_CLONE | AT_EMPTY_PATH | AT_RECURSIVE | O_CLOEXEC as usize;
    fd(call(generic::OPEN_TREE, &[int(of.raw()), ptr(b"\0"), flags]))
}

/// Attaches a detached mount at `target`.
pub(crate) fn attach(mount: &Fd, target: &Fd) -> Result<()> {
    const F_EMPTY_PATH: usize = 4;
    const T_EMPTY_PATH: usize = 0x40;
    let empty = ptr(b"\0");
    let args = [
        int(mount.raw()),
        empty,
        int(target.raw()),
        empty,
        F_EMPTY_PATH | T_EMPTY_PATH,
    ];
    call(generic::MOVE_MOUNT, &args).map(drop)
}

/// Sets mount attributes, on the whole tree below `mount` if `recursive`; `ENOSYS` before Linux 5.12.
pub(crate) fn set_attributes(mount: &Fd, attributes: u64, recursive: bool) -> Result<()> {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        userns: u64,
    }
    let wanted = Attributes {
        set: attributes,
        clear: 0,
        propagation: 0,
        userns: 0,
    };
    let flags = if recursive {
        AT_EMPTY_PATH | AT_RECURSIVE
    } else {
        AT_EMPTY_PATH
    };
    let args = [
        int(mount.raw()),
        ptr(b"\0"),
        flags,
        ptr(&wanted),
        size_of::<Attributes>(),
    ];
    call(generic::MOUNT_SETATTR, &args).map(drop)
}

/// The `MS_*` flags of the mount that an open file lies in, as far as a remount has to repeat them.
pub(crate) fn mount_flags(of: &Fd) -> Result<usize> {
    /// `struct statfs` of 64-bit systems.
    #[repr(C)]
    struct Statfs {
        before: [u64; 10],
        flags: usize,
        spare: [u64; 4],
    }
    const ST_NOSYMFOLLOW: usize = 1 << 13;
    let mut found = Statfs {
        before: [0; 10],
        flags: 0,
        spare: [0; 4],
    };
    call(nr::FSTATFS, &[int(of.raw()), ptr_mut(&mut found)])?;
    // The first four have the values that mount(2) gives them.
    let same = found.flags & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC);
    let links = found.flags & ST_NOSYMFOLLOW != 0;
    Ok(same | if links { MS_NOSYMFOLLOW } else { 0 })
}

/// A detached, fresh mount of a filesystem with string options and mount attributes.
pub(crate) fn new_mount(kind: &[u8], options: &[(&[u8], &[u8])], attributes: u64) -> Result<Fd> {
    const CLOEXEC: usize = 1;
    const SET_STRING: usize = 1;
    const CREATE: usize = 6;
    let context = fd(call(generic::FSOPEN, &[Path::new(kind).address(), CLOEXEC]))?;
    for (key, value) in options {
        let (key, value) = (Path::new(key).address(), Path::new(value).address());
        call(
            generic::FSCONFIG,
            &[int(context.raw()), SET_STRING, key, value, 0],
        )?;
    }
    call(generic::FSCONFIG, &[int(context.raw()), CREATE, 0, 0, 0])?;
    #[expect(clippy::cast_possible_truncation, reason = "64-bit targets only")]
    fd(call(
        generic::FSMOUNT,
        &[int(context.raw()), CLOEXEC, attributes as usize],
    ))
}
