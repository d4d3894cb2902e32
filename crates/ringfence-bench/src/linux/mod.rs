//! What is measured on Linux alone: output, ends, and what live processes cost.

mod ends;
mod idle;
mod streams;

use std::path::Path;

use ringfence::blocking::Executor;

use crate::candidates::{Failure, Run};

use streams::Pieces;

pub(crate) use ends::{LAST_WORD, say_now};
pub(crate) use idle::{Idle, measure as idle};

/// What is compared with its plain counterpart, with a copy of this program that commands may run.
pub(crate) fn runs<'a>(executor: &'a Executor, this: &'a Path) -> [Run<'a>; 8] {
    let plain_pipe = |pieces| move || streams::plain_pipe(pieces);
    let pipe = |pieces| move || streams::pipe(executor, pieces);
    [
        Run::new("plain_pipe", plain_pipe(Pieces::Large)).rarely(),
        Run::new("pipe", pipe(Pieces::Large))
            .beside("plain_pipe")
            .rarely(),
        Run::new("plain_small", plain_pipe(Pieces::Small)).rarely(),
        Run::new("small", pipe(Pieces::Small))
            .beside("plain_small")
            .rarely(),
        Run::new("plain_terminal", streams::plain_terminal).rarely(),
        Run::new("terminal", || streams::terminal(executor))
            .beside("plain_terminal")
            .rarely(),
        Run::new("plain_end", || ends::plain(this)),
        Run::new("end", || ends::confined(executor, this)).beside("plain_end"),
    ]
}

impl Run<'_> {
    fn beside(mut self, beside: &'static str) -> Self {
        self.beside = beside;
        self
    }

    /// For what takes long.
    fn rarely(mut self) -> Self {
        self.every = 4;
        self
    }
}

/// A copy of this program where commands may run it.
pub(crate) fn copy_of_this(directory: &Path) -> Result<std::path::PathBuf, Failure> {
    let copy = directory.join("bench");
    std::fs::copy(std::env::current_exe()?, &copy)?;
    Ok(copy)
}
