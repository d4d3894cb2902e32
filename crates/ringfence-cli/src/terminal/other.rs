//! Where commands have no terminals.

use std::io;

use ringfence::blocking::Process;
use ringfence::{ChildStdin, Stdio, Tty};

use crate::args::When;

/// There is none to be had.
#[derive(Debug)]
pub(crate) enum Raw {}

impl Raw {
    pub(crate) fn enter(_: &Process, _: ChildStdin) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// What a command gets in place of the user's terminal.
#[derive(Debug)]
pub(crate) enum Wanted {
    #[expect(dead_code, reason = "other systems have it")]
    Whole(Tty),
    #[expect(dead_code, reason = "other systems have it")]
    Output(Tty),
    Nothing,
}

pub(crate) const fn wanted(_: When) -> Wanted {
    Wanted::Nothing
}

pub(crate) fn screen() -> Box<dyn io::Write + Send> {
    Box::new(io::stdout())
}

pub(crate) const fn input() -> Stdio {
    Stdio::Inherit
}
