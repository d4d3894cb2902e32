//! INT, TERM and HUP sent to `ringfence` reach the confined command, which decides what they do.

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
    // Whoever runs the tests may ignore signals, and so would what they start.
    let mut env = place.unconfined("env");
    env.args([
        "--default-signal=INT,TERM,HUP",
        RINGFENCE,
        "run",
        "--",
        "sh",
        "-c",
        script,
    ]);
    let mut child = env.spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, output)
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
