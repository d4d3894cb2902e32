//! Namespaces that commands make themselves, where the profile lets them.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

mod common;

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::Fixture;
use ringfence::{Clause, Discharge, ExecutorError, Guard, NestedNamespaces, ProfileConfig, Unavailable};

const PYTHON: &str = "/usr/bin/python3";
const SCRIPT: &str = include_str!("nested/namespaces.py");
/// What the last test is when it attacks: `rounds` of processes that do so `once`.
const ATTACK: &str = "RINGFENCE_TEST_ATTACK";
const ROUNDS: usize = 1_500;

/// What they are for.
const USES: &[&str] = &[
    "make namespaces",
    "process 1 of its own",
    "a name of its own",
    "make a name in a root of its own",
    "make a name",
];

fn allowing(fixture: &Fixture) -> ProfileConfig {
    ProfileConfig {
        nested_namespaces: NestedNamespaces::Allow,
        guards: vec![Guard::secret(fixture.path("key.pem"))],
        ..fixture.config()
    }
}

/// A workspace with what the script attacks; in `jail` lies a directory with the workspace's own path.
fn furnished() -> Fixture {
    let fixture = Fixture::new();
    let workspace = fixture.workspace.path().canonicalize().unwrap();
    let jail = workspace.join("jail");
    fs::create_dir_all(jail.join(workspace.strip_prefix("/").unwrap())).unwrap();
    fs::create_dir(workspace.join(".git")).unwrap();
    fs::write(workspace.join(".git/config"), "").unwrap();
    fs::write(workspace.join("key.pem"), "secret").unwrap();
    fixture
}

/// Each thing that was tried, and whether it worked.
fn tried(said: &str) -> Vec<(String, bool)> {
    let lines = said.lines().map(|line| line.rsplit_once(' ').unwrap());
    lines
        .map(|(name, result)| (name.to_owned(), result == "done"))
        .collect()
}

/// The fence refuses to a caller with user id 0 what its commands could not use.
#[test]
fn commands_make_namespaces_and_gain_nothing() {
    let fixture = furnished();
    let config = allowing(&fixture);
    if rustix::process::geteuid().is_root() {
        let refused = fixture.set_with(&config).executor("a").unwrap_err();
        let ExecutorError::Unavailable(Unavailable::NestedNamespaces { why, .. }) = refused else {
            panic!("{refused}");
        };
        assert!(why.contains("user id 0"), "{why}");
        return;
    }
    let plain = furnished();
    let output = Command::new(PYTHON)
        .args(["-c", SCRIPT])
        .current_dir(plain.workspace.path())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let unconfined = tried(&String::from_utf8(output.stdout).unwrap());

    let set = fixture.set_with(&config);
    let executor = set.executor("a").unwrap();
    let report = executor.report();
    for entry in report.entries() {
        let opened = matches!(entry.obligation.clause, Clause::Privilege | Clause::KernelSurface);
        let narrowed = matches!(entry.discharge, Discharge::Narrowed { .. });
        assert_eq!(opened, narrowed, "{entry:?}");
    }
    let command = executor.command(PYTHON).args(["-c", SCRIPT]);
    let outcome = command.output().unwrap();
    let said = outcome.stdout.to_text();
    assert!(outcome.success(), "{said}{}", outcome.stderr.to_text());
    let confined = tried(&said);
    assert_eq!(confined.len(), unconfined.len());
    for (name, worked) in &confined {
        assert_eq!(*worked, USES.contains(&name.as_str()), "{name}: {said}");
    }
    for name in [
        "mount",
        "bind",
        "read a secret",
        "write what is protected",
        "move what is protected",
        "make a closed name",
    ] {
        assert!(
            unconfined.contains(&(name.to_owned(), true)),
            "{name}: {unconfined:?}"
        );
    }
    // In its own root the path led elsewhere.
    let workspace = fixture.workspace.path().canonicalize().unwrap();
    assert!(!workspace.join("made").exists());
    let inner = workspace.join("jail").join(workspace.strip_prefix("/").unwrap());
    assert!(inner.join("made").exists());
    assert!(!workspace.join(".vscode").exists() && workspace.join(".git/config").exists());
}

/// A path is looked up in the root that its caller has then, not in one that it had.
#[test]
fn nothing_is_made_outside_of_a_root_that_is_entered_meanwhile() {
    match std::env::var(ATTACK).as_deref() {
        Ok("once") => return enter_a_root_while_a_name_is_made(),
        Ok(_) => return println!("made {}", made_outside()),
        Err(_) => {}
    }
    if rustix::process::geteuid().is_root() {
        common::skip("roots", "nested namespaces are refused to user id 0");
        return;
    }
    let fixture = furnished();
    fs::create_dir(fixture.path("jail/a")).unwrap();
    let program = fixture.path("attacker");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let set = fixture.set_with(&allowing(&fixture));
    let executor = set.executor("a").unwrap();
    let command = executor
        .command("/usr/bin/unshare")
        .args(["--user", "--map-root-user"])
        .arg(&program)
        .args([
            "--nocapture",
            "--exact",
            "nothing_is_made_outside_of_a_root_that_is_entered_meanwhile",
        ])
        .env(ATTACK, "rounds");
    let outcome = command.output().unwrap();
    let said = outcome.stdout.to_text();
    assert!(outcome.success(), "{said}{}", outcome.stderr.to_text());
    assert!(said.contains("made 0\n"), "{said}");
}

/// How often something came to be outside.
fn made_outside() -> usize {
    let attack = |_: &usize| {
        let mut once = Command::new(std::env::current_exe().unwrap());
        once.args(std::env::args().skip(1)).env(ATTACK, "once");
        assert!(once.output().unwrap().status.success());
        fs::remove_dir("outside").is_ok()
    };
    (0..ROUNDS).filter(attack).count()
}

/// One thread climbs as far as the root lets it; the other one enters a root in which nothing is above.
fn enter_a_root_while_a_name_is_made() {
    let (began, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            began.store(true, Ordering::Release);
            while !over.load(Ordering::Acquire) {
                let _ = fs::create_dir("../../outside");
            }
        });
        while !began.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        // At another moment of the other thread's each time.
        let delay = std::process::id().wrapping_mul(2_654_435_761) % 20_000;
        (0..delay).for_each(|_| std::hint::spin_loop());
        rustix::process::chroot("jail").unwrap();
        std::env::set_current_dir("/a").unwrap();
        std::thread::sleep(Duration::from_micros(200));
        over.store(true, Ordering::Release);
    });
}
