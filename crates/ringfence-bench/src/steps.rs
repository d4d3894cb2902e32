//! The parts of one command, beside those of a plain one.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ringfence::blocking::Executor;

use crate::candidates::{DYNAMIC, Failure, Run};

/// What there is to time; the end of a command is timed by itself.
pub(crate) fn runs(executor: &Executor) -> [Run<'_>; 3] {
    [
        Run::new("plain_start", plain_start),
        Run::new("prepare", || prepare(executor)),
        Run::new("start", || start(executor)).beside("plain_start"),
    ]
}

/// Until the program is executed.
fn plain_start() -> Result<Duration, Failure> {
    let mut command = Command::new(DYNAMIC);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn()?;
    let took = began.elapsed();
    child.wait()?;
    Ok(took)
}

/// All checks and reservations.
fn prepare(executor: &Executor) -> Result<Duration, Failure> {
    let command = quiet(executor);
    let began = Instant::now();
    let prepared = command.prepare()?;
    let took = began.elapsed();
    drop(prepared);
    Ok(took)
}

/// From there until the program is executed.
fn start(executor: &Executor) -> Result<Duration, Failure> {
    let prepared = quiet(executor).prepare()?;
    let began = Instant::now();
    let process = prepared.start()?;
    let took = began.elapsed();
    process.wait_all()?;
    Ok(took)
}

fn quiet(executor: &Executor) -> ringfence::blocking::Command {
    use ringfence::Stdio;
    executor
        .command(DYNAMIC)
        .stdin(Stdio::Null)
        .stdout(Stdio::Null)
        .stderr(Stdio::Inherit)
}
