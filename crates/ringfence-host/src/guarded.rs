//! What guards match on this host, kept up to date.
//!
//! A [`Search`] walks directory trees once and remembers every directory. Asked again, it looks only at those in which
//! names have come or gone, as the kernel tells it; where the kernel can't, at those whose change time is another.

mod bases;
mod directory;
mod literal;
mod replaced;
mod repository;
mod watch;
mod way;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ringfence_policy::Pattern;

use bases::Bases;
use directory::{Directory, Moment, Stamp};
use literal::Literals;
use watch::{Told, Watches};

pub use replaced::Replaced;
pub use repository::{PARTS, Repository, RepositoryKind, is_part};

/// Directories looked at before a search gives up.
const DIRECTORY_LIMIT: usize = 200_000;

/// So many directories are worth being watched at once: to look at them a few times takes longer than to end watching,
/// for which the kernel needs some 10 ms however few there are.
const MANY: usize = 1_000;

/// One search: where, for what, and what was found.
#[derive(Debug)]
pub struct Search {
    scope: Scope,
    directories: BTreeMap<PathBuf, Directory>,
    watches: Watches,
    /// None before it is worth it.
    watching: bool,
    /// Whether something may have happened between the last look and the first watch.
    unsure: bool,
    literals: Literals,
    bases: Bases,
    found: Vec<Found>,
    unsearched: BTreeSet<Unsearched>,
    limit: usize,
    /// The first directory beyond the limit.
    beyond: Option<PathBuf>,
    /// What could not be looked at though nothing forbids it; tried again each time.
    failed: BTreeSet<PathBuf>,
    complete: bool,
}

/// Where a search looks and for what.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The directories to search, with everything beneath; a link in them is not followed.
    pub places: Vec<PathBuf>,
    /// Directories that are not entered.
    pub closed: Vec<PathBuf>,
    /// What to look for.
    pub patterns: Vec<Pattern>,
    /// Which of them, by their indices, close what they match to everybody, so that nothing in it has to be looked for.
    pub hiding: HashSet<usize>,
    /// Paths with a rule of their own: no directory at or above one is closed as one, whatever matches.
    pub ruled: Vec<PathBuf>,
    /// Whether to look for repositories too.
    pub repositories: bool,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// What matches the pattern with this index.
    Match {
        /// The path that matches.
        path: PathBuf,
        /// What is there.
        object: Object,
        /// Index in [`Scope::patterns`].
        pattern: usize,
    },
    /// A repository, or what leads to one.
    Repository(Repository),
}

/// What was found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// Anything else.
    File,
}

/// A directory in which nothing could be looked for, as it was then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unsearched {
    /// Where it is.
    pub path: PathBuf,
    /// None where it could not even be looked at.
    moment: Option<Moment>,
}

/// Nobody wanted to know any more.
#[derive(Debug)]
struct Abandoned;

impl Search {
    /// Searches everything once, up to 200,000 directories, unless `abandon` says meanwhile that nobody wants to know any
    /// more: it is asked before each directory. Then there is nothing.
    pub fn new(scope: Scope, abandon: &dyn Fn() -> bool) -> Option<Self> {
        Self::limited(scope, DIRECTORY_LIMIT, abandon)
    }

    /// The same, up to so many directories, now and later.
    pub fn limited(scope: Scope, limit: usize, abandon: &dyn Fn() -> bool) -> Option<Self> {
        let mut search = Self {
            literals: Literals::new(&scope.patterns),
            bases: Bases::new(&scope.patterns, &scope.ruled),
            scope,
            directories: BTreeMap::new(),
            watches: Watches::none(),
            watching: false,
            unsure: false,
            found: Vec::new(),
            unsearched: BTreeSet::new(),
            limit,
            beyond: None,
            failed: BTreeSet::new(),
            complete: true,
        };
        let places = search.scope.places.clone();
        search.walk(places, abandon).ok()?;
        search.literals.look(&search.watches, None);
        search.collect();
        if search.directories.len() >= MANY {
            search.watch();
        }
        Some(search)
    }

    /// Has the kernel tell of changes from now on, which makes further looks cheap. Nothing if it does already.
    pub fn watch(&mut self) {
        if self.watching {
            return;
        }
        (self.watching, self.unsure) = (true, true);
        self.watches = Watches::new();
        for (path, directory) in &mut self.directories {
            directory.watch(self.watches.add(path));
        }
    }

    /// Looks again; says whether anything is different.
    ///
    /// Costs one system call where nothing has changed and the kernel tells of changes; else one for every directory
    /// it doesn't tell about.
    pub fn look(&mut self) -> bool {
        let told = self.watches.changed().filter(|_| !self.unsure);
        self.unsure = false;
        let stale = self.stale(told.as_ref());
        let different = self.literals.look(&self.watches, told.as_ref());
        if stale.is_empty() && !different {
            return false;
        }
        // Never abandoned: what it had not come to would count as looked at.
        let _ = self.walk(stale, &|| false);
        self.collect()
    }

    /// What there is, sorted.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// Whether everything could be looked at.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }

    /// The directories in which nothing could be looked for, without those beyond the limit.
    pub const fn unsearched(&self) -> &BTreeSet<Unsearched> {
        &self.unsearched
    }

    /// The first directory beyond the limit, if it was ever reached: it and others are not looked at.
    pub fn beyond(&self) -> Option<&Path> {
        self.beyond.as_deref()
    }

    /// Whether the kernel has told of no change since the last look, and would have.
    pub fn is_quiet(&self) -> bool {
        let watched = self.directories.values().all(Directory::is_watched);
        watched && !self.unsure && self.failed.is_empty() && self.watches.is_quiet()
    }

    /// The directories in which names may have come or gone.
    fn stale(&self, told: Option<&Told>) -> Vec<PathBuf> {
        let changed = |path: &Path, directory: &Directory| match told {
            Some(told) if directory.is_watched() => directory.is_told(told),
            _ => directory.is_different(path),
        };
        let known = self.directories.iter();
        known
            .filter(|(path, directory)| changed(path, directory))
            .map(|(path, _)| path)
            .chain(&self.failed)
            .cloned()
            .collect()
    }

    /// Lists these directories, and those beneath that were not known before.
    fn walk(&mut self, mut pending: Vec<PathBuf>, abandon: &dyn Fn() -> bool) -> Result<(), Abandoned> {
        while let Some(path) = pending.pop() {
            if abandon() {
                return Err(Abandoned);
            }
            if self.scope.closed.contains(&path) {
                continue;
            }
            if self.directories.len() >= self.limit && !self.directories.contains_key(&path) {
                // Those that are known are still looked at.
                self.complete = false;
                self.beyond.get_or_insert(path);
                continue;
            }
            self.failed.remove(&path);
            let stamp = match Stamp::look(&path) {
                Ok(Some(stamp)) => stamp,
                Ok(None) => {
                    self.forget(&path);
                    continue;
                }
                Err(error) => {
                    self.miss(path, &error);
                    continue;
                }
            };
            // Watched before it is listed, so that nothing falls between.
            let watch = self.watches.add(&path);
            let listed = match Directory::list(&path, stamp, watch, &self.scope, &self.bases) {
                Ok(listed) => listed,
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    self.forget(&path);
                    // A command can enter what belongs to its user, whatever the mode says now.
                    if !stamp.is_this_users() {
                        continue;
                    }
                    Directory::unlisted(&path, stamp, &self.bases)
                }
                Err(_) => {
                    self.forget(&path);
                    // What is gone is not there.
                    if Stamp::of(&path).is_some() {
                        self.complete = false;
                        self.failed.insert(path);
                    }
                    continue;
                }
            };
            let before = self.directories.insert(path.clone(), listed);
            let now = self
                .directories
                .get(&path)
                .map(|listed| listed.subdirectories().to_vec());
            let now = now.unwrap_or_default();
            let before = before
                .map(|before| before.subdirectories().to_vec())
                .unwrap_or_default();
            let still: HashSet<&OsString> = now.iter().collect();
            for gone in before.iter().filter(|name| !still.contains(name)) {
                self.forget(&path.join(gone));
            }
            // One that has the name of another from before is told apart by its stamp.
            pending.extend(now.iter().map(|name| path.join(name)).filter(|path| {
                let known = self.directories.get(path);
                known.is_none_or(|known| known.is_another(path))
            }));
        }
        Ok(())
    }

    /// Goes without a directory that can't be looked at: where the way there is closed, what closes it can't be searched.
    fn miss(&mut self, path: PathBuf, error: &io::Error) {
        self.forget(&path);
        let denied = error.kind() == ErrorKind::PermissionDenied;
        let mut above = path.ancestors().skip(1).filter(|_| denied);
        let closed = above.find_map(|above| Some((above, Stamp::of(above)?)));
        match closed.filter(|(above, _)| self.directories.contains_key(*above)) {
            Some((above, stamp)) if stamp.is_this_users() => {
                self.forget(above);
                let unlisted = Directory::unlisted(above, stamp, &self.bases);
                self.directories.insert(above.to_owned(), unlisted);
            }
            Some(_) => {}
            None => drop(self.failed.insert(path)),
        }
    }

    fn forget(&mut self, top: &Path) {
        // Paths sort by their components, so what is beneath one follows it.
        let beneath = self.directories.range(top.to_owned()..);
        let gone: Vec<PathBuf> = beneath
            .map(|(path, _)| path)
            .take_while(|path| path.starts_with(top))
            .cloned()
            .collect();
        for path in gone {
            self.directories.remove(&path);
        }
        self.failed.retain(|path| !path.starts_with(top));
    }

    /// Puts together what the directories hold; says whether it is different.
    fn collect(&mut self) -> bool {
        let mut found: Vec<Found> = self.literals.found().collect();
        found.extend(self.directories.values().flat_map(Directory::found).cloned());
        found.sort();
        let different = found != self.found;
        self.found = found;
        let unlisted = self.directories.iter().filter_map(|(path, directory)| {
            let moment = Some(directory.unlisted_at()?);
            Some((path, moment))
        });
        let failed = self.failed.iter().map(|path| (path, None));
        let unsearched = unlisted.chain(failed).map(|(path, moment)| Unsearched {
            path: path.clone(),
            moment,
        });
        self.unsearched = unsearched.collect();
        different
    }
}

#[cfg(all(test, unix))]
#[path = "guarded_tests.rs"]
mod tests;
