//! Who a command is and whom it reaches: ids, privileges, its session, its processes, and those of the host.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::{Attempt, Fence, Ground, Running, VICTIM_HOST};
use ringfence::{Clause, Discharge, Ending, Mechanism, Root, Signal, UnixSignal, Verdict};

fn facts(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| line.split_once(": ")).collect()
}

#[test]
fn the_caller_stays_itself_without_any_privilege() {
    let fence = Fence::new();
    let (outside, inside) = (
        fence.control("status").printed(),
        fence.attack("status").printed(),
    );
    let (outside, inside) = (facts(&outside), facts(&inside));
    assert_eq!(outside["Uid"], inside["Uid"]);
    assert_eq!(outside["Gid"], inside["Gid"]);
    const NOTHING: &str = "0000000000000000";
    assert_ne!(outside["CapBnd"], NOTHING, "this control shows nothing");
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(inside[set], NOTHING, "{set}");
    }
    assert_eq!((inside["NoNewPrivs"], inside["Seccomp"]), ("1", "2"));
}

#[test]
fn a_command_has_a_session_and_processes_of_its_own() {
    let fence = Fence::new();
    let (outside, inside) = (
        fence.control("status").printed(),
        fence.attack("status").printed(),
    );
    let (outside, inside) = (facts(&outside), facts(&inside));
    assert_ne!(outside["Session"], outside["Pid"], "this control shows nothing");
    assert_eq!(
        (inside["Session"], inside["Group"]),
        (inside["Pid"], inside["Pid"])
    );
    // Itself and its init.
    assert_eq!(inside["Processes"], "2");
    assert_ne!(inside["Pid"], "1");
}

#[test]
fn signals_end_a_program_that_does_nothing_about_them() {
    let fence = Fence::new();
    for (signal, number) in [
        (Signal::Interrupt, 2),
        (Signal::Terminate, 15),
        (Signal::Unix(UnixSignal::Hangup), 1),
    ] {
        let process = fence.executor.command("sleep").arg("60").spawn().unwrap();
        process.signal(signal).unwrap();
        let outcome = process.wait().unwrap();
        assert_eq!(
            outcome.ended,
            Ending::Signaled {
                signal: number,
                core: false
            }
        );
        assert!(
            outcome.elapsed < Duration::from_secs(10),
            "{signal:?} took {:?}",
            outcome.elapsed
        );
    }
}

/// S-27: a process that lost its parent is init's to reap.
#[test]
fn s_27_orphans_are_reaped() {
    let fence = Fence::new();
    let numbers = |attempt: Attempt| -> Vec<usize> {
        attempt
            .printed()
            .split_whitespace()
            .map(|word| word.parse().unwrap())
            .collect()
    };
    if fence.works("orphans", "as-init + stat /") {
        let [most, _] = numbers(fence.control("as-init + orphans 500"))[..] else {
            panic!()
        };
        assert!(most >= 250, "unconfined, process 1 had only {most}");
    }
    let [most, last] = numbers(fence.attack("orphans 5000"))[..] else {
        panic!()
    };
    // An init that does not reap has thousands; one that does may be late on a busy machine.
    assert!(most <= 1000 && last == 0, "at most {most}, at last {last}");
    // The status is the command's and not an orphan's.
    assert_eq!(fence.shell("(sleep 0.05; exit 3) & exit 7").0, Some(7));
}

/// A descriptor that the host forgot to close on exec stays with the host (S-30).
#[test]
fn s_30_descriptors_of_the_host_do_not_leak() {
    let fence = Fence::new();
    let secret = fs::File::open(fence.at("o/secret")).unwrap();
    // SAFETY: duplicates a descriptor that is open; the copies are left open until the test process ends.
    let leaked: Vec<i32> = [30, 500]
        .map(|least| unsafe { libc::fcntl(secret.as_raw_fd(), libc::F_DUPFD, least) })
        .into();
    let seen = fence.control("descriptors").printed();
    assert!(
        leaked.iter().all(|fd| seen.contains(&fd.to_string())),
        "unconfined: {seen}, leaked {leaked:?}"
    );
    // The zygote of this executor starts now, with the leaked descriptors there.
    assert_eq!(fence.attack("descriptors"), Attempt::refused("EBADF"));
    // And this one had started before.
    assert_eq!(fence.attack("descriptors"), Attempt::refused("EBADF"));
    assert_eq!(
        fence.succeeds("exec 3<&-; ls /proc/self/fd | tr '\\n' ' '"),
        "0 1 2 3",
        "3 is ls's own"
    );
}

/// What the host keeps in its session keyring is not in the command's.
#[test]
fn the_session_keyring_is_its_own() {
    const SESSION: libc::c_long = -3;
    const JOIN: libc::c_long = 1;
    const REVOKE: libc::c_long = 3;
    const SET_PERMISSIONS: libc::c_long = 5;
    /// Everything for who possesses the key, nothing for others, not even of the same user.
    const POSSESSOR_ONLY: libc::c_long = 0x3F00_0000;
    let fence = Fence::new();
    // SAFETY: two texts that end in a NUL, a live byte, and numbers.
    let key = unsafe {
        libc::syscall(libc::SYS_keyctl, JOIN, std::ptr::null::<u8>());
        let (kind, name, value) = (c"user".as_ptr(), c"rf-session".as_ptr(), b"x".as_ptr());
        let key = libc::syscall(libc::SYS_add_key, kind, name, value, 1usize, SESSION);
        libc::syscall(libc::SYS_keyctl, SET_PERMISSIONS, key, POSSESSOR_ONLY);
        key
    };
    if key < 0 {
        common::skip("keyring", "no key can be added here");
        return;
    }
    let count = |text: &str| text.lines().filter(|line| line.contains("rf-session")).count();
    let outside = fs::read_to_string("/proc/keys").unwrap();
    assert_eq!(count(&outside), 1, "unconfined: {outside}");
    let inside = fence.succeeds("cat /proc/keys 2>/dev/null || true");
    assert_eq!(count(&inside), 0, "inside: {inside}");
    fence.resists("keyring", &[("key-read", "EPERM")]);
    // SAFETY: numbers only.
    unsafe { libc::syscall(libc::SYS_keyctl, REVOKE, key) };
}

#[test]
fn no_core_is_dumped() {
    let fence = Fence::new();
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a live rlimit; raising the soft limit to the hard one is always allowed.
    unsafe {
        libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_CORE, &raw const limit);
    }
    if facts(&fence.control("status").printed())["Core"].starts_with("0 ") {
        common::skip("cores", "this host allows none itself");
    }
    assert_eq!(facts(&fence.attack("status").printed())["Core"], "1 1");
    let outcome = fence.attacker("abort").output().unwrap();
    assert_eq!(
        outcome.ended,
        Ending::Signaled {
            signal: 6,
            core: false
        }
    );
}

/// A program with the set-user-id bit runs as who executes it.
#[test]
fn set_user_id_programs_give_nothing() {
    let mut program = "/usr/bin/su".to_owned();
    let fence = Fence::with(|ground, profile| {
        if !common::is_root() {
            return;
        }
        // For root the gain is another user.
        let own = ground.at("w/other").display().to_string();
        assert!(
            Command::new("cp")
                .args(["/bin/sleep", &own])
                .status()
                .unwrap()
                .success()
        );
        std::os::unix::fs::chown(&own, Some(65534), None).unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o4755)).unwrap();
        profile.roots.push(Root::file(&own, Verdict::READ_ONLY));
        program = own;
    });
    fence.resists("set-user-id", &[(&format!("setuid-exec {program}"), "EPERM")]);
}

/// S-33: processes of the same user outside do not exist for the command, nor do their abstract sockets, and its init is
/// not to be touched.
#[test]
fn s_33_processes_and_abstract_sockets_of_the_same_user_are_out_of_reach() {
    let fence = Fence::new();
    let mut victim = Running(Command::new("sleep").arg("300").spawn().unwrap());
    let pid = victim.0.id();
    // The state comes after the name in parentheses.
    let is_stopped = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('T')
    };
    for (attack, outside, init) in [
        ("ptrace", "ESRCH", "EPERM"),
        ("memory-read", "ESRCH", "EPERM"),
        ("memory-open", "ENOENT", "EACCES"),
        ("descriptor-steal", "ESRCH", "EPERM"),
        ("stop", "ESRCH", "EPERM"),
    ] {
        let line = |pid: u32| match attack {
            "stop" => format!("kill {pid} 19"),
            _ => format!("{attack} {pid}"),
        };
        fence.control(&line(pid)).printed();
        if attack == "stop" {
            let begun = Instant::now();
            while !is_stopped() {
                assert!(begun.elapsed().as_secs() < 5, "this control shows nothing");
                std::thread::yield_now();
            }
            fence.control(&format!("kill {pid} 18")).printed();
        }
        assert_eq!(fence.attack(&line(pid)), Attempt::refused(outside), "{attack}");
        let answer = fence.attack(&line(1));
        // Before Linux 6.12 Landlock has nothing to say about signals; process 1 gets none that it does not handle.
        let ignored = attack == "stop" && answer == Attempt::Done(String::new());
        assert!(
            ignored || answer == Attempt::refused(init),
            "{attack} of process 1 gives {answer:?}"
        );
    }
    // Everybody is itself, and the command goes on or ends; the host does not.
    assert_eq!(fence.attack("kill 1 9"), Attempt::refused("EPERM"));
    let _ = fence.shell("kill -9 -1; echo alive");
    assert_eq!(victim.0.try_wait().unwrap(), None, "the victim has ended");
    assert!(!is_stopped(), "the victim was stopped");
    assert_eq!(fence.succeeds("echo works"), "works");

    let name = format!("rf-victim-{}", std::process::id());
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let (sender, greeted) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = sender.send(());
            let _ = stream.write_all(b"hello");
        }
    });
    let line = format!("abstract {name}");
    fence.control(&line).printed();
    greeted.recv_timeout(Duration::from_secs(5)).unwrap();
    assert_eq!(fence.attack(&line), Attempt::refused("ECONNREFUSED"));
    assert!(greeted.try_recv().is_err(), "a connection from inside arrived");

    // It is said what keeps them apart.
    let report = fence.executor.report();
    for (clause, by) in [
        (Clause::ProcessIsolation, Mechanism::PidNamespace),
        (Clause::AbstractSockets, Mechanism::NetworkNamespace),
    ] {
        let mut entries = report.entries().iter();
        let entry = entries.find(|entry| entry.obligation.clause == clause).unwrap();
        let Discharge::Enforced { mechanism } = &entry.discharge else {
            panic!("{entry:?}")
        };
        assert!(mechanism.contains(&by), "{entry:?}");
    }
}

/// S-24: a deadline reaches what has left the session, the group, and its parents, and what took init's place as parent.
#[test]
fn s_24_a_deadline_ends_the_whole_tree() {
    let fence = Fence::new();
    let text = "setsid sh -c 'while :; do date >>log; sleep 0.05; done' &
        (setsid sh -c 'trap \"\" TERM HUP INT; while :; do date >>log; sleep 0.05; done' &) &
        while ! test -s log; do sleep 0.01; done; trap '' TERM; sleep 60";
    fence.write("w/escape", text);
    let log = fence.at("w/log");
    let subreaper = "subreaper + exec /bin/sh {w}/escape";
    assert_eq!(
        fence.attack("subreaper"),
        Attempt::Done(String::new()),
        "the control"
    );
    for command in [fence.executor.shell(text), fence.attacker(subreaper)] {
        let _ = fs::remove_file(&log);
        let begun = Instant::now();
        let outcome = command
            .timeout(Duration::from_millis(600))
            .terminate_grace(Duration::from_millis(200))
            .output()
            .unwrap();
        assert_eq!(outcome.ended, Ending::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(10));
        let size = || fs::metadata(&log).unwrap().len();
        let before = size();
        assert!(before > 0);
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(before, size(), "somebody still writes");
    }
}

/// S-30: whatever the host's descriptors are numbered, the command's own redirections work, and nothing else is open.
#[test]
fn s_30_descriptors_of_the_host_collide_with_none_of_the_command() {
    let ground = Ground::new();
    let path = |name| ground.at(name).display().to_string();
    let inside = "echo a | cat >o; exec 3<o; cat <&3; exec 3<&- 9<&-; ls /proc/self/fd | tr '\\n' ' '";
    // The socket is a pipe here, and both are inherited by a program that executes the host.
    let outside = format!(
        ": | {{ exec 3<&0 9<{}; ls /proc/self/fd | tr '\\n' ' ' >&2; exec {VICTIM_HOST} run {} {} {} \"$1\"; }}",
        path("o"),
        path("w"),
        path("s"),
        path("o/d"),
    );
    let host = Command::new("/bin/bash")
        .args(["-c", &outside, "bash", inside])
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, control) = (text(&host.stdout), text(&host.stderr));
    assert!(control.contains("3 ") && control.contains("9 "), "{control}");
    assert_eq!(printed, "a\n0 1 2 3 ", "{control}");
}

/// A user with id 0 owns the kernel's settings and devices: the file view must keep them from it, under any profile.
#[test]
fn what_root_owns_of_the_kernel_stays_closed() {
    // With the host's `/sys` and `/dev` hidden, read-only, and allowed.
    for host in [Verdict::DENY, Verdict::READ_ONLY, Verdict::READ_WRITE] {
        let fence = Fence::with(|_, profile| {
            profile.host_access = host;
            // The attacking program itself may lie where a private directory hides it.
            profile.roots = vec![Root::file(
                common::ATTACK,
                if host == Verdict::DENY {
                    Verdict::READ_ONLY
                } else {
                    host
                },
            )];
        });
        let hidden = |errno: &'static str| if host == Verdict::DENY { "ENOENT" } else { errno };
        let there = |line: &str| fs::exists(line.split_once(' ').unwrap().1).unwrap_or(false);
        for row in [
            ("open-to-write /proc/sys/kernel/core_pattern", root_or("EROFS")),
            ("open-to-write /proc/sys/kernel/modprobe", root_or("EROFS")),
            ("open-to-write /proc/sys/kernel/poweroff_cmd", root_or("EROFS")),
            ("open-to-write /proc/sysrq-trigger", root_or("EROFS")),
            ("open-to-write /sys/kernel/mm/ksm/run", hidden(root_or("EROFS"))),
            (
                "open-to-write /sys/block/vda/queue/read_ahead_kb",
                hidden(root_or("EROFS")),
            ),
            ("read /dev/kmsg", "ENOENT"),
            ("read /dev/mem", "ENOENT"),
            ("read /dev/vda", "ENOENT"),
        ] {
            if there(row.0) {
                fence.resists("files of the kernel", &[row]);
            } else {
                common::skip(
                    "files of the kernel",
                    &format!("there is no such file for `{}`", row.0),
                );
            }
        }
        // S-21: control groups.
        for tree in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"] {
            let line = format!("mkdir {tree}/rf-attack");
            if fence.works("control groups", &format!("{line} + rmdir {tree}/rf-attack")) {
                assert_eq!(fence.attack(&line), Attempt::refused(hidden("EROFS")), "{line}");
            }
        }
    }
}

/// An ordinary user is stopped by the mode bits already.
fn root_or(errno: &'static str) -> &'static str {
    if common::is_root() { errno } else { "EACCES" }
}
