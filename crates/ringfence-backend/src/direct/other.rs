//! A single process: this system's way to hold a tree together is its backend's business.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Command;

use ringfence_policy::Identity;
use shared_child::SharedChild;

use crate::{ExitStatus, Launch, Signal, SignalError};

/// A command that executes the program as the system finds it.
#[expect(
    clippy::unnecessary_wraps,
    reason = "elsewhere there is a search that can fail"
)]
pub(super) fn command(program: &OsStr, _: &Launch) -> io::Result<Command> {
    Ok(Command::new(program))
}

/// Nothing here identifies a directory.
pub(super) const fn is_at(_: &Path, _: Identity) -> bool {
    true
}

/// A command.
#[derive(Debug)]
pub(super) struct Tree(SharedChild);

impl Tree {
    pub(super) fn spawn(mut command: Command) -> io::Result<Self> {
        SharedChild::spawn(&mut command).map(Self)
    }

    pub(super) fn wait(&self) -> ExitStatus {
        let code = self.0.wait().ok().and_then(|status| status.code());
        code.map_or(ExitStatus::Killed, ExitStatus::Exited)
    }

    /// Only killing exists everywhere.
    pub(super) fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        match signal {
            Signal::Kill => self.0.kill().map_err(|_| SignalError::Ended),
            _ => Err(SignalError::Unsupported),
        }
    }
}
