//! Locks that tell whether anybody still uses a placeholder.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{FlockOperation, OFlags, fcntl_lock};
use rustix::io::Errno;

use super::ObjectId;

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

/// The lock that the users of one placeholder share: a file named by the object.
///
/// Between processes it is a record lock of `fcntl(2)`, which ends with its process even if a fork of that process
/// lives on; within one process, the users are counted.
#[derive(Debug)]
pub(super) struct Lock(PathBuf);

/// The locks of this process. A file is open once only: closing any descriptor of it would give the lock back.
static LOCKS: Mutex<BTreeMap<PathBuf, Users>> = Mutex::new(BTreeMap::new());

struct Users {
    file: File,
    count: usize,
}

impl Lock {
    pub(super) fn share(locks: &Path, object: ObjectId) -> io::Result<Self> {
        let path = locks.join(format!("{}-{}", object.0, object.1));
        let mut held = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(users) = held.get_mut(&path) {
            users.count += 1;
            return Ok(Self(path));
        }
        loop {
            let file = match open_lock(&path) {
                // Its last user has just removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    DirBuilder::new().recursive(true).mode(0o700).create(locks)?;
                    continue;
                }
                opened => opened?,
            };
            fcntl_lock(&file, FlockOperation::LockShared)?;
            if is_at(&file, &path) {
                held.insert(path.clone(), Users { file, count: 1 });
                return Ok(Self(path));
            }
        }
    }

    /// Gives it back; the last user does what there is to do before that.
    pub(super) fn leave<T>(mut self, last: impl FnOnce() -> io::Result<T>) -> io::Result<Option<T>> {
        let path = std::mem::take(&mut self.0);
        // Until this is done nobody else in this process opens the file.
        let mut held = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = give_back(&mut held, &path) else {
            return Ok(None);
        };
        // Of two processes that leave at once both would find the other one's share, did they keep their own.
        fcntl_lock(&file, FlockOperation::Unlock)?;
        match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::AGAIN | Errno::ACCESS) => return Ok(None),
            other => other?,
        }
        if !is_at(&file, &path) {
            return Ok(None);
        }
        let done = last();
        fs::remove_file(&path)?;
        done.map(Some)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        give_back(&mut LOCKS.lock().unwrap_or_else(PoisonError::into_inner), &self.0);
    }
}

/// Gives the file to the last user in this process.
fn give_back(held: &mut BTreeMap<PathBuf, Users>, path: &Path) -> Option<File> {
    let users = held.get_mut(path)?;
    users.count -= 1;
    if users.count > 0 {
        return None;
    }
    held.remove(path).map(|users| users.file)
}

/// Whether the file has not been removed since it was opened.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(there)) = (file.metadata(), path.symlink_metadata()) else {
        return false;
    };
    (held.dev(), held.ino()) == (there.dev(), there.ino())
}

fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
}
