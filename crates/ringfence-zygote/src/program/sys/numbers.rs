//! System-call numbers.

#[cfg(target_arch = "x86_64")]
pub(super) mod nr {
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
    pub(crate) const BIND: usize = 49;
    pub(crate) const SOCKETPAIR: usize = 53;
    pub(crate) const CLONE: usize = 56;
    pub(crate) const EXECVE: usize = 59;
    pub(crate) const WAIT4: usize = 61;
    pub(crate) const KILL: usize = 62;
    pub(crate) const FCNTL: usize = 72;
    pub(crate) const FTRUNCATE: usize = 77;
    pub(crate) const CHDIR: usize = 80;
    pub(crate) const FCHDIR: usize = 81;
    pub(crate) const UMASK: usize = 95;
    pub(crate) const SETSID: usize = 112;
    pub(crate) const CAPSET: usize = 126;
    pub(crate) const FSTATFS: usize = 138;
    pub(crate) const PIVOT_ROOT: usize = 155;
    pub(crate) const PRCTL: usize = 157;
    pub(crate) const MOUNT: usize = 165;
    pub(crate) const UMOUNT2: usize = 166;
    pub(crate) const EXIT_GROUP: usize = 231;
    pub(crate) const KEYCTL: usize = 250;
    pub(crate) const OPENAT: usize = 257;
    pub(crate) const MKDIRAT: usize = 258;
    pub(crate) const MKNODAT: usize = 259;
    pub(crate) const LINKAT: usize = 265;
    pub(crate) const SYMLINKAT: usize = 266;
    pub(crate) const READLINKAT: usize = 267;
    pub(crate) const PPOLL: usize = 271;
    pub(crate) const UNSHARE: usize = 272;
    pub(crate) const SIGNALFD4: usize = 289;
    pub(crate) const DUP3: usize = 292;
    pub(crate) const PRLIMIT64: usize = 302;
    pub(crate) const PROCESS_VM_READV: usize = 310;
    pub(crate) const RENAMEAT2: usize = 316;
    pub(crate) const SECCOMP: usize = 317;
    pub(crate) const STATX: usize = 332;
}

#[cfg(target_arch = "aarch64")]
pub(super) mod nr {
    pub(crate) const DUP3: usize = 24;
    pub(crate) const FCNTL: usize = 25;
    pub(crate) const IOCTL: usize = 29;
    pub(crate) const MKNODAT: usize = 33;
    pub(crate) const MKDIRAT: usize = 34;
    pub(crate) const SYMLINKAT: usize = 36;
    pub(crate) const LINKAT: usize = 37;
    pub(crate) const UMOUNT2: usize = 39;
    pub(crate) const MOUNT: usize = 40;
    pub(crate) const PIVOT_ROOT: usize = 41;
    pub(crate) const FSTATFS: usize = 44;
    pub(crate) const FTRUNCATE: usize = 46;
    pub(crate) const CHDIR: usize = 49;
    pub(crate) const FCHDIR: usize = 50;
    pub(crate) const OPENAT: usize = 56;
    pub(crate) const CLOSE: usize = 57;
    pub(crate) const READ: usize = 63;
    pub(crate) const WRITE: usize = 64;
    pub(crate) const PPOLL: usize = 73;
    pub(crate) const SIGNALFD4: usize = 74;
    pub(crate) const READLINKAT: usize = 78;
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
    pub(crate) const BIND: usize = 200;
    pub(crate) const SENDMSG: usize = 211;
    pub(crate) const RECVMSG: usize = 212;
    pub(crate) const KEYCTL: usize = 219;
    pub(crate) const CLONE: usize = 220;
    pub(crate) const EXECVE: usize = 221;
    pub(crate) const MMAP: usize = 222;
    pub(crate) const WAIT4: usize = 260;
    pub(crate) const PRLIMIT64: usize = 261;
    pub(crate) const PROCESS_VM_READV: usize = 270;
    pub(crate) const RENAMEAT2: usize = 276;
    pub(crate) const SECCOMP: usize = 277;
    pub(crate) const STATX: usize = 291;
}

/// Numbers that are the same on every architecture since Linux 5.1.
pub(super) mod generic {
    pub(crate) const OPEN_TREE: usize = 428;
    pub(crate) const MOVE_MOUNT: usize = 429;
    pub(crate) const FSOPEN: usize = 430;
    pub(crate) const FSCONFIG: usize = 431;
    pub(crate) const FSMOUNT: usize = 432;
    pub(crate) const PIDFD_OPEN: usize = 434;
    pub(crate) const CLOSE_RANGE: usize = 436;
    pub(crate) const OPENAT2: usize = 437;
    pub(crate) const PIDFD_GETFD: usize = 438;
    pub(crate) const MOUNT_SETATTR: usize = 442;
    pub(crate) const LANDLOCK_CREATE_RULESET: usize = 444;
    pub(crate) const LANDLOCK_ADD_RULE: usize = 445;
    pub(crate) const LANDLOCK_RESTRICT_SELF: usize = 446;
}
