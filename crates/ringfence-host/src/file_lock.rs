//! Locks on files that end with their process.
//!
//! A record lock of `fcntl(2)` belongs to the process alone: it ends with it even if a fork lives on that inherited the
//! descriptor, as one of `flock(2)` does not. In return a process never conflicts with itself, and loses its locks when
//! it closes any descriptor of the file. So a table says which files this process has, each is open once only, and
//! nothing else may open them.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, OFlags, fcntl_lock};
use rustix::io::Errno;

/// The lock of a file, held alone or shared; dropping it gives it back and leaves the file.
///
/// A file is known by its path, so that has to be canonical.
#[derive(Debug)]
pub struct FileLock(PathBuf);

/// The files of this process. Whoever opens or closes one has the table meanwhile.
static TABLE: Mutex<BTreeMap<PathBuf, Held>> = Mutex::new(BTreeMap::new());

struct Held {
    file: File,
    users: usize,
    /// Then there is one user.
    alone: bool,
}

impl FileLock {
    /// Takes the lock of a file, made if it is missing, unless anybody has it.
    ///
    /// # Errors
    /// The file can't be opened, or locked for another reason.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        let mut table = table();
        if table.contains_key(path) {
            return Ok(None);
        }
        Self::hold(&mut table, path, true, FlockOperation::NonBlockingLockExclusive)
    }

    /// Takes a share of it, unless somebody has it alone.
    ///
    /// # Errors
    /// As for [`FileLock::take`].
    pub fn try_share(path: &Path) -> io::Result<Option<Self>> {
        let mut table = table();
        if let Some(held) = table.get_mut(path) {
            let shared = !held.alone;
            held.users += usize::from(shared);
            return Ok(shared.then(|| Self(path.to_owned())));
        }
        Self::hold(&mut table, path, false, FlockOperation::NonBlockingLockShared)
    }

    /// Lets others share what was held alone.
    ///
    /// # Errors
    /// The lock can't be changed.
    pub fn open_to_others(&self) -> io::Result<()> {
        if let Some(held) = table().get_mut(&self.0) {
            fcntl_lock(&held.file, FlockOperation::NonBlockingLockShared)?;
            held.alone = false;
        }
        Ok(())
    }

    /// Opens the file and keeps it if it could be locked.
    fn hold(
        table: &mut BTreeMap<PathBuf, Held>,
        path: &Path,
        alone: bool,
        operation: FlockOperation,
    ) -> io::Result<Option<Self>> {
        loop {
            let file = open(path)?;
            if !done(fcntl_lock(&file, operation))? {
                return Ok(None);
            }
            // Its last user may just have removed it.
            if is_at(&file, path) {
                let users = 1;
                table.insert(path.to_owned(), Held { file, users, alone });
                return Ok(Some(Self(path.to_owned())));
            }
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        let mut table = table();
        if let Some(held) = table.get_mut(&self.0) {
            held.users -= 1;
            if held.users == 0 {
                table.remove(&self.0);
            }
        }
    }
}

fn table() -> MutexGuard<'static, BTreeMap<PathBuf, Held>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn done(locked: rustix::io::Result<()>) -> rustix::io::Result<bool> {
    match locked {
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        other => other.map(|()| true),
    }
}

/// Whether the file has not been removed since it was opened.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(there)) = (file.metadata(), path.symlink_metadata()) else {
        return false;
    };
    (held.dev(), held.ino()) == (there.dev(), there.ino())
}

/// Opens a file; it and its directory are made if they are missing.
fn open(path: &Path) -> io::Result<File> {
    loop {
        match options().create(true).mode(0o600).open(path) {
            // Whoever removed the last file in it may just have removed the directory too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let directory = path.parent().unwrap_or(path);
                DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            }
            opened => return opened,
        }
    }
}

/// A link is not followed, and the other end of a pipe not waited for.
pub(crate) fn options() -> OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = File::options();
    options
        .read(true)
        .write(true)
        .custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(test)]
#[path = "file_lock_tests.rs"]
mod tests;
