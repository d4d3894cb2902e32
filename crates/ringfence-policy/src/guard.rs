//! Guards: what stays closed inside places that are otherwise open.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::access::{Access, Verdict};
use crate::path::{Resolved, bytes};
use crate::pattern::Pattern;
use crate::preset::Preset;
use crate::rule::{Axes, Source};
use crate::text;

/// What a guard keeps commands from; the greater is the stricter.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protection {
    /// Writing: what is there can be read and run as the surroundings say.
    Protect = 0,
    /// Everything.
    Secret = 1,
}

impl Protection {
    /// What a rule of a guard says.
    pub const fn axes(self) -> Axes {
        let deny = Some(Access::Deny);
        match self {
            Self::Protect => Axes {
                read: None,
                execute: None,
                write: deny,
            },
            Self::Secret => Axes {
                read: deny,
                execute: deny,
                write: deny,
            },
        }
    }

    /// Whether something with this access is closed as far as a guard of this kind wants it closed.
    pub fn holds_for(self, access: Verdict) -> bool {
        let closed = |access: Access| access != Access::Allow;
        match self {
            Self::Protect => closed(access.write),
            Self::Secret => closed(access.read) && closed(access.execute) && closed(access.write),
        }
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protect => "protect",
            Self::Secret => "secret",
        })
    }
}

/// One entry of a profile's list of guards.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Guard {
    /// What it is about.
    pub subject: Subject,
    /// What it keeps commands from.
    pub protection: Protection,
}

/// What a guard is about.
///
/// A path is taken literally whatever characters it holds; only a [`Pattern`] is a pattern (POL-21).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// One name and everything beneath it, whether or not something is there (POL-63).
    Path(#[serde(serialize_with = "text::path")] PathBuf),
    /// What matches when a command starts, and everything beneath it; a command may make its own.
    Pattern(Pattern),
}

impl Guard {
    /// Keeps a path readable and unwritable.
    pub fn protect(path: impl Into<PathBuf>) -> Self {
        Self {
            subject: Subject::Path(path.into()),
            protection: Protection::Protect,
        }
    }

    /// Keeps a path from being used at all.
    pub fn secret(path: impl Into<PathBuf>) -> Self {
        Self {
            subject: Subject::Path(path.into()),
            protection: Protection::Secret,
        }
    }

    /// The same for everything that matches.
    pub const fn matching(pattern: Pattern, protection: Protection) -> Self {
        Self {
            subject: Subject::Pattern(pattern),
            protection,
        }
    }
}

impl Subject {
    /// Where it is, or where its matches are.
    pub fn base(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Pattern(pattern) => pattern.base(),
        }
    }
}

/// A guard as it was found on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedGuard {
    /// What it is about.
    pub subject: ResolvedSubject,
    /// What it keeps commands from.
    pub protection: Protection,
    /// Who asks for it.
    pub origin: Origin,
}

/// What a resolved guard is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolvedSubject {
    /// One name: its canonical path, what was there, and the links that led to it.
    Name(Resolved),
    /// What matches; the base is canonical.
    Pattern(Pattern),
}

/// Who asks for a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The profile itself.
    Profile,
    /// A line of a preset.
    Preset {
        /// Which preset.
        preset: Preset,
        /// What would go wrong without it.
        reason: &'static str,
    },
}

impl ResolvedGuard {
    /// The canonical path it is about, or beneath which its matches are.
    pub fn base(&self) -> &Path {
        match &self.subject {
            ResolvedSubject::Name(at) => &at.path,
            ResolvedSubject::Pattern(pattern) => pattern.base(),
        }
    }

    /// Who is named for its rules; `written` counts the guards of the profile itself.
    pub(crate) fn source(&self, written: &mut usize) -> Source {
        match self.origin {
            Origin::Preset { preset, reason } => Source::Preset { preset, reason },
            Origin::Profile => {
                *written += 1;
                Source::Guard(*written - 1)
            }
        }
    }

    /// What guards are sorted by, and by which two of them are the same.
    fn order(&self) -> impl Ord {
        let pattern = match &self.subject {
            ResolvedSubject::Name(_) => None,
            ResolvedSubject::Pattern(pattern) => Some(pattern),
        };
        (bytes(self.base()), pattern, self.protection, self.origin)
    }
}

/// Guards in the order profiles keep them in, each once.
pub(crate) fn sorted_guards(guards: impl Iterator<Item = ResolvedGuard>) -> Vec<ResolvedGuard> {
    let mut guards: Vec<_> = guards.collect();
    guards.sort_by(|a, b| a.order().cmp(&b.order()));
    guards.dedup_by(|a, b| a.order() == b.order());
    guards
}
