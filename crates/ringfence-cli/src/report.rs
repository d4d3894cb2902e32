//! What was enforced, for people and for programs.

mod directory;
mod facts;
mod file;
mod human;
mod json;

use std::io::Write as _;

use crate::failure::Failure;

pub(crate) use file::JsonReport;
pub(crate) use human::{ending, full, summary, warnings};
pub(crate) use json::path;

/// Prints what was asked for; a reader who has gone away wanted no more.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}
