//! Paths that are looked at one by one, since nothing has to be searched for them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ringfence_policy::Pattern;

use super::watch::{Told, Watches};
use super::{Found, Object};

/// The patterns that are a path each, and what was there.
#[derive(Debug)]
pub(super) struct Literals(Vec<Literal>);

#[derive(Debug)]
struct Literal {
    path: PathBuf,
    /// Index in [`super::Scope::patterns`].
    pattern: usize,
    object: Option<Object>,
    /// The directories on the way, as far as there are any, each with the next name.
    way: Vec<(i32, OsString)>,
    /// Whether the kernel tells of every change on the way.
    is_watched: bool,
}

/// What was watched during one look: most paths have the first directories in common.
type Seen = HashMap<PathBuf, Watched>;

#[derive(Clone, Copy, Debug)]
enum Watched {
    By(i32),
    Unwatched,
    /// There is no directory.
    Nothing,
}

impl Literals {
    pub(super) fn new(patterns: &[Pattern]) -> Self {
        let patterns = patterns.iter().enumerate();
        let single = patterns.filter(|(_, pattern)| pattern.glob().is_none());
        let literals = single.map(|(index, pattern)| Literal {
            path: pattern.base().to_owned(),
            pattern: index,
            object: None,
            way: Vec::new(),
            is_watched: false,
        });
        Self(literals.collect())
    }

    /// Looks at those on whose way names have come or gone; says whether anything is different.
    pub(super) fn look(&mut self, watches: &Watches, told: Option<&Told>) -> bool {
        let mut seen = Seen::new();
        let mut different = false;
        for literal in &mut self.0 {
            if told.is_none_or(|told| literal.is_stale(told)) {
                different |= literal.look(watches, &mut seen);
            }
        }
        different
    }

    pub(super) fn found(&self) -> impl Iterator<Item = Found> {
        self.0.iter().filter_map(|literal| {
            Some(Found::Match {
                path: literal.path.clone(),
                object: literal.object?,
                pattern: literal.pattern,
            })
        })
    }
}

impl Literal {
    fn is_stale(&self, told: &Told) -> bool {
        !self.is_watched || self.way.iter().any(|(watch, name)| told.has_name(*watch, name))
    }

    fn look(&mut self, watches: &Watches, seen: &mut Seen) -> bool {
        // Watched before it is looked at, so that nothing falls between.
        self.watch(watches, seen);
        let now = Object::at(&self.path);
        let different = now != self.object;
        self.object = now;
        different
    }

    /// Watches the directories from the top down to the first that is missing: it can't come unnoticed.
    fn watch(&mut self, watches: &Watches, seen: &mut Seen) {
        self.way.clear();
        self.is_watched = true;
        let mut directories: Vec<&Path> = self.path.ancestors().skip(1).collect();
        directories.reverse();
        let names = self
            .path
            .components()
            .skip(1)
            .map(std::path::Component::as_os_str);
        for (directory, next) in directories.into_iter().zip(names) {
            match watched(directory, watches, seen) {
                Watched::By(watch) => self.way.push((watch, OsStr::to_owned(next))),
                Watched::Unwatched => self.is_watched = false,
                Watched::Nothing => return,
            }
        }
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
