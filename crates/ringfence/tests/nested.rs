//! Namespaces that commands make themselves, where the profile lets them.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

mod common;

use std::fs;
use std::process::Command;

use common::Fixture;
use ringfence::{Clause, Discharge, ExecutorError, Guard, NestedNamespaces, ProfileConfig, Unavailable};

const PYTHON: &str = "/usr/bin/python3";
const SCRIPT: &str = include_str!("nested/namespaces.py");

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
        let ExecutorError::Unavailable(Unavailable::NestedNamespaces { why }) = refused else {
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
