//! What programs on this host need to run when the rest of it cannot be read (POL-36).
//!
//! A [`Bundle`] is a named set of paths that a confined command may read, some of them execute, never write.
//! [`discover`] finds those a caller selects: what every program needs, and what the programs found through
//! `PATH` need. [`devices`] finds the device nodes, [`gitconfig`] makes the settings of git for a home directory
//! that has none, and a [`Cache`] is what package managers may keep from one run to the next.

mod cache;
mod commands;
mod cover;
mod devices;
mod discover;
mod finder;
mod gitconfig;
mod gitpattern;
pub(crate) mod gitsyntax;
mod guard;
mod layouts;
mod look;
mod names;
mod provenance;
mod survey;
mod table;
mod tables;
mod variables;
mod venv;

use std::ffi::OsString;
use std::path::PathBuf;

use ringfence_policy::{Identity, Resolved};

pub use cache::Cache;
pub use devices::devices;
pub use discover::discover;
pub use gitconfig::{GitFiles, gitconfig};
pub use names::{BundleName, NameError};
pub use provenance::Provenance;
pub use survey::Survey;

/// What a bundle opens at a path and beneath it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuntimeAccess {
    /// Reading.
    Read,
    /// Reading, running, and mapping as code.
    ReadExecute,
}

/// One path of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeEntry {
    /// An existing object, and the symlinks that must exist for it to be found by its usual name.
    pub resolved: Resolved,
    /// What is opened there; everything beneath a directory too.
    pub access: RuntimeAccess,
    /// What led to it; of several the first that was found.
    pub why: Provenance,
}

/// Paths that belong together, and what commands need to use them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Which it is.
    pub name: BundleName,
    /// What it opens, sorted by path.
    pub entries: Vec<RuntimeEntry>,
    /// Variables a command needs to find these paths once it has a home directory of its own.
    pub environment: Vec<(OsString, OsString)>,
    /// Variables of directories the tools write to, each with a place below the command's own home directory.
    pub private: Vec<(OsString, PathBuf)>,
    /// Variables with an option that names the command's own home directory, each with the text that stands
    /// before the path. Tools split them at white space: leave them out where the path has some.
    pub options: Vec<(OsString, OsString)>,
}

/// A device node that any program may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Where it is.
    pub path: PathBuf,
    /// Which node was verified.
    pub identity: Identity,
}
