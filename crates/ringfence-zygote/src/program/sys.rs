//! System calls, by hand: this program has no libc.
//!
//! Every wrapper is safe to call: it passes only references it was given, integers, and NUL-terminated
//! strings ([`Path`]). What a call does to the process is the business of `syscalls(2)`.

use core::ffi::c_int;

/// An errno, positive.
pub(crate) type Errno = i32;
/// The result of one system call.
pub(crate) type Result<T> = core::result::Result<T, Errno>;

pub(crate) const EPERM: Errno = 1;
pub(crate) const ENOENT: Errno = 2;
pub(crate) const ESRCH: Errno = 3;
pub(crate) const ENXIO: Errno = 6;
pub(crate) const EINTR: Errno = 4;
pub(crate) const E2BIG: Errno = 7;
pub(crate) const ECHILD: Errno = 10;
pub(crate) const EAGAIN: Errno = 11;
pub(crate) const EACCES: Errno = 13;
pub(crate) const EEXIST: Errno = 17;
pub(crate) const ENOTDIR: Errno = 20;
pub(crate) const EISDIR: Errno = 21;
pub(crate) const EINVAL: Errno = 22;
pub(crate) const ENOSPC: Errno = 28;
pub(crate) const ENAMETOOLONG: Errno = 36;
pub(crate) const ENOSYS: Errno = 38;
pub(crate) const ELOOP: Errno = 40;
pub(crate) const EPROTO: Errno = 71;
pub(crate) const ECONNRESET: Errno = 104;
pub(crate) const ESTALE: Errno = 116;

#[cfg(any(probe_program, feature = "probe"))]
#[path = "../probe/calls.rs"]
pub(crate) mod calls;
mod mounts;
mod names;
mod notify;
mod numbers;
mod process;
mod sockets;
mod terminals;

pub(crate) use mounts::*;
pub(crate) use names::*;
pub(crate) use notify::*;
use numbers::{generic, nr};
pub(crate) use process::*;
pub(crate) use sockets::*;
pub(crate) use terminals::*;

/// One raw system call.
///
/// # Safety
/// The kernel reads and writes what the arguments point at, as the call's manual page says; the caller
/// guarantees that every pointer argument is valid for that, and that the call's effect on this process
/// (mappings, descriptors, control flow) keeps Rust's rules.
#[cfg(target_arch = "x86_64")]
unsafe fn syscall(nr: usize, args: [usize; 6]) -> isize {
    let result;
    // SAFETY: the x86-64 calling convention of `syscall(2)`: rcx and r11 are clobbered, the red zone is not
    // touched; the caller vouches for the arguments.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") nr.cast_signed() => result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// See the x86-64 version.
///
/// # Safety
/// As there.
#[cfg(target_arch = "aarch64")]
unsafe fn syscall(nr: usize, args: [usize; 6]) -> isize {
    let result;
    // SAFETY: the AArch64 calling convention of `syscall(2)`: only x0 changes; the caller vouches for the
    // arguments.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") nr,
            inlateout("x0") args[0].cast_signed() => result,
            in("x1") args[1],
            in("x2") args[2],
            in("x3") args[3],
            in("x4") args[4],
            in("x5") args[5],
            options(nostack),
        );
    }
    result
}

/// Runs a system call whose pointer arguments all come from live references of the calling wrapper.
fn call(nr: usize, args: &[usize]) -> Result<usize> {
    let mut all = [0; 6];
    for (slot, arg) in all.iter_mut().zip(args) {
        *slot = *arg;
    }
    // SAFETY: only the wrappers of this module and its submodules call this, each with integers and with pointers made from
    // references that outlive the call and have the size the kernel is told; none of the calls unmaps or
    // remaps memory this program uses.
    let result = unsafe { syscall(nr, all) };
    #[expect(clippy::cast_possible_truncation, reason = "an errno is at most 4095")]
    #[expect(clippy::cast_sign_loss, reason = "not negative on this branch")]
    if result < 0 {
        Err(-result as Errno)
    } else {
        Ok(result as usize)
    }
}

/// Repeats a call that a signal interrupted.
fn retry(mut f: impl FnMut() -> Result<usize>) -> Result<usize> {
    loop {
        match f() {
            Err(EINTR) => {}
            other => return other,
        }
    }
}

/// An integer argument as a register holds it: sign-extended.
#[expect(
    clippy::cast_sign_loss,
    reason = "the kernel reads the register's low half as the signed int it was"
)]
const fn int(value: c_int) -> usize {
    value as isize as usize
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "descriptors and pids are ints"
)]
const fn to_int(value: usize) -> c_int {
    value as c_int
}

fn ptr<T: ?Sized>(value: &T) -> usize {
    core::ptr::from_ref(value).cast::<u8>() as usize
}

fn ptr_mut<T: ?Sized>(value: &mut T) -> usize {
    core::ptr::from_mut(value).cast::<u8>() as usize
}

/// A NUL-terminated byte string.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a>(&'a [u8]);

impl Path<'static> {
    /// The empty path.
    pub(crate) const EMPTY: Self = Self(b"\0");
}

impl<'a> Path<'a> {
    /// Takes bytes of ours that end in a NUL.
    pub(crate) const fn literal(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Takes bytes that end in a NUL; the kernel reads up to the first one. Anything else reads as the empty path, which
    /// no call resolves.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        if bytes.last() == Some(&0) {
            Self(bytes)
        } else {
            Self(b"\0")
        }
    }

    /// The bytes with the terminator.
    pub(crate) const fn with_nul(self) -> &'a [u8] {
        self.0
    }

    /// The bytes without the terminator.
    pub(crate) fn bytes(self) -> &'a [u8] {
        &self.0[..self.0.len() - 1]
    }

    /// The same path without its leading slashes, for calls relative to a root descriptor.
    pub(crate) fn relative(self) -> Self {
        let start = self.0.iter().position(|b| *b != b'/').unwrap_or(0);
        if self.0.get(start) == Some(&0) {
            Self(b".\0")
        } else {
            Self(&self.0[start..])
        }
    }

    pub(crate) fn address(self) -> usize {
        ptr(self.0)
    }
}

/// A descriptor that closes when dropped.
pub(crate) struct Fd(c_int);

impl Fd {
    /// Takes over a descriptor this process got from its starter or from a message.
    pub(crate) const fn owned(raw: c_int) -> Self {
        Self(raw)
    }

    pub(crate) const fn raw(&self) -> c_int {
        self.0
    }

    /// Leaves the descriptor open.
    pub(crate) fn into_raw(self) -> c_int {
        let raw = self.0;
        core::mem::forget(self);
        raw
    }
}

impl Drop for Fd {
    fn drop(&mut self) {
        let _ = call(nr::CLOSE, &[int(self.0)]);
    }
}

fn fd(result: Result<usize>) -> Result<Fd> {
    result.map(|raw| Fd(to_int(raw)))
}

/// `AT_FDCWD`.
pub(crate) const CWD: c_int = -100;
pub(crate) const O_PATH: u64 = 0o10_000_000;
pub(crate) const O_CLOEXEC: u64 = 0o2_000_000;
#[cfg(target_arch = "x86_64")]
pub(crate) const O_DIRECTORY: u64 = 0o200_000;
#[cfg(target_arch = "x86_64")]
pub(crate) const O_NOFOLLOW: u64 = 0o400_000;
#[cfg(target_arch = "aarch64")]
pub(crate) const O_DIRECTORY: u64 = 0o40_000;
#[cfg(target_arch = "aarch64")]
pub(crate) const O_NOFOLLOW: u64 = 0o100_000;
pub(crate) const O_WRONLY: u64 = 1;
pub(crate) const O_RDWR: u64 = 2;
pub(crate) const O_ACCMODE: u64 = 3;
pub(crate) const O_NOCTTY: u64 = 0o400;
pub(crate) const O_CREAT: u64 = 0o100;
pub(crate) const O_TRUNC: u64 = 0o1000;
pub(crate) const O_TMPFILE: u64 = 0o20_000_000;
pub(crate) const O_EXCL: u64 = 0o200;
pub(crate) const O_NONBLOCK: u64 = 0o4000;
pub(crate) const RESOLVE_NO_MAGICLINKS: u64 = 2;
pub(crate) const RESOLVE_NO_SYMLINKS: u64 = 4;
pub(crate) const RESOLVE_BENEATH: u64 = 8;

/// Ends this process.
pub(crate) fn exit(code: c_int) -> ! {
    loop {
        let _ = call(nr::EXIT_GROUP, &[int(code)]);
    }
}

pub(crate) fn read(from: c_int, to: &mut [u8]) -> Result<usize> {
    retry(|| call(nr::READ, &[int(from), ptr_mut(to), to.len()]))
}

pub(crate) fn write(to: c_int, from: &[u8]) -> Result<usize> {
    retry(|| call(nr::WRITE, &[int(to), ptr(from), from.len()]))
}

/// `openat(2)`.
pub(crate) fn open(path: Path<'_>, flags: u64) -> Result<Fd> {
    #[expect(clippy::cast_possible_truncation, reason = "64-bit targets only")]
    fd(call(nr::OPENAT, &[int(CWD), path.address(), flags as usize, 0]))
}

/// Makes a regular file and opens it for writing.
pub(crate) fn create_file(dir: &Fd, path: Path<'_>, mode: usize) -> Result<Fd> {
    open_at(dir, path, O_WRONLY | O_CREAT | O_EXCL, mode as u64)
}

/// `openat2(2)`, which can refuse to follow links.
pub(crate) fn open_resolving(dir: c_int, path: Path<'_>, flags: u64, resolve: u64) -> Result<Fd> {
    #[repr(C)]
    struct How {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    let how = How {
        flags,
        mode: 0,
        resolve,
    };
    fd(retry(|| {
        call(
            generic::OPENAT2,
            &[int(dir), path.address(), ptr(&how), size_of::<How>()],
        )
    }))
}

/// What `statx(2)` says about an object's identity.
pub(crate) struct Stat {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
}

/// `statx(2)` of an open descriptor.
pub(crate) fn stat(of: c_int) -> Result<Stat> {
    statx(of, Path::EMPTY).map(|statx| statx.identity())
}

/// `statx(2)` of the working directory.
pub(crate) fn stat_here() -> Result<Stat> {
    statx(CWD, Path::new(b".\0")).map(|statx| statx.identity())
}

/// The id of the mount that an open file lies in, as mountinfo counts; `ENOSYS` before Linux 5.8.
pub(crate) fn mount_id(of: &Fd) -> Result<u64> {
    let statx = statx(of.raw(), Path::EMPTY)?;
    if statx.mask & STATX_MNT_ID == 0 {
        return Err(ENOSYS);
    }
    Ok(statx.mount)
}

/// Where an open file lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Site {
    /// The id of its mount.
    pub(crate) mount: u64,
    /// Whether it is the root of that mount.
    pub(crate) is_root: bool,
    /// What it is, and what its mode allows.
    pub(crate) mode: u16,
}

/// The site of an open file; `ENOSYS` before Linux 5.8.
pub(crate) fn site(of: &Fd) -> Result<Site> {
    const MOUNT_ROOT: u32 = 0x2000;
    let statx = statx(of.raw(), Path::EMPTY)?;
    if statx.mask & STATX_MNT_ID == 0 {
        return Err(ENOSYS);
    }
    Ok(Site {
        mount: statx.mount,
        is_root: statx.attributes[0] & MOUNT_ROOT != 0,
        mode: statx.mode,
    })
}

pub(crate) const S_IFMT: u16 = 0o170_000;
pub(crate) const S_IFDIR: u16 = 0o040_000;
pub(crate) const S_IFLNK: u16 = 0o120_000;
pub(crate) const S_IFREG: u16 = 0o100_000;
pub(crate) const S_IFIFO: u16 = 0o010_000;
pub(crate) const S_IFSOCK: u16 = 0o140_000;

/// Whether an open file is a directory.
pub(crate) fn is_directory(of: &Fd) -> Result<bool> {
    Ok(statx(of.raw(), Path::EMPTY)?.mode & S_IFMT == S_IFDIR)
}

/// `struct statx`.
#[repr(C)]
struct Statx {
    mask: u32,
    block_size: u32,
    attributes: [u32; 2],
    owner: [u32; 3],
    mode: u16,
    spare: u16,
    inode: u64,
    size: u64,
    middle: [u64; 10],
    rdev: [u32; 2],
    device: [u32; 2],
    mount: u64,
    rest: [u64; 13],
}

impl Statx {
    fn identity(&self) -> Stat {
        let [major, minor] = self.device.map(u64::from);
        // The encoding of `makedev(3)`, which the host's stat uses.
        let device =
            (minor & 0xff) | ((major & 0xfff) << 8) | ((minor & !0xff) << 12) | ((major & !0xfff) << 32);
        Stat {
            device,
            inode: self.inode,
            size: self.size,
        }
    }
}

const STATX_MNT_ID: u32 = 0x1000;

fn statx(of: c_int, path: Path<'_>) -> Result<Statx> {
    const AT_EMPTY_PATH: usize = 0x1000;
    const STATX_BASIC_STATS: u32 = 0x7ff;
    // SAFETY: all fields are integers, for which zero bytes are a value.
    let mut statx: Statx = unsafe { core::mem::zeroed() };
    let mask = STATX_BASIC_STATS | STATX_MNT_ID;
    let args = [
        int(of),
        path.address(),
        AT_EMPTY_PATH,
        mask as usize,
        ptr_mut(&mut statx),
    ];
    call(nr::STATX, &args)?;
    Ok(statx)
}

/// Maps `length` bytes: of the file when there is one (read-only), else fresh zeroed memory (writable).
pub(crate) fn map(length: usize, file: Option<&Fd>) -> Result<&'static mut [u8]> {
    const PROT_READ: usize = 1;
    const PROT_WRITE: usize = 2;
    const MAP_PRIVATE: usize = 2;
    const MAP_ANONYMOUS: usize = 0x20;
    let (flags, raw) = match file {
        Some(file) => (MAP_PRIVATE, file.raw()),
        None => (MAP_PRIVATE | MAP_ANONYMOUS, -1),
    };
    let address = call(
        nr::MMAP,
        &[0, length.max(1), PROT_READ | PROT_WRITE, flags, int(raw), 0],
    )?;
    // SAFETY: the kernel just made a private, writable mapping of at least `length` bytes at this address,
    // nothing else knows it, and it is never unmapped.
    Ok(unsafe { core::slice::from_raw_parts_mut(address as *mut u8, length) })
}

/// Maps so many words, all zero.
pub(crate) fn map_words(count: usize) -> Result<&'static mut [u64]> {
    let bytes = map(count * size_of::<u64>(), None)?;
    // SAFETY: a fresh mapping is page-aligned, zeroed and holds that many words; the byte slice is not used again.
    Ok(unsafe { core::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), count) })
}

pub(crate) fn chdir(path: Path<'_>) -> Result<()> {
    call(nr::CHDIR, &[path.address()]).map(drop)
}

pub(crate) fn fchdir(to: &Fd) -> Result<()> {
    call(nr::FCHDIR, &[int(to.raw())]).map(drop)
}

/// `umask(2)`; the previous mask.
pub(crate) fn umask(mask: usize) -> usize {
    call(nr::UMASK, &[mask]).unwrap_or(0)
}

pub(crate) fn mkdir(dir: &Fd, path: Path<'_>, mode: usize) -> Result<()> {
    call(nr::MKDIRAT, &[int(dir.raw()), path.address(), mode]).map(drop)
}

/// Makes an empty regular file.
pub(crate) fn mkfile(dir: &Fd, path: Path<'_>, mode: usize) -> Result<()> {
    mknod(dir, path, S_IFREG as usize | mode)
}

pub(crate) fn symlink(content: Path<'_>, dir: &Fd, path: Path<'_>) -> Result<()> {
    call(
        nr::SYMLINKAT,
        &[content.address(), int(dir.raw()), path.address()],
    )
    .map(drop)
}

/// `struct pollfd`.
#[repr(C)]
pub(crate) struct Poll {
    fd: c_int,
    events: i16,
    revents: i16,
}

impl Poll {
    const IN: i16 = 1;

    pub(crate) const fn readable(fd: c_int) -> Self {
        Self {
            fd,
            events: Self::IN,
            revents: 0,
        }
    }

    /// Readable, hung up or broken.
    pub(crate) const fn is_ready(&self) -> bool {
        self.revents != 0
    }
}

/// Waits until one of the descriptors is ready.
pub(crate) fn poll(fds: &mut [Poll]) -> Result<()> {
    retry(|| call(nr::PPOLL, &[ptr_mut(fds), fds.len(), 0, 0, 0])).map(drop)
}

/// The name of a descriptor for calls that take none.
pub(crate) fn descriptor_path<'a>(of: &Fd, buffer: &'a mut [u8; 32]) -> Path<'a> {
    const DIRECTORY: &[u8] = b"/proc/self/fd/";
    let mut number = of.raw().unsigned_abs();
    let mut start = buffer.len() - 1;
    buffer[start] = 0;
    loop {
        start -= 1;
        buffer[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    start -= DIRECTORY.len();
    buffer[start..start + DIRECTORY.len()].copy_from_slice(DIRECTORY);
    Path(&buffer[start..])
}

/// Makes `to` a duplicate of `from` that survives `execve(2)`; also when both are the same number.
pub(crate) fn duplicate(from: c_int, to: c_int) -> Result<()> {
    const F_SETFD: usize = 2;
    if from == to {
        return call(nr::FCNTL, &[int(from), F_SETFD, 0]).map(drop);
    }
    call(nr::DUP3, &[int(from), int(to), 0]).map(drop)
}

/// A close-on-exec duplicate numbered at least `least`.
pub(crate) fn duplicate_above(from: c_int, least: c_int) -> Result<Fd> {
    const F_DUPFD_CLOEXEC: usize = 1030;
    fd(call(nr::FCNTL, &[int(from), F_DUPFD_CLOEXEC, int(least)]))
}

/// Closes every descriptor from `first` to `last`.
pub(crate) fn close_range(first: c_int, last: c_int) -> Result<()> {
    call(generic::CLOSE_RANGE, &[int(first), int(last), 0]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_are_directories() {
        let is_directory = |path: &[u8]| is_directory(&open(Path::new(path), O_PATH | O_CLOEXEC).unwrap());
        assert_eq!(
            [b"/usr\0".as_slice(), b"/dev/null\0", b"/proc/self/fd\0"].map(is_directory),
            [Ok(true), Ok(false), Ok(true)]
        );
    }

    #[test]
    fn mounts_have_the_flags_that_the_table_tells() {
        let proc = open(Path::new(b"/proc/self\0"), O_PATH | O_CLOEXEC).unwrap();
        let id = mount_id(&proc).unwrap().to_string();
        let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let line = table
            .lines()
            .find(|line| line.split(' ').next() == Some(&id))
            .unwrap();
        let options: Vec<&str> = line.split(' ').nth(5).unwrap().split(',').collect();
        let flags = mount_flags(&proc).unwrap();
        for (name, flag) in [
            ("ro", MS_RDONLY),
            ("nosuid", MS_NOSUID),
            ("nodev", MS_NODEV),
            ("noexec", MS_NOEXEC),
        ] {
            assert_eq!(options.contains(&name), flags & flag != 0, "{name}: {line}");
        }
    }

    #[test]
    fn descriptors_have_a_name() {
        let name = |raw| {
            let mut buffer = [1; 32];
            let fd = Fd::owned(raw);
            let name = descriptor_path(&fd, &mut buffer).bytes().to_vec();
            fd.into_raw();
            String::from_utf8(name).unwrap()
        };
        assert_eq!(name(0), "/proc/self/fd/0");
        assert_eq!(name(i32::MAX), "/proc/self/fd/2147483647");
    }

    #[test]
    fn an_objects_identity_is_the_one_the_standard_library_sees() {
        use std::os::unix::fs::MetadataExt;
        let directory = open(Path::new(b"/usr\0"), O_PATH | O_CLOEXEC).unwrap();
        let (ours, theirs) = (stat(directory.raw()).unwrap(), std::fs::metadata("/usr").unwrap());
        assert_eq!(
            (ours.device, ours.inode, ours.size),
            (theirs.dev(), theirs.ino(), theirs.size())
        );
    }
}
