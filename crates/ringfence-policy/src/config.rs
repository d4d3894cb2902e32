//! What a caller writes down to get a profile.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::access::{Access, Home, Isolation, Verdict};
use crate::device::Device;
use crate::environment::EnvironmentRules;
use crate::guarantee::Guarantees;
use crate::guard::Guard;
use crate::limit::Limits;
use crate::preset::Preset;
use crate::text;

/// Everything a profile says, as written.
///
/// The default denies everything, isolates HOME, is sandboxed, and has every preset on (PRO-4).
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// What stays closed inside places that are otherwise open.
    pub guards: Vec<Guard>,
    /// Lists of guards to apply besides; every one unless taken away.
    pub presets: BTreeSet<Preset>,
    /// Home directories of the user besides the one the host's user database names, such as the value of `HOME`;
    /// presets speak of what is in them. Not part of the fingerprint.
    pub homes: Vec<PathBuf>,
    /// Paths at and beneath which no preset holds.
    pub unguarded: Vec<PathBuf>,
    /// What happens to repositories that commands make.
    pub new_repositories: NewRepositories,
    /// Whether commands may make namespaces of their own.
    pub nested_namespaces: NestedNamespaces,
    /// Device nodes to open besides the harmless ones every command has.
    pub devices: Vec<Device>,
    /// Which variables commands inherit or have set.
    pub environment: EnvironmentRules,
    /// How much each command may use.
    pub limits: Limits,
    /// Guarantees to insist on beyond those the accesses above already need.
    pub require: Guarantees,
}

impl Default for ProfileConfig {
    fn default() -> Self {
        Self {
            workspace: PathBuf::new(),
            workspace_access: Verdict::DENY,
            host_access: Verdict::DENY,
            network: Access::Deny,
            command: Access::Deny,
            home: Home::Isolated,
            isolation: Isolation::Sandboxed,
            acknowledgement: Acknowledgement::NotGiven,
            roots: Vec::new(),
            guards: Vec::new(),
            presets: Preset::ALL.into(),
            homes: Vec::new(),
            unguarded: Vec::new(),
            new_repositories: NewRepositories::Report,
            nested_namespaces: NestedNamespaces::Refuse,
            devices: Vec::new(),
            environment: EnvironmentRules::default(),
            limits: Limits::default(),
            require: Guarantees::empty(),
        }
    }
}

impl ProfileConfig {
    /// The acknowledged configuration without any confinement: everything allowed, no guards, the real HOME.
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
            presets: BTreeSet::new(),
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

/// What happens to repositories that commands make.
///
/// Git runs programs that a repository's settings name, and the host's git may enter a new repository by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NewRepositories {
    /// They stay, and the outcome of the command lists them.
    #[default]
    Report,
    /// They are not allowed.
    Refuse,
}

/// Whether commands may make namespaces of their own (`user_namespaces(7)`), as browsers do that confine their pages.
///
/// In a user namespace of its own a process has capabilities, over nothing but what belongs to that namespace. They open more
/// of the kernel to it, and the report says so; what the policy closes stays closed. Mounting is refused all the same.
///
/// Only Linux has them. There a caller with user id 0 can't allow them: without its `/proc`, which its commands only
/// read, nobody could map a user id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NestedNamespaces {
    /// They get `EPERM`.
    #[default]
    Refuse,
    /// They may, but mount nothing.
    Allow,
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
