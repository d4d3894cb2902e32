//! A place for control groups, or the reason why there is none.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Version of the control-group interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// One hierarchy for each set of controllers.
    V1,
    /// One hierarchy for everything.
    V2,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1 => "control groups version 1",
            Self::V2 => "control groups version 2",
        })
    }
}

/// A group in which this process may make others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    version: Version,
    directory: PathBuf,
    /// This process's own group and those above it, up to but without `directory`.
    between: Vec<PathBuf>,
}

impl Place {
    pub(super) const fn new(version: Version, directory: PathBuf, between: Vec<PathBuf>) -> Self {
        Self {
            version,
            directory,
            between,
        }
    }

    /// Version of the interface.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The group's directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn between(&self) -> &[PathBuf] {
        &self.between
    }

    /// Whether a process can be in a group of one place only: the version has one hierarchy, or it is the same.
    pub(super) fn shares_group_with(&self, other: &Self) -> bool {
        self.version == other.version && (self.version == Version::V2 || self.directory == other.directory)
    }

    /// The one of two places of one hierarchy that is farther up.
    pub(super) const fn higher<'a>(&'a self, other: &'a Self) -> &'a Self {
        if other.between.len() > self.between.len() {
            other
        } else {
            self
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} below {}", self.version, self.directory.display())
    }
}

/// Why no control group can be made for a resource.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoPlace {
    /// The kernel's tables can't be read.
    #[error("{file:?} can't be read (errno {errno})")]
    Unreadable {
        /// The table.
        file: PathBuf,
        /// What the kernel answered.
        errno: i32,
    },
    /// No control-group file system with the controller is mounted, or the kernel has none.
    #[error("no control-group file system with this controller is mounted")]
    NotMounted,
    /// What is mounted doesn't show the group of this process.
    #[error("{version}: this process's group {group:?} is not below what is mounted at {mount:?}")]
    Elsewhere {
        /// Version of the interface.
        version: Version,
        /// This process's group, as the kernel names it.
        group: PathBuf,
        /// Where the hierarchy is mounted.
        mount: PathBuf,
    },
    /// The file system is mounted read-only.
    #[error("{version}: {directory:?} is mounted read-only")]
    ReadOnly {
        /// Version of the interface.
        version: Version,
        /// The group that was tried.
        directory: PathBuf,
    },
    /// The caller may not write there: nothing was delegated to it.
    #[error("{version}: {path:?} is not writable for this user (errno {errno})")]
    Denied {
        /// Version of the interface.
        version: Version,
        /// The directory or control file that was tried.
        path: PathBuf,
        /// What the kernel answered.
        errno: i32,
    },
    /// The group is writable but is not given the controller itself.
    #[error("control groups version 2: the controller is not enabled for {directory:?}")]
    NotPassedOn {
        /// The group that was tried.
        directory: PathBuf,
    },
    /// The group is writable but holds processes, this one or others, so it can't pass the controller on.
    #[error(
        "control groups version 2: processes sit in {directory:?} itself, so it can't pass controllers on"
    )]
    Occupied {
        /// The group that was tried.
        directory: PathBuf,
    },
    /// The group belongs to a threaded subtree, which has no controllers for memory and processes.
    #[error("control groups version 2: {directory:?} is threaded")]
    Threaded {
        /// The group that was tried.
        directory: PathBuf,
    },
}

impl NoPlace {
    /// Stable identifier of the variant.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "cgroup_tables_unreadable",
            Self::NotMounted => "cgroup_not_mounted",
            Self::Elsewhere { .. } => "cgroup_elsewhere",
            Self::ReadOnly { .. } => "cgroup_read_only",
            Self::Denied { .. } => "cgroup_denied",
            Self::NotPassedOn { .. } => "cgroup_not_passed_on",
            Self::Occupied { .. } => "cgroup_occupied",
            Self::Threaded { .. } => "cgroup_threaded",
        }
    }

    /// What the reader can do about it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "mount /proc",
            Self::NotMounted => "mount the control-group file system, or use a kernel with the controller",
            Self::Elsewhere { .. } => {
                "mount the control-group file system in the namespace that this process is in"
            }
            Self::ReadOnly { .. } => {
                "mount the control-group file system writable, or run outside of the container"
            }
            Self::Denied {
                version: Version::V1, ..
            } => "give this user's processes a group of their own that belongs to the user, or run as root",
            Self::Denied { .. } => {
                "start this process in a group below one that belongs to the user, as \
                 `systemd-run --user --scope -p Delegate=yes` does, or run as root"
            }
            Self::NotPassedOn { .. } => {
                "delegate the controller too, as systemd's `Delegate=memory pids` does"
            }
            Self::Occupied { .. } => {
                "start this process in a group of its own below that one, as systemd's `DelegateSubgroup=` does"
            }
            Self::Threaded { .. } => "start this process in a group of type `domain`",
        }
    }

    /// Whether it is the last obstacle: everything but the processes in the group is as it must be.
    pub(super) const fn is_nearest_to_success(&self) -> bool {
        matches!(self, Self::Occupied { .. })
    }
}
