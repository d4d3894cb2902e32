//! Paths that are looked at one by one, since nothing has to be searched for them.

use std::path::PathBuf;

use ringfence_policy::Pattern;

use super::watch::{Told, Watches};
use super::way::{Seen, Way};
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
    way: Way,
}

impl Literals {
    pub(super) fn new(patterns: &[Pattern]) -> Self {
        let patterns = patterns.iter().enumerate();
        let single = patterns.filter(|(_, pattern)| pattern.glob().is_none());
        let literals = single.map(|(index, pattern)| Literal {
            path: pattern.base().to_owned(),
            pattern: index,
            object: None,
            way: Way::default(),
        });
        Self(literals.collect())
    }

    /// Looks at those on whose way names have come or gone; says whether anything is different.
    pub(super) fn look(&mut self, watches: &Watches, told: Option<&Told>) -> bool {
        let mut seen = Seen::new();
        let mut different = false;
        for literal in &mut self.0 {
            if told.is_none_or(|told| literal.way.is_stale(told)) {
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
    fn look(&mut self, watches: &Watches, seen: &mut Seen) -> bool {
        // Watched before it is looked at, so that nothing falls between.
        self.way = Way::watch(&self.path, watches, seen);
        let now = Object::at(&self.path);
        let different = now != self.object;
        self.object = now;
        different
    }
}
