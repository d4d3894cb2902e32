//! Which patterns reach a directory, and whether it stands for everything in it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use ringfence_policy::{Glob, Pattern};

/// The patterns to search for, by the directory they reach down from.
#[derive(Debug)]
pub(super) struct Bases {
    patterns: HashMap<PathBuf, Vec<Based>>,
    /// Paths with a rule of their own.
    ruled: BTreeSet<PathBuf>,
}

/// A pattern with a glob.
#[derive(Debug)]
struct Based {
    index: usize,
    /// The directories of which everything beneath matches: the glob without its `/**`.
    whole: Option<Glob>,
}

/// What a pattern says about a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Covers {
    /// Some of its entries, perhaps.
    Entries,
    /// All that is and will be beneath: it is closed as one.
    Everything,
}

impl Bases {
    pub(super) fn new(patterns: &[Pattern], ruled: &[PathBuf]) -> Self {
        let mut bases: HashMap<PathBuf, Vec<Based>> = HashMap::new();
        for (index, pattern) in patterns.iter().enumerate() {
            if let Some(glob) = pattern.glob() {
                let whole = whole(glob).filter(|_| pattern.exceptions().is_empty());
                let based = Based { index, whole };
                bases.entry(pattern.base().to_owned()).or_default().push(based);
            }
        }
        Self {
            patterns: bases,
            ruled: ruled.iter().cloned().collect(),
        }
    }

    /// The patterns that have to be looked for in a directory, each with where it reaches down from. One that covers
    /// everything beneath a directory above is not among them.
    pub(super) fn above<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = (usize, &'a Path, Covers)> {
        path.ancestors().flat_map(move |base| {
            let patterns = self.patterns.get(base).into_iter().flatten();
            patterns.filter_map(move |based| Some((based.index, base, self.covers(based, base, path)?)))
        })
    }

    fn covers(&self, based: &Based, base: &Path, path: &Path) -> Option<Covers> {
        let Some(whole) = &based.whole else {
            return Some(Covers::Entries);
        };
        let is_whole = |directory: &Path| {
            let rest = directory.strip_prefix(base).unwrap_or(directory);
            whole.matches(&Path::new("/").join(rest)) && !self.is_opened(directory)
        };
        let mut above = path
            .ancestors()
            .skip(1)
            .take_while(|above| above.starts_with(base));
        if above.any(is_whole) {
            return None;
        }
        Some(if is_whole(path) {
            Covers::Everything
        } else {
            Covers::Entries
        })
    }

    /// Whether there is another rule for the directory or what is beneath it: that would outrank one for the directory,
    /// and must not outrank those for what matches.
    fn is_opened(&self, directory: &Path) -> bool {
        // Paths sort by their components, so what is beneath one follows it.
        let next = self.ruled.range(directory.to_owned()..).next();
        next.is_some_and(|path| path.starts_with(directory))
    }
}

fn whole(glob: &Glob) -> Option<Glob> {
    let text = glob.text().to_str()?.strip_suffix("/**")?;
    Glob::new(if text.is_empty() { "/" } else { text }).ok()
}
