//! Looks through directory trees, a bounded number of entries.

use std::collections::VecDeque;
use std::fs::{DirEntry, read_dir};
use std::io::ErrorKind;
use std::path::PathBuf;

/// Calls `visit` with every entry below the roots that is not a directory; true when all were looked at.
///
/// Breadth first, so that a limit cuts off what is deepest. Links are not followed, mount points are entered.
/// A root that is not there, and an entry that goes away meanwhile, is nothing to look at. A directory that
/// cannot be listed makes the answer false, unless it is another user's: what is in it stays out of reach of
/// everything that runs as this one. A root itself is not visited.
pub(crate) fn scan(roots: &[PathBuf], limit: usize, mut visit: impl FnMut(&DirEntry)) -> bool {
    let mut complete = true;
    let mut looked = 0;
    let mut pending = outermost(roots);
    while let Some(directory) = pending.pop_front() {
        let entries = match read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) => {
                complete &= gone(error.kind()) || belongs_to_another(&directory);
                continue;
            }
        };
        for entry in entries {
            if looked == limit {
                return false;
            }
            looked += 1;
            let Ok(entry) = entry else {
                complete = false;
                break;
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push_back(entry.path()),
                Ok(_) => visit(&entry),
                Err(error) => complete &= gone(error.kind()),
            }
        }
    }
    complete
}

/// The roots that are directories and not below another root, sorted.
fn outermost(roots: &[PathBuf]) -> VecDeque<PathBuf> {
    let mut kept: VecDeque<PathBuf> = VecDeque::new();
    let mut sorted: Vec<_> = roots.iter().collect();
    sorted.sort();
    for root in sorted {
        let inside = kept.back().is_some_and(|last| root.starts_with(last));
        let directory = root.symlink_metadata().is_ok_and(|seen| seen.is_dir());
        if directory && !inside {
            kept.push_back(root.clone());
        }
    }
    kept
}

fn gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(unix)]
fn belongs_to_another(directory: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let caller = rustix::process::geteuid().as_raw();
    directory
        .symlink_metadata()
        .is_ok_and(|seen| seen.uid() != caller)
}

#[cfg(not(unix))]
fn belongs_to_another(_: &std::path::Path) -> bool {
    false
}
