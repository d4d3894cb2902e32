//! Files with several hard links, and their names.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Device and inode of a file.
pub type FileId = (u64, u64);

/// One name of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Where it is.
    pub path: PathBuf,
    /// Which file it names.
    pub file: FileId,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The names, sorted.
    pub found: Vec<Name>,
    /// Whether everything below the roots was looked at.
    pub complete: bool,
}

/// Looks for files with more than one name: the path itself, or what is below it when it is a directory. Symbolic links
/// don't count.
///
/// At most `limit` entries are looked at, nearest to the root first. Links are not followed; a directory that
/// can't be listed is passed over, and like the limit makes the answer incomplete. Costs one fstatat(2) an entry.
/// On systems whose files have no identity nothing is found and the answer is incomplete.
pub fn multiply_linked(path: &Path, limit: usize) -> Names {
    search::multiply_linked(path, limit)
}

/// Looks below the roots for names of these files, within the same bounds.
///
/// Device and inode must agree; the mount may differ, since a name on a second mount of the file system is a
/// name too. A root that is not a directory holds no names.
pub fn names_of(files: &HashSet<FileId>, roots: &[PathBuf], limit: usize) -> Names {
    search::names_of(files, roots, limit)
}

#[cfg(unix)]
mod search {
    use std::collections::HashSet;
    use std::fs::Metadata;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};

    use super::{FileId, Name, Names};

    pub(super) fn multiply_linked(path: &Path, limit: usize) -> Names {
        match path.symlink_metadata() {
            Ok(seen) if seen.is_dir() => matching(&[path.to_owned()], limit, has_names),
            Ok(seen) if has_names(&seen) => {
                let name = Name {
                    path: path.to_owned(),
                    file: (seen.dev(), seen.ino()),
                };
                Names {
                    found: vec![name],
                    complete: true,
                }
            }
            // What is not there has no names.
            seen => Names {
                found: Vec::new(),
                complete: seen.map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |_| true),
            },
        }
    }

    /// A symbolic link has no content that a second name would give away.
    fn has_names(seen: &Metadata) -> bool {
        seen.nlink() > 1 && !seen.is_symlink()
    }

    pub(super) fn names_of(files: &HashSet<FileId>, roots: &[PathBuf], limit: usize) -> Names {
        matching(roots, limit, |seen| files.contains(&(seen.dev(), seen.ino())))
    }

    fn matching(roots: &[PathBuf], limit: usize, wanted: impl Fn(&Metadata) -> bool) -> Names {
        let mut found = Vec::new();
        let mut seen_all = true;
        // The number that readdir reports is not to be trusted on stacked and network file systems.
        let complete = crate::scan::scan(roots, limit, |entry| match entry.metadata() {
            Ok(seen) if wanted(&seen) => found.push(Name {
                path: entry.path(),
                file: (seen.dev(), seen.ino()),
            }),
            Ok(_) => {}
            Err(error) => seen_all &= error.kind() == io::ErrorKind::NotFound,
        });
        found.sort();
        Names {
            found,
            complete: complete && seen_all,
        }
    }
}

#[cfg(not(unix))]
mod search {
    use std::collections::HashSet;
    use std::path::{Path, PathBuf};

    use super::{FileId, Names};

    pub(super) fn multiply_linked(_: &Path, _: usize) -> Names {
        Names::default()
    }

    pub(super) fn names_of(_: &HashSet<FileId>, _: &[PathBuf], _: usize) -> Names {
        Names::default()
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "links_tests.rs"]
mod tests;
