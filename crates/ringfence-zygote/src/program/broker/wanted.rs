//! What a call asks for, whichever of its forms was used.

use crate::body::sys::{self, Call};
use crate::wire::Reader;

/// A directory's descriptor and the address of a path from there.
pub(super) type At = (i32, u64);

/// What process 1 is asked about.
pub(super) enum Asked {
    /// Another file mode creation mask.
    Umask { mask: usize },
    /// A Landlock domain of one's own.
    Layer,
    /// To become the parent of whoever loses its own.
    Adoption,
    /// A child that is one's parent's.
    Sister,
    /// A name.
    Name(Wanted),
}

/// A name, and what it is to be.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    File {
        at: At,
        flags: u64,
        mode: u64,
    },
    Directory {
        at: At,
        mode: usize,
    },
    Node {
        at: At,
        mode: usize,
    },
    SymbolicLink {
        content: u64,
        at: At,
    },
    HardLink {
        old: At,
        new: At,
        flags: usize,
    },
    Rename {
        old: At,
        new: At,
        flags: usize,
    },
    Socket {
        socket: i32,
        address: u64,
        length: usize,
    },
}

/// Nothing for a call that the kernel is to make. Which forms of some are asked about is the filter's to say.
pub(super) fn of(call: &Call) -> Option<Asked> {
    let [a, ..] = call.arguments;
    match call.number {
        number::UMASK => usize::try_from(a & 0o777).ok().map(|mask| Asked::Umask { mask }),
        number::LANDLOCK_RESTRICT_SELF => Some(Asked::Layer),
        number::PRCTL | number::UNSHARE => Some(Asked::Adoption),
        number::CLONE if a & CLONE_NEWPID != 0 => Some(Asked::Adoption),
        number::CLONE => Some(Asked::Sister),
        _ => name(call).map(Asked::Name),
    }
}

/// Process 1 of a pid namespace adopts whoever loses its parent there.
const CLONE_NEWPID: u64 = 0x2000_0000;

fn name(call: &Call) -> Option<Wanted> {
    let [a, b, c, d, e, _] = call.arguments;
    match call.number {
        number::OPENAT => file((int(a), b), c & VALID, d & MODE),
        number::OPENAT2 => open_how(call),
        number::MKDIRAT => directory((int(a), b), c),
        number::MKNODAT => node((int(a), b), c),
        number::SYMLINKAT => Some(Wanted::SymbolicLink {
            content: a,
            at: (int(b), c),
        }),
        number::LINKAT => hard_link((int(a), b), (int(c), d), e),
        number::RENAMEAT => renamed((int(a), b), (int(c), d), 0),
        number::RENAMEAT2 => renamed((int(a), b), (int(c), d), e),
        number::BIND => Some(Wanted::Socket {
            socket: int(a),
            address: b,
            length: usize::try_from(int(c)).ok()?,
        }),
        other => old_form(other, (a, b, c)),
    }
}

/// Forms that start at the working directory, which newer architectures lack.
#[cfg(target_arch = "x86_64")]
fn old_form(call: i32, (a, b, c): (u64, u64, u64)) -> Option<Wanted> {
    const CREAT: u64 = sys::O_CREAT | sys::O_WRONLY | sys::O_TRUNC;
    let here = |path| (sys::CWD, path);
    match call {
        number::OPEN => file(here(a), b & VALID, c & MODE),
        number::CREAT => file(here(a), CREAT, b & MODE),
        number::MKDIR => directory(here(a), b),
        number::MKNOD => node(here(a), b),
        number::SYMLINK => Some(Wanted::SymbolicLink {
            content: a,
            at: here(b),
        }),
        number::LINK => hard_link(here(a), here(b), 0),
        number::RENAME => renamed(here(a), here(b), 0),
        _ => None,
    }
}

#[cfg(not(target_arch = "x86_64"))]
const fn old_form(_: i32, _: (u64, u64, u64)) -> Option<Wanted> {
    None
}

/// The flags that `open(2)` knows; it takes no notice of others.
const VALID: u64 = 0o37_777_703;
/// The bits of a mode that a file can be made with; it takes no notice of others either.
const MODE: u64 = 0o7777;

/// A file, if it may have to be made in a directory under a name.
fn file(at: At, flags: u64, mode: u64) -> Option<Wanted> {
    let makes = flags & sys::O_CREAT != 0 && flags & (sys::O_PATH | sys::O_TMPFILE) == 0;
    makes.then_some(Wanted::File { at, flags, mode })
}

/// `openat2(2)`, if it asks for no more than `openat(2)` does, and for nothing that it refuses.
fn open_how(call: &Call) -> Option<Wanted> {
    /// `struct open_how` as it was first, and as long as any kernel has it.
    const SIZES: core::ops::RangeInclusive<usize> = 24..=64;
    let [at, path, how, size, ..] = call.arguments;
    let size = usize::try_from(size).ok().filter(|size| SIZES.contains(size))?;
    let mut bytes = [0u8; 64];
    let how_bytes = bytes.get_mut(..size)?;
    if sys::read_memory(call.thread, how, how_bytes).ok()? != how_bytes.len() {
        return None;
    }
    let mut reader = Reader::new(&bytes);
    let (flags, mode) = (reader.u64()?, reader.u64()?);
    // How to resolve, and what later kernels add.
    let is_plain = core::iter::from_fn(|| reader.u64()).all(|word| word == 0);
    let is_valid = flags & !VALID == 0 && mode & !MODE == 0;
    (is_plain && is_valid).then(|| file((int(at), path), flags, mode))?
}

fn directory(at: At, mode: u64) -> Option<Wanted> {
    let mode = usize::try_from(mode).ok()?;
    Some(Wanted::Directory { at, mode })
}

/// No device: Landlock grants nobody that right.
fn node(at: At, mode: u64) -> Option<Wanted> {
    let mode = mode & 0o177_777;
    let kind = (mode & u64::from(sys::S_IFMT)) as u16;
    let mode = usize::try_from(mode).ok()?;
    matches!(kind, 0 | sys::S_IFREG | sys::S_IFIFO | sys::S_IFSOCK).then_some(Wanted::Node { at, mode })
}

fn hard_link(old: At, new: At, flags: u64) -> Option<Wanted> {
    let flags = known(flags, sys::AT_SYMLINK_FOLLOW | sys::AT_EMPTY_PATH)?;
    Some(Wanted::HardLink { old, new, flags })
}

/// No whiteout, which is a device.
fn renamed(old: At, new: At, flags: u64) -> Option<Wanted> {
    let flags = known(flags, sys::RENAME_NOREPLACE | sys::RENAME_EXCHANGE)?;
    Some(Wanted::Rename { old, new, flags })
}

/// The flags, if there are none but those that are known.
fn known(register: u64, flags: usize) -> Option<usize> {
    let given = int(register).cast_unsigned() as usize;
    (given & !flags == 0).then_some(given)
}

/// The kernel takes the low half of a register for an `int`.
const fn int(register: u64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "as the kernel does")]
    (register as u32).cast_signed()
}

/// The calls that process 1 is asked about.
#[cfg(target_arch = "x86_64")]
mod number {
    pub(super) const OPEN: i32 = 2;
    pub(super) const BIND: i32 = 49;
    pub(super) const CLONE: i32 = 56;
    pub(super) const RENAME: i32 = 82;
    pub(super) const MKDIR: i32 = 83;
    pub(super) const CREAT: i32 = 85;
    pub(super) const LINK: i32 = 86;
    pub(super) const SYMLINK: i32 = 88;
    pub(super) const UMASK: i32 = 95;
    pub(super) const MKNOD: i32 = 133;
    pub(super) const PRCTL: i32 = 157;
    pub(super) const OPENAT: i32 = 257;
    pub(super) const UNSHARE: i32 = 272;
    pub(super) const MKDIRAT: i32 = 258;
    pub(super) const MKNODAT: i32 = 259;
    pub(super) const RENAMEAT: i32 = 264;
    pub(super) const LINKAT: i32 = 265;
    pub(super) const SYMLINKAT: i32 = 266;
    pub(super) const RENAMEAT2: i32 = 316;
    pub(super) const OPENAT2: i32 = 437;
    pub(super) const LANDLOCK_RESTRICT_SELF: i32 = 446;
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
    pub(super) const UNSHARE: i32 = 97;
    pub(super) const UMASK: i32 = 166;
    pub(super) const PRCTL: i32 = 167;
    pub(super) const BIND: i32 = 200;
    pub(super) const CLONE: i32 = 220;
    pub(super) const RENAMEAT2: i32 = 276;
    pub(super) const OPENAT2: i32 = 437;
    pub(super) const LANDLOCK_RESTRICT_SELF: i32 = 446;
}
