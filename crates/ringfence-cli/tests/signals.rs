//! INT, TERM and HUP sent to `ringfence` reach the confined command, which decides what they do; before there is one,
//! they end `ringfence`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use support::{Place, RINGFENCE};

const FORWARDED: [(Signal, &str, i32); 3] = [
    (Signal::INT, "INT", 2),
    (Signal::TERM, "TERM", 15),
    (Signal::HUP, "HUP", 1),
];

/// Starts a script that says `ready`, and waits until it has.
fn start(place: &Place, script: &str) -> (Child, BufReader<impl Read>) {
    let mut child = start_with(place, &["run", "--", "sh", "-c", script]);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, output)
}

fn start_with(place: &Place, arguments: &[&str]) -> Child {
    // Whoever runs the tests may ignore signals, and so would what they start.
    let mut env = place.unconfined("env");
    env.args(["--default-signal=INT,TERM,HUP", RINGFENCE]);
    env.args(arguments).spawn().unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_trap_inside_sees_the_signal_and_sets_the_status() {
    for (signal, name, _) in FORWARDED {
        let place = Place::new();
        let script =
            format!("trap 'echo got {name}; exit 7' {name}; echo ready; while :; do sleep 0.05; done");
        let (child, mut output) = start(&place, &script);
        send(&child, signal);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        let done = place.finish(child);
        assert_eq!(
            (rest.as_str(), done.status),
            (format!("got {name}\n").as_str(), 7),
            "{done:?}"
        );
    }
}

#[test]
fn without_a_trap_the_signal_ends_the_command() {
    for (signal, name, number) in FORWARDED {
        let place = Place::new();
        let (child, _output) = start(&place, "echo ready; exec sleep 60");
        let began = Instant::now();
        send(&child, signal);
        let done = place.finish(child);
        assert_eq!(done.status, 128 + number, "{name}: {done:?}");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(4), "{name} took {took:?}");
    }
}

#[test]
fn a_command_that_ignores_the_signal_runs_on() {
    let place = Place::new();
    let script = "trap '' TERM; echo ready; sleep 0.5; echo survived";
    let (child, mut output) = start(&place, script);
    send(&child, Signal::TERM);
    thread::sleep(Duration::from_millis(50));
    send(&child, Signal::TERM);
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    let done = place.finish(child).succeeded();
    assert_eq!(rest, "survived\n", "{done:?}");
}

/// It takes the greatest part of a run in a workspace like this, and nothing waits for it.
#[test]
fn a_signal_before_there_is_a_command_ends_the_set_up() {
    let place = Place::new();
    for number in 0..5000 {
        let directory = place.file(&format!("{}/{}", number / 100, number % 100));
        std::fs::create_dir_all(directory).unwrap();
    }
    let began = Instant::now();
    let whole = place.ringfence(["run", "-v", "--", "true"]).succeeded();
    let whole_time = began.elapsed();
    assert!(whole.stderr.contains("level: "), "{whole:?}");
    let tasks = [
        (Signal::INT, 2, &["run", "-v", "--", "touch", "ran"][..]),
        (Signal::TERM, 15, &["run", "-v", "--", "touch", "ran"]),
        (Signal::HUP, 1, &["run", "--dry-run", "--", "touch", "ran"]),
        (Signal::INT, 2, &["explain", "network"]),
        (Signal::TERM, 15, &["doctor"]),
    ];
    for (signal, number, arguments) in tasks {
        let child = start_with(&place, arguments);
        let began = Instant::now();
        while place.executors() == 0 {
            assert!(began.elapsed() < Duration::from_secs(20), "{arguments:?}");
            thread::sleep(Duration::from_millis(1));
        }
        let began = Instant::now();
        send(&child, signal);
        let done = place.finish(child);
        let took = began.elapsed();
        assert_eq!(
            (done.status, done.stdout.as_str(), done.stderr.as_str()),
            (128 + number, "", ""),
            "{arguments:?}"
        );
        assert!(!place.file("ran").exists());
        assert!(took < whole_time / 2, "{arguments:?}: {took:?} of {whole_time:?}");
    }
}
