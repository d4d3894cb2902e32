//! One line of a policy: a literal path, what it says, and where it came from.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::access::{Access, Axis, Verdict};
use crate::path::{Identity, Kind, Link, Resolved, bytes};
use crate::preset::{Preset, StandIn};
use crate::text;

/// Says something about one literal path.
///
/// Every byte of the path stands for itself; brackets, stars and newlines are ordinary characters (POL-21).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Canonical path the rule speaks about.
    #[serde(serialize_with = "text::path")]
    pub path: PathBuf,
    /// Whether it speaks about descendants too.
    pub reach: Reach,
    /// What it says on each axis.
    pub axes: Axes,
    /// Who wrote it.
    pub source: Source,
    /// What was found at the path.
    pub kind: Kind,
    /// Which object was found.
    pub identity: Option<Identity>,
    /// The symlinks that led from the written path to the canonical one.
    pub links: Vec<Link>,
    /// Which directories above the path must not be moved away.
    pub hold: Hold,
    /// What may occupy the path on the host while nothing is there.
    pub stand_in: StandIn,
}

/// Which directories above a closed path a command must not move away, so that no other object gets its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Each one a command could move: the name counts, wherever it comes from.
    #[default]
    Name,
    /// This one and those between it and the path: what lies together stays together.
    From(#[serde(serialize_with = "text::path")] PathBuf),
    /// None: the object counts, under whatever name.
    Object,
}

impl Rule {
    /// A rule about a directory and everything beneath it, with no observed identity.
    pub fn tree(path: impl Into<PathBuf>, axes: impl Into<Axes>, source: Source) -> Self {
        Self::new(unseen(path, Kind::Directory), Reach::Tree, axes, source)
    }

    /// A rule about one object that is not a directory, with no observed identity.
    pub fn exact(path: impl Into<PathBuf>, axes: impl Into<Axes>, source: Source) -> Self {
        Self::new(unseen(path, Kind::File), Reach::Exact, axes, source)
    }

    /// A rule about something that was resolved; keeps its kind, identity and links.
    pub fn new(at: Resolved, reach: Reach, axes: impl Into<Axes>, source: Source) -> Self {
        let Resolved {
            path,
            kind,
            identity,
            links,
        } = at;
        Self {
            path,
            reach,
            axes: axes.into(),
            source,
            kind,
            identity,
            links,
            hold: Hold::Name,
            stand_in: StandIn::Nothing,
        }
    }

    /// The same rule with what it holds in place.
    #[must_use]
    pub fn holding(self, hold: Hold) -> Self {
        Self { hold, ..self }
    }

    /// The same rule with what may stand in for nothing.
    #[must_use]
    pub fn with_stand_in(self, stand_in: StandIn) -> Self {
        Self { stand_in, ..self }
    }

    /// What rules are sorted by: path bytes, then all that makes provenance independent of insertion.
    pub(crate) fn order(&self) -> impl Ord {
        (
            bytes(&self.path),
            self.reach,
            &self.source,
            self.axes,
            self.kind,
            self.identity,
        )
    }
}

/// How far a rule speaks (POL-14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// About the one object at the path.
    Exact,
    /// About the object at the path and everything beneath it.
    Tree,
}

/// What a rule says per axis; `None` means that it says nothing there (POL-13, POL-17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Axes {
    /// What it says on [`Axis::Read`].
    pub read: Option<Access>,
    /// What it says on [`Axis::Execute`].
    pub execute: Option<Access>,
    /// What it says on [`Axis::Write`].
    pub write: Option<Access>,
}

impl Axes {
    /// What the rule says on one axis.
    pub const fn get(self, axis: Axis) -> Option<Access> {
        match axis {
            Axis::Read => self.read,
            Axis::Execute => self.execute,
            Axis::Write => self.write,
        }
    }
}

impl Axes {
    /// Says nothing on this axis any more.
    pub const fn forget(&mut self, axis: Axis) {
        match axis {
            Axis::Read => self.read = None,
            Axis::Execute => self.execute = None,
            Axis::Write => self.write = None,
        }
    }
}

impl From<Verdict> for Axes {
    fn from(verdict: Verdict) -> Self {
        Self {
            read: Some(verdict.read),
            execute: Some(verdict.execute),
            write: Some(verdict.write),
        }
    }
}

/// Who wrote a rule; its `Display` reads well after "because of".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The profile's host access.
    Host,
    /// The profile's workspace access.
    Workspace,
    /// The profile's additional root with this index in [`Profile::roots`](crate::Profile::roots).
    Root(usize),
    /// The profile's own guard with this index in [`Profile::guards`](crate::Profile::guards).
    Guard(usize),
    /// A line of a preset.
    Preset {
        /// Which preset.
        preset: Preset,
        /// What would go wrong without it.
        reason: &'static str,
    },
    /// A runtime bundle.
    Runtime {
        /// Its name.
        bundle: String,
        /// What led to the path.
        why: String,
    },
    /// The curated device set, or a device the profile names.
    Device,
    /// The home directory of the executor.
    Home,
    /// The directory for temporary files of the executor.
    Temporary,
    /// A cache that is kept from one set to the next.
    Cache,
    /// The repository that the workspace is a working tree of.
    Repository,
    /// A private file system of the command, such as its own `/dev/shm`.
    Private,
    /// The directory that holds the private directories of every executor (POL-9).
    Owned,
    /// A place no profile can open, such as kernel settings under `/proc`.
    System,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("the profile's host access"),
            Self::Workspace => f.write_str("the profile's workspace access"),
            Self::Root(index) => write!(f, "the profile's additional root {index}"),
            Self::Guard(index) => write!(f, "the profile's guard {index}"),
            Self::Preset { preset, reason } => write!(f, "the preset {preset} ({reason})"),
            Self::Runtime { bundle, why } => write!(f, "the runtime bundle {bundle} ({why})"),
            Self::Device => f.write_str("the device set"),
            Self::Home => f.write_str("the executor's home directory"),
            Self::Temporary => f.write_str("the executor's temporary directory"),
            Self::Cache => f.write_str("the kept caches"),
            Self::Repository => f.write_str("the repository of the workspace"),
            Self::Private => f.write_str("the command's private file systems"),
            Self::Owned => f.write_str("the directory of all executors' private files"),
            Self::System => f.write_str("the system paths no profile can open"),
        }
    }
}

fn unseen(path: impl Into<PathBuf>, kind: Kind) -> Resolved {
    Resolved {
        path: path.into(),
        kind,
        identity: None,
        links: Vec::new(),
    }
}
