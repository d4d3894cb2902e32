//! The broker makes names as the kernel does.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

mod common;

use std::collections::BTreeSet;
use std::process::Command;

use common::Fixture;
use ringfence::{Access, Discharge, Mechanism, NestedNamespaces, ProfileConfig, Verdict};

const PYTHON: &str = "/usr/bin/python3";
const OPERATIONS: &str = include_str!("broker/operations.py");
const LAYERS: &str = include_str!("broker/layers.py");

#[test]
fn what_ordinary_programs_do_comes_to_the_same() {
    assert!(same(&[OPERATIONS], NestedNamespaces::Refuse) > 2000);
}

/// Landlock is for everybody, and process 1 is not in the domains that commands make themselves.
#[test]
fn who_confines_itself_further_is_confined_so() {
    let refuse = NestedNamespaces::Refuse;
    let mut ways = vec![("sister", refuse), ("adopted", refuse)];
    if !rustix::process::geteuid().is_root() {
        // They are refused to user id 0.
        ways.push(("namespace", NestedNamespaces::Allow));
        ways.push(("sister", NestedNamespaces::Allow));
    }
    for (way, namespaces) in ways {
        assert_eq!(same(&[LAYERS, way], namespaces), 9, "{way}");
    }
}

/// Runs a script of Python without and with confinement; the number of its results, which are the same.
fn same(script: &[&str], nested_namespaces: NestedNamespaces) -> usize {
    let free = Fixture::new();
    let plain = Command::new(PYTHON)
        .arg("-c")
        .args(script)
        .current_dir(free.workspace.path())
        .output()
        .unwrap();
    let plain_said = String::from_utf8(plain.stdout).unwrap();
    let error = String::from_utf8_lossy(&plain.stderr);
    assert!(plain.status.success(), "{error}");

    let fixture = Fixture::new();
    let set = fixture.set_with(&ProfileConfig {
        nested_namespaces,
        ..fixture.config()
    });
    let executor = set.executor("a").unwrap();
    let report = executor.report();
    let brokered = report.entries().iter().any(|entry| match &entry.discharge {
        Discharge::Enforced { mechanism } => mechanism.contains(&Mechanism::Broker),
        _ => false,
    });
    assert!(brokered, "this shows nothing");
    let command = executor.command(PYTHON).arg("-c").args(script.iter().copied());
    let outcome = command.capture_limit(1 << 22).output().unwrap();
    let error = outcome.stderr.to_text();
    assert!(outcome.success(), "{error}");
    let said = outcome.stdout.to_text();
    let numbered = |said: &str| -> BTreeSet<String> {
        let lines = said.lines().enumerate();
        lines.map(|(number, line)| format!("{number} {line}")).collect()
    };
    let (plain, confined) = (numbered(&plain_said), numbered(&said));
    let differences: Vec<_> = plain.symmetric_difference(&confined).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    plain.len()
}

/// Where reading is closed and writing is not, a file that may have to be made is not read either.
#[test]
fn the_broker_opens_nothing_that_the_command_can_not() {
    // In memory of its own a command can read everything, and so nothing would be left of such a workspace.
    let places = [env!("CARGO_TARGET_TMPDIR"), "/var/lib", "/opt", "/home"];
    let mut outside = places.iter().filter(|place| !place.starts_with("/tmp"));
    let Some(directory) = outside.find_map(|place| tempfile::tempdir_in(place).ok()) else {
        common::skip(
            "unreadable workspaces",
            "this user can make directories in /tmp alone",
        );
        return;
    };
    let workspace = directory.path().canonicalize().unwrap();
    std::fs::write(workspace.join("secret"), "secret").unwrap();
    let fixture = Fixture::new();
    let config = |workspace_access| ProfileConfig {
        workspace: workspace.clone(),
        workspace_access,
        ..fixture.config()
    };
    let script = "import os; print(os.read(os.open('secret', os.O_CREAT | os.O_RDWR), 9))";
    let read = |access| {
        let set = fixture.set_with(&config(access));
        let executor = set.executor("a").unwrap();
        let command = executor.command(PYTHON).args(["-c", script]);
        command.current_dir(&workspace).output().unwrap().success()
    };
    assert!(read(Verdict::READ_WRITE), "the control");
    assert!(!read(Verdict::new(Access::Deny, Access::Allow)));
}
