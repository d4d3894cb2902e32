//! Compares what a policy says with what really happens.
//!
//! [`run`] generates profiles, builds a real tree of files for each, and has a small static program attempt every
//! operation at every boundary of it: first without confinement, to know which attempts are possible at all, then
//! confined. Each result is compared with the answer of the region tree, and with the guarantees and obligations the
//! executor reported; afterwards the tree is looked at from the host, so that what was refused had no effect and what was
//! allowed had one. A difference is made smaller for as long as it stays one.
//!
//! Whoever writes a [`Backend`] can have it judged: [`Options::backend`].
//! [`base`] has the few checks that need nothing but a way to run a command.
//!
//! # What is not compared
//!
//! Where the documentation says that both can happen, the attempt is counted as unspecified. Limits, time and
//! terminals are not tried.

#![forbid(unsafe_code)]

pub mod base;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;
mod report;

use std::path::PathBuf;
use std::sync::Arc;

use ringfence::backend::Backend;
use thiserror::Error;

pub use report::{Agreed, Disagreement, Summary};

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many cases are generated.
    pub cases: u64,
    /// Where the random numbers begin: the same seed gives the same cases.
    pub seed: u64,
    /// An existing directory for the trees; nothing is left in it.
    pub directory: PathBuf,
    /// What enforces the profiles; the one of this system if it is not given.
    pub backend: Option<Arc<dyn Backend>>,
    /// How often a case with a difference is tried in smaller forms.
    pub shrinking: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cases: 100,
            seed: 0,
            directory: std::env::temp_dir(),
            backend: None,
            shrinking: 100,
        }
    }
}

/// Why there is no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The attempts of the suite are system calls of Linux.
    #[error("the suite runs on Linux on x86-64 and AArch64 only")]
    Unsupported,
    /// The suite itself could not do something.
    #[error("{what}: {why}")]
    Failed {
        /// What.
        what: String,
        /// What the system said.
        why: String,
    },
}

/// Runs the suite; `heard` is told of each case that is done, and can end the run by answering `false`.
///
/// # Errors
/// [`SuiteError`]: then nothing is known. Differences between policy and reality are no error, but part of the summary.
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    expect(unused_variables, reason = "there is nothing to run")
)]
pub fn run(options: &Options, heard: &(dyn Fn(u64) -> bool + Sync)) -> Result<Summary, SuiteError> {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    return linux::run(options, heard);
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    Err(SuiteError::Unsupported)
}

/// Runs one of a few cases that were written by hand, so that between them they need every kind of rule; `None` where
/// there is no case of this number. [`Options::cases`] and [`Options::seed`] do not matter.
///
/// # Errors
/// As [`run`].
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    expect(unused_variables, reason = "there is nothing to run")
)]
pub fn covering(options: &Options, index: usize) -> Result<Option<Summary>, SuiteError> {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    return linux::covering(options, index);
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    Err(SuiteError::Unsupported)
}
