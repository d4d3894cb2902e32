//! Processes outside, the supervisor, and rights a program could gain.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use rustix::fs::{Mode, OFlags};

use crate::common::skip;
use crate::ground::{Ground, is_root};

/// A process of the same user, which ends with the test.
struct Victim(Child);

impl Victim {
    fn new() -> Self {
        let mut sleep = Command::new("sleep");
        Self(sleep.arg("600").stdin(Stdio::null()).spawn().unwrap())
    }

    fn id(&self) -> String {
        self.0.id().to_string()
    }

    fn is_dead(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn nobody_outside_can_be_signalled() {
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    let script = include_str!("attacks/signals.py");
    for way in [
        "plain",
        "thread",
        "queued",
        "descriptor",
        "group",
        "owner_of_a_file",
    ] {
        let mut victim = Victim::new();
        ground.control(script, &[way, &victim.id()]).all_worked();
        victim.0.wait().unwrap();
        let mut victim = Victim::new();
        fence.attack(script, &[way, &victim.id()]).none_worked();
        assert!(!victim.is_dead(), "{way}");
        // The supervisor: its id names nobody inside.
        fence
            .attack(script, &[way, &std::process::id().to_string()])
            .none_worked();
    }
}

/// To signal everybody works inside, and reaches nobody else: neither those outside, nor process 1, which tells how the
/// command ended.
#[test]
fn a_signal_to_everybody_stays_inside() {
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    let mut victim = Victim::new();
    let text = "for s in HUP INT QUIT KILL TERM STOP CHLD USR1; do kill -$s 1; done; \
                sleep 600 & kill -KILL -1 && exit 7";
    let outcome = fence.executor.run_command(ground.at("w"), text).unwrap();
    assert_eq!(outcome.code(), Some(7), "{outcome:?}");
    assert!(!victim.is_dead());
}

#[test]
fn nobody_outside_can_be_traced_or_changed() {
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    let script = include_str!("attacks/trace.py");
    let victim = Victim::new();
    ground.control(script, &[&victim.id()]).all_worked();
    for target in [victim.id(), std::process::id().to_string()] {
        fence.attack(script, &[&target]).none_worked();
    }
}

#[test]
fn process_1_can_not_be_traced_or_limited() {
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    let victim = Victim::new();
    let script = include_str!("attacks/trace_init.py");
    ground.control(script, &[&victim.id()]).all_worked();
    fence.attack(script, &["1"]).none_worked();
}

/// A program that runs as its owner elsewhere runs as whoever calls it inside.
#[test]
fn set_user_id_programs_gain_nothing() {
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    let script = include_str!("attacks/set_user_id.py");
    let program = if is_root() {
        let program = ground.at("w/sleep");
        fs::copy("/bin/sleep", &program).unwrap();
        rustix::fs::chown(&program, Some(rustix::fs::Uid::from_raw(65534)), None).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
        program
    } else {
        let known = ["/usr/bin/su", "/usr/bin/passwd", "/usr/bin/newgrp"].map(std::path::PathBuf::from);
        let set = |path: &&std::path::PathBuf| {
            path.metadata()
                .is_ok_and(|seen| seen.permissions().mode() & 0o4000 != 0)
        };
        let Some(program) = known.iter().find(set) else {
            return skip("set_user_id_programs_gain_nothing", "this system has none");
        };
        program.clone()
    };
    fence.resists(script, &[program.to_str().unwrap()]);
}

/// The command can make itself no more than it is, whatever it executes.
#[test]
fn no_privilege_is_left_to_regain() {
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    let text = "grep -E '^(NoNewPrivs|Seccomp|Cap(Inh|Prm|Eff|Bnd|Amb)):' /proc/self/status";
    let outcome = fence.executor.run_command(ground.at("w"), text).unwrap();
    let none = "0000000000000000";
    let expected: String = ["Inh", "Prm", "Eff", "Bnd", "Amb"]
        .map(|set| format!("Cap{set}:\t{none}\n"))
        .concat();
    assert_eq!(
        outcome.stdout.to_text(),
        format!("{expected}NoNewPrivs:\t1\nSeccomp:\t2\n")
    );
    fence.resists_what_there_is("privileges", include_str!("attacks/privileges.py"), &[]);
}

/// What the host opened without closing it on execution: files, directories, sockets, memory.
#[test]
fn no_descriptor_of_the_host_leaks() {
    let ground = Ground::new();
    let open = |path: &str, flags| rustix::fs::open(ground.at(path), flags, Mode::empty()).unwrap();
    let leaked = [
        open("o/secret", OFlags::RDONLY),
        open("o", OFlags::RDONLY | OFlags::DIRECTORY),
        open("o", OFlags::PATH),
    ];
    let fence = ground.fence(|_| ());
    fence.resists(include_str!("attacks/leaks.py"), &[]);
    drop(leaked);
}
