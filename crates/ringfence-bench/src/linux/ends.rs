//! How long after a command's end whoever waits for it learns of it.
//!
//! The command is this program: started with [`LAST_WORD`] it writes what time it is and ends.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use ringfence::blocking::Executor;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::candidates::Failure;

/// The argument that makes this program the command.
pub(crate) const LAST_WORD: &str = "say-when-you-end";

/// Writes the time. Nothing is to be done after it but to end.
pub(crate) fn say_now() -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(&now().as_nanos().to_ne_bytes())?;
    output.flush()
}

/// The time since the system's start: the same for every process, as there are no time namespaces.
fn now() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    Duration::new(tv_sec.try_into().unwrap_or(0), tv_nsec.try_into().unwrap_or(0))
}

pub(crate) fn plain(program: &Path) -> Result<Duration, Failure> {
    let mut command = Command::new(program);
    command.arg(LAST_WORD).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let output = child.stdout.take().ok_or("no pipe")?;
    child.wait()?;
    since(output, now())
}

pub(crate) fn confined(executor: &Executor, program: &Path) -> Result<Duration, Failure> {
    let command = executor.command(program).arg(LAST_WORD);
    let mut process = command.stdin(ringfence::Stdio::Null).spawn()?;
    let output = process.take_stdout().ok_or("no pipe")?;
    process.wait()?;
    since(output, now())
}

/// What had passed at a time since the one that was written.
fn since(mut output: impl Read, then: Duration) -> Result<Duration, Failure> {
    let mut nanoseconds = [0; 16];
    output.read_exact(&mut nanoseconds)?;
    let ended = Duration::from_nanos(u128::from_ne_bytes(nanoseconds).try_into()?);
    Ok(then.saturating_sub(ended))
}
