//! Where directories are that outlive a run.

use std::path::{Path, PathBuf};

use ringfence::Cache;

use super::{Plan, draft};
use crate::failure::Failure;
use crate::private;

/// The directory of all named home directories.
pub(super) const HOMES: Kept = Kept {
    option: "--home",
    variable: "XDG_DATA_HOME",
    in_home: ".local/share",
    below: "ringfence/homes",
};

/// The directory of all kept caches.
pub(super) const CACHES: Kept = Kept {
    option: "--cache",
    variable: "XDG_CACHE_HOME",
    in_home: ".cache",
    below: "ringfence/caches",
};

impl Plan {
    /// The cache of the host's tools that a canonical path is in, if commands don't have one of their own.
    pub(crate) fn unkept_cache(&self, path: &Path) -> Option<Cache> {
        let cache = Cache::at(path, &draft::home_directory()?, &absolute)?;
        (!self.caches.contains(&cache)).then_some(cache)
    }
}

/// A directory beneath the one that a variable of the XDG Base Directory Specification names.
#[derive(Debug)]
pub(super) struct Kept {
    option: &'static str,
    variable: &'static str,
    in_home: &'static str,
    below: &'static str,
}

impl Kept {
    /// Where it is.
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        let Self { option, variable, .. } = self;
        let base = absolute(variable).or_else(|| Some(absolute("HOME")?.join(self.in_home)));
        let base = base.ok_or_else(|| {
            let problem = format!("{option}: neither {variable} nor HOME is an absolute path");
            Failure::new(problem).hint(format!("set {variable} to a directory of yours"))
        })?;
        Ok(base.join(self.below))
    }

    /// Makes it if it is missing.
    pub(super) fn make(&self) -> Result<PathBuf, Failure> {
        let path = self.path()?;
        private::ensure_all(&path).map_err(|failure| failure.in_option(self.option))?;
        Ok(path)
    }
}

/// The path that a variable holds.
fn absolute(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
