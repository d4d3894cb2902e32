//! Hosts that refuse a step of the set-up, and sandboxes within the sandbox.

use std::process::Command;

use crate::support::{Done, Place, RINGFENCE, skip};

/// Runs a shell script in the workspace; in it, `$0` is ringfence.
fn sh(place: &Place, wrapper: &[&str], script: &str) -> Done {
    let mut command = place.unconfined(wrapper[0]);
    command.args(&wrapper[1..]).args(["sh", "-c", script, RINGFENCE]);
    place.finish(command.spawn().unwrap())
}

/// What was refused is said, and how to get it; nothing ran.
#[track_caller]
fn refused(place: &Place, done: &Done, said: &[&str]) {
    assert_eq!((done.status, done.stdout.as_str()), (125, ""), "{done:#?}");
    for said in said {
        assert!(done.stderr.contains(said), "{said}: {done:#?}");
    }
    assert!(!place.file("ran").exists());
}

const RUN: &str = r#"exec "$0" run -- touch ran"#;

/// With neither user namespaces nor capabilities of its own, nothing can be confined.
#[test]
fn s_18_without_user_namespaces_nothing_runs_and_the_remedy_is_named() {
    let place = Place::new();
    let none = "echo 0 >/proc/sys/user/max_user_namespaces && \
                exec setpriv --inh-caps=-all --bounding-set=-all \"$0\" run -- touch ran";
    let hint = [
        "create namespaces: No space left",
        "hint: ",
        "user.max_user_namespaces",
    ];
    refused(&place, &sh(&place, &["unshare", "-Ur"], none), &hint);

    // A container's filter, for one who is no administrator.
    let filter = include_str!("no_user_namespaces.py");
    let wrapper = [
        "/usr/bin/python3",
        "-c",
        filter,
        "setpriv",
        "--bounding-set=-all",
        "--inh-caps=-all",
    ];
    let wrapper: &[&str] = if is_root() { &wrapper } else { &wrapper[..3] };
    let done = sh(&place, wrapper, RUN);
    refused(
        &place,
        &done,
        &["create namespaces: Operation not permitted", "unshare(2)"],
    );

    sh(&place, &["env"], RUN).succeeded();
    assert!(place.file("ran").exists());
}

#[test]
fn s_19_with_a_masked_proc_commands_run_without_one_and_are_told() {
    let place = Place::new();
    let masked = |run: &str| {
        let script = format!("mount --bind /dev/null /proc/interrupts && exec \"$0\" {run}");
        sh(&place, &["unshare", "-Urm"], &script)
    };
    masked("run -- touch ran").succeeded();
    assert!(place.file("ran").exists());
    // Nobody sees the host's processes, and what says nothing of them is there.
    let look = "run -- sh -c 'echo /proc/[0-9]*; ls /proc/self; cut -c 1-5 /proc/version; echo $$'";
    let done = masked(look);
    assert_eq!(done.stdout, "/proc/[0-9]*\nLinux\n2\n", "{done:?}");
    assert!(done.stderr.contains("/proc/self"), "{done:?}");
    for (run, expected) in [
        ("run -v -- true", "process isolation: narrowed: there is no /proc"),
        ("doctor", "no   /proc: "),
    ] {
        let done = masked(run);
        let said = done.stdout.clone() + &done.stderr;
        assert!(said.contains(expected), "{done:?}");
    }
    let done = masked("run --require process_boundary -- true");
    assert!(
        done.status == 125 && done.stderr.contains("process isolation"),
        "{done:?}"
    );
    sh(&place, &["unshare", "-Urm"], RUN).succeeded();
}

/// A second fence needs namespaces, which the first keeps from everybody: it says so, and runs nothing.
#[test]
fn s_22_no_other_sandbox_can_be_made_inside() {
    let directory = std::path::Path::new(RINGFENCE)
        .parent()
        .unwrap()
        .to_str()
        .unwrap();
    for (program, said) in [
        (&["unshare", "-Ur"][..], "unshare failed: Operation not permitted"),
        (
            &["bwrap", "--unshare-user", "--dev-bind", "/", "/"],
            "No permissions to create new namespace",
        ),
        (
            &[RINGFENCE, "run", "--"],
            "create namespaces: Operation not permitted",
        ),
    ] {
        let place = Place::new();
        let run = [program, &["touch", "ran"]].concat();
        let mut outside = place.unconfined(run[0]);
        assert!(
            outside.args(&run[1..]).output().unwrap().status.success(),
            "{run:?}"
        );
        std::fs::remove_file(place.file("ran")).unwrap();
        let done = place.ringfence([&["run", "--ro", directory, "--"][..], &run].concat());
        assert!(done.status != 0 && done.stderr.contains(said), "{done:#?}");
        // What confines the inner one has placeholders of its own, which are none of its business.
        assert!(!done.stderr.contains("placeholder"), "{done:#?}");
        let left = std::fs::read_dir(place.workspace()).unwrap().count();
        assert_eq!(left, 0, "something is left in the workspace");
    }
}

/// What the kernel tells user id 0 about everybody, wherever the host shows it.
#[test]
fn what_the_kernel_tells_of_other_processes_is_hidden() {
    let test = "what_the_kernel_tells_of_other_processes_is_hidden";
    let place = Place::new();
    let telling = "mount -t tracefs none /sys/kernel/tracing && mount -t debugfs none /sys/kernel/debug && ";
    let look = "ls /sys/kernel/tracing /sys/kernel/debug";
    let outside = sh(&place, &["unshare", "-m"], &format!("{telling}{look}"));
    if outside.status != 0 {
        skip(test, "tracefs and debugfs can't be mounted here");
        return;
    }
    assert!(outside.stdout.contains("trace_pipe"), "{outside:#?}");
    let run = format!("{telling}exec \"$0\" run --host-read allow -- {look}");
    let inside = sh(&place, &["unshare", "-m"], &run);
    assert!(!inside.stdout.contains("trace"), "{inside:#?}");
    assert!(inside.stderr.contains("Permission denied"), "{inside:#?}");
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}
