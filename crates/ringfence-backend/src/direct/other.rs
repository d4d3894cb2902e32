//! A single process: this system's way to hold a tree together is its backend's business.

use std::io;
use std::process::Command;

use shared_child::SharedChild;

use crate::{ExitStatus, Signal, SignalError};

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
