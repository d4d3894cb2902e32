//! Interfaces of the kernel that lead past files, processes and networks.
//!
//! Where the kernel checks arguments before it asks for a capability, an attempt is made with arguments that it refuses:
//! then even a command without capabilities would reach the kernel if the filter let it, and no harm is done by one that
//! succeeds. A row is named after the row of the filter's table that it is about.

use ringfence::Clause;
use ringfence_zygote::attempt::{Argument, PRIVILEGED, SEPARATE};

use super::calls::{B, C, HERE, P, Q, R, Step, fd, n, opening, reaches, sys};
use super::{Lasting, Need, Operation, Planned};

/// A call of another sort than those that are refused.
const NEW_USER: i32 = 0x1000_0000;
const BAD: i32 = i32::MIN;

/// The rows of the table, apart from those about sockets.
pub(crate) const ROWS: &[(&str, &[Step])] = &[
    (
        "ioctl",
        &[reaches(libc::SYS_ioctl, &[n(0), n(0x5412), B], libc::ENOTTY)],
    ),
    (
        "ioctl",
        &[reaches(libc::SYS_ioctl, &[n(0), n(0x541C), B], libc::ENOTTY)],
    ),
    (
        "ioctl",
        &[reaches(libc::SYS_ioctl, &[n(0), n(0x5423), B], libc::ENOTTY)],
    ),
    (
        "ioctl",
        &[reaches(libc::SYS_ioctl, &[n(0), n(0x541D), B], libc::ENOTTY)],
    ),
    // Of Btrfs, for subvolumes and snapshots.
    (
        "ioctl",
        &[reaches(libc::SYS_ioctl, &[n(0), n(0x5000_9401), B], libc::ENOTTY)],
    ),
    (
        "ioctl",
        &[reaches(libc::SYS_ioctl, &[n(0), n(0x5000_940E), B], libc::ENOTTY)],
    ),
    (
        "ioctl",
        &[reaches(libc::SYS_ioctl, &[n(0), n(0x5000_9417), B], libc::ENOTTY)],
    ),
    (
        "ioctl",
        &[reaches(libc::SYS_ioctl, &[n(0), n(0x5000_9418), B], libc::ENOTTY)],
    ),
    ("clone", &[sys(libc::SYS_clone, &[n(NEW_USER | libc::SIGCHLD)])]),
    (
        "clone3",
        &[reaches(libc::SYS_clone3, &[n(0), n(0)], libc::EINVAL)],
    ),
    ("unshare", &[sys(libc::SYS_unshare, &[n(NEW_USER)])]),
    ("setns", &[reaches(libc::SYS_setns, &[n(-1), n(0)], libc::EBADF)]),
    (
        "mount",
        &[reaches(
            libc::SYS_mount,
            &[n(0), P, n(0), n(0), n(0)],
            libc::ENOENT,
        )],
    ),
    (
        "umount2",
        &[reaches(libc::SYS_umount2, &[P, n(BAD)], libc::EINVAL)],
    ),
    (
        "pivot_root",
        &[reaches(libc::SYS_pivot_root, &[P, P], libc::ENOENT)],
    ),
    (
        "open_tree",
        &[reaches(libc::SYS_open_tree, &[HERE, P, n(0)], libc::ENOENT)],
    ),
    (
        "move_mount",
        &[reaches(
            libc::SYS_move_mount,
            &[n(-1), P, HERE, P, n(0)],
            libc::ENOENT,
        )],
    ),
    ("fsopen", &[reaches(libc::SYS_fsopen, &[P, n(0)], libc::ENODEV)]),
    (
        "fsconfig",
        &[reaches(
            libc::SYS_fsconfig,
            &[n(-1), n(6), n(0), n(0), n(0)],
            libc::EINVAL,
        )],
    ),
    (
        "fsmount",
        &[reaches(libc::SYS_fsmount, &[n(-1), n(0), n(0)], libc::EBADF)],
    ),
    (
        "fspick",
        &[reaches(libc::SYS_fspick, &[HERE, P, n(0)], libc::ENOENT)],
    ),
    (
        "mount_setattr",
        &[reaches(
            libc::SYS_mount_setattr,
            &[HERE, P, n(BAD), B, n(32)],
            libc::EINVAL,
        )],
    ),
    (
        "open_tree_attr",
        &[reaches(467, &[HERE, P, n(BAD), n(0), n(32)], libc::EINVAL)],
    ),
    (
        "open_by_handle_at",
        &[reaches(
            libc::SYS_open_by_handle_at,
            &[HERE, n(0), n(0)],
            libc::EFAULT,
        )],
    ),
    (
        "quotactl",
        &[reaches(
            libc::SYS_quotactl,
            &[n(0xFF), n(0), n(0), n(0)],
            libc::EINVAL,
        )],
    ),
    (
        "quotactl_fd",
        &[reaches(443, &[n(-1), n(0), n(0), n(0)], libc::EBADF)],
    ),
    ("swapon", &[reaches(libc::SYS_swapon, &[P, n(BAD)], libc::EINVAL)]),
    ("swapoff", &[reaches(libc::SYS_swapoff, &[P], libc::ENOENT)]),
    // The limits of the parent: of this suite, or of process 1 inside.
    (
        "prlimit64",
        &[
            sys(libc::SYS_getppid, &[]),
            sys(libc::SYS_prlimit64, &[R, n(7), n(0), B]),
        ],
    ),
    (
        "add_key",
        &[reaches(
            libc::SYS_add_key,
            &[P, P, P, n(0x7FFF_FFFF), n(-2)],
            libc::EINVAL,
        )],
    ),
    (
        "request_key",
        &[reaches(
            libc::SYS_request_key,
            &[n(0), P, n(0), n(0)],
            libc::EFAULT,
        )],
    ),
    (
        "keyctl",
        &[reaches(libc::SYS_keyctl, &[n(9999)], libc::EOPNOTSUPP)],
    ),
    ("bpf", &[reaches(libc::SYS_bpf, &[n(0), B, n(8192)], libc::E2BIG)]),
    (
        "perf_event_open",
        &[reaches(
            libc::SYS_perf_event_open,
            &[B, n(0), n(-1), n(-1), n(BAD)],
            libc::EINVAL,
        )],
    ),
    ("userfaultfd", &[fd(libc::SYS_userfaultfd, &[n(1)])]),
    (
        "io_uring_setup",
        &[reaches(libc::SYS_io_uring_setup, &[n(1), n(0)], libc::EFAULT)],
    ),
    (
        "io_uring_enter",
        &[reaches(
            libc::SYS_io_uring_enter,
            &[n(-1), n(0), n(0), n(0), n(0), n(0)],
            libc::EBADF,
        )],
    ),
    (
        "io_uring_register",
        &[reaches(
            libc::SYS_io_uring_register,
            &[n(-1), n(0), n(0), n(0)],
            libc::EINVAL,
        )],
    ),
    (
        "kexec_load",
        &[reaches(
            libc::SYS_kexec_load,
            &[n(0), n(0), n(0), n(BAD)],
            libc::EINVAL,
        )],
    ),
    (
        "kexec_file_load",
        &[reaches(
            libc::SYS_kexec_file_load,
            &[n(-1), n(-1), n(0), n(0), n(BAD)],
            libc::EINVAL,
        )],
    ),
    (
        "init_module",
        &[reaches(libc::SYS_init_module, &[n(0), n(0), P], libc::ENOEXEC)],
    ),
    (
        "finit_module",
        &[reaches(libc::SYS_finit_module, &[n(-1), P, n(0)], libc::EBADF)],
    ),
    (
        "delete_module",
        &[reaches(
            libc::SYS_delete_module,
            &[P, n(libc::O_NONBLOCK)],
            libc::ENOENT,
        )],
    ),
    // With numbers that are not those it asks for.
    (
        "reboot",
        &[reaches(libc::SYS_reboot, &[n(0), n(0), n(0), n(0)], libc::EINVAL)],
    ),
    ("syslog", &[sys(libc::SYS_syslog, &[n(10), n(0), n(0)])]),
    ("acct", &[reaches(libc::SYS_acct, &[P], libc::ENOENT)]),
    (
        "socketpair",
        &[reaches(
            libc::SYS_socketpair,
            &[n(libc::AF_INET), n(1), n(0), B],
            libc::EOPNOTSUPP,
        )],
    ),
];

/// Rows that only x86-64 has.
#[cfg(target_arch = "x86_64")]
const OWN_ROWS: &[(&str, &[Step])] = &[
    ("iopl", &[reaches(libc::SYS_iopl, &[n(4)], libc::EINVAL)]),
    (
        "ioperm",
        &[reaches(libc::SYS_ioperm, &[n(65536), n(1), n(1)], libc::EINVAL)],
    ),
    ("modify_ldt", &[sys(libc::SYS_modify_ldt, &[n(0), B, n(16)])]),
    ("uselib", &[reaches(libc::SYS_uselib, &[P], libc::ENOENT)]),
    ("ustat", &[reaches(libc::SYS_ustat, &[n(0), B], libc::EINVAL)]),
    ("sysfs", &[sys(libc::SYS_sysfs, &[n(3)])]),
    (
        "lookup_dcookie",
        &[reaches(libc::SYS_lookup_dcookie, &[n(0), B, n(0)], libc::EINVAL)],
    ),
    (
        "x32",
        &[reaches(0x4000_0000 | libc::SYS_getppid, &[], libc::ENOSYS)],
    ),
];
#[cfg(not(target_arch = "x86_64"))]
const OWN_ROWS: &[(&str, &[Step])] = &[];

/// The text `/`.
const ROOT: Argument = Q;
/// The text `tmpfs`.
const TMPFS: Argument = C;

/// Mounting for real, which the control does where it reaches nobody.
const MOUNTS: &[(&str, &[Step])] = &[
    (
        "mount",
        &[sys(libc::SYS_mount, &[ROOT, ROOT, n(0), n(0x1000), n(0)])],
    ),
    ("open_tree", &[fd(libc::SYS_open_tree, &[HERE, ROOT, n(1)])]),
    ("fsopen", &[fd(libc::SYS_fsopen, &[TMPFS, n(0)])]),
    (
        "mount_setattr",
        &[sys(libc::SYS_mount_setattr, &[HERE, ROOT, n(0), B, n(32)])],
    ),
];

/// What each row needs.
pub(crate) const NEEDS: [Need; 1] = [Need::Lack(Clause::KernelSurface)];
/// Rows that make a child or end the process. The others change a process only where they work, and so need one of
/// their own only in the control: making one is what takes the time.
pub(crate) const NEEDS_CHILD: [&str; 3] = ["clone", "clone3", "x32"];

/// The attempts, the same in every case.
pub(crate) fn attempts() -> Vec<Planned> {
    let row = |flags| {
        move |(name, steps): &(&'static str, &'static [Step])| {
            let operation = Operation {
                name,
                needs: &NEEDS,
                steps,
                undo: &[],
                flags,
                lasting: Lasting::Nothing,
            };
            let data = vec![b"/nowhere/at all".to_vec(), b"/".to_vec(), b"tmpfs".to_vec()];
            Planned::new(&operation, &[], data)
        }
    };
    let rows = ROWS.iter().chain(OWN_ROWS).map(row(SEPARATE));
    let mounts = MOUNTS.iter().map(row(SEPARATE | PRIVILEGED));
    rows.chain(mounts).chain(sockets()).collect()
}

/// A socket of every family there is, and the kinds and protocols that matter.
fn sockets() -> impl Iterator<Item = Planned> {
    const FAMILIES: i32 = 46;
    let kinds = [
        libc::SOCK_STREAM,
        libc::SOCK_DGRAM,
        libc::SOCK_RAW,
        libc::SOCK_SEQPACKET,
    ];
    let plain = (1..FAMILIES).flat_map(move |family| kinds.map(|kind| (family, kind, 0)));
    let with_protocol = [
        (libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_SCTP),
        (libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_MPTCP),
        (libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_TCP),
        (libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP),
        (libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_UDPLITE),
        (libc::AF_INET6, libc::SOCK_DGRAM, libc::IPPROTO_UDP),
        (libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_RAW),
        (libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_AUDIT),
        (libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_KOBJECT_UEVENT),
        (libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_GENERIC),
        (libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_NETFILTER),
    ];
    plain.chain(with_protocol).map(|(family, kind, protocol)| {
        let mut planned = Planned::new(
            &Operation {
                name: "socket",
                needs: &[],
                steps: &[],
                undo: &[],
                flags: 0,
                lasting: Lasting::Nothing,
            },
            &[],
            Vec::new(),
        );
        planned.needs = vec![if is_common(family, kind, protocol) {
            Need::Nothing
        } else {
            Need::Lack(Clause::KernelSurface)
        }];
        planned.attempt.calls = vec![opening(libc::SYS_socket, &[n(family), n(kind), n(protocol)])];
        planned
    })
}

/// What every command can have: local sockets, TCP, UDP, and asking for routes.
fn is_common(family: i32, kind: i32, protocol: i32) -> bool {
    match (family, kind) {
        (libc::AF_UNIX, _) => true,
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_STREAM) => matches!(protocol, 0 | libc::IPPROTO_TCP),
        (libc::AF_INET | libc::AF_INET6, libc::SOCK_DGRAM) => matches!(protocol, 0 | libc::IPPROTO_UDP),
        (libc::AF_NETLINK, _) => protocol == libc::NETLINK_ROUTE,
        _ => false,
    }
}
