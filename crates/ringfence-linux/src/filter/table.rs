//! Which system calls are not simply allowed, each with its reason.
//!
//! Everything the kernel offers up to [`LAST_REVIEWED`] and that is not listed here is allowed: namespaces,
//! Landlock and missing capabilities decide about it. What is listed either opens an interface those do not
//! mediate, or is kernel surface that a development tool has no use for.

use super::{Action, Check};

/// Processor architectures with a reviewed table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Architecture {
    X86_64,
    Aarch64,
}

impl Architecture {
    /// The architecture this library was built for.
    pub(crate) const NATIVE: Self = if cfg!(target_arch = "aarch64") {
        Self::Aarch64
    } else {
        Self::X86_64
    };

    /// `AUDIT_ARCH_*`, which tells a compat entry from a native one.
    pub(crate) const fn audit_number(self) -> u32 {
        match self {
            Self::X86_64 => 0xC000_003E,
            Self::Aarch64 => 0xC000_00B7,
        }
    }
}

/// One system call: its number per architecture (if it exists there), the decision, and why.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) x86_64: Option<u32>,
    pub(crate) aarch64: Option<u32>,
    pub(crate) check: &'static Check,
    /// For the reader of the table.
    #[cfg_attr(not(test), expect(dead_code, reason = "documentation that tests use"))]
    pub(crate) reason: &'static str,
}

impl Entry {
    pub(crate) const fn number(&self, architecture: Architecture) -> Option<u32> {
        match architecture {
            Architecture::X86_64 => self.x86_64,
            Architecture::Aarch64 => self.aarch64,
        }
    }
}

/// `file_setattr(2)`, Linux 6.17. Newer calls answer `ENOSYS`, which every program must expect, until they
/// have been read.
pub(crate) const LAST_REVIEWED: u32 = 469;

/// Rows that do not hold for a command that may make namespaces. `clone3` stays missing: C libraries fall back to `clone`.
pub(crate) const MAKE_NAMESPACES: [&str; 2] = ["clone", "unshare"];

/// First number of the x32 calls, which share the x86-64 audit number.
pub(crate) const X32_BIT: u32 = 0x4000_0000;

const EPERM: u16 = 1;
pub(crate) const ENOSYS: u16 = 38;
const EPROTONOSUPPORT: u16 = 93;
const EAFNOSUPPORT: u16 = 97;

static ALLOW: Check = Check::Always(Action::Allow);
static REFUSE: Check = Check::Always(Action::Fail(EPERM));
static MISSING: Check = Check::Always(Action::Fail(ENOSYS));
static NO_FAMILY: Check = Check::Always(Action::Fail(EAFNOSUPPORT));
static NO_PROTOCOL: Check = Check::Always(Action::Fail(EPROTONOSUPPORT));

/// `CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}`.
const NEW_NAMESPACES: u32 = 0x7E02_0080;
/// The same without `CLONE_NEWTIME`, whose bit is part of the exit signal in `clone(2)`.
const CLONE_NAMESPACES: u32 = 0x7E02_0000;

static NO_NEW_NAMESPACES: Check = Check::AnyBit {
    argument: 0,
    mask: NEW_NAMESPACES,
    then: &REFUSE,
    otherwise: &ALLOW,
};
static CLONE_WITHOUT_NAMESPACES: Check = Check::AnyBit {
    argument: 0,
    mask: CLONE_NAMESPACES,
    then: &REFUSE,
    otherwise: &ALLOW,
};

const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541C;
const TIOCSETD: u32 = 0x5423;
const TIOCCONS: u32 = 0x541D;

/// Of Btrfs: a directory, or a copy of a whole tree without what is mounted in it, under a new name.
const BTRFS_IOC_SNAP_CREATE: u32 = 0x5000_9401;
const BTRFS_IOC_SUBVOL_CREATE: u32 = 0x5000_940E;
const BTRFS_IOC_SNAP_CREATE_V2: u32 = 0x5000_9417;
const BTRFS_IOC_SUBVOL_CREATE_V2: u32 = 0x5000_9418;
/// Of an empty directory it can make one in which names that differ are the same.
const FS_IOC_SETFLAGS: u32 = 0x4008_6602;

static REQUESTS: Check = Check::OneOf {
    argument: 1,
    mask: u32::MAX,
    values: &[
        TIOCSTI,
        TIOCLINUX,
        TIOCSETD,
        TIOCCONS,
        BTRFS_IOC_SNAP_CREATE,
        BTRFS_IOC_SUBVOL_CREATE,
        BTRFS_IOC_SNAP_CREATE_V2,
        BTRFS_IOC_SUBVOL_CREATE_V2,
        FS_IOC_SETFLAGS,
    ],
    then: &REFUSE,
    otherwise: &ALLOW,
};

/// Of the caller itself, and of nobody else: process 1 of the spawn runs as the same user.
static OWN_LIMITS: Check = Check::OneOf {
    argument: 0,
    mask: u32::MAX,
    values: &[0],
    then: &ALLOW,
    otherwise: &REFUSE,
};

const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;
const SOCK_STREAM: u32 = 1;
const SOCK_DGRAM: u32 = 2;
/// The type without `SOCK_CLOEXEC` and `SOCK_NONBLOCK`.
const SOCK_TYPE_MASK: u32 = 0xF;
const IPPROTO_TCP: u32 = 6;
const IPPROTO_UDP: u32 = 17;
const NETLINK_ROUTE: u32 = 0;

static TCP: Check = Check::OneOf {
    argument: 2,
    mask: u32::MAX,
    values: &[0, IPPROTO_TCP],
    then: &ALLOW,
    otherwise: &NO_PROTOCOL,
};
static UDP: Check = Check::OneOf {
    argument: 2,
    mask: u32::MAX,
    values: &[0, IPPROTO_UDP],
    then: &ALLOW,
    otherwise: &NO_PROTOCOL,
};
static DATAGRAM: Check = Check::OneOf {
    argument: 1,
    mask: SOCK_TYPE_MASK,
    values: &[SOCK_DGRAM],
    then: &UDP,
    otherwise: &NO_PROTOCOL,
};
static INTERNET: Check = Check::OneOf {
    argument: 1,
    mask: SOCK_TYPE_MASK,
    values: &[SOCK_STREAM],
    then: &TCP,
    otherwise: &DATAGRAM,
};
static ROUTE_ONLY: Check = Check::OneOf {
    argument: 2,
    mask: u32::MAX,
    values: &[NETLINK_ROUTE],
    then: &ALLOW,
    otherwise: &NO_PROTOCOL,
};
static NETLINK: Check = Check::OneOf {
    argument: 0,
    mask: u32::MAX,
    values: &[AF_NETLINK],
    then: &ROUTE_ONLY,
    otherwise: &NO_FAMILY,
};
static LOCAL_OR_NETLINK: Check = Check::OneOf {
    argument: 0,
    mask: u32::MAX,
    values: &[AF_UNIX],
    then: &ALLOW,
    otherwise: &NETLINK,
};
static SOCKETS: Check = Check::OneOf {
    argument: 0,
    mask: u32::MAX,
    values: &[AF_INET, AF_INET6],
    then: &INTERNET,
    otherwise: &LOCAL_OR_NETLINK,
};
static LOCAL_PAIRS: Check = Check::OneOf {
    argument: 0,
    mask: u32::MAX,
    values: &[AF_UNIX],
    then: &ALLOW,
    otherwise: &NO_FAMILY,
};

/// A row: name, number on x86-64, number on AArch64 (`-` where the call does not exist), decision, reason.
macro_rules! rows {
    ($($name:literal $x86:tt $arm:tt $check:ident $reason:literal)*) => {
        &[$(Entry {
            name: $name,
            x86_64: rows!(@number $x86),
            aarch64: rows!(@number $arm),
            check: &$check,
            reason: $reason,
        },)*]
    };
    (@number -) => { None };
    (@number $number:literal) => { Some($number) };
}

/// The table, in the order of its themes.
pub(crate) static ENTRIES: &[Entry] = rows! {
    "ioctl"              16  29  REQUESTS "TIOCSTI types into a terminal, TIOCLINUX pastes into a console, TIOCSETD loads line disciplines, TIOCCONS takes the console's output; what makes subvolumes makes names that no security hook sees, and snapshots show what mounts hide"

    "clone"              56  220 CLONE_WITHOUT_NAMESPACES "a new user namespace would bring capabilities back"
    "clone3"             435 435 MISSING "its flags lie in memory, where a filter can't read them; C libraries fall back to clone"
    "unshare"            272 97  NO_NEW_NAMESPACES "as clone"
    "setns"              308 268 REFUSE "entering another namespace"

    "mount"              165 40  REFUSE "changing the file view"
    "umount2"            166 39  REFUSE "uncovering what a mount hides"
    "pivot_root"         155 41  REFUSE "changing the file view"
    "open_tree"          428 428 REFUSE "a clone of a mount tree shows what mounts on it hide, and no security hook sees it"
    "move_mount"         429 429 REFUSE "changing the file view"
    "fsopen"             430 430 REFUSE "changing the file view"
    "fsconfig"           431 431 REFUSE "changing the file view"
    "fsmount"            432 432 REFUSE "changing the file view"
    "fspick"             433 433 REFUSE "changing the file view"
    "mount_setattr"      442 442 REFUSE "making a read-only mount writable"
    "open_tree_attr"     467 467 REFUSE "as open_tree"
    "open_by_handle_at"  304 265 REFUSE "opens a file by number, past every path rule"
    "quotactl"           179 60  REFUSE "filesystem administration"
    "quotactl_fd"        443 443 REFUSE "filesystem administration"
    "swapon"             167 224 REFUSE "system administration"
    "swapoff"            168 225 REFUSE "system administration"

    "prlimit64"          302 261 OWN_LIMITS "the limits of process 1 of the spawn, which reports how the command ended"

    "add_key"            248 217 REFUSE "keyrings are shared by all processes of a user"
    "request_key"        249 218 REFUSE "keyrings are shared by all processes of a user"
    "keyctl"             250 219 REFUSE "keyrings are shared by all processes of a user"

    "bpf"                321 280 REFUSE "kernel surface: programs in the kernel"
    "perf_event_open"    298 241 REFUSE "kernel surface: observes the kernel and other processes"
    "userfaultfd"        323 282 REFUSE "kernel surface: holds the kernel in a page fault, which makes races winnable"
    "io_uring_setup"     425 425 MISSING "its operations pass this filter by; runtimes fall back to epoll on ENOSYS"
    "io_uring_enter"     426 426 MISSING "as io_uring_setup"
    "io_uring_register"  427 427 MISSING "as io_uring_setup"
    "kexec_load"         246 104 REFUSE "replaces the kernel"
    "kexec_file_load"    320 294 REFUSE "replaces the kernel"
    "init_module"        175 105 REFUSE "loads code into the kernel"
    "finit_module"       313 273 REFUSE "loads code into the kernel"
    "delete_module"      176 106 REFUSE "unloads code from the kernel"
    "reboot"             169 142 REFUSE "system administration"
    "syslog"             103 116 REFUSE "the kernel's log belongs to the host"
    "acct"               163 89  REFUSE "system administration"
    "iopl"               172 -   REFUSE "port input and output"
    "ioperm"             173 -   REFUSE "port input and output"
    "modify_ldt"         154 -   MISSING "kernel surface: 16-bit segments"
    "uselib"             134 -   MISSING "obsolete kernel surface"
    "ustat"              136 -   MISSING "obsolete kernel surface"
    "sysfs"              139 -   MISSING "obsolete kernel surface"
    "lookup_dcookie"     212 18  MISSING "obsolete kernel surface"

    "socket"             41  198 SOCKETS "only local, TCP and UDP sockets, and asking for routes: other families reach hosts, hypervisors and kernel code no rule mediates"
    "socketpair"         53  199 LOCAL_PAIRS "as socket"
};
