//! Kernel interfaces that lead past the view are closed: system calls, entries, sockets, mounts, namespaces.
//!
//! Each row first runs unconfined, so that it is known to be an attack, and then inside.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use common::{Attempt, Fence, Ground};

/// Calls that one process makes on its own behalf. The right column is what the filter answers: `ENOSYS` where
/// programs have another way.
const CALLS: &[(&str, &str)] = &[
    ("key-read", "EPERM"),
    ("key-add", "EPERM"),
    ("key-request", "EPERM"),
    ("bpf", "EPERM"),
    ("perf", "EPERM"),
    ("userfaultfd", "EPERM"),
    ("io-uring", "ENOSYS"),
    ("io-uring-enter", "ENOSYS"),
    ("io-uring-register", "ENOSYS"),
    ("kexec", "EPERM"),
    ("kexec-file", "EPERM"),
    ("module", "EPERM"),
    ("module-file", "EPERM"),
    ("module-delete", "EPERM"),
    ("swapon", "EPERM"),
    ("swapoff", "EPERM"),
    ("quotactl", "EPERM"),
    ("acct", "EPERM"),
    ("syslog", "EPERM"),
];

#[cfg(target_arch = "x86_64")]
const X86_CALLS: &[(&str, &str)] = &[
    ("iopl", "EPERM"),
    ("ioperm", "EPERM"),
    ("modify-ldt", "ENOSYS"),
    ("ustat", "ENOSYS"),
    ("sysfs", "ENOSYS"),
];

#[test]
fn system_calls_of_the_kernel_surface_are_refused() {
    Fence::new().resists("system calls", CALLS);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn system_calls_of_x86_are_refused() {
    Fence::new().resists("system calls of x86", X86_CALLS);
}

/// The kernel ignores the upper half of a register that holds an `int`; a filter that compares all of it does not.
#[test]
fn high_bits_do_not_get_past_the_filter() {
    let fence = Fence::new();
    for (line, errno) in CALLS {
        fence.resists("high bits", &[(&format!("high + {line}"), errno)]);
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn other_entries_to_the_kernel_kill() {
    const SIGSYS: i32 = 31;
    let fence = Fence::new();
    for entry in ["x32-entry", "compat-entry"] {
        match fence.control(entry) {
            Attempt::Done(_) => {}
            // Where the kernel has no 32-bit entry, the instruction itself is refused.
            Attempt::Killed(_) => common::skip("other entries", &format!("this kernel has no {entry}")),
            other => panic!("{other:?}"),
        }
        assert_eq!(fence.attack(entry), Attempt::Killed(SIGSYS), "{entry}");
    }
}

/// `CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}`.
const NAMESPACES: [&str; 8] = [
    "0x80",
    "0x20000",
    "0x2000000",
    "0x4000000",
    "0x8000000",
    "0x10000000",
    "0x20000000",
    "0x40000000",
];
const WITH_NEW_USER: [&str; 8] = [
    "0x10000080",
    "0x10020000",
    "0x12000000",
    "0x14000000",
    "0x18000000",
    "0x10000000",
    "0x30000000",
    "0x50000000",
];

#[test]
fn no_new_namespaces() {
    let fence = Fence::new();
    // An ordinary user may make the others only together with a user namespace.
    let flags = if common::is_root() {
        NAMESPACES
    } else {
        WITH_NEW_USER
    };
    for flag in flags {
        fence.resists(
            "namespaces",
            &[
                (&format!("unshare {flag}"), "EPERM"),
                (&format!("clone3 {flag}"), "ENOSYS"),
            ],
        );
    }
    // In clone(2) the bit of CLONE_NEWTIME belongs to the exit signal.
    for flag in &flags[1..] {
        for high in ["", "high + "] {
            fence.resists("namespaces", &[(&format!("{high}clone {flag}"), "EPERM")]);
        }
    }
    for flag in NAMESPACES.iter().chain(&WITH_NEW_USER) {
        assert_eq!(
            fence.attack(&format!("unshare {flag}")),
            Attempt::refused("EPERM"),
            "{flag}"
        );
    }
}

#[test]
fn no_namespace_can_be_entered() {
    let fence = Fence::new();
    assert!(fence.works("setns", "admin + setns /proc/self/ns/mnt"));
    for name in ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"] {
        assert_eq!(
            fence.attack(&format!("setns /proc/self/ns/{name}")),
            Attempt::refused("EPERM"),
            "{name}"
        );
        // Those of process 1 can't even be opened.
        let Attempt::Refused(errno) = fence.attack(&format!("setns /proc/1/ns/{name}")) else {
            panic!("entered the {name} namespace of process 1");
        };
        assert!(["EACCES", "EPERM"].contains(&errno.as_str()), "{name}: {errno}");
    }
}

/// What a control needs first, the attack itself, and what the filter answers.
const MOUNTS: &[(&str, &str)] = &[
    ("admin + tmpfs {w}/d", "tmpfs {w}/d"),
    ("admin + tmpfs {w}/d", "umount {w}/d"),
    ("admin + tmpfs {w}/d", "pivot-root {w}/d"),
    ("admin", "mask {w}/f"),
    ("admin", "fsopen"),
    ("admin", "fsconfig"),
    ("admin", "fsmount"),
    ("admin + tmpfs {w}/d", "fspick {w}/d"),
    ("admin", "move-mount {w}/d"),
    ("admin", "new-mount {w}/d"),
    ("admin", "open-tree {w} f"),
    ("admin", "open-tree-attr {w}"),
    ("admin + tmpfs {w}/d", "seal {w}/d"),
    ("admin + tmpfs {w}/d + seal {w}/d", "unseal {w}/d"),
    ("admin + tmpfs {w}/d", "remount {w}/d"),
];

#[test]
fn the_view_cannot_be_changed() {
    let fence = Fence::with(|ground, _| {
        ground.write("w/f", "secret");
        std::fs::create_dir(ground.at("w/d")).unwrap();
    });
    for (preparation, attack) in MOUNTS {
        for high in ["", "high + "] {
            fence.works("mounts", &format!("{preparation} + {high}{attack}"));
            assert_eq!(
                fence.attack(&format!("{high}{attack}")),
                Attempt::refused("EPERM"),
                "{high}{attack}"
            );
        }
    }
    assert_eq!(fence.attack("chroot {w}/d"), Attempt::refused("EPERM"));
    assert_eq!(fence.attack("admin"), Attempt::refused("EPERM"));
}

/// Weakness of a view made of mounts only: a clone of the directory shows what lies under a mask.
#[test]
fn what_a_mount_hides_stays_hidden() {
    let ground = Ground::new();
    ground.write("w/hidden", "secret");
    let unmask = "open-tree {w} hidden";
    assert!(ground.works("hidden", &format!("admin + mask {{w}}/hidden + {unmask}")));
    let mut profile = ground.profile();
    profile.roots.push(ringfence::Root::file(
        ground.at("w/hidden"),
        ringfence::Verdict::DENY,
    ));
    let fence = ground.fence(&profile);
    assert_eq!(fence.attack("read {w}/hidden"), Attempt::refused("EACCES"));
    assert_eq!(fence.attack(unmask), Attempt::refused("EPERM"));
}

/// What the filter answers for a socket; the kernel itself may refuse what the filter lets pass.
fn expected(family: i32, kind: i32, protocol: i32) -> &'static [&'static str] {
    let stream = (kind, [0, 6].contains(&protocol)) == (libc::SOCK_STREAM, true);
    let datagram = (kind, [0, 17].contains(&protocol)) == (libc::SOCK_DGRAM, true);
    match family {
        libc::AF_INET | libc::AF_INET6 if stream || datagram => &["open"],
        libc::AF_INET | libc::AF_INET6 => &["EPROTONOSUPPORT"],
        // SOCK_RAW is another word for SOCK_DGRAM here, and 1 another protocol number for 0.
        libc::AF_UNIX => match (kind, protocol) {
            (1..=3 | 5, 0 | 1) => &["open"],
            _ => &["ESOCKTNOSUPPORT", "EPROTONOSUPPORT"],
        },
        libc::AF_NETLINK if protocol == 0 => match kind {
            libc::SOCK_RAW | libc::SOCK_DGRAM => &["open"],
            _ => &["ESOCKTNOSUPPORT"],
        },
        libc::AF_NETLINK => &["EPROTONOSUPPORT"],
        _ => &["EAFNOSUPPORT"],
    }
}

/// Families 0 to 46, every type, and protocols that are more than they seem: raw, SCTP, DCCP, MPTCP, audit.
#[test]
fn only_local_tcp_udp_and_route_sockets_can_be_made() {
    let fence = Fence::new();
    let too_much = |text: &str| {
        let parse = |line: &str| -> Vec<i32> {
            line.split(' ')
                .take(3)
                .map(|word| word.parse().unwrap())
                .collect()
        };
        let open = |line: &&str| line.ends_with(" open");
        let more = |line: &&str| matches!(parse(line)[..], [f, k, p] if !expected(f, k, p).contains(&"open"));
        text.lines().filter(open).filter(more).count()
    };
    let unconfined = fence.control("socket-table").printed();
    assert!(
        too_much(&unconfined) > 0,
        "this kernel has no unwanted socket: {unconfined}"
    );
    for table in ["socket-table", "high + socket-table"] {
        let confined = fence.attack(table).printed();
        assert_eq!(confined.lines().count(), 47 * 7 * 10);
        for line in confined.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [family, kind, protocol, result] = words[..] else {
                panic!("{line}")
            };
            let [family, kind, protocol] = [family, kind, protocol].map(|word| word.parse().unwrap());
            assert!(
                expected(family, kind, protocol).contains(&result),
                "{table}: {line}"
            );
        }
    }
}

#[test]
fn only_local_pairs_can_be_made() {
    let fence = Fence::new();
    assert_eq!(fence.attack("socketpair 1 1 0"), Attempt::Done(String::new()));
    // TIPC is the other family with pairs; most kernels have none.
    for (line, errno) in [
        ("socketpair 30 1 0", "EAFNOSUPPORT"),
        ("high + socketpair 40 1 0", "EAFNOSUPPORT"),
    ] {
        assert_eq!(fence.attack(line), Attempt::refused(errno), "{line}");
    }
}

/// A program without a file is allowed, and as confined as any other.
#[test]
fn a_program_in_memory_stays_confined() {
    let fence = Fence::new();
    assert_eq!(
        fence.control("memory-exec read {o}/secret"),
        Attempt::Done("secret\n".to_owned())
    );
    assert_eq!(
        fence.attack("memory-exec read {o}/secret"),
        Attempt::refused("ENOENT")
    );
    assert_eq!(fence.attack("memory-exec bpf"), Attempt::refused("EPERM"));
    assert_eq!(
        fence.attack("memory-exec socketpair 1 1 0"),
        Attempt::Done(String::new())
    );
}
