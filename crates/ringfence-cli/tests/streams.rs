//! Standard input, output and error of the command are those of `ringfence`, byte for byte; `ringfence` adds
//! nothing of its own unless it is asked to.

#![cfg(target_os = "linux")]

mod support;

use std::io::{Read, Write};
use std::process::Stdio;

use support::Place;

#[test]
fn input_reaches_the_command_and_its_end_too() {
    let place = Place::new();
    let mut child = place
        .command(["run", "--", "sh", "-c", "cat; echo end"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"one\ntwo\n").unwrap();
    let done = place.finish(child).succeeded();
    assert_eq!(
        (done.stdout.as_str(), done.stderr.as_str()),
        ("one\ntwo\nend\n", "")
    );
}

#[test]
fn output_and_errors_stay_apart_and_nothing_is_added() {
    let done = Place::new()
        .sh(&[], "echo to-output; echo to-error >&2")
        .succeeded();
    assert_eq!(
        (done.stdout.as_str(), done.stderr.as_str()),
        ("to-output\n", "to-error\n")
    );
}

#[test]
fn more_than_a_pipe_holds_passes_unchanged() {
    let place = Place::new();
    let sent: Vec<u8> = (0..=250).cycle().take(3_000_000).collect();
    let mut child = place
        .command(["run", "--", "cat"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = {
        let sent = sent.clone();
        std::thread::spawn(move || input.write_all(&sent))
    };
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(
        output.status.success() && output.stdout == sent,
        "{} bytes came back",
        output.stdout.len()
    );
}

#[test]
fn a_reader_that_goes_away_ends_the_command_by_sigpipe() {
    let place = Place::new();
    let mut child = place.command(["run", "--", "yes"]).spawn().unwrap();
    drop(child.stdout.take());
    let done = place.finish(child);
    assert_eq!(done.status, 128 + 13, "{done:?}");
}

#[test]
fn verbose_speaks_on_standard_error_only() {
    let done = Place::new().sh(&["-v"], "echo mine").succeeded();
    assert_eq!(done.stdout, "mine\n");
    for expected in ["level:", "guarantees:", "read_boundary", "network_boundary"] {
        assert!(done.stderr.contains(expected), "{expected} is missing: {done:?}");
    }
}

/// The kernel takes some 10 ms to end watching, which one command does not make up for.
#[test]
fn a_run_has_no_directory_watched() {
    let place = Place::new();
    let mut child = place
        .command(["run", "--", "sh", "-c", "echo ready; cat"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
    let open = std::fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
    let kinds = open
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let kinds: Vec<String> = kinds.map(|kind| kind.display().to_string()).collect();
    drop(child.stdin.take());
    place.finish(child).succeeded();
    let has = |name: &str| kinds.iter().any(|kind| kind.contains(name));
    assert!(has("[eventpoll]") && !has("inotify"), "{kinds:?}");
}
