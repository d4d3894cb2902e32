//! The exit status of `ringfence run` says how the command ended, as `env`, `timeout` and shells say it: the
//! command's own code, 124 timed out, 125 ringfence failed, 126 not executable, 127 not found, 128+n ended by
//! signal n.

#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use support::Place;

#[test]
fn the_commands_own_code_passes_through() {
    let place = Place::new();
    for code in [0, 1, 7, 124, 125, 126, 127, 255] {
        assert_eq!(place.sh(&[], &format!("exit {code}")).status, code);
    }
}

#[test]
fn a_command_ended_by_a_signal_gives_128_and_its_number() {
    let place = Place::new();
    for (name, number) in [
        ("HUP", 1),
        ("INT", 2),
        ("ABRT", 6),
        ("KILL", 9),
        ("TERM", 15),
        ("USR1", 10),
    ] {
        let done = place.sh(&[], &format!("kill -{name} $$"));
        assert_eq!(done.status, 128 + number, "{name}: {done:?}");
    }
}

#[test]
fn a_command_that_runs_out_of_time_gives_124() {
    let place = Place::new();
    let began = Instant::now();
    let done = place.sh(&["--timeout", "300ms"], "echo started; exec sleep 60");
    assert_eq!(
        (done.status, done.stdout.as_str()),
        (124, "started\n"),
        "{done:?}"
    );
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(300), "ended after {took:?}");
    assert!(took < Duration::from_secs(4), "ended only after {took:?}");
}

#[test]
fn a_command_within_its_time_is_not_disturbed() {
    let done = Place::new().sh(&["--timeout", "60s"], "exit 3");
    assert_eq!(done.status, 3, "{done:?}");
}

#[test]
fn what_is_not_there_gives_127() {
    let place = Place::new();
    for program in ["no-such-program", "./no-such-file", "/no/such/directory/program"] {
        let done = place.ringfence(["run", "--", program]);
        assert_eq!(done.status, 127, "{done:?}");
        assert!(done.stderr.contains(program), "{done:?}");
    }
}

#[test]
fn what_cannot_be_executed_gives_126() {
    let place = Place::new();
    fs::write(place.file("data"), "no program\n").unwrap();
    fs::create_dir(place.file("directory")).unwrap();
    fs::write(place.file("strange"), [0x7f, b'E', b'L', b'F', 0, 0]).unwrap();
    fs::set_permissions(place.file("strange"), fs::Permissions::from_mode(0o755)).unwrap();
    for program in ["./data", "./directory", "./strange"] {
        let done = place.ringfence(["run", "--", program]);
        assert_eq!(done.status, 126, "{program}: {done:?}");
        assert!(done.stderr.contains(&program[2..]), "{done:?}");
    }
}

/// Each of these is a failure of ringfence itself, and nothing runs.
#[test]
fn a_failure_of_its_own_gives_125() {
    let cases: &[&[&str]] = &[
        &[],
        &["no-such-task"],
        &["run"],
        &["run", "--no-such-option", "touch", "ran"],
        &["run", "-z", "touch", "ran"],
        &["run", "--timeout", "soon", "touch", "ran"],
        &["run", "--net", "perhaps", "touch", "ran"],
        &["run", "--workspace", "/no/such/place", "touch", "ran"],
        &["run", "--rw", "/no/such/place", "touch", "ran"],
        &["run", "--json-report", "/no/such/place/report", "touch", "ran"],
        &["doctor", "--no-such-option"],
    ];
    let place = Place::new();
    for arguments in cases {
        let done = place.ringfence(arguments.iter());
        assert_eq!(done.status, 125, "{arguments:?}: {done:?}");
        assert!(!place.file("ran").exists(), "{arguments:?} ran the command");
    }
}

#[test]
fn help_and_version_are_answers_not_failures() {
    let place = Place::new();
    for (arguments, expected) in [
        (&["--help"][..], "doctor"),
        (&["run", "--help"], "--host-read"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        let done = place.ringfence(arguments).succeeded();
        assert!(
            done.stdout.contains(expected) && done.stderr.is_empty(),
            "{done:?}"
        );
    }
}

/// Each makes the directory of its user in the scratch root, and the last one of them removes it.
#[test]
fn runs_that_come_and_go_at_the_same_place_all_succeed_and_leave_nothing() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let done = place.command(["run", "--", "true"]).output().unwrap();
                    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
                }
            });
        }
    });
    assert_eq!(fs::read_dir(place.scratch()).unwrap().count(), 0);
}
