//! Paths that are looked at one by one, since nothing has to be searched for them.

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
    parents: Vec<Parent>,
}

#[derive(Debug)]
struct Literal {
    path: PathBuf,
    /// Index in [`super::Scope::patterns`].
    pattern: usize,
    object: Option<Object>,
    way: Way,
}

#[derive(Debug)]
struct Parent {
    path: PathBuf,
    /// How it was at the last look, if every name in it could be asked for.
    stamp: Option<Stamp>,
    names: Names,
}

/// What can be said about the names in a directory without asking for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
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
        let literals: Vec<Literal> = single
            .map(|(index, pattern)| Literal {
                path: pattern.base().to_owned(),
                pattern: index,
                object: None,
                way: Way::default(),
            })
            .collect();
        let mut parents: Vec<&Path> = literals.iter().map(Literal::parent).collect();
        parents.sort_unstable();
        parents.dedup();
        let parents = parents.into_iter().map(|path| Parent {
            path: path.to_owned(),
            stamp: None,
            names: Names::Unknown,
        });
        Self {
            parents: parents.collect(),
            literals,
        }
    }

    /// Looks at those on whose way names have come or gone; says whether anything is different.
    pub(super) fn look(&mut self, watches: &Watches, told: Option<&Told>) -> bool {
        if !watches.are_any() {
            return self.look_by_parents();
        }
        let mut seen = Seen::new();
        let mut different = false;
        for literal in &mut self.literals {
            if told.is_none_or(|told| literal.way.is_stale(told)) {
                // Watched before it is looked at, so that nothing falls between.
                literal.way = Way::watch(&literal.path, watches, &mut seen);
                different |= literal.look().is_different;
            }
        }
        different
    }

    /// Without watches: one look at each directory tells of most paths that nothing has changed.
    fn look_by_parents(&mut self) -> bool {
        let mut missing: Option<&Path> = None;
        for parent in &mut self.parents {
            let Parent { path, stamp, names } = parent;
            if missing.is_some_and(|above| path.starts_with(above)) {
                (*names, *stamp) = (Names::Nothing, None);
                continue;
            }
            let now = Stamp::at_the_end_of(path);
            let is_same = |now: &Stamp| stamp.is_some_and(|before| now.is_unchanged_since(&before));
            *names = match &now {
                Ok(None) => Names::Nothing,
                Ok(Some(now)) if is_same(now) => Names::Same,
                _ => Names::Unknown,
            };
            *stamp = now.ok().flatten();
            missing = (*names == Names::Nothing).then_some(path);
        }
        let mut different = false;
        for literal in &mut self.literals {
            let index = self
                .parents
                .binary_search_by(|parent| parent.path.as_path().cmp(literal.parent()));
            let parent = index.ok().and_then(|index| self.parents.get_mut(index));
            match parent.as_ref().map(|parent| parent.names) {
                Some(Names::Same) => {}
                Some(Names::Nothing) => different |= literal.object.take().is_some(),
                Some(Names::Unknown) | None => {
                    let look = literal.look();
                    different |= look.is_different;
                    if let Some(parent) = parent.filter(|_| !look.is_certain) {
                        parent.stamp = None;
                    }
                }
            }
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

/// What one look at a path said.
struct Look {
    is_different: bool,
    /// Whether it could be looked at; else it counts as nothing for now.
    is_certain: bool,
}

impl Literal {
    fn look(&mut self) -> Look {
        let seen = Object::look(&self.path);
        let is_certain = seen.is_ok();
        let now = seen.ok().flatten();
        let is_different = now != self.object;
        self.object = now;
        Look {
            is_different,
            is_certain,
        }
    }

    fn parent(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}
