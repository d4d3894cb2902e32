//! One directory as it was listed.

use std::cell::LazyCell;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io::{self, ErrorKind};
use std::path::Path;

use ringfence_policy::Pattern;

use super::bases::{Bases, Covers};
use super::watch::Told;
use super::{Found, Object, Scope, repository};

/// A directory that has been listed.
#[derive(Debug)]
pub(super) struct Directory {
    stamp: Stamp,
    watch: Option<i32>,
    /// Whether it could be listed.
    listed: bool,
    subdirectories: Vec<OsString>,
    found: Vec<Found>,
}

/// One entry of a directory.
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) kind: FileType,
}

impl Directory {
    /// Lists a directory.
    pub(super) fn list(
        path: &Path,
        stamp: Stamp,
        watch: Option<i32>,
        scope: &Scope,
        bases: &Bases,
    ) -> io::Result<Self> {
        let mut found = Vec::new();
        let mut sought = Vec::new();
        for (index, base, covers) in bases.above(path) {
            match covers {
                Covers::Entries => sought.push((index, base)),
                Covers::Everything => found.push(whole(path, index)),
            }
        }
        let is_hidden =
            |found: &Found| matches!(found, Found::Match { pattern, .. } if scope.hiding.contains(pattern));
        if found.iter().any(is_hidden) {
            // Nobody gets in, so nothing in it needs to be closed.
            return Ok(Self {
                stamp,
                watch,
                listed: true,
                subdirectories: Vec::new(),
                found,
            });
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name();
            match entry.file_type() {
                Ok(kind) => entries.push(Entry { name, kind }),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(error),
                // What is gone already is not there.
                Err(_) => {}
            }
        }
        for (index, base) in sought {
            if let Some(pattern) = scope.patterns.get(index) {
                found.extend(matches(path, &entries, index, pattern, base));
            }
        }
        if scope.repositories {
            found.extend(
                repository::find(path, &entries)
                    .into_iter()
                    .map(Found::Repository),
            );
        }
        let directories = entries.into_iter().filter(|entry| entry.kind.is_dir());
        Ok(Self {
            stamp,
            watch,
            listed: true,
            subdirectories: directories.map(|entry| entry.name).collect(),
            found,
        })
    }

    /// One that can't be listed and yet be entered: as what every pattern might match in it, it matches itself.
    pub(super) fn unlisted(path: &Path, stamp: Stamp, bases: &Bases) -> Self {
        let found = bases.above(path).map(|(index, ..)| whole(path, index));
        Self {
            stamp,
            watch: None,
            listed: false,
            subdirectories: Vec::new(),
            found: found.collect(),
        }
    }

    pub(super) fn subdirectories(&self) -> &[OsString] {
        &self.subdirectories
    }

    pub(super) fn found(&self) -> &[Found] {
        &self.found
    }

    /// How it was when it could not be listed; nothing if it could.
    pub(super) fn unlisted_at(&self) -> Option<Moment> {
        (!self.listed).then_some(self.stamp.moment())
    }

    /// Has it watched from now on, if it could be listed at all.
    pub(super) fn watch(&mut self, watch: Option<i32>) {
        self.watch = watch.filter(|_| self.listed);
    }

    pub(super) const fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Whether the kernel told of a change in it.
    pub(super) fn is_told(&self, told: &Told) -> bool {
        self.watch.is_some_and(|watch| told.has(watch))
    }

    /// Whether names may have come or gone since it was listed.
    pub(super) fn is_different(&self, path: &Path) -> bool {
        Stamp::of(path).is_none_or(|now| !now.is_unchanged_since(&self.stamp))
    }

    /// Whether another directory has the path now.
    pub(super) fn is_another(&self, path: &Path) -> bool {
        Stamp::of(path).is_none_or(|now| now.identity != self.stamp.identity)
    }
}

/// A directory that stands for everything in it.
fn whole(path: &Path, pattern: usize) -> Found {
    Found::Match {
        path: path.to_owned(),
        object: Object::Directory,
        pattern,
    }
}

/// The entries that may match are tried against the pattern; the automaton is moved to the directory only once, and only
/// if there are any.
fn matches(path: &Path, entries: &[Entry], index: usize, pattern: &Pattern, base: &Path) -> Vec<Found> {
    let Some(glob) = pattern.glob() else {
        return Vec::new();
    };
    let search = LazyCell::new(|| {
        let rest = path.strip_prefix(base).ok()?;
        Some(glob.start(&Path::new("/").join(rest)))
    });
    let is_match = |name: &OsStr| {
        let search = search.as_ref();
        search.is_some_and(|search| search.enter(name).is_match())
    };
    let matching = entries
        .iter()
        .filter(|entry| glob.may_match_name(&entry.name) && is_match(&entry.name));
    let matching = matching.map(|entry| (path.join(&entry.name), entry.kind));
    matching
        // Exceptions are rare, and judged by the pattern itself.
        .filter(|(path, _)| pattern.exceptions().is_empty() || pattern.matches(path))
        .map(|(path, kind)| Found::Match {
            path,
            object: Object::of(kind),
            pattern: index,
        })
        .collect()
}

impl Object {
    fn of(kind: FileType) -> Self {
        match kind {
            kind if kind.is_dir() => Self::Directory,
            kind if kind.is_symlink() => Self::Link,
            _ => Self::File,
        }
    }

    /// What is at a path; nothing if there is nothing.
    pub(super) fn look(path: &Path) -> io::Result<Option<Self>> {
        match path.symlink_metadata() {
            Ok(seen) => Ok(Some(Self::of(seen.file_type()))),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Which directory, and when it last changed: names in it, or what may be done with it.
pub(super) type Moment = ((u64, u64), (i64, i64));

/// Which directory it was and when names in it last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    identity: (u64, u64),
    owner: u32,
    changed: (i64, i64),
    /// It changed so shortly before that a later change may have the same time.
    is_young: bool,
}

impl Stamp {
    fn moment(&self) -> Moment {
        (self.identity, self.changed)
    }

    /// Whether no names have come or gone since an earlier look, as far as times can tell.
    pub(super) fn is_unchanged_since(&self, before: &Self) -> bool {
        !before.is_young && self.moment() == before.moment()
    }

    #[cfg(unix)]
    pub(super) fn is_this_users(self) -> bool {
        self.owner == rustix::process::geteuid().as_raw()
    }

    /// Who owns a directory decides nothing there.
    #[cfg(not(unix))]
    pub(super) const fn is_this_users(self) -> bool {
        false
    }

    /// Nothing if it can't be looked at.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::look(path).ok().flatten()
    }

    /// Looks without following a link; nothing if no directory is there.
    pub(super) fn look(path: &Path) -> io::Result<Option<Self>> {
        Ok(directory(path.symlink_metadata())?.map(|seen| Self::from(&seen)))
    }

    /// Looks, following links.
    pub(super) fn at_the_end_of(path: &Path) -> io::Result<Option<Self>> {
        Ok(directory(path.metadata())?.map(|seen| Self::from(&seen)))
    }
}

#[cfg(unix)]
impl From<&fs::Metadata> for Stamp {
    fn from(seen: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        use std::time::{Duration, SystemTime};
        /// More than any tick of the kernel's clock, which is that of most file systems.
        const TICK: Duration = Duration::from_millis(50);
        /// More than any tick of those that keep whole seconds: ext3, or FAT, with every other one.
        const COARSE_TICK: Duration = Duration::from_millis(2_100);
        let changed = (seen.ctime(), seen.ctime_nsec());
        let seconds = u64::try_from(changed.0).unwrap_or_default();
        let nanoseconds = u64::try_from(changed.1).unwrap_or_default();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds);
        // One from the future is as doubtful as one from just now.
        let tick = if nanoseconds == 0 { COARSE_TICK } else { TICK };
        let is_young = at.elapsed().map_or(true, |age| age < tick);
        Self {
            identity: (seen.dev(), seen.ino()),
            owner: seen.uid(),
            changed,
            is_young,
        }
    }
}

/// Systems without change times: every directory counts as just changed.
#[cfg(not(unix))]
impl From<&fs::Metadata> for Stamp {
    fn from(_: &fs::Metadata) -> Self {
        Self {
            identity: (0, 0),
            owner: 0,
            changed: (0, 0),
            is_young: true,
        }
    }
}

/// What was seen, if that is a directory.
fn directory(seen: io::Result<fs::Metadata>) -> io::Result<Option<fs::Metadata>> {
    match seen {
        Ok(seen) => Ok(Some(seen).filter(fs::Metadata::is_dir)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}
