//! The set-owned directory: made, marked as owned, removed; what crashed sets left is swept.
//!
//! Each set has one directory beneath the caller's scratch root. A file `owner` in it carries a record lock
//! (`fcntl(2)`): unlike a `flock(2)` lock it belongs to the process alone, so it ends with the owner even when
//! a forked child still holds the descriptor.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const PREFIX: &str = "ringfence-set-";
const OWNER: &str = "owner";

/// Directories of live sets of this process, whose locks it must not test: a process never conflicts with
/// its own record locks, and closing any descriptor of the file would release them.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The directory of one set; removed by [`OwnedDirectory::remove`], or as well as possible when dropped.
#[derive(Debug)]
pub(crate) struct OwnedDirectory {
    path: PathBuf,
    /// Holds the lock.
    _owner: Option<File>,
    removed: bool,
}

impl OwnedDirectory {
    /// Sweeps what crashed sets left under `root`, and makes a new directory there, mode 0700.
    pub(crate) fn create(root: &Path) -> io::Result<Self> {
        let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
        sweep(root, &live);
        let path = unused_name(root)?;
        // Nobody may find the directory before it is locked: it gets its name last.
        let hidden = path.with_extension("new");
        make_private(&hidden)?;
        let owner = claim(&hidden.join(OWNER)).inspect_err(|_| remove_quietly(&hidden))?;
        fs::rename(&hidden, &path).inspect_err(|_| remove_quietly(&hidden))?;
        live.insert(path.clone());
        Ok(Self {
            path,
            _owner: owner,
            removed: false,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the directory with everything in it, however the commands left it.
    pub(crate) fn remove(&mut self) -> io::Result<()> {
        self.removed = true;
        LIVE.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.path);
        remove_tree(&self.path)
    }
}

impl Drop for OwnedDirectory {
    fn drop(&mut self) {
        if !self.removed
            && let Err(error) = self.remove()
        {
            tracing::warn!(path = %self.path.display(), %error, "a set's directory could not be removed");
        }
    }
}

/// Makes a directory that only its owner may enter, whatever the umask is.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    set_private(path)
}

#[cfg(unix)]
fn set_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn set_private(_: &Path) -> io::Result<()> {
    Ok(())
}

fn unused_name(root: &Path) -> io::Result<PathBuf> {
    loop {
        let path = root.join(format!("{PREFIX}{:016x}", random()));
        if !path.try_exists()? {
            return Ok(path);
        }
    }
}

/// A number that other sets are unlikely to have; that the name is free is checked.
fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

#[cfg(unix)]
fn claim(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().write(true).create_new(true).open(path)?;
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
    Ok(Some(file))
}

#[cfg(not(unix))]
fn claim(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Removes the directories of sets whose owner is gone.
#[cfg(unix)]
fn sweep(root: &Path, live: &BTreeSet<PathBuf>) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if ours && !live.contains(&path) && is_abandoned(&path) {
            tracing::info!(path = %path.display(), "removing what a crashed set left");
            if let Err(error) = remove_tree(&path) {
                tracing::warn!(path = %path.display(), %error, "it could not be removed");
            }
        }
    }
}

#[cfg(not(unix))]
fn sweep(_: &Path, _: &BTreeSet<PathBuf>) {}

/// Whether nobody holds the lock. A directory without the file was given up while it was being made.
#[cfg(unix)]
fn is_abandoned(directory: &Path) -> bool {
    use rustix::fs::{FlockOperation, Mode, OFlags, fcntl_lock, open};
    use std::time::Duration;
    const MAKING_TAKES_AT_MOST: Duration = Duration::from_secs(60);
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match open(directory.join(OWNER), flags, Mode::empty()) {
        Ok(file) => fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(rustix::io::Errno::NOENT) => fs::symlink_metadata(directory)
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|made| made.elapsed().is_ok_and(|age| age > MAKING_TAKES_AT_MOST)),
        Err(_) => false,
    }
}

fn remove_quietly(path: &Path) {
    if let Err(error) = remove_tree(path) {
        tracing::warn!(path = %path.display(), %error, "an unfinished directory could not be removed");
    }
}

/// Removes a tree without following links, also directories that their owner made unreadable (SET-37).
fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path)?;
            fs::remove_dir_all(path)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Gives the owner access to every directory of a tree. No confined process is left to race with.
fn open_up(path: &Path) -> io::Result<()> {
    set_private(path)?;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn set_7_the_directory_is_private_and_directly_beneath_the_root() {
        let root = tempfile::tempdir().unwrap();
        let owned = OwnedDirectory::create(root.path()).unwrap();
        assert_eq!(owned.path().parent(), Some(root.path()));
        let mode = fs::metadata(owned.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
    }

    #[test]
    fn set_8_live_directories_of_this_process_are_not_swept() {
        let root = tempfile::tempdir().unwrap();
        let first = OwnedDirectory::create(root.path()).unwrap();
        let second = OwnedDirectory::create(root.path()).unwrap();
        assert!(first.path().exists() && second.path().exists());
        drop((first, second));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_abandoned_directory_is_swept_by_the_next_set() {
        let root = tempfile::tempdir().unwrap();
        let dead = root.path().join(format!("{PREFIX}dead"));
        fs::create_dir(&dead).unwrap();
        File::create(dead.join(OWNER)).unwrap();
        let stranger = root.path().join("somebody-elses");
        fs::create_dir(&stranger).unwrap();
        let owned = OwnedDirectory::create(root.path()).unwrap();
        assert!(!dead.exists() && stranger.exists());
        drop(owned);
    }

    #[test]
    fn set_37_unreadable_directories_are_removed_and_links_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let mut owned = OwnedDirectory::create(root.path()).unwrap();
        let hostile = owned.path().join("a/b");
        fs::create_dir_all(&hostile).unwrap();
        std::os::unix::fs::symlink(outside.path(), hostile.join("link")).unwrap();
        fs::set_permissions(&hostile, fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(hostile.parent().unwrap(), fs::Permissions::from_mode(0o555)).unwrap();
        owned.remove().unwrap();
        assert!(!owned.path().exists() && outside.path().join("kept").exists());
    }
}
