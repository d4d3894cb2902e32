//! Placeholders: what occupies an absent name on the host, so that a command can't take it.
//!
//! Every user of a placeholder holds a shared lock on it (flock(2)); whoever leaves last removes it, unless somebody
//! has put it to use meanwhile. A journal beside the owner's files says what to remove if the owner dies: the lock is
//! gone then, and [`sweep`] does what the owner would have done.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ringfence_policy::StandIn;
use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, RenameFlags, ResolveFlags, flock, mkdirat, openat, openat2,
    renameat_with, unlinkat,
};
use rustix::io::Errno;

/// How often a name is tried that others keep taking and leaving.
const TRIES: usize = 16;

/// The placeholders of one owner; dropping it removes those nobody else uses.
#[derive(Debug, Default)]
pub struct Placeholders {
    journal: PathBuf,
    /// In the order in which they were made: what is in a placeholder comes after it.
    held: Vec<Placeholder>,
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
    /// Holds the lock.
    object: File,
}

impl Placeholders {
    /// An owner without placeholders, whose journal will be at this path.
    pub const fn new(journal: PathBuf) -> Self {
        Self {
            journal,
            held: Vec::new(),
        }
    }

    /// Makes sure that something is at the path, whose parent must exist.
    ///
    /// # Errors
    /// What keeps the placeholder from being made; [`StandIn::Nothing`] can't be made and is
    /// [`io::ErrorKind::Unsupported`].
    pub fn occupy(&mut self, path: &Path, stand_in: StandIn) -> io::Result<Occupied> {
        if self
            .held
            .iter()
            .any(|held| held.path == path && is_at(&held.object, path))
        {
            return Ok(Occupied::Placeholder);
        }
        for _ in 0..TRIES {
            if path.symlink_metadata().is_ok() {
                // Nothing is there again if its last user has removed it just now.
                if let Some(occupied) = self.join(path, stand_in)? {
                    return Ok(occupied);
                }
            }
            match self.make(path, stand_in) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Occupied::Placeholder),
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Makes it under another name and locks it before it gets its own: nobody ever sees it without a user.
    fn make(&mut self, path: &Path, stand_in: StandIn) -> io::Result<()> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let (parent, name) = place(path)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let first = OsString::from(format!(".ringfence-{}-{number}", std::process::id()));
        let first_path = path.with_file_name(&first);
        self.write_down(&first_path, stand_in, None)?;
        let object: File = match stand_in {
            StandIn::Nothing => return Err(io::ErrorKind::Unsupported.into()),
            StandIn::Directory => {
                mkdirat(&parent, &first, Mode::from_raw_mode(0o755))?;
                openat(&parent, &first, OPEN | OFlags::DIRECTORY, Mode::empty())?.into()
            }
            StandIn::File(content) => {
                let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let mut file: File = openat(&parent, &first, flags, Mode::from_raw_mode(0o644))?.into();
                file.write_all(content.as_bytes())?;
                file
            }
        };
        flock(&object, FlockOperation::NonBlockingLockShared)?;
        self.write_down(path, stand_in, Some(&object))?;
        if let Err(error) = renameat_with(&parent, &first, &parent, name, RenameFlags::NOREPLACE) {
            let flags = if stand_in == StandIn::Directory {
                AtFlags::REMOVEDIR
            } else {
                AtFlags::empty()
            };
            unlinkat(&parent, &first, flags)?;
            return Err(error.into());
        }
        self.held.push(Placeholder {
            path: path.to_owned(),
            stand_in,
            object,
        });
        Ok(())
    }

    /// Becomes another user of a placeholder; nothing if the object went away meanwhile.
    fn join(&mut self, path: &Path, stand_in: StandIn) -> io::Result<Option<Occupied>> {
        let object = match open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // A link, or what this user can't open: nobody's placeholder.
            Err(_) => return Ok(Some(Occupied::Genuine)),
            Ok(object) => object,
        };
        match flock(&object, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(is_at(&object, path).then_some(Occupied::Genuine)),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(error.into()),
        }
        match flock(&object, FlockOperation::NonBlockingLockShared) {
            Ok(()) if is_at(&object, path) && is_unused(path, stand_in) => {
                self.write_down(path, stand_in, Some(&object))?;
                self.held.push(Placeholder {
                    path: path.to_owned(),
                    stand_in,
                    object,
                });
                Ok(Some(Occupied::Placeholder))
            }
            Ok(()) if is_at(&object, path) => Ok(Some(Occupied::Genuine)),
            // Its last user is about to remove it.
            Ok(()) | Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What is about to be made is written down first, what it is once it is there.
    fn write_down(&self, path: &Path, stand_in: StandIn, object: Option<&File>) -> io::Result<()> {
        let metadata = object.map(File::metadata).transpose()?;
        let (device, inode) = metadata.map(|seen| (seen.dev(), seen.ino())).unwrap_or_default();
        let content = match stand_in {
            StandIn::File(content) => hex(content.as_bytes()),
            StandIn::Directory | StandIn::Nothing => "/".to_owned(),
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

impl Drop for Placeholders {
    fn drop(&mut self) {
        let mut left = false;
        for Placeholder {
            path,
            stand_in,
            object,
        } in self.held.drain(..).rev()
        {
            left |= remove_if_last(&path, stand_in, &object).is_err();
        }
        // The journal stays as long as something it names may.
        if !left {
            let _ = fs::remove_file(&self.journal);
        }
    }
}

/// Removes what the owner of a journal left when it died; the caller knows that it is dead. Gives the paths of what
/// was removed.
///
/// # Errors
/// The journal can't be read.
pub fn sweep(journal: &Path) -> io::Result<Vec<PathBuf>> {
    let mut text = String::new();
    match File::open(journal) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?.read_to_string(&mut text)?,
    };
    let mut removed = Vec::new();
    for entry in text.lines().rev().filter_map(Entry::parse) {
        let Ok(object) = open(&entry.path) else { continue };
        let same = object.metadata().is_ok_and(|seen| {
            // One that was not written down completely is known by what it contains alone.
            entry.identity == (0, 0) || entry.identity == (seen.dev(), seen.ino())
        });
        if same && remove_as(&entry.path, entry.content.as_deref(), &object).is_ok_and(|gone| gone) {
            removed.push(entry.path);
        }
    }
    Ok(removed)
}

struct Entry {
    identity: (u64, u64),
    /// None for a directory.
    content: Option<Vec<u8>>,
    path: PathBuf,
}

impl Entry {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let identity = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let content = match words.next()? {
            "/" => None,
            content => Some(unhex(content)?),
        };
        let path = PathBuf::from(OsString::from_vec(unhex(words.next()?)?));
        words.next().is_none().then_some(Self {
            identity,
            content,
            path,
        })
    }
}

fn remove_if_last(path: &Path, stand_in: StandIn, object: &File) -> io::Result<bool> {
    let content = match stand_in {
        StandIn::File(content) => Some(content.as_bytes()),
        StandIn::Directory | StandIn::Nothing => None,
    };
    remove_as(path, content, object)
}

/// Removes an object if nobody else holds it and it is still what a placeholder is; says whether it did.
fn remove_as(path: &Path, content: Option<&[u8]>, object: &File) -> io::Result<bool> {
    match flock(object, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => return Ok(false),
        other => other?,
    }
    if !is_at(object, path) || !is_content(path, content) {
        return Ok(false);
    }
    let (parent, name) = place(path)?;
    let flags = if content.is_some() {
        AtFlags::empty()
    } else {
        AtFlags::REMOVEDIR
    };
    unlinkat(&parent, name, flags)?;
    Ok(true)
}

fn is_unused(path: &Path, stand_in: StandIn) -> bool {
    match stand_in {
        StandIn::File(content) => is_content(path, Some(content.as_bytes())),
        StandIn::Directory => is_content(path, None),
        StandIn::Nothing => false,
    }
}

/// Whether a file has exactly this content, or a directory none.
fn is_content(path: &Path, content: Option<&[u8]>) -> bool {
    let Ok(metadata) = path.symlink_metadata() else {
        return false;
    };
    match content {
        None => metadata.is_dir() && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
        Some(content) => {
            let plausible = metadata.is_file() && metadata.len() == content.len() as u64;
            plausible && fs::read(path).is_ok_and(|found| found == content)
        }
    }
}

/// Whether the object is what is at the path.
fn is_at(object: &File, path: &Path) -> bool {
    let (Ok(held), Ok(there)) = (object.metadata(), path.symlink_metadata()) else {
        return false;
    };
    (held.dev(), held.ino()) == (there.dev(), there.ino())
}

/// A file or directory, not a link; never waits for the other end of a pipe.
const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

fn open(path: &Path) -> io::Result<File> {
    let (parent, name) = place(path)?;
    Ok(openat(&parent, name, OPEN, Mode::empty())?.into())
}

/// The directory of a canonical path and the name in it; a link that somebody put on the way is not followed.
fn place(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = openat2(CWD, parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    Ok((parent, name))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    (digits.len() % 2 == 0).then(|| digits.chunks(2).map(pair).collect())?
}

#[cfg(test)]
#[path = "placeholder_tests.rs"]
mod tests;
