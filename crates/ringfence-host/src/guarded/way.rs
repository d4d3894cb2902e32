//! The directories on the way to a path, watched.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::watch::{Told, Watches};

/// The directories on the way, as far as there are any, each with the next name.
#[derive(Debug, Default)]
pub(super) struct Way {
    steps: Vec<(i32, OsString)>,
    /// Whether the kernel tells of every change on it.
    is_watched: bool,
}

/// What was watched during one look: most paths have the first directories in common.
pub(super) type Seen = HashMap<PathBuf, Watched>;

#[derive(Clone, Copy, Debug)]
pub(super) enum Watched {
    By(i32),
    Unwatched,
    /// There is no directory.
    Nothing,
}

impl Way {
    /// Watches the directories from the top down to the first that is missing: it can't come unnoticed.
    pub(super) fn watch(path: &Path, watches: &Watches, seen: &mut Seen) -> Self {
        let mut way = Self {
            steps: Vec::new(),
            is_watched: true,
        };
        let mut directories: Vec<&Path> = path.ancestors().skip(1).collect();
        directories.reverse();
        let names = path.components().skip(1).map(Component::as_os_str);
        for (directory, next) in directories.into_iter().zip(names) {
            match watched(directory, watches, seen) {
                Watched::By(watch) => way.steps.push((watch, OsStr::to_owned(next))),
                Watched::Unwatched => way.is_watched = false,
                Watched::Nothing => break,
            }
        }
        way
    }

    /// Whether another object may be at its end by now.
    pub(super) fn is_stale(&self, told: &Told) -> bool {
        !self.is_watched || self.steps.iter().any(|(watch, name)| told.has_name(*watch, name))
    }

    /// Whether the kernel tells of every change on it.
    pub(super) const fn is_watched(&self) -> bool {
        self.is_watched
    }
}

fn watched(directory: &Path, watches: &Watches, seen: &mut Seen) -> Watched {
    if let Some(known) = seen.get(directory) {
        return *known;
    }
    let now = match watches.add(directory) {
        Some(watch) => Watched::By(watch),
        // Anything else that can't be watched may still lead somewhere.
        None if directory.symlink_metadata().is_err() => Watched::Nothing,
        None => Watched::Unwatched,
    };
    seen.insert(directory.to_owned(), now);
    now
}
