//! What a caller writes down to get a profile.

use std::path::PathBuf;

use serde::Serialize;

use crate::access::{Access, Home, Isolation, Verdict};
use crate::guarantee::Guarantees;
use crate::text;

/// Everything a profile says, as written; the default denies everything, isolates HOME and is sandboxed (PRO-4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileConfig {
    /// Absolute path of the directory the command works in; must exist.
    pub workspace: PathBuf,
    /// What may be done in the workspace.
    pub workspace_access: Verdict,
    /// What may be done wherever no root applies.
    pub host_access: Verdict,
    /// Whether the command may use the network.
    pub network: Access,
    /// Whether a command may be started at all; decided before a process exists.
    pub command: Access,
    /// Which home directory the command is told about.
    pub home: Home,
    /// Whether the operating system confines the command.
    pub isolation: Isolation,
    /// The caller's word that it really wants no confinement.
    pub acknowledgement: Acknowledgement,
    /// Further places with their own access; the deepest one that contains a path decides (PRO-17).
    pub roots: Vec<Root>,
    /// Guarantees to insist on beyond those the accesses above already need.
    pub require: Guarantees,
}

impl ProfileConfig {
    /// The acknowledged configuration without any confinement: everything allowed, the real HOME.
    pub fn unconfined(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            workspace_access: Verdict::READ_WRITE,
            host_access: Verdict::READ_WRITE,
            network: Access::Allow,
            command: Access::Allow,
            home: Home::Real,
            isolation: Isolation::Unconfined,
            acknowledgement: Acknowledgement::Unconfined,
            ..Self::default()
        }
    }
}

/// What the caller has explicitly accepted (PRO-19, PRO-20).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Acknowledgement {
    /// Nothing.
    #[default]
    NotGiven,
    /// That commands run without confinement.
    Unconfined,
}

/// A place with its own access (PRO-3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Root {
    /// Absolute path, taken literally whatever characters it holds (PRO-24).
    #[serde(serialize_with = "text::path")]
    pub path: PathBuf,
    /// What may be done there and beneath.
    pub access: Verdict,
    /// What must be at the path.
    pub kind: RootKind,
}

impl Root {
    /// A directory that exists.
    pub fn directory(path: impl Into<PathBuf>, access: Verdict) -> Self {
        Self {
            path: path.into(),
            access,
            kind: RootKind::Directory,
        }
    }

    /// An object that exists and is not a directory.
    pub fn file(path: impl Into<PathBuf>, access: Verdict) -> Self {
        Self {
            path: path.into(),
            access,
            kind: RootKind::File,
        }
    }

    /// A name that may have nothing, a file or a directory behind it.
    pub fn absent(path: impl Into<PathBuf>, access: Verdict) -> Self {
        Self {
            path: path.into(),
            access,
            kind: RootKind::Absent,
        }
    }
}

/// What must be at the path of a root when the profile is made.
///
/// It is a condition on construction only: whatever the kind, the access holds for the path and everything beneath.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RootKind {
    /// A directory.
    Directory = 0,
    /// Something that is not a directory.
    File = 1,
    /// Anything or nothing; the root names a path.
    Absent = 2,
}

impl RootKind {
    /// The kind that demands no more than either; used where two profiles name the same path.
    pub(crate) fn join(self, other: Self) -> Self {
        if self == other { self } else { Self::Absent }
    }
}
