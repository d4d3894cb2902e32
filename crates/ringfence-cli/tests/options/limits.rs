//! Limits: each attack succeeds without one.

use crate::support::{Done, Place};

/// Where nothing can keep a limit, nothing runs and the option is named (S-20).
fn is_kept(done: &Done, option: &str) -> bool {
    if done.status != 125 {
        return true;
    }
    let first = done.stderr.lines().next().unwrap_or_default();
    assert!(
        first.starts_with(&format!("ringfence: {option}: nothing here can limit")),
        "{done:?}"
    );
    assert!(first.contains("control group"), "{done:?}");
    assert!(
        done.stderr.contains(&format!("hint: leave {option} out")),
        "{done:?}"
    );
    assert_eq!(done.stdout, "", "{done:?}");
    false
}

#[test]
fn s_20_memory_is_limited_or_the_option_is_refused() {
    let place = Place::new();
    let hog = "head -c 96M /dev/zero | tail -c 96M | wc -c";
    assert_eq!(place.sh(&[], hog).succeeded().stdout, "100663296\n");
    let done = place.sh(&["--memory", "48M"], hog);
    if is_kept(&done, "--memory") {
        assert_eq!(done.status, 137, "{done:?}");
        place.sh(&["--memory", "48M"], "true").succeeded();
    }
}

#[test]
fn s_20_processes_are_limited_or_the_option_is_refused() {
    let place = Place::new();
    let many = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 5 & done; echo all; kill $(jobs -p)";
    assert_eq!(place.sh(&[], many).stdout, "all\n");
    let done = place.sh(&["--pids", "6"], many);
    if is_kept(&done, "--pids") {
        assert!(done.status != 0 && done.stdout.is_empty(), "{done:?}");
    }
}

#[test]
fn s_20_processor_time_is_limited_or_the_option_is_refused() {
    let place = Place::new();
    let done = place.sh(
        &["--cpu-time", "300ms", "--timeout", "60s"],
        "while :; do :; done",
    );
    if is_kept(&done, "--cpu-time") {
        assert_eq!(done.status, 137, "{done:?}");
    }
}

#[test]
fn open_files_are_limited() {
    let place = Place::new();
    let limited = place.sh(&["--open-files", "20"], "ulimit -n").succeeded();
    assert_eq!(limited.stdout, "20\n");
    assert_ne!(place.sh(&[], "ulimit -n").succeeded().stdout, "20\n");
}

#[test]
fn the_size_of_a_file_is_limited() {
    let place = Place::new();
    let write = "head -c 200K /dev/zero >big";
    place.sh(&[], write).succeeded();
    std::fs::remove_file(place.file("big")).unwrap();
    let done = place.sh(&["--file-size", "64K"], &format!("exec {write}"));
    assert_ne!(done.status, 0, "{done:?}");
    assert!(std::fs::metadata(place.file("big")).unwrap().len() <= 64 << 10);
}

#[test]
fn private_file_systems_have_a_size() {
    let place = Place::new();
    let fill = "head -c 2M /dev/zero >/tmp/big";
    place.sh(&[], fill).succeeded();
    let done = place.sh(&["--tmp-size", "1M"], fill);
    assert!(!matches!(done.status, 0 | 125), "{done:?}");
    place.sh(&["--tmp-size", "4MiB"], fill).succeeded();
}

/// EXE-43: exactly what is allowed comes through.
#[test]
fn exe_43_output_is_limited_and_comes_through_as_it_is_written() {
    let place = Place::new();
    let done = place.sh(&["--output-limit", "1K"], "echo out; echo err >&2; exit 7");
    let shown = (done.status, done.stdout.as_str(), done.stderr.as_str());
    assert_eq!(shown, (7, "out\n", "err\n"));
    let done = place.sh(&["--output-limit", "1K"], "yes");
    assert_eq!((done.status, done.stdout.len()), (137, 1024));
    let done = place.sh(&["--output-limit", "10"], "printf 0123456789");
    assert_eq!((done.status, done.stdout.as_str()), (0, "0123456789"));
    let done = place.sh(
        &["--output-limit", "10", "--timeout", "60s"],
        "printf 012345 >&2; sleep 1; printf 0123456789; sleep 50",
    );
    assert_eq!(
        (done.status, done.stderr.as_str(), done.stdout.as_str()),
        (
            137,
            "012345ringfence: the command went over its output limit\n",
            "0123"
        )
    );
}

#[test]
fn a_reader_of_limited_output_that_goes_away_ends_the_command() {
    let place = Place::new();
    let mut child = place
        .command(["run", "--output-limit", "1G", "--", "yes"])
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = place.finish(child);
    assert_eq!(done.status, 128 + 13, "{done:?}");
}
