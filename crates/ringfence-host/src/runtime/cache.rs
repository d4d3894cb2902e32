//! Caches of package managers that may be kept from one run to the next.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ringfence_policy::Resolve;

use super::variables::PRIVATE;
use super::{BundleName, NameError};
use crate::Host;

/// Downloads, and what was built from them, that a caller may let commands share instead of each having its own
/// below its home directory.
///
/// # Trust
/// Every command that may write a kept cache decides what the next one finds there, also for another workspace.
/// What is downloaded again is checked against lock files; what is there already mostly is not. Keep one only
/// between commands that may influence each other, in a directory that nothing unconfined uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cache {
    /// The registries and git checkouts of Cargo.
    ///
    /// It is a whole `CARGO_HOME`, since Cargo locks there and knows no other variable; remember
    /// [`Cache::keeps`].
    Cargo,
    /// The packages of npm.
    Npm,
    /// The downloads and wheels of pip.
    Pip,
    /// The modules and the build cache of go.
    Go,
}

impl Cache {
    /// Every cache, in order.
    pub const ALL: &'static [Self] = &[Self::Cargo, Self::Npm, Self::Pip, Self::Go];

    /// The name, in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Npm => "npm",
            Self::Pip => "pip",
            Self::Go => "go",
        }
    }

    /// The bundle whose tools use it.
    pub const fn bundle(self) -> BundleName {
        match self {
            Self::Cargo => BundleName::Rust,
            Self::Npm => BundleName::Node,
            Self::Pip => BundleName::Python,
            Self::Go => BundleName::Go,
        }
    }

    /// Its directory below the directory of all kept caches of a user. It need not exist yet.
    pub fn directory(self, root: &Path) -> PathBuf {
        root.join(self.as_str())
    }

    /// The variables that make tools use it, each with a path in [`Cache::directory`]. They replace those of
    /// [`Bundle::private`](super::Bundle::private) with the same names.
    pub fn variables(self, root: &Path) -> Vec<(OsString, PathBuf)> {
        let places = PRIVATE.iter().filter_map(|row| Some((row.variable, row.cache?)));
        let own = places.filter(|(_, (cache, _))| *cache == self);
        own.map(|(variable, (_, below))| {
            (
                variable.into(),
                self.directory(root).join(below).components().collect(),
            )
        })
        .collect()
    }

    /// The cache that a canonical path is in on the host, by what the caller's variables and defaults of the tools say.
    /// Nothing for what is beside a cache, such as programs.
    pub fn at(path: &Path, home: &Path, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        PRIVATE.iter().find_map(|row| {
            let (cache, below) = row.cache?;
            let named = variable(row.variable).unwrap_or_else(|| home.join(row.below));
            let top = Host.resolve(&named).ok()?.path;
            let mut rest = path.strip_prefix(top).ok()?.iter();
            let is_kept = |name: &OsStr| cache.keeps().iter().any(|kept| name == *kept);
            (!below.is_empty() || rest.next().is_none_or(is_kept)).then_some(cache)
        })
    }

    /// The names in [`Cache::directory`] that are the cache and its locks.
    ///
    /// Tools put other things beside them, which change what later commands run: programs and settings of Cargo,
    /// credentials, packages installed by `npx`. Whoever keeps a cache removes every other name before the next
    /// command gets it.
    pub const fn keeps(self) -> &'static [&'static str] {
        match self {
            Self::Cargo => &[
                "registry",
                "git",
                ".package-cache",
                ".package-cache-mutate",
                ".global-cache",
            ],
            Self::Npm => &["_cacache"],
            Self::Pip => &["http", "http-v2", "wheels"],
            Self::Go => &["mod", "build"],
        }
    }
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Cache {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let mut all = Self::ALL.iter().copied();
        all.find(|cache| cache.as_str() == name)
            .ok_or_else(|| NameError::Cache { name: name.into() })
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
