//! Processes, signals, privileges.

use core::ffi::c_int;

use super::{
    EINVAL, Errno, Fd, O_CLOEXEC, Path, Result, call, fd, generic, int, nr, ptr, ptr_mut, retry, to_int,
};

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
    install(program, 0).map(drop)
}

pub(super) fn install(program: &[u8], flags: usize) -> Result<usize> {
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
    call(nr::SECCOMP, &[SET_MODE_FILTER, flags, ptr(&program)])
}

/// `execve(2)`; returns only on failure. The slices hold addresses of NUL-terminated strings and end in 0.
pub(crate) fn execute(path: Path<'_>, arguments: &[u64], environment: &[u64]) -> Errno {
    if arguments.last() != Some(&0) || environment.last() != Some(&0) {
        return EINVAL;
    }
    call(nr::EXECVE, &[path.address(), ptr(arguments), ptr(environment)])
        .err()
        .unwrap_or(EINVAL)
}
