//! Placeholders: what occupies an absent name on the host, so that a command can't take it.
//!
//! Most are symbolic links that lead nowhere: to whoever opens the name, nothing is there. They are names of one link,
//! since a file system makes a name much faster than an object. Their users, in any number of processes, share the lock
//! of the name; whoever leaves last removes the placeholder, unless somebody has put the name to use meanwhile. What is
//! there already and looks like a placeholder is taken for one. A journal says what to remove if its owner dies: its
//! locks are gone then, and [`sweep`] does what it would have done.

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
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, fstat, linkat, openat, openat2, readlinkat,
    renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use crate::walk::NOWHERE;

use lock::NameLock;
pub use lock::{locks_of_user, sweep_locks};

/// How many directories are kept open, so that what was made in them is found after they were moved.
const DIRECTORIES: usize = 256;

/// How often a name is tried that others keep taking and leaving.
const TRIES: usize = 64;

/// The placeholders of one owner; dropping it removes those nobody else uses.
#[derive(Debug, Default)]
pub struct Placeholders {
    journal: PathBuf,
    /// The same, from the first entry on.
    written: Option<File>,
    locks: PathBuf,
    held: Vec<Placeholder>,
    /// The link that others are further names of.
    link: Option<OwnedFd>,
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
    /// None for a link, which is known by where it leads.
    object: Option<ObjectId>,
    lock: NameLock,
    /// The directory it is in, wherever that is by now; none beyond [`DIRECTORIES`].
    parent: Option<Arc<OwnedFd>>,
}

/// Device and inode.
pub(crate) type ObjectId = (u64, u64);

impl Placeholders {
    /// An owner without placeholders. Its journal will be at `journal`; `locks` is a file, made when it is needed, that
    /// all owners have in common which may ever share a name.
    pub const fn new(journal: PathBuf, locks: PathBuf) -> Self {
        Self {
            journal,
            written: None,
            locks,
            held: Vec::new(),
            link: None,
            directories: 0,
        }
    }

    /// Makes sure that something is at the path, whose parent must exist and not be reached through a link.
    ///
    /// # Errors
    /// What keeps the placeholder from being made; [`StandIn::Nothing`] can't be made and is
    /// [`io::ErrorKind::Unsupported`].
    pub fn occupy(&mut self, path: &Path, stand_in: StandIn) -> io::Result<Occupied> {
        if stand_in == StandIn::Nothing {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let place = Place::of(path)?;
        if let Some(there) = place.look()? {
            // Unless it was a placeholder until just now.
            if !place.is_placeholder(stand_in) && place.look()? == Some(there) {
                return Ok(Occupied::Genuine);
            }
            let is_this = |held: &Placeholder| held.path == path && held.object.is_none_or(|is| is == there);
            if self.held.iter().any(is_this) {
                return Ok(Occupied::Placeholder);
            }
        }
        // From here on nobody removes it.
        let lock = NameLock::share(&self.locks, place.byte()?)?;
        match self.settle(&place, path, stand_in) {
            Ok(Some(object)) => {
                self.hold(&place, path, stand_in, object, lock);
                Ok(Occupied::Placeholder)
            }
            other => {
                let content = stand_in.content();
                lock.leave(|| remove(&place, content, None))?;
                other.map(|_| Occupied::Genuine)
            }
        }
    }

    /// Makes a placeholder, or finds one; nothing if something else is there. Gives which object it is, if that matters.
    fn settle(
        &mut self,
        place: &Place<'_>,
        path: &Path,
        stand_in: StandIn,
    ) -> io::Result<Option<Option<ObjectId>>> {
        for _ in 0..TRIES {
            let made = match stand_in {
                StandIn::Link | StandIn::Nothing => self.make_link(place, path).map(|()| None),
                StandIn::File(content) => self.make_file(place, path, content).map(Some),
            };
            match made {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(Some),
            }
            let there = place.look()?;
            if place.is_placeholder(stand_in) {
                let object = there.filter(|_| stand_in != StandIn::Link);
                self.write_down(path, stand_in, object)?;
                return Ok(Some(object));
            }
            if there.is_some() && place.look()? == there {
                return Ok(None);
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Makes a link, or one more name of the last one that was made.
    fn make_link(&mut self, place: &Place<'_>, path: &Path) -> io::Result<()> {
        self.write_down(path, StandIn::Link, None)?;
        if let Some(link) = &self.link {
            let link = format!("/proc/self/fd/{}", link.as_raw_fd());
            match linkat(CWD, link, &place.parent, place.name, AtFlags::SYMLINK_FOLLOW) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => return Err(io::ErrorKind::AlreadyExists.into()),
                // Another file system, one without further names, or too many of them.
                Err(_) => {}
            }
        }
        symlinkat(NOWHERE, &place.parent, place.name)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let link = openat(&place.parent, place.name, flags, Mode::empty()).ok();
        // It may have been replaced already.
        self.link = link.filter(|link| leads_nowhere(link, ""));
        Ok(())
    }

    /// Makes a file under another name before it gets its own: nobody ever sees it half written.
    fn make_file(&mut self, place: &Place<'_>, path: &Path, content: &'static str) -> io::Result<ObjectId> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let first = OsString::from(format!(".ringfence-{}-{number}", std::process::id()));
        let stand_in = StandIn::File(content);
        self.write_down(&path.with_file_name(&first), stand_in, None)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&place.parent, &first, flags, Mode::from_raw_mode(0o644))?;
        let named = || {
            File::from(file).write_all(content.as_bytes())?;
            let object = look(&place.parent, &first)?.ok_or(io::ErrorKind::NotFound)?;
            self.write_down(path, stand_in, Some(object))?;
            let flags = RenameFlags::NOREPLACE;
            renameat_with(&place.parent, &first, &place.parent, place.name, flags)?;
            Ok(object)
        };
        let made = named();
        if made.is_err() {
            unlinkat(&place.parent, &first, AtFlags::empty())?;
        }
        made
    }

    fn hold(
        &mut self,
        place: &Place<'_>,
        path: &Path,
        stand_in: StandIn,
        object: Option<ObjectId>,
        lock: NameLock,
    ) {
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
    fn write_down(&mut self, path: &Path, stand_in: StandIn, object: Option<ObjectId>) -> io::Result<()> {
        let (device, inode) = object.unwrap_or_default();
        let content = stand_in.content().map_or_else(|| "@".to_owned(), hex);
        let line = format!(
            "{device} {inode} {content} {}\n",
            hex(path.as_os_str().as_bytes())
        );
        let journal = match &mut self.written {
            Some(journal) => journal,
            none => none.insert(
                OpenOptions::new()
                    .append(true)
                    .create(true)
                    .mode(0o600)
                    .open(&self.journal)?,
            ),
        };
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
            let removed = lock.leave(|| match place()? {
                Some(place) => remove(&place, stand_in.content(), object).map(drop),
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
        if entry.remove(locks).is_ok_and(|removed| removed == Some(true)) {
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

    /// Removes what it tells of, unless somebody uses that.
    fn remove(&self, locks: &Path) -> io::Result<Option<bool>> {
        let place = Place::of(&self.path)?;
        // A link, and a file that did not get its name, are known by what they contain.
        let object = (self.object != (0, 0)).then_some(self.object);
        let lock = NameLock::share(locks, place.byte()?)?;
        lock.leave(|| remove(&place, self.content.as_deref(), object))
    }
}

/// Removes an object if it is still what a placeholder is; says whether it did.
fn remove(place: &Place<'_>, content: Option<&[u8]>, object: Option<ObjectId>) -> io::Result<bool> {
    let is_another = object.is_some() && place.look()? != object;
    if is_another || !place.holds(content) {
        return Ok(false);
    }
    match unlinkat(&place.parent, place.name, AtFlags::empty()) {
        // Mounted upon: this process is confined itself, and the placeholder is that of whoever confines it.
        Err(Errno::BUSY) => Ok(false),
        removed => Ok(removed.map(|()| true)?),
    }
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

    /// What stands for it in the file of locks.
    fn byte(&self) -> io::Result<u64> {
        let directory = fstat(&self.parent)?;
        Ok(lock::byte((directory.st_dev, directory.st_ino), self.name))
    }

    fn is_placeholder(&self, stand_in: StandIn) -> bool {
        self.holds(stand_in.content())
    }

    /// Whether it is a file with exactly this content, or a link of ours.
    fn holds(&self, content: Option<&[u8]>) -> bool {
        let Some(content) = content else {
            return leads_nowhere(&self.parent, self.name);
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

/// Whether a name, or the object itself if it is empty, is a link of ours.
fn leads_nowhere(at: &OwnedFd, name: impl rustix::path::Arg) -> bool {
    let target = readlinkat(at, name, Vec::with_capacity(NOWHERE.len() + 1));
    target.is_ok_and(|target| target.as_bytes() == NOWHERE.as_bytes())
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
