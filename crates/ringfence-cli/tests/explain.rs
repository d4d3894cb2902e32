//! `ringfence explain` answers what a run would find: each answer is compared with a run, and each way it names to
//! change the answer is taken.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;
use support::{Done, Place};

/// A file outside of every workspace, in the temporary directory.
fn outside() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "outside\n").unwrap();
    let name = file.to_str().unwrap().to_owned();
    (directory, name)
}

fn explain(place: &Place, options: &[&str]) -> Done {
    place.ringfence([&["explain"], options].concat())
}

fn json(place: &Place, options: &[&str]) -> Value {
    let done = place.ringfence([&["explain", "--json"], options].concat());
    serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"))
}

/// The workspace of these tests: what presets guard, and what they do not.
fn furnished() -> Place {
    let place = Place::new();
    place.write(".env", "KEY=1\n");
    place.write("plans.txt", "plans\n");
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    place.write(".git/config", "[core]\n");
    place.write(".git/hooks/old", "#!/bin/sh\n");
    fs::create_dir_all(place.file(".git/refs")).unwrap();
    fs::create_dir_all(place.file(".git/objects")).unwrap();
    place
}

/// A command that succeeds if it may do something with a path and changes nothing.
fn attempt(path: &str, operation: &str) -> String {
    match operation {
        "read" => format!("cat '{path}' >/dev/null"),
        "write" => format!(": >>'{path}'"),
        other => panic!("{other}"),
    }
}

#[test]
fn answers_are_those_of_a_run_and_so_are_the_ways_to_change_them() {
    let place = furnished();
    let (_directory, file) = outside();
    let cases: &[(&[&str], &str, &str)] = &[
        (&[], "plans.txt", "read"),
        (&[], "plans.txt", "write"),
        (&[], ".env", "read"),
        (&[], ".git/config", "read"),
        (&[], ".git/config", "write"),
        (&[], ".git/hooks/old", "write"),
        (&[], &file, "read"),
        (&[], &file, "write"),
        (&["--ro", &file], &file, "read"),
        (&["--rw", &file], &file, "write"),
        (&["--without", "credentials"], ".env", "read"),
        (&[], "/etc/passwd", "read"),
    ];
    for (options, path, operation) in cases {
        let asked = [*options, &[*path, *operation]].concat();
        let allowed = agreed(&place, options, path, operation);
        let answer = &json(&place, &asked)["answers"][0];
        let remedy = if allowed {
            &answer["to_close"]
        } else {
            &answer["to_open"]
        };
        let remedy = remedy.as_str().unwrap_or_else(|| panic!("{asked:?}: {answer:#}"));
        let mut changed: Vec<_> = options.to_vec();
        changed.extend(remedy.split(' '));
        let after = agreed(&place, &changed, path, operation);
        assert_ne!(allowed, after, "{asked:?}: {remedy} changes nothing");
    }
}

/// Whether something is allowed, as `explain` and a run say alike.
fn agreed(place: &Place, options: &[&str], path: &str, operation: &str) -> bool {
    let explained = explain(place, &[options, &[path, operation]].concat());
    let run = place.sh(options, &attempt(path, operation));
    assert!(explained.status <= 1, "{explained:?}");
    assert_ne!(run.status, 125, "{run:?}");
    assert_eq!(
        explained.status == 0,
        run.status == 0,
        "{options:?}: {explained:#?} {run:#?}"
    );
    explained.status == 0
}

#[test]
fn what_closes_something_and_what_would_open_it_is_said_in_words() {
    let place = furnished();
    let workspace = place.workspace().display().to_string();
    let done = explain(&place, &[".git/config"]).succeeded();
    let lines: Vec<_> = done.stdout.lines().collect();
    assert_eq!(lines[0], format!("{workspace}/.git/config"));
    assert_eq!(
        lines[1],
        format!("  read     allowed: the profile's workspace access, at {workspace}")
    );
    assert_eq!(lines[2], "           to close it: --secret .git/config");
    let write = lines
        .iter()
        .position(|line| line.starts_with("  write  "))
        .unwrap();
    assert!(
        lines[write].starts_with("  write    denied: the preset git (")
            && lines[write].ends_with(&format!("), at {workspace}/.git/config")),
        "{}",
        lines[write]
    );
    assert!(
        lines[write + 1].starts_with("           enforced by the mount view"),
        "{done:#?}"
    );
    assert_eq!(
        lines.last(),
        Some(&"           to open it: --unprotect .git/config")
    );
}

/// What the host's tools keep is not for commands to write: they get a cache of their own.
#[test]
fn s_17_a_cache_of_the_commands_own_is_offered_instead_of_that_of_the_host() {
    let place = Place::new();
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".cargo/registry")).unwrap();
    let said = |options: &[&str], path: &str, operation: &str| {
        let path = home.path().join(path);
        let asked = [&["explain"], options, &[path.to_str().unwrap(), operation]].concat();
        let home = home.path().to_str().unwrap();
        place
            .ringfence_with(&[("HOME", home), ("CARGO_HOME", "")], &asked)
            .stdout
    };
    let offer = "           or give commands one of their own: --cache cargo\n";
    assert!(said(&[], ".cargo/registry", "write").ends_with(offer));
    assert!(!said(&[], ".cargo/registry", "read").contains("--cache"));
    assert!(!said(&[], ".cargo/bin", "write").contains("--cache"));
    assert!(!said(&["--cache", "cargo"], ".cargo/registry", "write").contains("--cache"));
}

/// Settings of the kernel are out of everybody's reach.
#[test]
fn what_no_option_opens_is_said() {
    let place = Place::new();
    let answer = json(&place, &["--host-read", "allow", "/sys/kernel", "write"]);
    let answer = &answer["answers"][0];
    assert!(
        answer["access"] == "deny" && answer["to_open"].is_null(),
        "{answer:#}"
    );
    let text = explain(&place, &["/sys/kernel", "write"]).stdout;
    assert!(text.contains("no option can open it\n"), "{text}");
}

#[test]
fn options_that_close_something_are_named_as_they_were_written() {
    let place = furnished();
    for (options, remedy) in [
        (&["--secret", "plans.txt"][..], "leave out --secret plans.txt"),
        (&["--protect", "glob:*.txt"], "leave out --protect glob:*.txt"),
        (&["--read-only"], "leave out --read-only"),
    ] {
        let answer = json(&place, &[options, &["plans.txt", "write"]].concat());
        assert_eq!(answer["answers"][0]["to_open"], remedy, "{answer:#}");
    }
    place.write(
        "profile.toml",
        "workspace_access = \"read-write\"\nsecret = [\"plans.txt\"]\n",
    );
    let answer = json(&place, &["--profile", "profile.toml", "plans.txt", "read"]);
    assert_eq!(
        answer["answers"][0]["to_open"], "take it out of profile.toml",
        "{answer:#}"
    );
}

#[test]
fn a_path_is_judged_where_its_links_lead() {
    let place = furnished();
    symlink(".env", place.file("innocent")).unwrap();
    let answer = json(&place, &["innocent"]);
    let env = place.file(".env");
    assert_eq!(answer["resolved"]["path"], env.to_str().unwrap());
    let link = &answer["resolved"]["links"][0];
    assert_eq!(link["path"], place.file("innocent").to_str().unwrap());
    assert_eq!(link["target"], ".env");
    assert_eq!(answer["answers"][0]["rule"]["path"], env.to_str().unwrap());
    let text = explain(&place, &["innocent"]).succeeded().stdout;
    assert!(
        text.contains("  by the link ") && text.contains("/innocent -> .env\n"),
        "{text}"
    );
}

#[test]
fn what_stands_on_the_host_and_what_can_not_be_enforced_is_said() {
    let place = furnished();
    let text = explain(&place, &[".envrc", "write"]).stdout;
    assert!(text.contains("(does not exist)\n"), "{text}");
    assert!(text.contains("enforced by the broker, Landlock ABI"), "{text}");
    // A repository that can be moved takes what is closed in it along, but for what does not exist.
    place.movable_repository("vendor");
    let text = explain(&place, &["vendor/.git/hooks", "write"]).stdout;
    assert!(
        text.contains("host_artefact: ") && text.contains("/vendor/.git/hooks while"),
        "{text}"
    );
    // As a run would, it refuses what it could not keep.
    fs::hard_link(place.file(".env"), place.file("twin")).unwrap();
    let done = explain(&place, &[".env", "write"]);
    assert_eq!(done.status, 125, "{done:?}");
    assert!(
        done.stderr.contains("under its other name") && done.stderr.contains("/twin\": remove"),
        "{done:?}"
    );
}

#[test]
fn every_rule_that_closes_a_path_is_among_what_opens_it() {
    let place = Place::new();
    fs::create_dir(place.file("data")).unwrap();
    place.write("data/7.parquet", "");
    let options = [
        "--secret",
        "glob:data/*",
        "--secret",
        "glob:**/*.parquet",
        "--protect",
        ".vscode",
    ];
    let explain = |question: &[&str]| {
        let done = place.ringfence([&["explain"], &options[..], question].concat());
        done.stdout
    };
    let text = explain(&["data/7.parquet", "read"]);
    for option in ["glob:data/*", "glob:**/*.parquet"] {
        assert!(text.contains(option), "{option} is missing:\n{text}");
    }
    let text = explain(&[".vscode", "write"]);
    assert!(
        text.contains("--protect .vscode and --unprotect .vscode"),
        "{text}"
    );
}

/// The host's `/tmp` is not the command's.
#[test]
fn a_file_of_the_host_is_out_of_reach_where_the_command_has_its_own_file_system() {
    let place = Place::new();
    let (_directory, file) = outside();
    let text = explain(&place, &[&file]).succeeded().stdout;
    assert!(
        text.contains("denied: the command's private file systems, at /tmp; the host's own is out of reach"),
        "{text}"
    );
    let text = explain(&place, &["/tmp/no-such-name", "write"])
        .succeeded()
        .stdout;
    assert!(
        text.contains("allowed: the command's private file systems, at /tmp"),
        "{text}"
    );
}

#[test]
fn the_network_commands_and_variables_can_be_asked_for() {
    let place = Place::new();
    for (options, status, remedy) in [
        (&["network", "connect"][..], 1, "--net allow"),
        (&["--net", "allow", "network", "connect"], 0, "--net deny"),
        (
            &["command", "execute"],
            0,
            "`command = \"deny\"` in a profile file",
        ),
        (&["env:PATH", "read"], 0, "--env-unset PATH"),
        (
            &["--env-unset", "PATH", "env:PATH", "read"],
            1,
            "leave out --env-unset PATH",
        ),
        (&["env:NO_SUCH_NAME", "read"], 1, "--env NO_SUCH_NAME=VALUE"),
        (&["env:SOME_API_TOKEN", "read"], 1, "--env SOME_API_TOKEN"),
        (&["--env", "X_*", "env:X_1", "read"], 0, "--env-unset X_1"),
        (&["--env", "A=1", "env:A", "read"], 0, "--env-unset A"),
    ] {
        assert_eq!(explain(&place, options).status, status, "{options:?}");
        // Without an operation nothing in particular was asked.
        explain(&place, &options[..options.len() - 1]).succeeded();
        let answer = &json(&place, options)["answers"][0];
        let key = if status == 0 { "to_close" } else { "to_open" };
        assert_eq!(answer[key], remedy, "{options:?}: {answer:#}");
    }
    // Another value for one that ringfence sets changes nothing.
    for question in [&["env:TMPDIR"][..], &["--env", "HOME=/elsewhere", "env:HOME"]] {
        let forced = json(&place, question);
        assert!(forced["answers"][0]["to_close"].is_null(), "{forced:#}");
    }
}

#[test]
fn values_of_variables_are_not_shown() {
    let place = Place::new();
    let arguments = ["explain", "--env", "A=value-a", "--env", "B", "env:A"];
    let done = place.ringfence_with(&[("B", "value-b")], &arguments).succeeded();
    assert!(!done.stdout.contains("value-"), "{done:?}");
}

#[test]
fn nothing_runs_and_nothing_is_left() {
    let place = Place::new();
    explain(&place, &["--secret", "hook", "hook", "write"]);
    assert_eq!(fs::read_dir(place.workspace()).unwrap().count(), 0);
    assert!(!Path::new("hook").exists());
}
