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
pub(crate) const EINTR: Errno = 4;
pub(crate) const ENOEXEC: Errno = 8;
pub(crate) const EACCES: Errno = 13;
pub(crate) const EEXIST: Errno = 17;
pub(crate) const ENOTDIR: Errno = 20;
pub(crate) const EINVAL: Errno = 22;
pub(crate) const EPROTO: Errno = 71;
pub(crate) const ESTALE: Errno = 116;

#[cfg(target_arch = "x86_64")]
mod nr {
    pub(crate) const READ: usize = 0;
    pub(crate) const WRITE: usize = 1;
    pub(crate) const CLOSE: usize = 3;
    pub(crate) const MMAP: usize = 9;
    pub(crate) const RT_SIGACTION: usize = 13;
    pub(crate) const RT_SIGPROCMASK: usize = 14;
    pub(crate) const IOCTL: usize = 16;
    pub(crate) const SOCKET: usize = 41;
    pub(crate) const SENDMSG: usize = 46;
    pub(crate) const RECVMSG: usize = 47;
    pub(crate) const SOCKETPAIR: usize = 53;
    pub(crate) const CLONE: usize = 56;
    pub(crate) const EXECVE: usize = 59;
    pub(crate) const WAIT4: usize = 61;
    pub(crate) const KILL: usize = 62;
    pub(crate) const FCNTL: usize = 72;
    pub(crate) const CHDIR: usize = 80;
    pub(crate) const FCHDIR: usize = 81;
    pub(crate) const UMASK: usize = 95;
    pub(crate) const SETSID: usize = 112;
    pub(crate) const CAPSET: usize = 126;
    pub(crate) const PIVOT_ROOT: usize = 155;
    pub(crate) const PRCTL: usize = 157;
    pub(crate) const MOUNT: usize = 165;
    pub(crate) const UMOUNT2: usize = 166;
    pub(crate) const EXIT_GROUP: usize = 231;
    pub(crate) const KEYCTL: usize = 250;
    pub(crate) const OPENAT: usize = 257;
    pub(crate) const MKDIRAT: usize = 258;
    pub(crate) const MKNODAT: usize = 259;
    pub(crate) const UNLINKAT: usize = 263;
    pub(crate) const SYMLINKAT: usize = 266;
    pub(crate) const PPOLL: usize = 271;
    pub(crate) const UNSHARE: usize = 272;
    pub(crate) const SIGNALFD4: usize = 289;
    pub(crate) const DUP3: usize = 292;
    pub(crate) const PRLIMIT64: usize = 302;
    pub(crate) const SECCOMP: usize = 317;
    pub(crate) const STATX: usize = 332;
}

#[cfg(target_arch = "aarch64")]
mod nr {
    pub(crate) const DUP3: usize = 24;
    pub(crate) const FCNTL: usize = 25;
    pub(crate) const IOCTL: usize = 29;
    pub(crate) const MKNODAT: usize = 33;
    pub(crate) const MKDIRAT: usize = 34;
    pub(crate) const UNLINKAT: usize = 35;
    pub(crate) const SYMLINKAT: usize = 36;
    pub(crate) const UMOUNT2: usize = 39;
    pub(crate) const MOUNT: usize = 40;
    pub(crate) const PIVOT_ROOT: usize = 41;
    pub(crate) const CHDIR: usize = 49;
    pub(crate) const FCHDIR: usize = 50;
    pub(crate) const OPENAT: usize = 56;
    pub(crate) const CLOSE: usize = 57;
    pub(crate) const READ: usize = 63;
    pub(crate) const WRITE: usize = 64;
    pub(crate) const PPOLL: usize = 73;
    pub(crate) const SIGNALFD4: usize = 74;
    pub(crate) const CAPSET: usize = 91;
    pub(crate) const EXIT_GROUP: usize = 94;
    pub(crate) const UNSHARE: usize = 97;
    pub(crate) const KILL: usize = 129;
    pub(crate) const RT_SIGACTION: usize = 134;
    pub(crate) const RT_SIGPROCMASK: usize = 135;
    pub(crate) const SETSID: usize = 157;
    pub(crate) const UMASK: usize = 166;
    pub(crate) const PRCTL: usize = 167;
    pub(crate) const SOCKET: usize = 198;
    pub(crate) const SOCKETPAIR: usize = 199;
    pub(crate) const SENDMSG: usize = 211;
    pub(crate) const RECVMSG: usize = 212;
    pub(crate) const KEYCTL: usize = 219;
    pub(crate) const CLONE: usize = 220;
    pub(crate) const EXECVE: usize = 221;
    pub(crate) const MMAP: usize = 222;
    pub(crate) const WAIT4: usize = 260;
    pub(crate) const PRLIMIT64: usize = 261;
    pub(crate) const SECCOMP: usize = 277;
    pub(crate) const STATX: usize = 291;
}

/// Numbers that are the same on every architecture since Linux 5.1.
mod generic {
    pub(crate) const OPEN_TREE: usize = 428;
    pub(crate) const MOVE_MOUNT: usize = 429;
    pub(crate) const FSOPEN: usize = 430;
    pub(crate) const FSCONFIG: usize = 431;
    pub(crate) const FSMOUNT: usize = 432;
    pub(crate) const CLOSE_RANGE: usize = 436;
    pub(crate) const OPENAT2: usize = 437;
    pub(crate) const MOUNT_SETATTR: usize = 442;
    pub(crate) const LANDLOCK_CREATE_RULESET: usize = 444;
    pub(crate) const LANDLOCK_ADD_RULE: usize = 445;
    pub(crate) const LANDLOCK_RESTRICT_SELF: usize = 446;
}

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
    // SAFETY: only the wrappers of this file call this, each with integers and with pointers made from
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
    /// Takes bytes that end in their only NUL-terminator; anything else reads as the empty path, which no
    /// call resolves.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        if bytes.last() == Some(&0) {
            Self(bytes)
        } else {
            Self(b"\0")
        }
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
#[cfg(target_arch = "aarch64")]
pub(crate) const O_DIRECTORY: u64 = 0o40_000;
pub(crate) const O_WRONLY: u64 = 1;
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
    const O_CREAT: u64 = 0o100;
    const O_EXCL: u64 = 0o200;
    #[expect(clippy::cast_possible_truncation, reason = "64-bit targets only")]
    let flags = (O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC) as usize;
    fd(call(nr::OPENAT, &[int(dir.raw()), path.address(), flags, mode]))
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
    mode: u16,
}

impl Stat {
    pub(crate) const fn is_directory(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }
}

/// `statx(2)` of an open descriptor.
pub(crate) fn stat(of: c_int) -> Result<Stat> {
    #[repr(C)]
    struct Statx {
        before_mode: [u32; 7],
        mode: u16,
        pad: u16,
        inode: u64,
        size: u64,
        middle: [u64; 10],
        rdev: [u32; 2],
        device: [u32; 2],
        rest: [u64; 14],
    }
    const AT_EMPTY_PATH: usize = 0x1000;
    const STATX_BASIC_STATS: usize = 0x7ff;
    // SAFETY: all fields are integers, for which zero bytes are a value.
    let mut statx: Statx = unsafe { core::mem::zeroed() };
    call(
        nr::STATX,
        &[
            int(of),
            ptr(b"\0"),
            AT_EMPTY_PATH,
            STATX_BASIC_STATS,
            ptr_mut(&mut statx),
        ],
    )?;
    let [major, minor] = statx.device.map(u64::from);
    // The encoding of `makedev(3)`, which the host's stat uses.
    let device = (minor & 0xff) | ((major & 0xfff) << 8) | ((minor & !0xff) << 12) | ((major & !0xfff) << 32);
    Ok(Stat {
        device,
        inode: statx.inode,
        size: statx.size,
        mode: statx.mode,
    })
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
    const S_IFREG: usize = 0o100_000;
    call(nr::MKNODAT, &[int(dir.raw()), path.address(), S_IFREG | mode, 0]).map(drop)
}

pub(crate) fn unlink(dir: &Fd, path: Path<'_>) -> Result<()> {
    call(nr::UNLINKAT, &[int(dir.raw()), path.address(), 0]).map(drop)
}

pub(crate) fn symlink(content: Path<'_>, dir: &Fd, path: Path<'_>) -> Result<()> {
    call(
        nr::SYMLINKAT,
        &[content.address(), int(dir.raw()), path.address()],
    )
    .map(drop)
}

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

pub(crate) const MS_NOSUID: usize = 2;
pub(crate) const MS_NODEV: usize = 4;
pub(crate) const MS_NOEXEC: usize = 8;
pub(crate) const MS_RDONLY: usize = 1;
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

/// Sets mount attributes, on the whole tree below `mount` if `recursive`.
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

pub(crate) const CLONE_VM: usize = 0x100;
pub(crate) const CLONE_PIDFD: usize = 0x1000;
pub(crate) const CLONE_PARENT: usize = 0x8000;
pub(crate) const CLONE_NEWNS: usize = 0x2_0000;
pub(crate) const CLONE_NEWCGROUP: usize = 0x200_0000;
pub(crate) const CLONE_NEWUTS: usize = 0x400_0000;
pub(crate) const CLONE_NEWIPC: usize = 0x800_0000;
pub(crate) const CLONE_NEWUSER: usize = 0x1000_0000;
pub(crate) const CLONE_NEWPID: usize = 0x2000_0000;
pub(crate) const CLONE_NEWNET: usize = 0x4000_0000;
pub(crate) const SIGCHLD: c_int = 17;

pub(crate) fn unshare(flags: usize) -> Result<()> {
    call(nr::UNSHARE, &[flags]).map(drop)
}

/// Which side of a fork this is.
pub(crate) enum Forked {
    /// The new process.
    Child,
    /// The old process, with the child's pid and, if asked for, its pidfd.
    Parent(c_int, Option<Fd>),
}

/// Forks, with `CLONE_*` flags; never with `CLONE_VM`, so each side has its own memory.
pub(crate) fn fork(flags: usize) -> Result<Forked> {
    let mut pidfd: c_int = -1;
    let flags = flags & !CLONE_VM;
    // The order of the last three arguments differs between architectures; all are zero but parent_tid.
    let pid = call(nr::CLONE, &[flags, 0, ptr_mut(&mut pidfd), 0, 0])?;
    if pid == 0 {
        return Ok(Forked::Child);
    }
    Ok(Forked::Parent(
        to_int(pid),
        (flags & CLONE_PIDFD != 0).then(|| Fd(pidfd)),
    ))
}

/// `wait4(2)` for any child: its pid and status; `None` when `no_hang` and none has ended.
pub(crate) fn wait_any(no_hang: bool) -> Result<Option<(c_int, c_int)>> {
    const WNOHANG: usize = 1;
    const WALL: usize = 0x4000_0000;
    let mut status: c_int = 0;
    let options = if no_hang { WNOHANG | WALL } else { WALL };
    let pid = retry(|| call(nr::WAIT4, &[int(-1), ptr_mut(&mut status), options, 0]))?;
    Ok((pid != 0).then_some((to_int(pid), status)))
}

pub(crate) fn kill(pid: c_int, signal: c_int) -> Result<()> {
    call(nr::KILL, &[int(pid), int(signal)]).map(drop)
}

pub(crate) fn setsid() -> Result<()> {
    call(nr::SETSID, &[]).map(drop)
}

/// Sets the disposition of a signal to the default or to ignore.
pub(crate) fn disposition(signal: c_int, ignore: bool) -> Result<()> {
    // handler, flags, (x86-64: restorer,) mask; all zero but the handler.
    let action: [usize; 4] = [usize::from(ignore), 0, 0, 0];
    call(
        nr::RT_SIGACTION,
        &[int(signal), ptr(&action), 0, size_of::<u64>()],
    )
    .map(drop)
}

/// Replaces the signal mask.
pub(crate) fn signal_mask(mask: u64) -> Result<()> {
    const SIG_SETMASK: usize = 2;
    call(
        nr::RT_SIGPROCMASK,
        &[SIG_SETMASK, ptr(&mask), 0, size_of::<u64>()],
    )
    .map(drop)
}

/// A descriptor that becomes readable when a signal of `mask` is pending.
pub(crate) fn signalfd(mask: u64) -> Result<Fd> {
    #[expect(clippy::cast_possible_truncation, reason = "64-bit targets only")]
    fd(call(
        nr::SIGNALFD4,
        &[int(-1), ptr(&mask), size_of::<u64>(), O_CLOEXEC as usize],
    ))
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

/// Kinds of socket pairs.
pub(crate) const SOCK_STREAM: usize = 1;
pub(crate) const SOCK_SEQPACKET: usize = 5;

pub(crate) fn socketpair(kind: usize) -> Result<[Fd; 2]> {
    const AF_UNIX: usize = 1;
    const SOCK_CLOEXEC: usize = 0o2_000_000;
    let mut pair: [c_int; 2] = [-1, -1];
    call(
        nr::SOCKETPAIR,
        &[AF_UNIX, kind | SOCK_CLOEXEC, 0, ptr_mut(&mut pair)],
    )?;
    Ok(pair.map(Fd))
}

#[repr(C)]
struct IoVec {
    base: usize,
    length: usize,
}

#[repr(C)]
struct MessageHeader {
    name: usize,
    name_length: u32,
    vectors: usize,
    vector_count: usize,
    control: usize,
    control_length: usize,
    flags: c_int,
}

/// `struct cmsghdr` followed by at most four descriptors.
#[repr(C)]
struct Rights {
    length: usize,
    level: c_int,
    kind: c_int,
    fds: [c_int; 4],
}

const SOL_SOCKET: c_int = 1;
const SCM_RIGHTS: c_int = 1;
const CMSG_HEADER: usize = 16;

/// Sends bytes and up to four descriptors as one message.
pub(crate) fn send(to: c_int, bytes: &[u8], fds: &[c_int]) -> Result<usize> {
    const MSG_NOSIGNAL: usize = 0x4000;
    let mut rights = Rights {
        length: CMSG_HEADER + size_of_val(fds),
        level: SOL_SOCKET,
        kind: SCM_RIGHTS,
        fds: [-1; 4],
    };
    for (slot, fd) in rights.fds.iter_mut().zip(fds) {
        *slot = *fd;
    }
    let vector = IoVec {
        base: ptr(bytes),
        length: bytes.len(),
    };
    let control = if fds.is_empty() { 0 } else { ptr(&rights) };
    let control_length = if fds.is_empty() {
        0
    } else {
        (rights.length + 7) & !7
    };
    let message = MessageHeader {
        name: 0,
        name_length: 0,
        vectors: ptr(&vector),
        vector_count: 1,
        control,
        control_length,
        flags: 0,
    };
    retry(|| call(nr::SENDMSG, &[int(to), ptr(&message), MSG_NOSIGNAL]))
}

/// Receives bytes and exactly three descriptors; without them the message is malformed.
pub(crate) fn receive_with_streams(from: c_int, bytes: &mut [u8]) -> Result<(usize, Option<[Fd; 3]>)> {
    const MSG_CMSG_CLOEXEC: usize = 0x4000_0000;
    let mut rights = Rights {
        length: 0,
        level: 0,
        kind: 0,
        fds: [-1; 4],
    };
    let vector = IoVec {
        base: ptr_mut(bytes),
        length: bytes.len(),
    };
    let mut message = MessageHeader {
        name: 0,
        name_length: 0,
        vectors: ptr(&vector),
        vector_count: 1,
        control: ptr_mut(&mut rights),
        control_length: size_of::<Rights>(),
        flags: 0,
    };
    let count = retry(|| call(nr::RECVMSG, &[int(from), ptr_mut(&mut message), MSG_CMSG_CLOEXEC]))?;
    let three = message.control_length >= CMSG_HEADER
        && rights.level == SOL_SOCKET
        && rights.kind == SCM_RIGHTS
        && rights.length == CMSG_HEADER + 3 * size_of::<c_int>();
    let [a, b, c, _] = rights.fds;
    Ok((count, three.then(|| [Fd(a), Fd(b), Fd(c)])))
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

/// `prctl(2)` with integer arguments.
pub(crate) fn prctl(option: usize, value: usize) -> Result<usize> {
    call(nr::PRCTL, &[option, value, 0, 0, 0])
}

/// Clears every capability set of this process.
pub(crate) fn drop_capabilities() -> Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: c_int,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = Header {
        version: VERSION_3,
        pid: 0,
    };
    let sets = [0u32; 6];
    call(nr::CAPSET, &[ptr(&header), ptr(&sets)]).map(drop)
}

/// Sets soft and hard limit of a resource of this process.
pub(crate) fn set_limit(resource: usize, limit: u64) -> Result<()> {
    let limits = [limit, limit];
    call(nr::PRLIMIT64, &[0, resource, ptr(&limits), 0]).map(drop)
}

/// Joins a new, anonymous session keyring.
pub(crate) fn new_session_keyring() -> Result<()> {
    const JOIN_SESSION_KEYRING: usize = 1;
    call(nr::KEYCTL, &[JOIN_SESSION_KEYRING, 0]).map(drop)
}

/// Creates a Landlock ruleset for these filesystem rights and scopes.
pub(crate) fn landlock_create(filesystem: u64, scopes: u64) -> Result<Fd> {
    let attributes: [u64; 3] = [filesystem, 0, scopes];
    // Kernels older than the scopes accept only the fields they know.
    let size = if scopes == 0 {
        size_of::<u64>()
    } else {
        size_of_val(&attributes)
    };
    fd(call(
        generic::LANDLOCK_CREATE_RULESET,
        &[ptr(&attributes), size, 0],
    ))
}

/// Grants rights beneath an open file or directory.
pub(crate) fn landlock_allow(ruleset: &Fd, access: u64, parent: &Fd) -> Result<()> {
    #[repr(C, packed)]
    struct PathBeneath {
        access: u64,
        parent: c_int,
    }
    const RULE_PATH_BENEATH: usize = 1;
    let rule = PathBeneath {
        access,
        parent: parent.raw(),
    };
    call(
        generic::LANDLOCK_ADD_RULE,
        &[int(ruleset.raw()), RULE_PATH_BENEATH, ptr(&rule), 0],
    )
    .map(drop)
}

pub(crate) fn landlock_restrict_self(ruleset: &Fd) -> Result<()> {
    call(generic::LANDLOCK_RESTRICT_SELF, &[int(ruleset.raw()), 0]).map(drop)
}

/// Installs a classic BPF program, eight bytes an instruction, as this process's system-call filter.
pub(crate) fn seccomp_filter(program: &[u8]) -> Result<()> {
    #[repr(C)]
    struct Program {
        length: u16,
        filter: usize,
    }
    const SET_MODE_FILTER: usize = 1;
    let length = u16::try_from(program.len() / 8).map_err(|_| EINVAL)?;
    let program = Program {
        length,
        filter: ptr(program),
    };
    call(nr::SECCOMP, &[SET_MODE_FILTER, 0, ptr(&program)]).map(drop)
}

/// Brings the interface `lo` of the current network namespace up.
pub(crate) fn loopback_up() -> Result<()> {
    #[repr(C)]
    struct InterfaceRequest {
        name: [u8; 16],
        flags: i16,
        pad: [u8; 22],
    }
    const AF_INET: usize = 2;
    const SOCK_DGRAM_CLOEXEC: usize = 2 | 0o2_000_000;
    const SIOCSIFFLAGS: usize = 0x8914;
    const IFF_UP: i16 = 1;
    let socket = fd(call(nr::SOCKET, &[AF_INET, SOCK_DGRAM_CLOEXEC, 0]))?;
    let mut request = InterfaceRequest {
        name: [0; 16],
        flags: IFF_UP,
        pad: [0; 22],
    };
    request.name[..2].copy_from_slice(b"lo");
    call(
        nr::IOCTL,
        &[int(socket.raw()), SIOCSIFFLAGS, ptr_mut(&mut request)],
    )
    .map(drop)
}

/// `execve(2)`; returns only on failure. The slices hold addresses of NUL-terminated strings and end in 0.
pub(crate) fn execute(path: Path<'_>, arguments: &[usize], environment: &[usize]) -> Errno {
    if arguments.last() != Some(&0) || environment.last() != Some(&0) {
        return EINVAL;
    }
    call(nr::EXECVE, &[path.address(), ptr(arguments), ptr(environment)])
        .err()
        .unwrap_or(EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objects_identity_is_the_one_the_standard_library_sees() {
        use std::os::unix::fs::MetadataExt;
        let directory = open(Path::new(b"/usr\0"), O_PATH | O_CLOEXEC).unwrap();
        let (ours, theirs) = (stat(directory.raw()).unwrap(), std::fs::metadata("/usr").unwrap());
        assert_eq!(
            (ours.device, ours.inode, ours.size),
            (theirs.dev(), theirs.ino(), theirs.size())
        );
        assert!(ours.is_directory());
    }
}
