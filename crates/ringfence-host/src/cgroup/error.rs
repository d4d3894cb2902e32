//! Named errors of scopes.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use super::{NoPlace, Resource};

/// A scope could not be made, or not be used as asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// The limit has no mechanism on this host.
    #[error("{resource} can't be limited for a whole tree: {reason}")]
    NoPlace {
        /// What was to be limited.
        resource: Resource,
        /// What was tried.
        reason: NoPlace,
    },
    /// The scope was made without a limit of this resource and can't get one.
    #[error("this scope can't limit {resource}: it was made without such a limit")]
    NotCovered {
        /// What was to be limited.
        resource: Resource,
    },
    /// A group could not be made.
    #[error("control group {directory:?} can't be made (errno {errno})")]
    Create {
        /// The group's directory.
        directory: PathBuf,
        /// What the kernel answered.
        errno: i32,
    },
    /// A file could not be read.
    #[error("{file:?} can't be read (errno {errno})")]
    Read {
        /// The file.
        file: PathBuf,
        /// What the kernel answered.
        errno: i32,
    },
    /// A control file did not take a value.
    #[error("{file:?} does not take {value:?} (errno {errno})")]
    Write {
        /// The control file.
        file: PathBuf,
        /// What was written.
        value: String,
        /// What the kernel answered.
        errno: i32,
    },
    /// Processes were killed but are not dead yet: they hang in the kernel, or can't be seen from here.
    #[error("processes in control group {directory:?} are still alive after {patience:?}")]
    Alive {
        /// The group's directory.
        directory: PathBuf,
        /// How long they were waited for.
        patience: Duration,
    },
    /// A limit reads higher than what was written.
    #[error("{file:?} reads {found} after {asked} was written")]
    NotTaken {
        /// The control file.
        file: PathBuf,
        /// The limit asked for.
        asked: u64,
        /// The limit the kernel has.
        found: u64,
    },
}

impl ScopeError {
    /// Stable identifier of the variant.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoPlace { reason, .. } => reason.code(),
            Self::NotCovered { .. } => "cgroup_not_covered",
            Self::Create { .. } => "cgroup_create",
            Self::Read { .. } => "cgroup_read",
            Self::Write { .. } => "cgroup_write",
            Self::Alive { .. } => "cgroup_alive",
            Self::NotTaken { .. } => "cgroup_not_taken",
        }
    }

    /// What the reader can do about it; empty when the message says it all.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoPlace { reason, .. } => reason.hint(),
            Self::NotCovered { .. } => "make the scope with a limit of this resource, to be replaced later",
            Self::Create { .. } => {
                "check `cgroup.max.depth` and `cgroup.max.descendants` of the groups above"
            }
            Self::Alive { .. } => "try again later",
            Self::Read { .. } | Self::Write { .. } => "",
            Self::NotTaken { .. } => "check that no other program manages this group",
        }
    }

    /// What the kernel answered, where it was the kernel that refused.
    #[must_use]
    pub const fn errno(&self) -> Option<i32> {
        match self {
            Self::Create { errno, .. } | Self::Read { errno, .. } | Self::Write { errno, .. } => Some(*errno),
            _ => None,
        }
    }
}
