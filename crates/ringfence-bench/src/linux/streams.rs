//! How fast output arrives, through a pipe and through a terminal.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ringfence::Tty;
use ringfence::blocking::Executor;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::candidates::Failure;

/// What is read, in pieces of 64 KiB: as much as takes a tenth of a second.
const THROUGH_PIPE: usize = 128 << 20;
const THROUGH_TERMINAL: usize = 4 << 20;
const PIECE: usize = 64 << 10;

/// How a command writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pieces {
    /// As large as those that are read.
    Large,
    /// What the C library makes of a stream: 4 KiB.
    Small,
}

/// Writes so many bytes, which a terminal leaves as they are.
fn writer(bytes: usize, pieces: Pieces) -> (&'static str, Vec<String>) {
    match pieces {
        Pieces::Large => {
            let (size, count) = (format!("bs={PIECE}"), format!("count={}", bytes / PIECE));
            (
                "dd",
                vec!["if=/dev/zero".into(), "status=none".into(), size, count],
            )
        }
        Pieces::Small => ("head", vec!["-c".into(), bytes.to_string(), "/dev/zero".into()]),
    }
}

pub(crate) fn plain_pipe(pieces: Pieces) -> Result<Duration, Failure> {
    let (program, arguments) = writer(THROUGH_PIPE, pieces);
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("no pipe")?;
    let took = drain(output, THROUGH_PIPE)?;
    child.wait()?;
    Ok(took)
}

pub(crate) fn pipe(executor: &Executor, pieces: Pieces) -> Result<Duration, Failure> {
    let (program, arguments) = writer(THROUGH_PIPE, pieces);
    let command = executor.command(program).args(arguments);
    let mut process = command.stdin(ringfence::Stdio::Null).spawn()?;
    let output = process.take_stdout().ok_or("no pipe")?;
    let took = drain(output, THROUGH_PIPE)?;
    process.wait_all()?;
    Ok(took)
}

pub(crate) fn plain_terminal() -> Result<Duration, Failure> {
    let (program, arguments) = writer(THROUGH_TERMINAL, Pieces::Large);
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave: OwnedFd = rustix::fs::open(&*name, flags, Mode::empty())?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(slave.try_clone()?)
        .stdout(slave.try_clone()?)
        .stderr(slave);
    let mut child = command.spawn()?;
    let took = drain(std::fs::File::from(master), THROUGH_TERMINAL)?;
    child.wait()?;
    Ok(took)
}

pub(crate) fn terminal(executor: &Executor) -> Result<Duration, Failure> {
    let (program, arguments) = writer(THROUGH_TERMINAL, Pieces::Large);
    let mut process = executor
        .command(program)
        .args(arguments)
        .tty(Tty::default())
        .spawn()?;
    let output = process.take_stdout().ok_or("no terminal")?;
    let took = drain(output, THROUGH_TERMINAL)?;
    process.wait_all()?;
    Ok(took)
}

/// From the first bytes to the last ones.
fn drain(mut from: impl Read, bytes: usize) -> Result<Duration, Failure> {
    let mut piece = vec![0; PIECE];
    let mut read = from.read(&mut piece)?;
    let began = Instant::now();
    while read < bytes {
        match from.read(&mut piece)? {
            0 => return Err(format!("the output ended after {read} of {bytes} bytes").into()),
            count => read += count,
        }
    }
    Ok(began.elapsed())
}
