//! Locks that tell whether anybody still uses a placeholder: files named by the objects, which its users share.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::ObjectId;
use crate::file_lock::FileLock;

/// The directory for the locks of all processes of this user, made if it is not there.
///
/// It does not depend on the environment, in which two processes may differ, but on the user alone. Where somebody else
/// was first with the name, or nothing can be made, it is `.rf-locks` in `otherwise`: processes that do not meet there
/// remove what others still use, and those make it anew.
pub fn locks_of_user(otherwise: &Path) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    let shared = PathBuf::from(format!("/tmp/.ringfence-locks-{user}"));
    // What is there already is judged below.
    let _ = DirBuilder::new().mode(0o700).create(&shared);
    let is_ours = shared
        .symlink_metadata()
        .is_ok_and(|seen| seen.is_dir() && seen.uid() == user && seen.mode() & 0o077 == 0);
    if is_ours {
        shared
    } else {
        otherwise.join(".rf-locks")
    }
}

/// Removes the locks in a directory that nobody uses, which killed processes leave.
///
/// # Errors
/// The directory can't be listed, or the first lock that could not be removed; the others are all the same.
pub fn sweep_locks(locks: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(locks) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut result = Ok(());
    for path in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_lock(path))
    {
        match FileLock::sweep(&path) {
            // Removed by its user or another sweep.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            swept => result = result.and(swept.map(drop)),
        }
    }
    result
}

/// Takes part in the use of an object.
pub(super) fn share(locks: &Path, object: ObjectId) -> io::Result<FileLock> {
    FileLock::share(&locks.join(format!("{}-{}", object.0, object.1)))
}

/// Whether it is a file of this user whose name names an object.
fn is_lock(path: &Path) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = path.file_name().and_then(|name| name.to_str());
    let numbers = name.and_then(|name| name.split_once('-'));
    let user = rustix::process::geteuid().as_raw();
    numbers.is_some_and(|(device, inode)| is_number(device) && is_number(inode))
        && path
            .symlink_metadata()
            .is_ok_and(|seen| seen.is_file() && seen.uid() == user)
}
