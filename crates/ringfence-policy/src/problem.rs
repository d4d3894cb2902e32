//! Why a configuration is not a profile: every problem at once, each with its field.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use crate::access::{Access, Axis};
use crate::limit::Limit;
use crate::path::ResolveError;
use crate::preset::Preset;

/// A configuration that makes no profile, with all its problems in the order of validation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid profile: {}", self.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct InvalidProfile {
    /// At least one: first the workspace, then roots, guards, unguarded paths, devices and limits as listed, then what
    /// contradicts being unconfined.
    pub problems: Vec<Problem>,
}

impl InvalidProfile {
    /// Stable identifier of this error.
    pub const fn code(&self) -> &'static str {
        "invalid_profile"
    }

    /// What the reader can do about each problem, one line per problem.
    pub fn hint(&self) -> String {
        self.problems
            .iter()
            .map(|problem| problem.reason.hint())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {reason}")]
pub struct Problem {
    /// Where.
    pub field: Field,
    /// What.
    pub reason: Reason,
}

/// A place in a [`ProfileConfig`](crate::ProfileConfig).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// `workspace`.
    Workspace,
    /// One axis of `workspace_access`.
    WorkspaceAccess(Axis),
    /// One axis of `host_access`.
    HostAccess(Axis),
    /// `network`.
    Network,
    /// `acknowledgement`.
    Acknowledgement,
    /// The root with this index in the configuration.
    Root(usize),
    /// One axis of the access of the root with this index in the configuration.
    RootAccess(usize, Axis),
    /// The guard with this index in the configuration.
    Guard(usize),
    /// `presets`.
    Presets,
    /// The path with this index in `unguarded`.
    Unguarded(usize),
    /// The device with this index in the configuration.
    Device(usize),
    /// One of `limits`.
    Limit(Limit),
}

impl Field {
    pub(crate) fn because(self, reason: impl Into<Reason>) -> Problem {
        Problem {
            field: self,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workspace => f.write_str("workspace"),
            Self::WorkspaceAccess(axis) => write!(f, "workspace {}", axis.name()),
            Self::HostAccess(axis) => write!(f, "host {}", axis.name()),
            Self::Network => f.write_str("network"),
            Self::Acknowledgement => f.write_str("acknowledgement"),
            Self::Root(index) => write!(f, "root {index}"),
            Self::RootAccess(index, axis) => write!(f, "root {index} {}", axis.name()),
            Self::Guard(index) => write!(f, "guard {index}"),
            Self::Presets => f.write_str("presets"),
            Self::Unguarded(index) => write!(f, "unguarded path {index}"),
            Self::Device(index) => write!(f, "device {index}"),
            Self::Limit(limit) => write!(f, "{limit} limit"),
        }
    }
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Reason {
    /// The path could not be made canonical (PRO-11, PRO-13).
    #[error("{0}")]
    Unresolvable(ResolveError),
    /// Nothing is at the path.
    #[error("{path:?} does not exist")]
    Missing {
        /// Canonical as far as it exists.
        path: PathBuf,
    },
    /// Something else than a directory is at the path.
    #[error("{path:?} is not a directory")]
    NotADirectory {
        /// Canonical path.
        path: PathBuf,
    },
    /// A directory is at the path of a file root.
    #[error("{path:?} is a directory, not a file")]
    NotAFile {
        /// Canonical path.
        path: PathBuf,
    },
    /// The root is the workspace (PRO-14).
    #[error("{path:?} is the workspace")]
    SameAsWorkspace {
        /// Canonical path.
        path: PathBuf,
    },
    /// Another root says something else about the same path (PRO-16).
    #[error("{path:?} contradicts root {root}")]
    Contradicts {
        /// Canonical path.
        path: PathBuf,
        /// Index of the earlier root in the configuration.
        root: usize,
    },
    /// Unconfined without the caller's word (PRO-19).
    #[error("an unconfined profile is not acknowledged")]
    Unacknowledged,
    /// The caller's word without being unconfined (PRO-20).
    #[error("a sandboxed profile is acknowledged as unconfined")]
    NeedlessAcknowledgement,
    /// An access that an unconfined profile could not enforce (PRO-21).
    #[error("an unconfined profile cannot enforce {access:?}")]
    Unenforceable {
        /// The access as written.
        access: Access,
    },
    /// A root opens what a preset closes at the same path.
    #[error("{path:?} is closed by the preset {preset}")]
    Guarded {
        /// Canonical path.
        path: PathBuf,
        /// The preset.
        preset: Preset,
    },
    /// A guard, a preset or a limit that an unconfined profile could not enforce (PRO-21).
    #[error("an unconfined profile cannot enforce it")]
    NeedsConfinement,
    /// A device is not named by a path below `/dev`.
    #[error("{path:?} is not below /dev")]
    NotADevice {
        /// As given.
        path: PathBuf,
    },
    /// A limit that would let no command run.
    #[error("0 would let no command run")]
    Zero,
    /// Two profiles to be combined have different workspaces (PRO-51).
    #[error("{ours:?} is not the ceiling's workspace {theirs:?}")]
    OtherWorkspace {
        /// Workspace of the profile to restrict.
        ours: PathBuf,
        /// Workspace of the ceiling.
        theirs: PathBuf,
    },
}

impl Reason {
    /// Stable identifier of the variant.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unresolvable(error) => error.code(),
            Self::Missing { .. } => "path_missing",
            Self::NotADirectory { .. } => "path_not_a_directory",
            Self::NotAFile { .. } => "path_not_a_file",
            Self::SameAsWorkspace { .. } => "root_is_workspace",
            Self::Contradicts { .. } => "root_contradicts",
            Self::Unacknowledged => "unconfined_unacknowledged",
            Self::NeedlessAcknowledgement => "sandboxed_acknowledged",
            Self::Unenforceable { .. } => "unconfined_unenforceable",
            Self::Guarded { .. } => "root_guarded",
            Self::NeedsConfinement => "needs_confinement",
            Self::NotADevice { .. } => "not_a_device",
            Self::Zero => "limit_zero",
            Self::OtherWorkspace { .. } => "other_workspace",
        }
    }

    /// What the reader can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unresolvable(error) => error.hint(),
            Self::Missing { .. } => "create it first, or declare a root that may be absent",
            Self::NotADirectory { .. } => "name a directory, or declare a file root",
            Self::NotAFile { .. } => "declare a directory root",
            Self::SameAsWorkspace { .. } => "set the workspace access instead of adding a root",
            Self::Contradicts { .. } => "keep one of the two roots",
            Self::Unacknowledged => {
                "acknowledge that commands run without any confinement, or stay sandboxed"
            }
            Self::NeedlessAcknowledgement => "drop the acknowledgement, or make the profile unconfined",
            Self::Unenforceable { .. } => "allow it, or make the profile sandboxed",
            Self::Guarded { .. } => "list the path as unguarded too, or drop the root",
            Self::NeedsConfinement => "drop it, or make the profile sandboxed",
            Self::NotADevice { .. } => "name a device node by its absolute path, such as /dev/kvm",
            Self::Zero => "give at least 1, or leave the limit out",
            Self::OtherWorkspace { .. } => "restrict a profile only by one for the same workspace",
        }
    }
}

impl From<ResolveError> for Reason {
    fn from(error: ResolveError) -> Self {
        Self::Unresolvable(error)
    }
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
