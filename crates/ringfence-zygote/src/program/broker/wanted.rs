//! What a call that makes a name asks for, whichever of its forms was used.

use crate::body::sys::{self, Call};

/// A directory's descriptor and the address of a path from there.
type At = (i32, u64);

pub(super) enum Wanted {
    File {
        at: i32,
        path: u64,
        flags: u64,
        mode: u64,
    },
    Directory {
        at: i32,
        path: u64,
        mode: usize,
    },
    Node {
        at: i32,
        path: u64,
        mode: usize,
    },
    Link {
        content: u64,
        at: i32,
        path: u64,
    },
    /// Another name.
    Name {
        old: At,
        new: At,
        flags: usize,
    },
    /// Another name in place of the old one.
    Move {
        old: At,
        new: At,
        flags: usize,
    },
    /// Another file mode creation mask.
    Umask {
        mask: usize,
    },
    Socket {
        socket: i32,
        address: u64,
        length: u64,
    },
}

/// Nothing for a call that the kernel is to make.
pub(super) fn of(call: &Call) -> Option<Wanted> {
    let [a, b, c, d, e, _] = call.arguments;
    let here = sys::CWD;
    let flags = usize::try_from(e).ok()?;
    match call.number {
        number::OPENAT => file(int(a), b, c, d),
        number::OPENAT2 => open_how(call),
        number::MKDIRAT => directory(int(a), b, c),
        number::MKNODAT => node(int(a), b, c),
        number::SYMLINKAT => Some(Wanted::Link {
            content: a,
            at: int(b),
            path: c,
        }),
        number::LINKAT => Some(Wanted::Name {
            old: (int(a), b),
            new: (int(c), d),
            flags,
        }),
        number::RENAMEAT => moved((int(a), b), (int(c), d), 0),
        number::RENAMEAT2 => moved((int(a), b), (int(c), d), flags),
        number::UMASK => usize::try_from(a & 0o777).ok().map(|mask| Wanted::Umask { mask }),
        number::BIND => Some(Wanted::Socket {
            socket: int(a),
            address: b,
            length: c,
        }),
        other => old_form(other, (a, b, c), here),
    }
}

/// Forms that start at the working directory, which newer architectures lack.
#[cfg(target_arch = "x86_64")]
fn old_form(call: i32, (a, b, c): (u64, u64, u64), here: i32) -> Option<Wanted> {
    const CREAT_FLAGS: u64 = sys::O_CREAT | sys::O_WRONLY | O_TRUNC;
    const O_TRUNC: u64 = 0o1000;
    match call {
        number::OPEN => file(here, a, b, c),
        number::CREAT => file(here, a, CREAT_FLAGS, b),
        number::MKDIR => directory(here, a, b),
        number::MKNOD => node(here, a, b),
        number::SYMLINK => Some(Wanted::Link {
            content: a,
            at: here,
            path: b,
        }),
        number::LINK => Some(Wanted::Name {
            old: (here, a),
            new: (here, b),
            flags: 0,
        }),
        number::RENAME => moved((here, a), (here, b), 0),
        _ => None,
    }
}

#[cfg(not(target_arch = "x86_64"))]
const fn old_form(_: i32, _: (u64, u64, u64), _: i32) -> Option<Wanted> {
    None
}

/// A file, if it may have to be made in a directory under a name.
fn file(at: i32, path: u64, flags: u64, mode: u64) -> Option<Wanted> {
    const MODE: u64 = 0o7777;
    const O_TMPFILE: u64 = 0o20_000_000;
    let makes = flags & sys::O_CREAT != 0 && flags & (sys::O_PATH | O_TMPFILE) == 0;
    makes.then_some(Wanted::File {
        at,
        path,
        flags: flags & u64::from(u32::MAX),
        mode: mode & MODE,
    })
}

/// `openat2(2)`, if it asks for no more than `openat(2)` does.
fn open_how(call: &Call) -> Option<Wanted> {
    let [at, path, how, size, ..] = call.arguments;
    let mut words = [0u8; 24];
    let known = size == words.len() as u64;
    if !known || sys::read_memory(call.thread, how, &mut words).ok()? != words.len() {
        return None;
    }
    let mut words = words.chunks_exact(size_of::<u64>()).map(|word| {
        let mut bytes = [0; size_of::<u64>()];
        bytes.copy_from_slice(word);
        u64::from_ne_bytes(bytes)
    });
    let (flags, mode, resolve) = (words.next()?, words.next()?, words.next()?);
    if resolve != 0 {
        return None;
    }
    file(int(at), path, flags, mode)
}

fn directory(at: i32, path: u64, mode: u64) -> Option<Wanted> {
    let mode = usize::try_from(mode).ok()?;
    Some(Wanted::Directory { at, path, mode })
}

/// No device, which nobody here may make.
fn node(at: i32, path: u64, mode: u64) -> Option<Wanted> {
    let mode = mode & 0o177_777;
    let kind = (mode & u64::from(sys::S_IFMT)) as u16;
    let mode = usize::try_from(mode).ok()?;
    matches!(kind, 0 | sys::S_IFREG | sys::S_IFIFO | sys::S_IFSOCK).then_some(Wanted::Node { at, path, mode })
}

/// No whiteout, which is a device.
fn moved(old: At, new: At, flags: usize) -> Option<Wanted> {
    const NOREPLACE_AND_EXCHANGE: usize = 3;
    (flags & !NOREPLACE_AND_EXCHANGE == 0).then_some(Wanted::Move { old, new, flags })
}

/// The kernel takes the low half of a register for an `int`.
const fn int(register: u64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "as the kernel does")]
    (register as u32).cast_signed()
}

/// The calls that make names.
#[cfg(target_arch = "x86_64")]
mod number {
    pub(super) const OPEN: i32 = 2;
    pub(super) const BIND: i32 = 49;
    pub(super) const RENAME: i32 = 82;
    pub(super) const MKDIR: i32 = 83;
    pub(super) const CREAT: i32 = 85;
    pub(super) const LINK: i32 = 86;
    pub(super) const SYMLINK: i32 = 88;
    pub(super) const UMASK: i32 = 95;
    pub(super) const MKNOD: i32 = 133;
    pub(super) const OPENAT: i32 = 257;
    pub(super) const MKDIRAT: i32 = 258;
    pub(super) const MKNODAT: i32 = 259;
    pub(super) const RENAMEAT: i32 = 264;
    pub(super) const LINKAT: i32 = 265;
    pub(super) const SYMLINKAT: i32 = 266;
    pub(super) const RENAMEAT2: i32 = 316;
    pub(super) const OPENAT2: i32 = 437;
}

/// See the x86-64 version.
#[cfg(target_arch = "aarch64")]
mod number {
    pub(super) const MKNODAT: i32 = 33;
    pub(super) const MKDIRAT: i32 = 34;
    pub(super) const SYMLINKAT: i32 = 36;
    pub(super) const LINKAT: i32 = 37;
    pub(super) const RENAMEAT: i32 = 38;
    pub(super) const OPENAT: i32 = 56;
    pub(super) const UMASK: i32 = 166;
    pub(super) const BIND: i32 = 200;
    pub(super) const RENAMEAT2: i32 = 276;
    pub(super) const OPENAT2: i32 = 437;
}
