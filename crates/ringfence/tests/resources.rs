//! What commands cost the process that starts them. One test at a time: they count what all of this process has.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use common::{Fixture, confined_or_not, eventually};
use ringfence::{CancelToken, Ending, RunError, Tty};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A number of kilobytes that the kernel tells about this process (proc_pid_status(5)).
fn kilobytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_matches(|letter: char| !letter.is_ascii_digit())
        .parse()
        .unwrap()
}

// PRC-6, PRC-35, PRE-15: whatever becomes of a command, none of its descriptors stays.
#[test]
fn prc_6_no_descriptor_stays_open() {
    let _alone = alone();
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let is_confined = config.isolation == ringfence::Isolation::Sandboxed;
        let everything = || {
            assert!(executor.command("no-such-program").spawn().is_err());
            assert!(executor.command("no-such-program").output().is_err());
            let late = executor.command("true").deadline(std::time::Instant::now());
            assert!(late.prepare().is_err());
            let token = CancelToken::new();
            let cancelled = executor.command("true").cancel_on(&token).prepare().unwrap();
            token.cancel();
            assert_eq!(cancelled.start().map(drop).unwrap_err(), RunError::Cancelled);
            executor.command("true").prepare().unwrap().close();
            let closed = executor.command("cat").spawn().unwrap();
            closed.close();
            assert!(closed.wait_all().unwrap().success());
            let mut taken = executor.command("cat").spawn().unwrap();
            let (stdin, mut stdout) = (taken.take_stdin().unwrap(), taken.take_stdout().unwrap());
            drop(taken);
            stdin.close().unwrap();
            stdout.read_to_end(&mut Vec::new()).unwrap();
            assert!(executor.shell("yes | head -c 100000").output().unwrap().success());
            if is_confined {
                let terminal = executor.command("cat").tty(Tty::default()).spawn().unwrap();
                terminal.close();
                terminal.wait_all().unwrap();
            }
        };
        let settle = || {
            eventually("the end of everything", || set.executions().is_empty());
            // A spare for the next command is made aside.
            std::thread::sleep(Duration::from_millis(200));
        };
        everything();
        settle();
        let before = open_descriptors();
        (0..5).for_each(|_| everything());
        settle();
        let after = open_descriptors();
        assert!(
            after <= before + 1,
            "{before} descriptors were open, and {after} are"
        );
        assert!(set.close().is_clean());
    }
}

// S-26: far more output than what is kept.
#[test]
fn s_26_much_output_costs_no_memory_and_holds_nothing_up() {
    const MUCH: u64 = 2_000_000_000;
    let _alone = alone();
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    assert!(executor.command("true").output().unwrap().success());
    // The most from here on (proc_pid_clear_refs(5)).
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = kilobytes("VmRSS:");
    let text = format!("echo first; yes | head -c {MUCH}; echo last; exit 3");
    let outcome = executor.shell(text).capture_limit(1024 * 1024).output().unwrap();
    let most = kilobytes("VmHWM:");
    assert!(
        most < before + 50 * 1024,
        "{before} kB at first, {most} kB at most"
    );
    assert_eq!(outcome.ended, Ending::Exited(3));
    assert!(
        outcome.stdout.head().starts_with(b"first\ny\n") && outcome.stdout.tail().ends_with(b"y\nlast\n")
    );
    assert_eq!(outcome.stdout.dropped_bytes(), MUCH + 11 - 1024 * 1024);
}

/// Many commands at the same time, all of them writing, each read to its end.
#[test]
fn prc_20_500_commands_at_once_are_read_to_their_ends() {
    const COMMANDS: usize = 500;
    // Pipes, sockets, pidfds on our side, for each.
    const DESCRIPTORS: u64 = 16 * COMMANDS as u64;
    const BYTES: usize = 100_000;
    let test = "prc_20_500_commands_at_once_are_read_to_their_ends";
    let _alone = alone();
    let limit = getrlimit(Resource::Nofile);
    if limit.maximum.is_some_and(|most| most < DESCRIPTORS) {
        return common::skip(test, "too few files may be open");
    }
    let more = Rlimit {
        current: limit.maximum.map(|most| most.min(65_536)).or(Some(65_536)),
        ..limit
    };
    setrlimit(Resource::Nofile, more).unwrap();
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = format!("echo; read go; head -c {BYTES} /dev/zero");
    let mut running: Vec<_> = (0..COMMANDS)
        .map(|_| executor.shell(&text).spawn().unwrap())
        .collect();
    let outputs: Vec<_> = running
        .iter_mut()
        .map(|process| process.take_stdout().unwrap())
        .collect();
    let readers: Vec<_> = outputs
        .into_iter()
        .map(|mut output| {
            std::thread::Builder::new()
                .stack_size(64 * 1024)
                .spawn(move || std::io::copy(&mut output, &mut std::io::sink()).unwrap())
                .unwrap()
        })
        .collect();
    assert_eq!(set.executions().len(), COMMANDS, "all at once");
    assert!(running.iter().all(|process| process.try_wait().is_none()));
    // Closing its input lets each of them go.
    for process in &mut running {
        drop(process.take_stdin());
    }
    for reader in readers {
        assert_eq!(reader.join().unwrap(), BYTES as u64 + 1);
    }
    for process in &running {
        assert_eq!(process.wait_all().unwrap().ended, Ending::Exited(0));
    }
    assert!(set.close().is_clean());
}
