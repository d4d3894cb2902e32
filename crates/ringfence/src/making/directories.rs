//! The private directories of one executor, and those it keeps from one set to the next.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ringfence_host::runtime::Cache;
use ringfence_policy::Home;

use super::with_problems;
use crate::error::ExecutorError;
use crate::kept::{self, Kept};
use crate::scratch::make_private;
use crate::set::{CloseProblem, Shared};

/// The private directories of one executor.
pub(super) struct Directories {
    pub(super) top: PathBuf,
    pub(super) home: PathBuf,
    pub(super) temporary: PathBuf,
    /// For the backend.
    pub(super) base: PathBuf,
    /// Kept ones, which are not removed with the others.
    pub(super) caches: Vec<(Cache, PathBuf)>,
}

impl Directories {
    pub(super) fn create(owned: &Path) -> Result<Self, ExecutorError> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let top = owned.join(number.to_string());
        let all = Self {
            home: top.join("home"),
            temporary: top.join("tmp"),
            base: top.join("root"),
            caches: Vec::new(),
            top,
        };
        for directory in [&all.top, &all.home, &all.temporary, &all.base] {
            make_private(directory).map_err(|error| {
                let cause = ExecutorError::Scratch {
                    path: directory.clone(),
                    why: error.to_string(),
                };
                with_problems(cause, all.remove())
            })?;
        }
        Ok(all)
    }

    /// No command has been in them; says what could not be removed.
    pub(super) fn remove(&self) -> Option<CloseProblem> {
        let error = std::fs::remove_dir_all(&self.top).err()?;
        (error.kind() != std::io::ErrorKind::NotFound).then(|| CloseProblem::Directory {
            path: self.top.clone(),
            why: error.to_string(),
        })
    }
}

impl Shared {
    /// Takes the directories that outlive the set: the key's home in place of the one of the set, and the caches.
    pub(super) fn keep(&self, key: &str, directories: &mut Directories) -> Result<Vec<Kept>, ExecutorError> {
        let failed = |path: PathBuf, error: std::io::Error| ExecutorError::Scratch {
            path,
            why: error.to_string(),
        };
        let mut all = Vec::new();
        if let Some(homes) = self
            .homes
            .as_ref()
            .filter(|_| self.profile.home() == Home::Isolated)
        {
            let kept = kept::home(homes, key).map_err(|error| failed(homes.join(key), error))?;
            directories.home.clone_from(&kept.directory);
            all.push(kept);
        }
        if let Some((root, caches)) = &self.caches {
            for cache in caches {
                let kept = kept::cache(root, *cache).map_err(|error| failed(cache.directory(root), error))?;
                directories.caches.push((*cache, kept.directory.clone()));
                all.push(kept);
            }
        }
        Ok(all)
    }
}

static NEXT: AtomicUsize = AtomicUsize::new(0);
