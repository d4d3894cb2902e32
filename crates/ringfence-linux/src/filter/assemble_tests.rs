use super::super::table::Entry;
use super::*;

const ALLOW: u32 = 0x7FFF_0000;
const KILL: u32 = 0x8000_0000;
const EPERM: u32 = 0x0005_0001;
const ENOSYS_ANSWER: u32 = 0x0005_0026;
const EPROTONOSUPPORT: u32 = 0x0005_005D;
const EAFNOSUPPORT: u32 = 0x0005_0061;

const ARCHITECTURES: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];

/// Interprets the program as the kernel would.
fn run(program: &[Instruction], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend_from_slice(&number.to_le_bytes());
    data.extend_from_slice(&architecture.to_le_bytes());
    data.extend_from_slice(&[0; 8]);
    for argument in arguments {
        data.extend_from_slice(&argument.to_le_bytes());
    }
    let (mut accumulator, mut at) = (0u32, 0usize);
    loop {
        let i = program[at];
        at += 1;
        let jump = |taken: bool| usize::from(if taken { i.if_true } else { i.if_false });
        match i.code {
            LOAD => {
                let offset = i.value as usize;
                accumulator = u32::from_le_bytes(data[offset..offset + 4].try_into().unwrap());
            }
            AND => accumulator &= i.value,
            JUMP => at += i.value as usize,
            JUMP_EQUAL => at += jump(accumulator == i.value),
            JUMP_AT_LEAST => at += jump(accumulator >= i.value),
            JUMP_ANY_BIT => at += jump(accumulator & i.value != 0),
            RETURN => return i.value,
            other => panic!("unknown instruction {other:#x}"),
        }
    }
}

fn call(architecture: Architecture, name: &str, arguments: [u64; 6]) -> u32 {
    let entry = ENTRIES.iter().find(|entry| entry.name == name).unwrap();
    run(
        &program(architecture, NestedNamespaces::Refuse),
        architecture.audit_number(),
        entry.number(architecture).unwrap(),
        arguments,
    )
}

fn expected_without_arguments(entry: &Entry) -> Option<u32> {
    match entry.check {
        Check::Always(Action::Fail(errno)) => Some(0x0005_0000 | u32::from(*errno)),
        _ => None,
    }
}

#[test]
fn every_number_gets_what_the_table_says() {
    for architecture in ARCHITECTURES {
        let program = program(architecture, NestedNamespaces::Refuse);
        for number in 0..=LAST_REVIEWED {
            let entry = ENTRIES
                .iter()
                .find(|entry| entry.number(architecture) == Some(number));
            let answer = run(&program, architecture.audit_number(), number, [0; 6]);
            match entry {
                None => assert_eq!(answer, ALLOW, "{architecture:?} {number}"),
                Some(entry) => {
                    if let Some(expected) = expected_without_arguments(entry) {
                        assert_eq!(answer, expected, "{architecture:?} {}", entry.name);
                    }
                }
            }
        }
    }
}

#[test]
fn calls_nobody_has_reviewed_do_not_exist() {
    for architecture in ARCHITECTURES {
        let program = program(architecture, NestedNamespaces::Refuse);
        for number in [LAST_REVIEWED + 1, 1000, X32_BIT - 1] {
            assert_eq!(
                run(&program, architecture.audit_number(), number, [0; 6]),
                ENOSYS_ANSWER
            );
        }
    }
}

#[test]
fn compat_and_x32_entries_are_killed() {
    const AUDIT_ARCH_I386: u32 = 0x4000_0003;
    const AUDIT_ARCH_ARM: u32 = 0x4000_0028;
    let x86 = program(Architecture::X86_64, NestedNamespaces::Refuse);
    assert_eq!(run(&x86, AUDIT_ARCH_I386, 1, [0; 6]), KILL);
    let native = Architecture::X86_64.audit_number();
    for number in [X32_BIT, X32_BIT | 165, X32_BIT | 41, u32::MAX] {
        assert_eq!(run(&x86, native, number, [2, 1, 0, 0, 0, 0]), KILL);
    }
    assert_eq!(
        run(
            &program(Architecture::Aarch64, NestedNamespaces::Refuse),
            AUDIT_ARCH_ARM,
            1,
            [0; 6]
        ),
        KILL
    );
}

#[test]
fn namespaces_are_refused_and_threads_are_not() {
    const CLONE_THREAD_FLAGS: u64 = 0x003D_0F00;
    const SIGCHLD: u64 = 17;
    for architecture in ARCHITECTURES {
        for bit in [
            0x0002_0000,
            0x0200_0000,
            0x0400_0000,
            0x0800_0000,
            0x1000_0000,
            0x2000_0000,
            0x4000_0000,
        ] {
            assert_eq!(call(architecture, "clone", [bit | SIGCHLD, 0, 0, 0, 0, 0]), EPERM);
            assert_eq!(call(architecture, "unshare", [bit, 0, 0, 0, 0, 0]), EPERM);
            // High bits do not hide a flag: the kernel reads the low half.
            assert_eq!(call(architecture, "clone", [bit | 1 << 40, 0, 0, 0, 0, 0]), EPERM);
        }
        assert_eq!(call(architecture, "unshare", [0x80, 0, 0, 0, 0, 0]), EPERM);
        assert_eq!(call(architecture, "unshare", [0x400, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(
            call(architecture, "clone", [CLONE_THREAD_FLAGS, 0, 0, 0, 0, 0]),
            ALLOW
        );
        assert_eq!(call(architecture, "clone", [SIGCHLD, 0, 0, 0, 0, 0]), ALLOW);
    }
}

#[test]
fn requests_that_lead_past_everything_else_are_refused_also_with_high_bits() {
    const TERMINALS: [u64; 4] = [0x5412, 0x541C, 0x5423, 0x541D];
    const BTRFS: [u64; 4] = [0x5000_9401, 0x5000_940E, 0x5000_9417, 0x5000_9418];
    const FLAGS: [u64; 1] = [0x4008_6602];
    for architecture in ARCHITECTURES {
        for request in [&TERMINALS[..], &BTRFS, &FLAGS].concat() {
            assert_eq!(call(architecture, "ioctl", [0, request, 0, 0, 0, 0]), EPERM);
            assert_eq!(
                call(
                    architecture,
                    "ioctl",
                    [0, request | 0xFFFF_FFFF << 32, 0, 0, 0, 0]
                ),
                EPERM
            );
        }
        const TIOCGWINSZ: u64 = 0x5413;
        assert_eq!(call(architecture, "ioctl", [0, TIOCGWINSZ, 0, 0, 0, 0]), ALLOW);
    }
}

#[test]
fn limits_of_others_are_refused() {
    for architecture in ARCHITECTURES {
        assert_eq!(call(architecture, "prlimit64", [0, 7, 1, 0, 0, 0]), ALLOW);
        assert_eq!(call(architecture, "prlimit64", [1, 7, 1, 0, 0, 0]), EPERM);
        assert_eq!(
            call(architecture, "prlimit64", [1 | 1 << 32, 7, 1, 0, 0, 0]),
            EPERM
        );
    }
}

#[test]
fn only_ordinary_sockets_exist() {
    const FLAGS: u64 = 0o2_004_000;
    let socket =
        |family, kind, protocol| call(Architecture::NATIVE, "socket", [family, kind, protocol, 0, 0, 0]);
    for family in [2, 10] {
        assert_eq!(socket(family, 1, 0), ALLOW);
        assert_eq!(socket(family, 1 | FLAGS, 6), ALLOW);
        assert_eq!(socket(family, 2 | FLAGS, 17), ALLOW);
        assert_eq!(socket(family | 1 << 32, 1, 0), ALLOW);
        let (raw, mptcp, sctp, udplite) = (3, 262, 132, 136);
        assert_eq!(socket(family, raw, 1), EPROTONOSUPPORT);
        assert_eq!(socket(family, 1, mptcp), EPROTONOSUPPORT);
        assert_eq!(socket(family, 1, mptcp | 1 << 32), EPROTONOSUPPORT);
        assert_eq!(socket(family, 1, sctp), EPROTONOSUPPORT);
        assert_eq!(socket(family, 2, udplite), EPROTONOSUPPORT);
    }
    for kind in [1, 2, 5] {
        assert_eq!(socket(1, kind, 0), ALLOW);
    }
    let (netlink, route, audit) = (16, 0, 9);
    assert_eq!(socket(netlink, 3, route), ALLOW);
    assert_eq!(socket(netlink, 3, audit), EPROTONOSUPPORT);
    // packet, bluetooth, alg, vsock, smc, xdp, and one that does not exist
    for family in [17, 31, 38, 40, 43, 44, 4000] {
        assert_eq!(socket(family, 1, 0), EAFNOSUPPORT);
    }
    assert_eq!(
        call(Architecture::NATIVE, "socketpair", [2, 1, 0, 0, 0, 0]),
        EAFNOSUPPORT
    );
    assert_eq!(
        call(Architecture::NATIVE, "socketpair", [1, 1, 0, 0, 0, 0]),
        ALLOW
    );
}

#[test]
fn the_table_is_complete_without_repetition_and_explains_itself() {
    for architecture in ARCHITECTURES {
        let mut numbers: Vec<u32> = ENTRIES
            .iter()
            .filter_map(|entry| entry.number(architecture))
            .collect();
        let all = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(
            numbers.len(),
            all,
            "a number is listed twice for {architecture:?}"
        );
        assert!(numbers.iter().all(|number| *number <= LAST_REVIEWED));
    }
    for entry in ENTRIES {
        assert!(!entry.reason.is_empty(), "{} has no reason", entry.name);
        assert!(entry.x86_64.is_some() || entry.aarch64.is_some());
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn numbers_are_the_kernels() {
    for (name, number) in [
        ("ioctl", libc::SYS_ioctl),
        ("clone", libc::SYS_clone),
        ("clone3", libc::SYS_clone3),
        ("unshare", libc::SYS_unshare),
        ("setns", libc::SYS_setns),
        ("mount", libc::SYS_mount),
        ("umount2", libc::SYS_umount2),
        ("pivot_root", libc::SYS_pivot_root),
        ("open_tree", libc::SYS_open_tree),
        ("move_mount", libc::SYS_move_mount),
        ("fsopen", libc::SYS_fsopen),
        ("fsconfig", libc::SYS_fsconfig),
        ("fsmount", libc::SYS_fsmount),
        ("fspick", libc::SYS_fspick),
        ("mount_setattr", libc::SYS_mount_setattr),
        ("open_by_handle_at", libc::SYS_open_by_handle_at),
        ("quotactl", libc::SYS_quotactl),
        ("swapon", libc::SYS_swapon),
        ("swapoff", libc::SYS_swapoff),
        ("prlimit64", libc::SYS_prlimit64),
        ("add_key", libc::SYS_add_key),
        ("request_key", libc::SYS_request_key),
        ("keyctl", libc::SYS_keyctl),
        ("bpf", libc::SYS_bpf),
        ("perf_event_open", libc::SYS_perf_event_open),
        ("userfaultfd", libc::SYS_userfaultfd),
        ("io_uring_setup", libc::SYS_io_uring_setup),
        ("io_uring_enter", libc::SYS_io_uring_enter),
        ("io_uring_register", libc::SYS_io_uring_register),
        ("kexec_load", libc::SYS_kexec_load),
        ("kexec_file_load", libc::SYS_kexec_file_load),
        ("init_module", libc::SYS_init_module),
        ("finit_module", libc::SYS_finit_module),
        ("delete_module", libc::SYS_delete_module),
        ("reboot", libc::SYS_reboot),
        ("syslog", libc::SYS_syslog),
        ("acct", libc::SYS_acct),
        ("iopl", libc::SYS_iopl),
        ("ioperm", libc::SYS_ioperm),
        ("modify_ldt", libc::SYS_modify_ldt),
        ("uselib", libc::SYS_uselib),
        ("ustat", libc::SYS_ustat),
        ("sysfs", libc::SYS_sysfs),
        ("lookup_dcookie", libc::SYS_lookup_dcookie),
        ("socket", libc::SYS_socket),
        ("socketpair", libc::SYS_socketpair),
    ] {
        let entry = ENTRIES.iter().find(|entry| entry.name == name).unwrap();
        assert_eq!(entry.x86_64.map(i64::from), Some(number), "{name}");
    }
}

#[test]
fn the_program_is_a_shallow_tree() {
    for architecture in ARCHITECTURES {
        let program = program(architecture, NestedNamespaces::Refuse);
        assert!(program.len() < 400, "{} instructions", program.len());
    }
}

/// All but mounting, and `clone3`, whose flags nobody sees.
#[test]
fn namespaces_can_be_let_in() {
    const CLONE_NEWUSER: u64 = 0x1000_0000;
    for architecture in ARCHITECTURES {
        for (name, answer, open) in [
            ("clone", EPERM, ALLOW),
            ("unshare", EPERM, ALLOW),
            ("setns", EPERM, EPERM),
            ("mount", EPERM, EPERM),
            ("clone3", ENOSYS_ANSWER, ENOSYS_ANSWER),
        ] {
            let entry = ENTRIES.iter().find(|entry| entry.name == name).unwrap();
            let number = entry.number(architecture).unwrap();
            let arguments = [CLONE_NEWUSER, 0, 0, 0, 0, 0];
            let get = |namespaces| {
                let program = program(architecture, namespaces);
                run(&program, architecture.audit_number(), number, arguments)
            };
            assert_eq!(get(NestedNamespaces::Refuse), answer, "{name}");
            assert_eq!(get(NestedNamespaces::Allow), open, "{name}");
        }
    }
}
