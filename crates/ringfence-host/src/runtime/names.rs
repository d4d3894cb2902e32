//! What bundles are called.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::Cache;

/// A bundle; the order is the one in which they are listed. Names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BundleName {
    /// What every program needs to start: programs and libraries of the system, the dynamic loader, names of
    /// users and hosts, start files of shells. Without it hardly anything runs.
    Base,
    /// Certificates of authorities and settings of TLS libraries; no private keys.
    Tls,
    /// The time zone.
    Tz,
    /// Language and terminal types.
    Locale,
    /// Settings of git for all users.
    Git,
    /// Python, and what `PATH` uses of pyenv, conda, uv and virtual environments.
    Python,
    /// Node.js, and what `PATH` uses of nvm, fnm, volta, nodenv and pnpm.
    Node,
    /// Rust, and what `PATH` uses of rustup and Cargo.
    Rust,
    /// Go, and what `PATH` uses of goenv.
    Go,
    /// Java, Maven and Gradle, and what `PATH` uses of SDKMAN and jenv.
    Java,
    /// Other programs of `PATH`, and managers for several languages: asdf, mise, Homebrew.
    Path,
}

impl BundleName {
    /// Every bundle, in order.
    pub const ALL: &'static [Self] = &[
        Self::Base,
        Self::Tls,
        Self::Tz,
        Self::Locale,
        Self::Git,
        Self::Python,
        Self::Node,
        Self::Rust,
        Self::Go,
        Self::Java,
        Self::Path,
    ];

    /// The selection of all bundles, which is the default.
    pub fn all() -> BTreeSet<Self> {
        Self::ALL.iter().copied().collect()
    }

    /// The name, in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Tls => "tls",
            Self::Tz => "tz",
            Self::Locale => "locale",
            Self::Git => "git",
            Self::Python => "python",
            Self::Node => "node",
            Self::Rust => "rust",
            Self::Go => "go",
            Self::Java => "java",
            Self::Path => "path",
        }
    }
}

impl fmt::Display for BundleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for BundleName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let mut all = Self::ALL.iter().copied();
        all.find(|bundle| bundle.as_str() == name)
            .ok_or_else(|| NameError::Bundle { name: name.into() })
    }
}

/// A name that nothing has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NameError {
    /// No bundle is called so.
    #[error("no runtime bundle is called {name:?}")]
    Bundle {
        /// As given.
        name: String,
    },
    /// No cache is called so.
    #[error("no cache is called {name:?}")]
    Cache {
        /// As given.
        name: String,
    },
}

impl NameError {
    /// A stable identifier.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Bundle { .. } => "bundle_name",
            Self::Cache { .. } => "cache_name",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        let known: Vec<_> = match self {
            Self::Bundle { .. } => BundleName::ALL.iter().map(|bundle| bundle.as_str()).collect(),
            Self::Cache { .. } => Cache::ALL.iter().map(|cache| cache.as_str()).collect(),
        };
        format!("use one of {}", known.join(", "))
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
