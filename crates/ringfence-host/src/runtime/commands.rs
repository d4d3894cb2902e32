//! Programs that a directory holds as links to somewhere else.

use std::path::{Path, PathBuf};

use ringfence_policy::Link;

/// Where a link in a directory of programs leads.
pub(super) struct Target {
    /// Canonical; what is there was not looked at.
    pub(super) path: PathBuf,
    /// Every link on the way, the one in the directory first.
    pub(super) links: Vec<Link>,
}

/// How many names of a directory are read; `/usr/bin` of a full desktop has 5,000.
#[cfg(unix)]
const MAX_NAMES: usize = 65_536;

/// How many links of a directory are followed.
const MAX_LINKS: usize = 2_000;

/// Follows the first 2,000 links of a directory, in the order of their names; gives those that lead out of
/// it.
///
/// Elsewhere than on Unix programs are not installed as links, and nothing is found.
pub(super) fn elsewhere(directory: &Path) -> Vec<Target> {
    follow(directory, MAX_LINKS)
}

#[cfg(unix)]
fn follow(directory: &Path, limit: usize) -> Vec<Target> {
    use std::collections::HashSet;

    let Ok(entries) = directory.read_dir() else {
        return Vec::new();
    };
    let links = entries
        .take(MAX_NAMES)
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let mut names: Vec<_> = links.map(|entry| entry.file_name()).collect();
    names.sort_unstable();
    let mut known = HashSet::new();
    names
        .into_iter()
        .take(limit)
        .filter(|name| !leads_to_neighbour(&directory.join(name)))
        .filter_map(|name| crate::walk::trace(&directory.join(name), &mut known).ok())
        .map(|(path, links)| Target { path, links })
        .filter(|target| !target.path.starts_with(directory))
        .collect()
}

/// Most links of `/usr/bin` are another name for something beside them; if that is a link too, its turn comes.
#[cfg(unix)]
fn leads_to_neighbour(link: &Path) -> bool {
    use std::path::Component;
    let Ok(target) = link.read_link() else {
        return false;
    };
    let mut components = target.components();
    matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(_)), None)
    )
}

#[cfg(not(unix))]
fn follow(_: &Path, _: usize) -> Vec<Target> {
    Vec::new()
}

/// Whether a path names a file that somebody may run, not a link to one.
pub(super) fn is_program(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|seen| seen.is_file() && runs(&seen))
}

#[cfg(unix)]
fn runs(seen: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    seen.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn runs(_: &std::fs::Metadata) -> bool {
    true
}

#[cfg(test)]
#[cfg(unix)]
#[path = "commands_tests.rs"]
mod tests;
