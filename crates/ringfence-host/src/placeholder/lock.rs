//! Locks that tell whether anybody still uses a name: bytes of one file, which its users share.
//!
//! A byte stands for a name in a directory, so a name costs no file of its own. For record locks, and why a table says
//! which of them this process has, see [`crate::file_lock`]: nothing else may open the file.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ringfence_os::record_lock::{Change, change};
use rustix::process::{Flock, FlockType, fcntl_getlk};

use crate::file_lock::{is_at, options};

/// How long to wait for somebody who has a name alone, which nobody does for long.
const PATIENCE: Duration = Duration::from_micros(200);

/// The file for the locks of all processes of this user.
///
/// It does not depend on the environment, in which two processes may differ, but on the user alone: in a user namespace
/// of theirs they are who they are outside of it. Where somebody else was first with the name, it is `.rf-locks` in
/// `otherwise`: processes that do not meet there remove what others still use, and those make it anew.
pub fn locks_of_user(otherwise: &Path) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let shared = PathBuf::from(format!("/tmp/.ringfence-{}.locks", outside(&map, user)));
    let may_be_ours = match shared.symlink_metadata() {
        Ok(seen) => seen.is_file() && seen.uid() == user && seen.mode() & 0o077 == 0,
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    if may_be_ours {
        shared
    } else {
        otherwise.join(".rf-locks")
    }
}

/// Who a user of this namespace is to the one around it, by the lines `INSIDE OUTSIDE COUNT` of a map
/// (user_namespaces(7)).
fn outside(map: &str, user: u32) -> u32 {
    let line = |line: &str| {
        let mut numbers = line.split_whitespace().map(str::parse);
        let mut next = || numbers.next()?.ok();
        let (inside, outside, count): (u32, u32, u32) = (next()?, next()?, next()?);
        let at = user.checked_sub(inside).filter(|at| *at < count)?;
        outside.checked_add(at)
    };
    map.lines().find_map(line).unwrap_or(user)
}

/// Removes the file of locks if nobody has any, as a killed process leaves it.
///
/// # Errors
/// It can't be opened, locked for another reason, or removed.
pub fn sweep_locks(locks: &Path) -> io::Result<()> {
    // Nobody in this process may get the file before it is closed again.
    let table = table();
    if table.contains_key(locks) {
        return Ok(());
    }
    let file = match options().open(locks) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    remove_if_unused(&file, locks)
}

/// The byte that stands for a name in a directory: the FNV-1a hash of both. Two names with the same byte only keep each
/// other from being removed.
pub(super) fn byte((device, inode): (u64, u64), name: &OsStr) -> u64 {
    const START: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01B3;
    /// The largest offset that has a byte behind it.
    const LARGEST: u64 = i64::MAX as u64 - 1;
    let place = device.to_ne_bytes().into_iter().chain(inode.to_ne_bytes());
    let bytes = place.chain(name.as_bytes().iter().copied());
    bytes.fold(START, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)) & LARGEST
}

/// A share of the lock of a name; dropping it gives it back.
#[derive(Debug)]
pub(super) struct NameLock {
    file: PathBuf,
    byte: u64,
}

/// The files of this process. Whoever opens or closes one has the table meanwhile.
static TABLE: Mutex<BTreeMap<PathBuf, Held>> = Mutex::new(BTreeMap::new());

struct Held {
    file: File,
    /// How many share each byte, nowhere none.
    users: BTreeMap<u64, usize>,
}

impl NameLock {
    /// Takes part in the use of a name; waits for whoever is removing what has it.
    pub(super) fn share(locks: &Path, byte: u64) -> io::Result<Self> {
        loop {
            if let Some(lock) = Self::try_share(locks, byte)? {
                return Ok(lock);
            }
            std::thread::sleep(PATIENCE);
        }
    }

    fn try_share(locks: &Path, byte: u64) -> io::Result<Option<Self>> {
        let shared = || Self {
            file: locks.to_owned(),
            byte,
        };
        let mut table = table();
        if let Some(held) = table.get_mut(locks) {
            if let Some(users) = held.users.get_mut(&byte) {
                *users += 1;
            } else if is_done(change(held.file.as_fd(), Change::Share, byte, 1))? {
                held.users.insert(byte, 1);
            } else {
                return Ok(None);
            }
            return Ok(Some(shared()));
        }
        let file = open(locks)?;
        // Its last user may just have removed it.
        if !is_done(change(file.as_fd(), Change::Share, byte, 1))? || !is_at(&file, locks) {
            return Ok(None);
        }
        let users = BTreeMap::from([(byte, 1)]);
        table.insert(locks.to_owned(), Held { file, users });
        Ok(Some(shared()))
    }

    /// Gives the share back; the last user does what there is to do before that.
    ///
    /// It may be done more than once, by users that leave at the same time.
    pub(super) fn leave<T>(mut self, last: impl FnOnce() -> io::Result<T>) -> io::Result<Option<T>> {
        let (locks, byte) = (std::mem::take(&mut self.file), self.byte);
        let mut table = table();
        let Some(held) = table.get_mut(&locks) else {
            return Ok(None);
        };
        if !held.give_back(byte) {
            return Ok(None);
        }
        let done = held.alone(&locks, byte, last);
        forget_unused(&mut table, &locks);
        done
    }
}

impl Drop for NameLock {
    fn drop(&mut self) {
        let mut table = table();
        if let Some(held) = table.get_mut(&self.file)
            && held.give_back(self.byte)
        {
            // What can't be given back ends with the process.
            let _ = change(held.file.as_fd(), Change::GiveBack, self.byte, 1);
            forget_unused(&mut table, &self.file);
        }
    }
}

impl Held {
    /// Takes one user away; says whether that was the last one in this process.
    fn give_back(&mut self, byte: u64) -> bool {
        let Some(users) = self.users.get_mut(&byte) else {
            return false;
        };
        *users -= 1;
        *users == 0 && self.users.remove(&byte).is_some()
    }

    /// Does it if no other process uses the name.
    fn alone<T>(
        &mut self,
        locks: &Path,
        byte: u64,
        last: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        // Of two processes that leave at once both would find the other one's share, did they keep their own.
        change(self.file.as_fd(), Change::GiveBack, byte, 1)?;
        loop {
            let taken = is_done(change(self.file.as_fd(), Change::Take, byte, 1))?;
            // Without a lock the file may have been removed meanwhile.
            if self.users.is_empty() && !is_at(&self.file, locks) {
                self.file = open(locks)?;
            } else if taken {
                break;
            } else if self.is_shared(byte)? {
                // That one leaves later.
                return Ok(None);
            } else {
                std::thread::sleep(PATIENCE);
            }
        }
        let done = last();
        change(self.file.as_fd(), Change::GiveBack, byte, 1)?;
        done.map(Some)
    }

    /// Whether another process shares the byte, rather than having it alone.
    fn is_shared(&self, byte: u64) -> io::Result<bool> {
        let mut asked = Flock::from(FlockType::WriteLock);
        (asked.start, asked.length) = (byte, 1);
        let other = fcntl_getlk(&self.file, &asked)?;
        Ok(other.is_some_and(|lock| lock.typ == FlockType::ReadLock))
    }
}

fn table() -> MutexGuard<'static, BTreeMap<PathBuf, Held>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes a file of which this process has no lock any more, and removes it if nobody has.
fn forget_unused(table: &mut BTreeMap<PathBuf, Held>, locks: &Path) {
    if table.get(locks).is_some_and(|held| held.users.is_empty())
        && let Some(held) = table.remove(locks)
    {
        // What stays is swept by the next set.
        let _ = remove_if_unused(&held.file, locks);
    }
}

fn remove_if_unused(file: &File, locks: &Path) -> io::Result<()> {
    let whole = is_done(change(file.as_fd(), Change::Take, 0, 0))?;
    if whole && is_at(file, locks) {
        fs::remove_file(locks)?;
    }
    Ok(())
}

fn is_done(changed: io::Result<()>) -> io::Result<bool> {
    match changed {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::PermissionDenied) => {
            Ok(false)
        }
        other => other.map(|()| true),
    }
}

/// Opens the file, made if it is missing. Nobody else's is taken.
fn open(locks: &Path) -> io::Result<File> {
    let file = options().create(true).mode(0o600).open(locks)?;
    let seen = file.metadata()?;
    if !seen.is_file() || seen.uid() != rustix::process::geteuid().as_raw() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::outside;

    #[test]
    fn a_user_is_known_by_the_id_outside_its_namespace() {
        let ordinary = "         0          0 4294967295\n";
        assert_eq!([0, 1000].map(|user| outside(ordinary, user)), [0, 1000]);
        let own = "         0       1000          1\n         1     100000      65536\n";
        assert_eq!(
            [0, 1, 999].map(|user| outside(own, user)),
            [1000, 100_000, 100_998]
        );
        assert_eq!(
            [("", 7), (own, 70_000), ("a b c\n", 5)].map(|(map, user)| outside(map, user)),
            [7, 70_000, 5]
        );
    }
}
