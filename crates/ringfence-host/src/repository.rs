//! What a git repository's own files say, read without running git.
//!
//! * [`programs`] tells what of a repository makes git run programs.
//!
//! Whoever wrote the files may have wanted them misread. So they are read as git reads them. Every file is read up to a limit only, and nothing here waits: what is not a
//! regular file is not opened.

pub(crate) mod config;
mod files;
mod keys;
mod programs;
#[cfg(test)]
#[cfg(unix)]
mod testing;

pub use programs::{Programs, programs};
