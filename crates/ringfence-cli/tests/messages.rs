//! What `ringfence` says when it can't do what was asked: one line on standard error that names the option or
//! field and the value, then, set off by a blank line, how to fix it. Nothing runs and standard output is empty.

#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use support::{Done, Place, assert_snapshot};

/// Arguments before `-- touch ran`, what the first line names, and what the rest suggests.
const CASES: &[(&[&str], &[&str], &str)] = &[
    (
        &["--timeout", "10x"],
        &["--timeout", "10x", "`x` is no unit"],
        "ms, s, m or h",
    ),
    (&["--timeout", "soon"], &["--timeout", "soon", "no number"], "30s"),
    (&["--timeout", "0s"], &["--timeout", "0s"], "longer than 0"),
    (&["--net", "perhaps"], &["--net", "perhaps"], "deny, allow"),
    (&["--host-read", "some"], &["--host-read", "some"], "deny, allow"),
    (&["--no-such-option"], &["--no-such-option"], "--help"),
    (
        &["--workspace", "/no/such/place"],
        &["workspace", "/no/such/place", "does not exist"],
        "create it",
    ),
    (
        &["--workspace", "/etc/passwd"],
        &["workspace", "/etc/passwd"],
        "directory",
    ),
    (
        &["--rw", "/no/such/place"],
        &["--rw", "/no/such/place", "does not exist"],
        "create it",
    ),
    (
        &["--ro", "/no/such/place"],
        &["--ro", "/no/such/place", "does not exist"],
        "create it",
    ),
    (
        &["--json-report", "/no/such/report"],
        &["--json-report", "/no/such/report"],
        "can write",
    ),
];

/// Command lines whose messages were reviewed word for word; `profile.toml` is beneath the workspace.
const REVIEWED: &[&str] = &[
    "run",
    "rnu",
    "run --nope -- touch ran",
    "run --secrets x -- touch ran",
    "run --secret= -- touch ran",
    "run --secret glob: -- touch ran",
    "run --protect glob:[z-a] -- touch ran",
    "run --secret glob:**/../x -- touch ran",
    "run --without git,credential -- touch ran",
    "run --device /etc/passwd -- touch ran",
    "run --device /dev/no-such-device -- touch ran",
    "run --rw . -- touch ran",
    "run --rw here --ro here -- touch ran",
    "run --rw .vscode -- touch ran",
    "run --bundle bsae -- touch ran",
    "run --home ../x -- touch ran",
    "run --cache crago -- touch ran",
    "run --env =secret-value -- touch ran",
    "run --env * -- touch ran",
    "run --env A*B -- touch ran",
    "run --env-unset A=secret-value -- touch ran",
    "run --memory 64X -- touch ran",
    "run --memory lots -- touch ran",
    "run --memory 0 -- touch ran",
    "run --memory 99999999999T -- touch ran",
    "run --pids some -- touch ran",
    "run --cpu-time 0s -- touch ran",
    "run --open-files 0 -- touch ran",
    "run --secret one -- touch ran",
    "run --protect one --require write_boundary -- touch ran",
    "run --json-report - -- touch ran",
    "run --json-report here -- touch ran",
    "run --json-report nowhere/ -- touch ran",
    "run --require read_boundry -- touch ran",
    "run --require target_network -- touch ran",
    "run --profile no-such-file -- touch ran",
    "run --profile . -- touch ran",
    "run --profile wrong.toml -- touch ran",
    "run --profile names.toml -- touch ran",
    "run --profile caches.toml -- touch ran",
    "run --profile devices.toml -- touch ran",
    "run --profile directory.toml -- touch ran",
    "run --profile paths.toml --rw nowhere -- touch ran",
    "run --profile paths.toml --open-files 0 -- touch ran",
    "run --profile fixed.toml --workspace here -- touch ran",
    "explain",
    "explain here loook",
    "explain network write",
    "explain env:A execute",
    "explain loop read",
    "man rnu",
    "completions bsh",
];

/// Checks the shape of a message and what its parts contain.
#[track_caller]
fn check(done: &Done, named: &[&str], fix: &str) {
    assert_eq!((done.status, done.stdout.as_str()), (125, ""), "{done:?}");
    let mut lines = done.stderr.lines();
    let first = lines.next().unwrap_or_default();
    assert!(
        first.starts_with("ringfence: ") || first.starts_with("error: "),
        "{done:?}"
    );
    for part in named {
        assert!(
            first.contains(part),
            "{part:?} is not in the first line: {done:?}"
        );
    }
    assert!(done.stderr.contains(fix), "{fix:?} is missing: {done:?}");
    let blank_after_first = lines.next().is_none_or(str::is_empty);
    assert!(
        blank_after_first || first.starts_with("error: "),
        "more than one line: {done:?}"
    );
}

#[test]
fn a_wrong_option_is_named_with_its_fix() {
    let place = Place::new();
    for (options, named, fix) in CASES {
        let done = place.ringfence([&["run"], *options, &["--", "touch", "ran"]].concat());
        check(&done, named, fix);
        assert!(!place.file("ran").exists(), "{options:?} ran the command");
    }
}

#[test]
fn messages_are_as_reviewed() {
    let place = Place::new();
    for (name, text) in [
        (
            "wrong.toml",
            "secrets = ['x']\nnetwork = 'no'\n[limits]\nmemory = '64X'\n",
        ),
        ("names.toml", "bundles = ['base', 'pyhton']\nnetwork = 'no'\n"),
        ("caches.toml", "cache = ['crago']\n"),
        (
            "devices.toml",
            "devices = [\n'/dev/null',\n'/dev/no-such-device']\n",
        ),
        ("directory.toml", "devices = [{ path = '/dev/shm' }]\n"),
        (
            "paths.toml",
            "[[roots]]\npath = 'nowhere'\naccess = 'read-only'\n",
        ),
        ("fixed.toml", "workspace = '/usr'\n"),
    ] {
        place.write(name, text);
    }
    fs::create_dir_all(place.file("here")).unwrap();
    fs::create_dir_all(place.file(".vscode")).unwrap();
    std::os::unix::fs::symlink("loop", place.file("loop")).unwrap();
    place.write("one", "");
    fs::hard_link(place.file("one"), place.file("two")).unwrap();
    let mut all = String::new();
    for line in REVIEWED {
        let done = place.ringfence(line.split(' '));
        assert_eq!((done.status, done.stdout.as_str()), (125, ""), "{line}: {done:?}");
        assert!(!place.file("ran").exists(), "{line} ran the command");
        assert!(
            !done.stderr.contains("secret-value") && !done.stderr.contains('\x1b'),
            "{done:?}"
        );
        all.push_str(&format!(
            "$ ringfence {line}\n{}\n",
            place.anonymous(&done.stderr)
        ));
    }
    assert_snapshot("messages.txt", &all);
}

#[test]
fn a_temporary_directory_that_is_missing_is_named() {
    let place = Place::new();
    let command = &mut place.command(["run", "--", "touch", "ran"]);
    let child = command.env("TMPDIR", "/no/such/place").spawn().unwrap();
    check(&place.finish(child), &["/no/such/place"], "TMPDIR");
}

/// The scratch directory must not be one that somebody else made or can enter.
#[test]
fn a_scratch_directory_that_others_can_enter_is_refused() {
    let place = Place::new();
    let shared = tempfile::tempdir().unwrap();
    let own = shared
        .path()
        .join(format!("ringfence-{}", rustix::process::geteuid().as_raw()));
    fs::create_dir(&own).unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    let command = &mut place.command(["run", "--", "touch", "ran"]);
    let child = command.env("TMPDIR", shared.path()).spawn().unwrap();
    check(
        &place.finish(child),
        &[own.to_str().unwrap(), "only you"],
        "TMPDIR",
    );
    assert!(!place.file("ran").exists());
}

/// The name as it was typed, not a guess at where it might have been.
#[test]
fn a_program_that_is_nowhere_in_path_is_named_as_typed() {
    let done = Place::new().ringfence(["run", "--", "no-such-program"]);
    assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    assert!(done.stderr.starts_with("ringfence: "), "{done:?}");
    assert!(done.stderr.contains("no-such-program"), "{done:?}");
    assert!(
        !done.stderr.contains("/no-such-program"),
        "a path nobody gave: {done:?}"
    );
}

#[test]
fn a_workspace_with_the_home_directory_in_it_is_worth_a_warning() {
    let place = Place::new();
    place.write("me/project/file", "");
    let home = place.file("me").canonicalize().unwrap();
    let said = |arguments: &[&str]| {
        let done = place.ringfence_with(&[("HOME", home.to_str().unwrap())], arguments);
        let done = done.succeeded();
        assert!(!done.stdout.contains("the command can"), "{done:?}");
        place.anonymous(&done.stderr)
    };
    let fix = "(give a project directory: --workspace DIR)\n";
    let read = "the command can read everything in it but what is secret";
    let all = "the command can read and change everything in it but what is protected or secret";
    for (arguments, expected) in [
        (
            &["run", "--workspace", "me"][..],
            format!("[workspace]/me is the home directory: {all}"),
        ),
        (
            &["run", "--workspace", "me", "--read-only"],
            format!("[workspace]/me is the home directory: {read}"),
        ),
        (
            &["run", "--workspace", "me", "--dry-run"],
            format!("[workspace]/me is the home directory: {all}"),
        ),
        (
            &["run"],
            format!("[workspace] holds the home directory [workspace]/me: {all}"),
        ),
    ] {
        let said = said(&[arguments, &["--", "true"]].concat());
        assert_eq!(said, format!("ringfence: the workspace {expected} {fix}"));
    }
    assert_eq!(said(&["run", "--workspace", "me/project", "--", "true"]), "");
    // A profile file denies what it does not say.
    place.write("closed.toml", "command = 'allow'\n");
    let closed = ["run", "--profile", "closed.toml", "--dry-run", "--", "true"];
    assert_eq!(said(&closed), "");
}
