//! What programs on this host need to run when the rest of it cannot be read (POL-36).
//!
//! A [`Bundle`] is a named set of paths that a confined command may read, some of them execute, never write.
//! [`system`] is what every program needs, [`toolchains`] what the programs found through `PATH` need,
//! [`devices`] the device nodes.

mod commands;
mod cover;
mod devices;
mod guard;
mod layouts;
mod system;
mod table;
mod toolchains;
mod venv;

use std::ffi::OsString;
use std::path::PathBuf;

use ringfence_policy::{Identity, Resolved};

pub use devices::devices;
pub use system::system;
pub use toolchains::toolchains;

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
}

/// Paths that belong together, and why they are open: the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Stable name, such as `system` or `rustup`.
    pub name: String,
    /// What it opens, sorted by path.
    pub entries: Vec<RuntimeEntry>,
    /// Variables a command needs to find these paths once it has a home directory of its own.
    pub environment: Vec<(OsString, OsString)>,
    /// Variables of directories the tools write to, each with a place below the command's own home directory.
    pub private: Vec<(OsString, PathBuf)>,
}

/// A device node that any program may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Where it is.
    pub path: PathBuf,
    /// Which node was verified.
    pub identity: Identity,
}
