//! Where commands have no terminals.

use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle;
use std::sync::Arc;

use ringfence::blocking::Process;
use ringfence::{ChildStdin, Stdio, Tty};

use crate::args::When;

/// There is none to be had.
#[derive(Debug)]
pub(crate) enum Raw {}

impl Raw {
    pub(crate) fn enter(_: &Arc<Process>, _: ChildStdin) -> io::Result<Self> {
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

pub(crate) const fn input() -> Stdio {
    Stdio::Inherit
}

pub(crate) fn output() -> io::Result<File> {
    io::stdout().as_handle().try_clone_to_owned().map(File::from)
}

pub(crate) fn errors() -> io::Result<File> {
    io::stderr().as_handle().try_clone_to_owned().map(File::from)
}

pub(crate) fn screen(_: When) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
