//! Real work inside the default profile of `ringfence run`, as root and as an ordinary user: each test runs
//! unmodified tools and asserts what they produced, not only that they exited with 0.
//!
//! A tool that is not installed is a visible `SKIP real_work_<tool>: not installed` on standard error.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

#[path = "real_work/compilers.rs"]
mod compilers;
#[path = "real_work/git.rs"]
mod git;
#[path = "real_work/loopback.rs"]
mod loopback;
#[path = "real_work/node.rs"]
mod node;
#[path = "real_work/python.rs"]
mod python;
#[path = "real_work/sqlite.rs"]
mod sqlite;

use std::path::Path;

use support::{Place, installed};

#[test]
fn shell_pipelines_with_errors_thrown_away() {
    let script = r"
        set -e
        printf '%s\n' pear apple fig apple | sort -u | tr a-z A-Z | paste -sd, -
        ls /no/such/place 2>/dev/null || echo failed quietly
        seq 1 100000 | tail -n 1
        find / -name '*.none' >/dev/null 2>&1 || true
        (echo in a subshell; exit 3) || echo code $?
        echo background >file & wait; cat file
    ";
    let done = Place::new().sh(&[], script).succeeded();
    let expected = "APPLE,FIG,PEAR\nfailed quietly\n100000\nin a subshell\ncode 3\nbackground\n";
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), (expected, ""));
}

#[test]
fn here_documents() {
    let script = "name=world\ncat <<END >greeting\nhello $name\n$(yes x | head -n 20000)\nEND\nwc -l <greeting; head -n 1 greeting";
    let done = Place::new().sh(&[], script).succeeded();
    assert_eq!(done.stdout, "20001\nhello world\n");
}

#[test]
fn temporary_files() {
    let place = Place::new();
    let script = r#"
        set -e
        file=$(mktemp); directory=$(mktemp -d); fixed=$(mktemp /tmp/fixed.XXXXXX)
        echo content >"$file"; mv "$file" "$directory/moved"; cat "$directory/moved"
        echo "$fixed"; test -w /var/tmp; test -w /dev/shm
    "#;
    let done = place.sh(&[], script).succeeded();
    let fixed = done
        .stdout
        .strip_prefix("content\n")
        .expect("the file's content")
        .trim_end();
    assert!(fixed.starts_with("/tmp/fixed."), "{done:?}");
    assert!(
        !Path::new(fixed).exists(),
        "the command's own /tmp reached the host's"
    );
}

/// What `bash` has beyond `sh`; the descriptors of others are in `/dev/fd`.
#[test]
fn bash_substitutes_processes_and_talks_to_a_coprocess() {
    if !installed("real_work_bash", &[&["bash", "--version"]]) {
        return;
    }
    let script = r#"
        set -eo pipefail
        diff <(seq 1 3) <(seq 2 3) || echo differs
        seq 1 10 | tee >(wc -l >lines) | paste -sd+ - | (read -r sum; echo $((sum)))
        until [ -s lines ]; do sleep 0.1; done; cat lines; cat <<<here
        coproc cat; echo there >&"${COPROC[1]}"; read -r answer <&"${COPROC[0]}"; echo "$answer"
    "#;
    let place = Place::new();
    let arguments = ["run", "--timeout", "60s", "--", "bash", "-c", script];
    let done = place.ringfence(arguments).succeeded();
    assert_eq!(done.stdout, "1d0\n< 1\ndiffers\n55\n10\nhere\nthere\n");
}

/// Root's tar gives files to the owners that the archive names, if nothing says otherwise.
#[test]
fn tar_unpacks_files_of_another_owner() {
    if !installed("real_work_tar", &[&["tar", "--version"]]) {
        return;
    }
    let script = "
        set -e
        mkdir made && echo content >made/file
        tar --owner=12345 --group=12345 -cf made.tar made && rm -r made
        tar -xf made.tar && cat made/file
    ";
    let done = Place::new().sh(&[], script).succeeded();
    assert_eq!(done.stdout, "content\n");
}
