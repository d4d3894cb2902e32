//! Why a path is open.

use std::fmt;
use std::path::PathBuf;

use super::BundleName;

/// What led to a path of a bundle; its `Display` reads well after "because of".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Provenance {
    /// The reviewed table of this bundle names it.
    Table(BundleName),
    /// It is in `PATH`, as written there, or what is in `PATH` belongs to it.
    Directory(PathBuf),
    /// This link in a directory of `PATH` leads into it.
    Link(PathBuf),
    /// This program in a directory of `PATH` uses it.
    Program(PathBuf),
    /// The virtual environment in this directory uses it.
    VirtualEnvironment(PathBuf),
    /// This variable of the caller names it.
    Variable(&'static str),
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(bundle) => write!(f, "the table of {bundle}"),
            Self::Directory(path) => write!(f, "PATH directory {}", path.display()),
            Self::Link(path) => write!(f, "link {}", path.display()),
            Self::Program(path) => write!(f, "program {}", path.display()),
            Self::VirtualEnvironment(path) => write!(f, "pyvenv.cfg of {}", path.display()),
            Self::Variable(name) => write!(f, "variable {name}"),
        }
    }
}
