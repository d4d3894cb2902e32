//! Programs that people use at a terminal, unmodified, each at one of its own: shells and their jobs, editors, pagers,
//! prompts for passwords, terminals inside of the terminal.
//!
//! Nothing waits for a time to pass: a key is typed once the screen shows that the program is ready for it. A program
//! that never gets there is ended after a minute, and the test shows what was on its screen. What is typed is written
//! so that its echo is not what the test looks for.
//!
//! A tool that is not installed is a visible `SKIP interactive_<tool>: not installed` on standard error.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

#[path = "interactive/jobs.rs"]
mod jobs;
#[path = "interactive/nested.rs"]
mod nested;
#[path = "interactive/prompts.rs"]
mod prompts;
#[path = "interactive/screens.rs"]
mod screens;

use std::path::Path;
use std::time::Duration;

use common::session::Session;
use common::skip;
use ringfence::blocking::{Command, Executor};
use ringfence::{Ending, TerminalSize, Tty};

/// A command line that people type, at a terminal that is wide enough for no line to be broken.
fn at_terminal(executor: &Executor, arguments: &[&str]) -> Command {
    let command = executor.command(arguments[0]).args(&arguments[1..]);
    command
        .tty(Tty::new(TerminalSize::new(24, 200).unwrap()))
        .timeout(Duration::from_secs(60))
        .terminate_grace(Duration::from_millis(500))
}

fn sit_down(command: Command) -> Session {
    Session::of(command.spawn().unwrap())
}

/// The command ends with 0 and leaves nothing.
#[track_caller]
fn succeeds(session: &Session) {
    assert_eq!(session.process.wait_all().unwrap().ended, Ending::Exited(0));
}

/// Whether the system has all of these programs; a visible skip of the test if not.
fn installed(test: &str, programs: &[&str]) -> bool {
    let is_there = |name: &&str| {
        ["/usr/bin", "/bin"]
            .iter()
            .any(|directory| Path::new(directory).join(name).exists())
    };
    let all = programs.iter().all(is_there);
    if !all {
        skip(test, "not installed");
    }
    all
}
