//! Changing the file view: old and new mount API.

use crate::sys::{Arg, Args, Attempt, Errno, Step, call, call_fd, put, reaches};

const AT_RECURSIVE: i32 = 0x8000;
/// `open_tree_attr(2)`, Linux 6.15; the same number everywhere.
const OPEN_TREE_ATTR: libc::c_long = 467;
const MS_RDONLY: u64 = 1;
const MS_BIND: u64 = 4096;
const MS_REMOUNT: u64 = 32;

pub(crate) const STEPS: &[Step] = &[
    // Covers a file with another one.
    ("mask", |args| mount(Some("/dev/null"), args, 0, MS_BIND)),
    // A memory filesystem: `tmpfs DIRECTORY [nosuid] [nodev] [noexec]`.
    ("tmpfs", |args| {
        let flag = |word: &String| match word.as_str() {
            "nosuid" => libc::MS_NOSUID,
            "nodev" => libc::MS_NODEV,
            "noexec" => libc::MS_NOEXEC,
            _ => 0,
        };
        let flags = args.0.iter().map(flag).fold(0, |all, flag| all | flag);
        mount(Some("tmpfs"), args, 0, flags)
    }),
    ("umount", |args| {
        let path = args.path(0);
        call!(libc::SYS_umount2, path.as_c_str(), libc::MNT_DETACH).map(drop)
    }),
    ("pivot-root", |args| {
        let path = args.path(0);
        call!(libc::SYS_pivot_root, path.as_c_str(), path.as_c_str()).map(drop)
    }),
    ("chroot", |args| {
        call!(libc::SYS_chroot, args.path(0).as_c_str()).map(drop)
    }),
    // Reads FILE out of a clone of the mount of DIRECTORY, where nothing lies over it.
    ("open-tree", |args| {
        let (directory, file) = (args.path(0), args.path(1));
        let tree = clone_tree(libc::SYS_open_tree, &directory, &[])?;
        let file = call_fd!(libc::SYS_openat, tree, file.as_c_str(), libc::O_RDONLY, 0)?;
        let mut content = [0; 6];
        call!(libc::SYS_read, file, &mut content, Arg::word(6))?;
        if &content == b"secret" {
            Ok(())
        } else {
            Err(Errno(libc::ENODATA))
        }
    }),
    ("open-tree-attr", |args| {
        clone_tree(OPEN_TREE_ATTR, &args.path(0), &[0; 32]).map(drop)
    }),
    ("fsopen", |_| fsopen().map(drop)),
    ("fsconfig", |_| {
        const CREATE: i32 = 6;
        reaches(
            call!(libc::SYS_fsconfig, -1, CREATE, Arg::NULL, Arg::NULL, 0),
            libc::EINVAL,
        )
    }),
    ("fsmount", |_| {
        reaches(call!(libc::SYS_fsmount, -1, 0, 0), libc::EBADF)
    }),
    ("fspick", |args| {
        call!(libc::SYS_fspick, libc::AT_FDCWD, args.path(0).as_c_str(), 0).map(drop)
    }),
    ("move-mount", |args| {
        const FROM_IS_EMPTY: i32 = 4;
        let to = args.path(0);
        let moved = call!(
            libc::SYS_move_mount,
            -1,
            c"",
            libc::AT_FDCWD,
            to.as_c_str(),
            FROM_IS_EMPTY
        );
        reaches(moved, libc::EBADF)
    }),
    // The way of the new API from nothing to a mounted memory filesystem.
    ("new-mount", |args| {
        const CREATE: i32 = 6;
        const FROM_IS_EMPTY: i32 = 4;
        let context = fsopen()?;
        call!(libc::SYS_fsconfig, context, CREATE, Arg::NULL, Arg::NULL, 0)?;
        let mount = call_fd!(libc::SYS_fsmount, context, 0, 0)?;
        let to = args.path(0);
        call!(
            libc::SYS_move_mount,
            mount,
            c"",
            libc::AT_FDCWD,
            to.as_c_str(),
            FROM_IS_EMPTY
        )
        .map(drop)
    }),
    ("seal", |args| set_attributes(args, MS_RDONLY, 0)),
    ("unseal", |args| set_attributes(args, 0, MS_RDONLY)),
    ("remount", |args| mount(None, args, 0, MS_REMOUNT | MS_BIND)),
];

fn mount(source: Option<&str>, args: &Args<'_>, at: usize, flags: u64) -> Attempt {
    let target = args.path(at);
    let text = std::ffi::CString::new(source.unwrap_or("")).unwrap_or_default();
    let kind = if source == Some("tmpfs") {
        Arg::from(c"tmpfs")
    } else {
        Arg::NULL
    };
    let source = if source.is_some() {
        Arg::from(text.as_c_str())
    } else {
        Arg::NULL
    };
    let target = Arg::from(target.as_c_str());
    call!(libc::SYS_mount, source, target, kind, Arg::word(flags), Arg::NULL).map(drop)
}

fn fsopen() -> Attempt<i32> {
    call_fd!(libc::SYS_fsopen, c"tmpfs", 0)
}

/// `open_tree(2)`, or `open_tree_attr(2)` with attributes that change nothing.
fn clone_tree(number: libc::c_long, path: &std::ffi::CStr, attributes: &[u8]) -> Attempt<i32> {
    const CLONE: i32 = 1;
    let size = Arg::word(attributes.len() as u64);
    call_fd!(number, libc::AT_FDCWD, path, CLONE, attributes, size)
}

fn set_attributes(args: &Args<'_>, set: u64, clear: u64) -> Attempt {
    let path = args.path(0);
    let mut attributes = [0; 32];
    put(&mut attributes, 0, set.to_ne_bytes());
    put(&mut attributes, 8, clear.to_ne_bytes());
    let size = Arg::word(32);
    call!(
        libc::SYS_mount_setattr,
        libc::AT_FDCWD,
        path.as_c_str(),
        AT_RECURSIVE,
        &mut attributes,
        size
    )
    .map(drop)
}
