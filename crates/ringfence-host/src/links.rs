//! The other names of a file with several hard links.

use std::io;
use std::path::{Path, PathBuf};

use ringfence_policy::Identity;

/// How many names the object at a path has, a final symlink not followed; see `st_nlink` in inode(7).
///
/// # Errors
/// Whatever stops the look, "not found" included; `Unsupported` where the count cannot be had.
pub fn link_count(path: &Path) -> io::Result<u64> {
    count(path)
}

/// What [`aliases`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    /// Every name that was found, sorted; the name the caller already knows is among them.
    pub found: Vec<PathBuf>,
    /// Whether everything below the roots was looked at.
    pub complete: bool,
}

/// Looks below the roots for names of an object that is no directory.
///
/// Device and inode must agree; the mount may differ, since a name on a second mount of the file system is a
/// name too. At most `limit` entries are looked at, nearest to the roots first. Links are not followed,
/// directories that cannot be listed are passed over, and either makes the answer incomplete. Costs one
/// fstatat(2) for each entry. A root that is not a directory holds no names.
///
/// Where objects have no identity, nothing is found and the answer is incomplete.
pub fn aliases(of: &Identity, roots: &[PathBuf], limit: usize) -> Aliases {
    search(of, roots, limit)
}

#[cfg(unix)]
fn count(path: &Path) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    Ok(path.symlink_metadata()?.nlink())
}

#[cfg(not(unix))]
fn count(path: &Path) -> io::Result<u64> {
    path.symlink_metadata()?;
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn search(of: &Identity, roots: &[PathBuf], limit: usize) -> Aliases {
    use std::os::unix::fs::MetadataExt;

    let mut found = Vec::new();
    let mut seen_all = true;
    // The number that readdir reports is not to be trusted on stacked and network file systems.
    let complete = crate::scan::scan(roots, limit, |entry| match entry.metadata() {
        Ok(seen) if (seen.dev(), seen.ino()) == (of.device, of.inode) => found.push(entry.path()),
        Ok(_) => {}
        Err(error) => seen_all &= error.kind() == io::ErrorKind::NotFound,
    });
    found.sort();
    Aliases {
        found,
        complete: complete && seen_all,
    }
}

#[cfg(not(unix))]
fn search(_: &Identity, _: &[PathBuf], _: usize) -> Aliases {
    Aliases::default()
}

#[cfg(test)]
#[cfg(unix)]
#[path = "links_tests.rs"]
mod tests;
