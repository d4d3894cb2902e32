//! Which entries add nothing to others.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::{RuntimeAccess, RuntimeEntry};

/// What is open whatever the entries say.
#[derive(Clone, Debug, Default)]
pub(super) struct Cover {
    open: HashMap<PathBuf, RuntimeAccess>,
}

impl Cover {
    /// Counts as open: a path and everything beneath it, or the link at the path.
    pub(super) fn add(&mut self, path: &Path, access: RuntimeAccess) {
        let opened = self.open.entry(path.into()).or_insert(access);
        *opened = access.max(*opened);
    }

    /// Whether a path is open at least this widely.
    pub(super) fn opens(&self, path: &Path, access: RuntimeAccess) -> bool {
        let mut above = path.ancestors().filter_map(|above| self.open.get(above));
        above.any(|opened| *opened >= access)
    }

    /// Drops the entries that add nothing; the rest is sorted by path, and of equals the first one stays.
    ///
    /// An entry adds nothing if its path or a directory above it is open as widely, and every link on the way
    /// to it is inside an open directory or comes with an entry that stays. One that stays for its links
    /// alone gets the access its path has anyway, or it would narrow what is above it.
    pub(super) fn distinct<T>(&self, mut entries: Vec<(T, RuntimeEntry)>) -> Vec<(T, RuntimeEntry)> {
        entries.sort_by(|(_, a), (_, b)| {
            let order = |entry: &RuntimeEntry| (Reverse(entry.access), entry.resolved.links.len());
            (&a.resolved.path, order(a)).cmp(&(&b.resolved.path, order(b)))
        });
        // Before any entry is judged, since a link may be inside a directory that sorts later.
        let mut open = self.clone();
        for (_, entry) in &entries {
            open.add(&entry.resolved.path, entry.access);
        }
        let mut paths = HashSet::new();
        let mut links = HashSet::new();
        entries.retain_mut(|(_, entry)| {
            let path = &entry.resolved.path;
            entry.access = open.access(path).unwrap_or(entry.access);
            let above = path.parent().and_then(|parent| open.access(parent));
            let already = above.max(self.access(path)) >= Some(entry.access) || paths.contains(path);
            let passed: Vec<_> = entry.resolved.links.iter().map(|link| &link.path).collect();
            let known = |link: &&PathBuf| links.contains(*link) || open.access(link).is_some();
            if already && passed.iter().all(known) {
                return false;
            }
            paths.insert(path.clone());
            links.extend(passed.into_iter().cloned());
            true
        });
        entries
    }

    /// The widest access a path has.
    fn access(&self, path: &Path) -> Option<RuntimeAccess> {
        path.ancestors()
            .filter_map(|above| self.open.get(above))
            .max()
            .copied()
    }
}

#[cfg(test)]
#[path = "cover_tests.rs"]
mod tests;
