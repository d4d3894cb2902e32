//! Signals to running commands.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};

use common::{Fixture, confined_or_not, eventually, own_seconds, processes_with};
use ringfence::blocking::{Command, Executor, Process};
use ringfence::{ChildStdout, Delivery, Ending, Signal, UnixSignal};

const SOON: Duration = Duration::from_secs(10);
const SENT: Result<Delivery, ringfence::SignalError> = Ok(Delivery::Sent);
const ENDED: Result<Delivery, ringfence::SignalError> = Ok(Delivery::Ended);

/// Starts it, and waits for its first line.
fn ready(command: Command) -> (Process, BufReader<ChildStdout>) {
    let mut process = command.spawn().unwrap();
    let mut output = BufReader::new(process.take_stdout().unwrap());
    output.read_line(&mut String::new()).unwrap();
    (process, output)
}

/// Without confinement a command ignores what this process does, and whoever runs the tests may have had it ignore signals.
fn heeding(executor: &Executor, program: &[&str]) -> Command {
    let command = executor.command("env").arg("--default-signal=HUP,INT,TERM");
    command.args(program)
}

fn script(executor: &Executor, text: &str) -> Command {
    heeding(executor, &["sh", "-c", text])
}

fn sleeper(executor: &Executor) -> Process {
    // It says so once it heeds them.
    let (process, _) = ready(script(executor, "echo; exec sleep 60"));
    process
}

const fn signaled(signal: i32) -> Ending {
    Ending::Signaled { signal, core: false }
}

// SIG-1, SIG-14, SIG-16, PRC-27: each has its own effect on a command that does nothing about it, and at once.
#[test]
fn sig_14_sig_16_a_sleeper_ends_at_once_by_what_it_was_sent() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        for (signal, ending) in [
            (Signal::Interrupt, signaled(2)),
            (Signal::Terminate, signaled(15)),
            (Signal::Kill, Ending::Cancelled),
            (Signal::Unix(UnixSignal::Hangup), signaled(1)),
            (Signal::Unix(UnixSignal::User1), signaled(10)),
        ] {
            let process = sleeper(&executor);
            let began = Instant::now();
            assert_eq!(process.signal(signal), SENT);
            let exit = process.wait().unwrap();
            assert_eq!((exit.ended, exit.requested), (ending, Some(signal)));
            // Below the grace, so that it was not that.
            assert!(
                began.elapsed() < Duration::from_secs(4),
                "{signal:?}: {:?}",
                began.elapsed()
            );
        }
    }
}

// SIG-2: nothing is sent to what has ended, from any number of threads.
#[test]
fn sig_2_a_command_that_has_ended_is_sent_nothing() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let process = executor.shell("exit 3").spawn().unwrap();
        let exit = process.wait().unwrap();
        let kinds = [
            Signal::Interrupt,
            Signal::Terminate,
            Signal::Kill,
            Signal::Unix(UnixSignal::User1),
        ];
        std::thread::scope(|scope| {
            for signal in kinds.into_iter().cycle().take(16) {
                let process = &process;
                scope.spawn(move || assert_eq!(process.signal(signal), ENDED));
            }
        });
        assert_eq!(process.wait().unwrap(), exit, "it stays what it was");
        assert_eq!(process.wait_all().unwrap().requested, None);
    }
}

// SIG-4: as often as it is asked for.
#[test]
fn sig_4_every_interrupt_arrives_and_decides_nothing() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let text = "trap 'echo interrupted' INT; echo; while :; do sleep 0.02; done";
        let (process, mut output) = ready(script(&executor, text));
        for _ in 0..3 {
            assert_eq!(process.signal(Signal::Interrupt), SENT);
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert_eq!(line, "interrupted\n");
        }
        assert!(process.try_wait().is_none());
        process.kill();
        assert_eq!(process.wait().unwrap().ended, Ending::Cancelled);
    }
}

// SIG-5, SIG-6, SIG-8: it is asked once, and killed once when its grace is over, though nobody waits.
#[test]
fn sig_5_sig_6_sig_8_a_termination_is_sent_once_and_becomes_one_kill() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let text = "trap 'echo asked' TERM; echo; while :; do sleep 0.02; done";
        let command = script(&executor, text).terminate_grace(Duration::from_millis(700));
        let (process, output) = ready(command);
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| assert_eq!(process.signal(Signal::Terminate), SENT));
            }
        });
        eventually("the kill", || process.try_wait().is_some());
        assert!(
            began.elapsed() >= Duration::from_millis(700),
            "{:?}",
            began.elapsed()
        );
        let asked: Vec<String> = output.lines().map(Result::unwrap).collect();
        assert_eq!(asked, ["asked"]);
        let exit = process.wait().unwrap();
        assert_eq!(
            (exit.ended, exit.requested),
            (Ending::Cancelled, Some(Signal::Terminate))
        );
        assert_eq!(process.signal(Signal::Terminate), ENDED);
    }
}

// SIG-6: without a grace of its own it is 5 seconds, and none is none of its own.
#[test]
fn sig_6_the_grace_is_5_seconds_unless_said_otherwise() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "trap '' TERM; echo; while :; do sleep 0.02; done";
    let start = |command: Command| {
        let (process, _output) = ready(command);
        let began = Instant::now();
        assert_eq!(process.signal(Signal::Terminate), SENT);
        (process, began)
    };
    let default = start(script(&executor, text));
    let none = start(script(&executor, text).terminate_grace(Duration::ZERO));
    let short = start(script(&executor, text).terminate_grace(Duration::from_millis(250)));
    for ((process, began), grace) in [(short, 250), (default, 5000), (none, 5000)] {
        assert_eq!(process.wait().unwrap().ended, Ending::Cancelled);
        let took = began.elapsed();
        let grace = Duration::from_millis(grace);
        assert!(
            took >= grace && took < grace + Duration::from_secs(4),
            "{took:?} instead of {grace:?}"
        );
    }
}

// SIG-7: the end of the command and the end of its grace at the same moment.
#[test]
fn sig_7_a_command_that_ends_in_time_was_not_killed() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "trap 'exit 7' TERM; echo; while :; do sleep 0.01; done";
    for _ in 0..50 {
        let (process, _output) = ready(script(&executor, text).terminate_grace(Duration::from_millis(10)));
        assert_eq!(process.signal(Signal::Terminate), SENT);
        let exit = process.wait().unwrap();
        assert!(
            matches!(exit.ended, Ending::Exited(7) | Ending::Cancelled),
            "{exit:?}"
        );
        assert_eq!(
            process.wait_all().unwrap().ended,
            exit.ended,
            "it stays what it was"
        );
        assert_eq!(process.signal(Signal::Kill), ENDED);
    }
    let (process, _output) = ready(script(&executor, text).terminate_grace(Duration::from_secs(60)));
    assert_eq!(process.signal(Signal::Terminate), SENT);
    assert_eq!(process.wait().unwrap().ended, Ending::Exited(7));
}

// SIG-9: one kill, whoever asks for it and however often.
#[test]
fn sig_9_a_kill_is_immediate_and_the_same_for_all() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let text = "trap '' HUP INT TERM; echo; while :; do sleep 0.02; done";
        let (process, _output) = ready(script(&executor, text).terminate_grace(Duration::from_secs(60)));
        assert_eq!(process.signal(Signal::Terminate), SENT);
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..32 {
                scope.spawn(|| assert!(matches!(process.signal(Signal::Kill), SENT | ENDED)));
            }
        });
        assert_eq!(process.wait().unwrap().ended, Ending::Cancelled);
        assert!(began.elapsed() < SOON);
    }
}

// SIG-11: those in its background are asked too, and killed with it.
#[test]
fn sig_11_a_signal_is_for_the_background_as_well() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let text = "trap 'wait; exit 0' TERM
            sh -c 'trap \"echo background; exit\" TERM; echo; while :; do sleep 0.02; done' &
            wait";
        let (process, mut output) = ready(script(&executor, text));
        assert_eq!(process.signal(Signal::Terminate), SENT);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(
            (rest.as_str(), process.wait().unwrap().ended),
            ("background\n", Ending::Exited(0))
        );

        let seconds = own_seconds();
        let killed = executor
            .shell(format!("sleep {seconds} & sleep {seconds}"))
            .spawn()
            .unwrap();
        eventually("both", || processes_with(&seconds).len() == 2);
        assert_eq!(killed.signal(Signal::Kill), SENT);
        killed.wait().unwrap();
        eventually("their end", || processes_with(&seconds).is_empty());
    }
}

/// A command can be stopped and go on.
#[test]
fn any_signal_of_the_system_can_be_sent() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "echo; while :; do echo x >>log; sleep 0.01; done";
    let (process, _output) = ready(script(&executor, text));
    let log = fixture.path("log");
    let size = || std::fs::metadata(&log).map_or(0, |log| log.len());
    eventually("the first line", || size() > 0);
    assert_eq!(process.signal(Signal::Unix(UnixSignal::Stop)), SENT);
    std::thread::sleep(Duration::from_millis(100));
    common::stops_growing(&log);
    assert!(process.try_wait().is_none());
    let before = size();
    assert_eq!(process.signal(Signal::Unix(UnixSignal::Continue)), SENT);
    eventually("the next line", || size() > before);
    process.kill();
    assert_eq!(process.wait().unwrap().ended, Ending::Cancelled);
}
