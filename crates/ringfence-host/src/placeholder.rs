//! Placeholders: what occupies an absent name on the host, so that a command can't take it.
//!
//! Most are symbolic links that lead nowhere: to whoever opens the name, nothing is there. Their users, in any number
//! of processes, share a lock in a directory of locks; whoever leaves last removes the placeholder, unless somebody has
//! put the name to use meanwhile. What is there already and looks like a placeholder is taken for one. A journal says
//! what to remove if its owner dies: its locks are gone then, and [`sweep`] does what it would have done.

mod lock;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ringfence_policy::StandIn;
use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, fstat, openat, openat2, readlinkat, renameat_with,
    statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use crate::file_lock::FileLock;
use crate::walk::NOWHERE;

pub use lock::{locks_of_user, sweep_locks};

/// How many directories are kept open, so that what was made in them is found after they were moved.
const DIRECTORIES: usize = 256;

/// How often a name is tried that others keep taking and leaving.
const TRIES: usize = 64;

/// The placeholders of one owner; dropping it removes those nobody else uses.
#[derive(Debug, Default)]
pub struct Placeholders {
    journal: PathBuf,
    locks: PathBuf,
    held: Vec<Placeholder>,
    /// How many directories they keep open.
    directories: usize,
}

/// What is at a name once it is occupied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupied {
    /// A placeholder, of this owner and perhaps of others.
    Placeholder,
    /// Something that was there before, and stays.
    Genuine,
}

#[derive(Debug)]
struct Placeholder {
    path: PathBuf,
    stand_in: StandIn,
    object: ObjectId,
    lock: FileLock,
    /// The directory it is in, wherever that is by now; none beyond [`DIRECTORIES`].
    parent: Option<Arc<OwnedFd>>,
}

/// Device and inode.
pub(crate) type ObjectId = (u64, u64);

impl Placeholders {
    /// An owner without placeholders. Its journal will be at `journal`; `locks` is an existing directory that all
    /// owners have in common which may ever share a name.
    pub const fn new(journal: PathBuf, locks: PathBuf) -> Self {
        Self {
            journal,
            locks,
            held: Vec::new(),
            directories: 0,
        }
    }

    /// Makes sure that something is at the path, whose parent must exist and not be reached through a link.
    ///
    /// # Errors
    /// What keeps the placeholder from being made; [`StandIn::Nothing`] can't be made and is
    /// [`io::ErrorKind::Unsupported`].
    pub fn occupy(&mut self, path: &Path, stand_in: StandIn) -> io::Result<Occupied> {
        let place = Place::of(path)?;
        for _ in 0..TRIES {
            let Some(object) = place.look()? else {
                match self.make(&place, path, stand_in) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    made => return made.map(|()| Occupied::Placeholder),
                }
            };
            if !place.is_placeholder(stand_in) {
                // Unless it was one until just now.
                if place.look()? == Some(object) {
                    return Ok(Occupied::Genuine);
                }
                continue;
            }
            if self
                .held
                .iter()
                .any(|held| held.path == path && held.object == object)
            {
                return Ok(Occupied::Placeholder);
            }
            let lock = lock::share(&self.locks, object)?;
            if place.look()? == Some(object) {
                self.write_down(path, stand_in, Some(object))?;
                self.hold(&place, path, stand_in, object, lock);
                return Ok(Occupied::Placeholder);
            }
            // Removed by its last user just now.
            lock.leave(|| Ok(()))?;
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Makes it under another name and locks it before it gets its own: nobody ever sees it without a user.
    fn make(&mut self, place: &Place<'_>, path: &Path, stand_in: StandIn) -> io::Result<()> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let first = OsString::from(format!(".ringfence-{}-{number}", std::process::id()));
        self.write_down(&path.with_file_name(&first), stand_in, None)?;
        match stand_in {
            StandIn::Nothing => return Err(io::ErrorKind::Unsupported.into()),
            StandIn::Link => symlinkat(NOWHERE, &place.parent, &first)?,
            StandIn::File(content) => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let file = openat(&place.parent, &first, flags, Mode::from_raw_mode(0o644))?;
                File::from(file).write_all(content.as_bytes())?;
            }
        }
        let made = self.name(place, &first, path, stand_in);
        if made.is_err() {
            unlinkat(&place.parent, &first, AtFlags::empty())?;
        }
        made
    }

    fn name(&mut self, place: &Place<'_>, first: &OsStr, path: &Path, stand_in: StandIn) -> io::Result<()> {
        let object = look(&place.parent, first)?.ok_or(io::ErrorKind::NotFound)?;
        let lock = lock::share(&self.locks, object)?;
        self.write_down(path, stand_in, Some(object))?;
        let flags = RenameFlags::NOREPLACE;
        if let Err(error) = renameat_with(&place.parent, first, &place.parent, place.name, flags) {
            lock.leave(|| Ok(()))?;
            return Err(error.into());
        }
        self.hold(place, path, stand_in, object, lock);
        Ok(())
    }

    fn hold(&mut self, place: &Place<'_>, path: &Path, stand_in: StandIn, object: ObjectId, lock: FileLock) {
        // What is in one directory comes one after the other.
        let last = self.held.last().and_then(|held| held.parent.as_ref());
        let same = last.filter(|last| is_same(last, &place.parent));
        let parent = match same {
            Some(last) => Some(Arc::clone(last)),
            None if self.directories < DIRECTORIES => {
                self.directories += 1;
                Some(Arc::clone(&place.parent))
            }
            None => None,
        };
        self.held.push(Placeholder {
            path: path.to_owned(),
            stand_in,
            object,
            lock,
            parent,
        });
    }

    /// What is about to be made is written down first, what it is once it is there.
    fn write_down(&self, path: &Path, stand_in: StandIn, object: Option<ObjectId>) -> io::Result<()> {
        let (device, inode) = object.unwrap_or_default();
        let content = match stand_in {
            StandIn::File(content) => hex(content.as_bytes()),
            StandIn::Link | StandIn::Nothing => "@".to_owned(),
        };
        let line = format!(
            "{device} {inode} {content} {}\n",
            hex(path.as_os_str().as_bytes())
        );
        let mut journal = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.journal)?;
        journal.write_all(line.as_bytes())
    }
}

impl Placeholders {
    /// Removes what nobody else uses, as dropping does.
    ///
    /// # Errors
    /// The placeholders that could not be removed, never none; the journal stays then.
    pub fn remove(mut self) -> Result<(), Vec<(PathBuf, io::Error)>> {
        self.remove_all()
    }

    fn remove_all(&mut self) -> Result<(), Vec<(PathBuf, io::Error)>> {
        let mut left = Vec::new();
        for Placeholder {
            path,
            stand_in,
            object,
            lock,
            parent,
        } in self.held.drain(..).rev()
        {
            let place = || match (&parent, path.file_name()) {
                (Some(parent), Some(name)) => Ok(Some(Place {
                    parent: Arc::clone(parent),
                    name,
                })),
                _ => Place::find(&path),
            };
            let content = match stand_in {
                StandIn::File(content) => Some(content.as_bytes()),
                StandIn::Link | StandIn::Nothing => None,
            };
            let removed = lock.leave(|| match place()? {
                Some(place) => remove(&place, content, Some(object)).map(drop),
                None => Ok(()),
            });
            if let Err(error) = removed {
                left.push((path, error));
            }
        }
        if !left.is_empty() {
            return Err(left);
        }
        if !self.journal.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.journal);
        }
        Ok(())
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        let _ = self.remove_all();
    }
}

/// Whether a link at the path is a placeholder of somebody.
pub fn is_link(path: &Path) -> bool {
    fs::read_link(path).is_ok_and(|target| target.as_os_str() == NOWHERE)
}

/// Removes what the owner of a journal left when it died; the caller knows that it is dead. Gives the paths of what
/// was removed.
///
/// # Errors
/// The journal can't be read.
pub fn sweep(journal: &Path, locks: &Path) -> io::Result<Vec<PathBuf>> {
    let mut text = String::new();
    match File::open(journal) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?.read_to_string(&mut text)?,
    };
    let mut removed = Vec::new();
    for entry in text.lines().rev().filter_map(Entry::parse) {
        // One that was not written down completely is known by what it contains alone, and nobody else uses it.
        let object = (entry.object != (0, 0)).then_some(entry.object);
        let gone = || remove(&Place::of(&entry.path)?, entry.content.as_deref(), object);
        let gone = match object {
            None => gone().unwrap_or_default(),
            Some(object) => lock::share(locks, object)
                .is_ok_and(|lock| lock.leave(gone).is_ok_and(|gone| gone == Some(true))),
        };
        if gone {
            removed.push(entry.path);
        }
    }
    Ok(removed)
}

struct Entry {
    object: ObjectId,
    /// None for a link.
    content: Option<Vec<u8>>,
    path: PathBuf,
}

impl Entry {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let object = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let content = match words.next()? {
            "@" => None,
            content => Some(unhex(content)?),
        };
        let path = PathBuf::from(OsString::from_vec(unhex(words.next()?)?));
        words.next().is_none().then_some(Self {
            object,
            content,
            path,
        })
    }
}

/// Removes an object if it is still what a placeholder is; says whether it did.
fn remove(place: &Place<'_>, content: Option<&[u8]>, object: Option<ObjectId>) -> io::Result<bool> {
    let same = match (place.look()?, object) {
        (None, _) => false,
        (Some(there), Some(object)) => there == object,
        (Some(_), None) => true,
    };
    if !same || !place.holds(content) {
        return Ok(false);
    }
    unlinkat(&place.parent, place.name, AtFlags::empty())?;
    Ok(true)
}

/// A name and the directory it is in; a link that somebody put on the way there is not followed.
struct Place<'a> {
    parent: Arc<OwnedFd>,
    name: &'a OsStr,
}

impl<'a> Place<'a> {
    fn of(path: &'a Path) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = openat2(CWD, parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        Ok(Self {
            parent: Arc::new(parent),
            name,
        })
    }

    /// Nothing if the directory is gone.
    fn find(path: &'a Path) -> io::Result<Option<Self>> {
        match Self::of(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    fn look(&self) -> io::Result<Option<ObjectId>> {
        look(&self.parent, self.name)
    }

    fn is_placeholder(&self, stand_in: StandIn) -> bool {
        match stand_in {
            StandIn::Link => self.holds(None),
            StandIn::File(content) => self.holds(Some(content.as_bytes())),
            StandIn::Nothing => false,
        }
    }

    /// Whether it is a file with exactly this content, or a link of ours.
    fn holds(&self, content: Option<&[u8]>) -> bool {
        let Some(content) = content else {
            let target = readlinkat(&self.parent, self.name, Vec::new());
            return target.is_ok_and(|target| target.as_bytes() == NOWHERE.as_bytes());
        };
        // Never waits for the other end of a pipe.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = openat(&self.parent, self.name, flags, Mode::empty()) else {
            return false;
        };
        let mut found = Vec::new();
        let read = File::from(file)
            .take(content.len() as u64 + 1)
            .read_to_end(&mut found);
        read.is_ok() && found == content
    }
}

/// Whether both are the same directory.
fn is_same(one: &OwnedFd, other: &OwnedFd) -> bool {
    let of = |directory| fstat(directory).map(|seen| (seen.st_dev, seen.st_ino));
    of(one).is_ok_and(|one| of(other) == Ok(one))
}

fn look(parent: &OwnedFd, name: &OsStr) -> io::Result<Option<ObjectId>> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(seen) => Ok(Some((seen.st_dev, seen.st_ino))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits
        .len()
        .is_multiple_of(2)
        .then(|| digits.chunks(2).map(pair).collect())?
}

#[cfg(test)]
#[path = "placeholder_tests.rs"]
mod tests;
