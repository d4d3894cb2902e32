//! Paths as the host knows them, and the one way this crate learns about the host.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::text;

/// Looks at the host; the only source of facts about paths in this crate.
pub trait Resolve {
    /// Gives the canonical form of an absolute path that need not exist yet (POL-90).
    ///
    /// Every symlink is followed, including a final one. Only "not found" walks up to the nearest existing
    /// ancestor; the missing rest is re-attached and the answer has [`Kind::Absent`].
    ///
    /// # Errors
    /// Whatever else stops the walk: permission, a loop of links, an I/O error.
    fn resolve(&self, path: &Path) -> Result<Resolved, ResolveError>;

    /// The home directories of the invoking user, absolute; presets speak of what is in them.
    fn homes(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// A resolver for many paths in quick succession, which need not ask twice what is on the way to several of them;
    /// none where that makes no difference.
    fn in_succession(&self) -> Option<Box<dyn Resolve + '_>> {
        None
    }
}

/// A path with every symlink followed, and what was found there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resolved {
    /// Canonical: absolute, lexically clean, free of symlinks as far as it exists.
    #[serde(serialize_with = "text::path")]
    pub path: PathBuf,
    /// What was found at `path`.
    pub kind: Kind,
    /// Which object it was; none where nothing was found or the host has no identities.
    pub identity: Option<Identity>,
    /// The symlinks followed on the way, in the order they were met.
    pub links: Vec<Link>,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A directory.
    Directory,
    /// Any object that is not a directory: regular file, device, socket, pipe.
    File,
    /// Nothing.
    Absent,
}

/// Tells one object from another that later has the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Identity {
    /// Device number of the file system.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Time of creation as (seconds, nanoseconds) since the epoch, where the file system records it.
    pub birth: Option<(i64, u32)>,
    /// Unique id of the mount, where the kernel tells it.
    pub mount: Option<u64>,
}

/// A symlink that was followed on the way to a canonical path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// Where the link itself is; its parent is canonical.
    #[serde(serialize_with = "text::path")]
    pub path: PathBuf,
    /// The text stored in the link.
    #[serde(serialize_with = "text::path")]
    pub target: PathBuf,
}

/// Why a path could not be made canonical.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The path has no bytes.
    #[error("the path is empty")]
    Empty,
    /// The path does not start at the root.
    #[error("{path:?} is not absolute")]
    Relative {
        /// The path as given.
        path: PathBuf,
    },
    /// A directory on the way may not be searched.
    #[error("{path:?} may not be looked at (errno {errno})")]
    Denied {
        /// Where the walk stopped.
        path: PathBuf,
        /// What the kernel answered.
        errno: i32,
    },
    /// The symlinks on the way lead back to themselves, or there are too many.
    #[error("{path:?} is a loop of symbolic links")]
    Loop {
        /// Where the walk stopped.
        path: PathBuf,
    },
    /// Anything else the kernel answered.
    #[error("{path:?} could not be looked at (errno {errno})")]
    Io {
        /// Where the walk stopped.
        path: PathBuf,
        /// What the kernel answered.
        errno: i32,
    },
    /// The resolver broke its contract: its answer is relative or not lexically clean.
    #[error("the resolver answered {path:?}, which is not a canonical path")]
    NotCanonical {
        /// The answer.
        path: PathBuf,
    },
}

impl ResolveError {
    /// Stable identifier of the variant.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "path_empty",
            Self::Relative { .. } => "path_relative",
            Self::Denied { .. } => "path_denied",
            Self::Loop { .. } => "path_loop",
            Self::Io { .. } => "path_io",
            Self::NotCanonical { .. } => "path_not_canonical",
        }
    }

    /// What the reader can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Empty | Self::Relative { .. } => "give an absolute path, one that starts with `/`",
            Self::Denied { .. } => "give the calling user search permission on every directory of the path",
            Self::Loop { .. } => "replace the symbolic link that points back to itself",
            Self::Io { .. } => "check that the file system holding the path is healthy and mounted",
            Self::NotCanonical { .. } => "this is a defect of the resolver; report it",
        }
    }
}

/// Whether `path` is `root` or lies beneath it at a component boundary (PRO-27).
///
/// Purely lexical and byte-exact: both sides are cleaned first, no symlink is followed. `/` contains every
/// absolute path, `/a` never contains `/ab`; a relative path is inside nothing and contains nothing.
pub fn path_within(path: &Path, root: &Path) -> bool {
    let (Some(path), Some(root)) = (clean(path), clean(root)) else {
        return false;
    };
    lineage(bytes(&path)).any(|ancestor| ancestor == bytes(&root))
}

/// Asks the resolver, and does not believe an answer that cannot be canonical.
pub(crate) fn canonical(resolver: &dyn Resolve, path: &Path) -> Result<Resolved, ResolveError> {
    if path.as_os_str().is_empty() {
        return Err(ResolveError::Empty);
    }
    if !is_absolute(path) {
        return Err(ResolveError::Relative { path: path.into() });
    }
    let resolved = resolver.resolve(path)?;
    if !is_clean(&resolved.path) {
        return Err(ResolveError::NotCanonical { path: resolved.path });
    }
    Ok(resolved)
}

/// The raw bytes of a path; on Unix exactly what the kernel sees.
pub(crate) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

pub(crate) fn is_absolute(path: &Path) -> bool {
    bytes(path).starts_with(b"/")
}

/// Whether the path is absolute and has no empty, `.` or `..` component and no trailing separator.
pub(crate) fn is_clean(path: &Path) -> bool {
    match bytes(path) {
        b"/" => true,
        [b'/', rest @ ..] => rest
            .split(|byte| *byte == b'/')
            .all(|name| !matches!(name, b"" | b"." | b"..")),
        _ => false,
    }
}

/// The lexically clean form of an absolute path, nothing for a relative one.
pub(crate) fn clean(path: &Path) -> Option<Cow<'_, Path>> {
    if is_clean(path) {
        return Some(Cow::Borrowed(path));
    }
    if !is_absolute(path) {
        return None;
    }
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::ParentDir => drop(names.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Some(Cow::Owned(absolute(names)))
}

/// Joins names to an absolute path; no names give `/`.
pub(crate) fn absolute<'a>(names: impl IntoIterator<Item = &'a OsStr>) -> PathBuf {
    let mut path = OsString::new();
    for name in names {
        path.push("/");
        path.push(name);
    }
    if path.is_empty() {
        path.push("/");
    }
    path.into()
}

/// A clean path, then every directory above it, up to and including `/`.
pub(crate) fn lineage(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(path), |path| {
        match path.iter().rposition(|byte| *byte == b'/')? {
            0 if path.len() == 1 => None,
            0 => Some(&path[..1]),
            end => Some(&path[..end]),
        }
    })
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
