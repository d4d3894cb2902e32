//! Paths that are looked at one by one, since nothing has to be searched for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ringfence_policy::Pattern;

use super::directory::Stamp;
use super::watch::{Told, Watches};
use super::way::{Seen, Way};
use super::{Found, Object};

/// The patterns that are a path each, and what was there.
#[derive(Debug)]
pub(super) struct Literals {
    literals: Vec<Literal>,
    /// The directories they are in, sorted.
    directories: Vec<Directory>,
}

#[derive(Debug)]
struct Literal {
    path: PathBuf,
    /// Index in [`super::Scope::patterns`].
    pattern: usize,
    /// Index of its directory.
    directory: usize,
    object: Option<Object>,
    way: Way,
}

#[derive(Debug)]
struct Directory {
    path: PathBuf,
    state: State,
    /// How it was at the last look, if there was one.
    stamp: Option<Stamp>,
}

/// What can be said about the names in a directory without asking for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unknown,
    /// None has come or gone.
    Same,
    /// There are none.
    Nothing,
}

impl Literals {
    pub(super) fn new(patterns: &[Pattern]) -> Self {
        let patterns = patterns.iter().enumerate();
        let single = patterns.filter(|(_, pattern)| pattern.glob().is_none());
        let single: Vec<(usize, &Path)> = single.map(|(index, pattern)| (index, pattern.base())).collect();
        let paths = single.iter().map(|(_, path)| (directory_of(path), 0));
        let mut indices: BTreeMap<&Path, usize> = paths.collect();
        for (index, place) in indices.values_mut().enumerate() {
            *place = index;
        }
        let directories = indices.keys().map(|path| Directory {
            path: (*path).to_owned(),
            state: State::Unknown,
            stamp: None,
        });
        let literals = single.iter().map(|(pattern, path)| Literal {
            path: (*path).to_owned(),
            pattern: *pattern,
            directory: indices.get(directory_of(path)).copied().unwrap_or_default(),
            object: None,
            way: Way::default(),
        });
        Self {
            literals: literals.collect(),
            directories: directories.collect(),
        }
    }

    /// Looks at those on whose way names have come or gone; says whether anything is different.
    pub(super) fn look(&mut self, watches: &Watches, told: Option<&Told>) -> bool {
        if !watches.are_any() {
            return self.look_by_directories();
        }
        let mut seen = Seen::new();
        let mut different = false;
        for literal in &mut self.literals {
            if told.is_none_or(|told| literal.way.is_stale(told)) {
                // Watched before it is looked at, so that nothing falls between.
                literal.way = Way::watch(&literal.path, watches, &mut seen);
                different |= literal.look();
            }
        }
        different
    }

    /// Without watches: one look at each directory tells of most paths that nothing has changed.
    fn look_by_directories(&mut self) -> bool {
        let mut missing: Option<&Path> = None;
        for directory in &mut self.directories {
            let Directory { path, state, stamp } = directory;
            if missing.is_some_and(|above| path.starts_with(above)) {
                (*state, *stamp) = (State::Nothing, None);
                continue;
            }
            let now = Stamp::at_the_end_of(path);
            let is_same = |now: &Stamp| stamp.is_some_and(|before| now.is_unchanged_since(&before));
            *state = match &now {
                Ok(None) => State::Nothing,
                Ok(Some(now)) if is_same(now) => State::Same,
                _ => State::Unknown,
            };
            *stamp = now.ok().flatten();
            missing = (*state == State::Nothing).then_some(path);
        }
        let mut different = false;
        for literal in &mut self.literals {
            let directory = self.directories.get(literal.directory);
            different |= match directory.map(|directory| directory.state) {
                Some(State::Same) => false,
                Some(State::Nothing) => literal.object.take().is_some(),
                _ => literal.look(),
            };
        }
        different
    }

    pub(super) fn found(&self) -> impl Iterator<Item = Found> {
        self.literals.iter().filter_map(|literal| {
            Some(Found::Match {
                path: literal.path.clone(),
                object: literal.object?,
                pattern: literal.pattern,
            })
        })
    }
}

impl Literal {
    fn look(&mut self) -> bool {
        let now = Object::at(&self.path);
        let different = now != self.object;
        self.object = now;
        different
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
