//! Runs the probe, without confinement and within.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use ringfence::blocking;
use ringfence_zygote::attempt::{self, PRIVILEGED, SEPARATE};
use serde::Deserialize;

use super::attempts::{Planned, kernel};

/// What became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Tried {
    pub(crate) index: usize,
    pub(crate) errno: i32,
    pub(crate) signal: i32,
    pub(crate) step: u32,
}

impl Tried {
    pub(crate) const fn worked(self) -> bool {
        self.errno == 0 && self.signal == 0
    }
}

/// The attempts without confinement.
pub(crate) fn unconfined(probe: &Path, directory: &Path, plan: &[Planned]) -> io::Result<Vec<Tried>> {
    let request = request(plan, true)?;
    // Who ends a run at a terminal means the run, which lets the cases come to their end.
    let output = Command::new(probe)
        .process_group(0)
        .current_dir(directory)
        .stdin(Stdio::from(request))
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "the probe ended with {}",
            output.status
        )));
    }
    parse(&output.stdout, plan.len())
}

/// The attempts from inside, with what was enforced.
pub(crate) fn confined(
    executor: &blocking::Executor,
    probe: &Path,
    directory: &Path,
    plan: &[Planned],
) -> io::Result<(Vec<Tried>, ringfence::Outcome)> {
    /// More than all lines together.
    const ANSWER_BYTES: usize = 16 << 20;
    let request = request(plan, false)?;
    let outcome = executor
        .command(probe)
        .current_dir(directory)
        .stdin(ringfence::Stdio::Owned(request.into()))
        .capture_limit(ANSWER_BYTES)
        .output()
        .map_err(io::Error::other)?;
    if !outcome.success() {
        return Err(io::Error::other(format!(
            "the confined probe ended with {:?}: {}",
            outcome.ended,
            outcome.stderr.to_text()
        )));
    }
    Ok((parse(outcome.stdout.head(), plan.len())?, outcome))
}

/// The request as a file that has no name.
fn request(plan: &[Planned], alone: bool) -> io::Result<File> {
    let attempts: Vec<_> = plan
        .iter()
        .map(|planned| {
            let mut attempt = planned.attempt.clone();
            if !alone {
                attempt.flags &= !PRIVILEGED;
                if !kernel::NEEDS_CHILD.contains(&planned.operation) && planned.needs == kernel::NEEDS {
                    attempt.flags &= !SEPARATE;
                }
            }
            attempt
        })
        .collect();
    let mut file = tempfile::tempfile()?;
    file.write_all(&attempt::encode(&attempts).map_err(io::Error::other)?)?;
    file.rewind()?;
    Ok(file)
}

fn parse(answer: &[u8], count: usize) -> io::Result<Vec<Tried>> {
    let lines = answer
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let tried: Vec<Tried> = lines
        .map(serde_json::from_slice)
        .collect::<Result<_, _>>()
        .map_err(io::Error::other)?;
    let in_order = tried
        .iter()
        .enumerate()
        .all(|(index, tried)| tried.index == index);
    if tried.len() == count && in_order {
        Ok(tried)
    } else {
        Err(io::Error::other(format!(
            "{} answers to {count} attempts",
            tried.len()
        )))
    }
}
