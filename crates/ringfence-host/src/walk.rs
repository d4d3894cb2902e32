//! Walks a path as the kernel does, keeping what it passed.

use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ringfence_policy::{Kind, Link, ResolveError, Resolved};
use rustix::fs::{CWD, readlinkat_raw};
use rustix::io::Errno;

use crate::host::Known;
use crate::observe;

/// As many as the kernel follows before it answers ELOOP.
const MAX_LINKS: usize = 40;

/// PATH_MAX of Linux, the longest of the supported systems, and one more.
pub(crate) const LONGEST_LINK: usize = 4097;

/// Makes an absolute path canonical and looks at what is there.
pub(crate) fn walk(path: &Path, known: Option<&mut Known>) -> Result<Resolved, ResolveError> {
    Walk::start(path, known)?.run()?.finish()
}

/// Follows a link in a canonical directory, whose text was read already, without a look at what is at the end.
/// Gives where it leads, and all links on the way, the given one first.
///
/// Stops at another name in that same directory, which may be a link itself.
pub(crate) fn follow(link: Link, known: &mut Known) -> Result<(PathBuf, Vec<Link>), ResolveError> {
    let directory = link.path.parent().unwrap_or(Path::new("/")).to_owned();
    let mut walk = Walk::start(&link.target, Some(known))?;
    if link.target.is_relative() {
        walk.at.clone_from(&directory);
    }
    walk.links.push(link);
    while let Some(name) = walk.name() {
        if walk.next == walk.rest.len() && walk.at.as_os_str() == directory.as_os_str() && name != ".." {
            walk.at.push(name);
            break;
        }
        walk.step(&name)?;
    }
    Ok((walk.at, walk.links))
}

/// What a placeholder leads to: a name in a file system in which nobody can create one. Tools show it, as git does where
/// it can't make a repository.
pub(crate) const NOWHERE: &str = "/proc/closed-by-ringfence-see-ringfence-explain";

struct Walk<'a> {
    /// Canonical; names an existing object unless `absent`.
    at: PathBuf,
    /// What is left to walk, from `next` on.
    rest: Vec<u8>,
    next: usize,
    /// Whether a component was not found; everything after it isn't there either.
    absent: bool,
    links: Vec<Link>,
    known: Option<&'a mut Known>,
}

impl<'a> Walk<'a> {
    fn start(path: &Path, known: Option<&'a mut Known>) -> Result<Self, ResolveError> {
        let rest = path.as_os_str().as_bytes().to_vec();
        if rest.contains(&0) {
            // The kernel never sees such a path, and EINVAL means "not a link" below.
            return Err(failed(path, Errno::INVAL));
        }
        Ok(Self {
            at: PathBuf::from("/"),
            rest,
            next: 0,
            absent: false,
            links: Vec::new(),
            known,
        })
    }

    fn run(mut self) -> Result<Self, ResolveError> {
        while let Some(name) = self.name() {
            self.step(&name)?;
        }
        Ok(self)
    }

    fn step(&mut self, name: &OsStr) -> Result<(), ResolveError> {
        match name.as_bytes() {
            b"." => Ok(()),
            b".." => self.up(),
            _ => self.down(name),
        }
    }

    /// Takes the next component, an owned copy since following a link replaces the rest.
    fn name(&mut self) -> Option<OsString> {
        let rest = &self.rest[self.next..];
        let start = rest.iter().position(|byte| *byte != b'/')?;
        let length = rest[start..].iter().position(|byte| *byte == b'/');
        let end = length.map_or(rest.len(), |length| start + length);
        self.next += end;
        Some(OsStr::from_bytes(&rest[start..end]).into())
    }

    fn up(&mut self) -> Result<(), ResolveError> {
        if self.absent {
            return Err(failed(&self.at, Errno::NOENT));
        }
        // Only a directory that may be searched has a "..", and only a look-up in it tells.
        let known = self.known.as_ref();
        if !known.is_some_and(|known| known.searched.contains(self.at.as_os_str())) {
            match readlink(&self.at.join("."))? {
                Found::Object => {}
                Found::Link(_) | Found::Nothing => return Err(failed(&self.at, Errno::NOENT)),
            }
            if let Some(known) = &mut self.known {
                known.searched.insert(self.at.clone().into());
            }
        }
        self.at.pop();
        Ok(())
    }

    fn down(&mut self, name: &OsStr) -> Result<(), ResolveError> {
        let path = self.at.join(name);
        let known = self
            .known
            .as_ref()
            .is_some_and(|known| known.plain.contains(path.as_os_str()));
        if self.absent || known {
            self.at = path;
            return Ok(());
        }
        match readlink(&path)? {
            Found::Object => {
                let inside = self.next < self.rest.len();
                if let Some(known) = self.known.as_mut().filter(|_| inside) {
                    known.plain.insert(path.clone().into());
                }
                self.at = path;
            }
            // A placeholder is as good as nothing.
            Found::Link(target) if target == NOWHERE.as_bytes() => {
                self.absent = true;
                self.at = path;
            }
            Found::Nothing => {
                self.absent = true;
                self.at = path;
            }
            Found::Link(_) if self.links.len() == MAX_LINKS => return Err(ResolveError::Loop { path }),
            Found::Link(target) => self.follow(path, &target),
        }
        Ok(())
    }

    fn follow(&mut self, path: PathBuf, target: &[u8]) {
        if target.starts_with(b"/") {
            self.at = PathBuf::from("/");
        }
        self.rest.splice(..self.next, target.iter().copied());
        self.next = 0;
        let target = PathBuf::from(OsStr::from_bytes(target));
        self.links.push(Link { path, target });
    }

    fn finish(self) -> Result<Resolved, ResolveError> {
        let seen = if self.absent {
            None
        } else {
            observe::look(&self.at).map_err(|error| {
                let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
                failed(&self.at, errno)
            })?
        };
        let (kind, identity) = match seen {
            Some((kind, identity)) => (kind, Some(identity)),
            None => (Kind::Absent, None),
        };
        let last = self.rest.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if kind == Kind::File && matches!(last, b"" | b"." | b"..") {
            return Err(failed(&self.at, Errno::NOTDIR));
        }
        Ok(Resolved {
            path: self.at,
            kind,
            identity,
            links: self.links,
        })
    }
}

enum Found {
    Object,
    Link(Vec<u8>),
    Nothing,
}

/// Tells with one system call whether something is there and whether it is a link; see readlink(2).
fn readlink(path: &Path) -> Result<Found, ResolveError> {
    let mut buffer = [MaybeUninit::uninit(); LONGEST_LINK];
    match readlinkat_raw(CWD, path, &mut buffer) {
        // A full buffer may hold a part of the text only.
        Ok((_, [])) => Err(failed(path, Errno::NAMETOOLONG)),
        Ok((target, _)) => Ok(Found::Link(target.to_vec())),
        Err(Errno::INVAL) => Ok(Found::Object),
        Err(Errno::NOENT) => Ok(Found::Nothing),
        Err(errno) => Err(failed(path, errno)),
    }
}

fn failed(path: &Path, errno: Errno) -> ResolveError {
    let path = path.into();
    match errno {
        Errno::LOOP => ResolveError::Loop { path },
        Errno::ACCESS | Errno::PERM => ResolveError::Denied {
            path,
            errno: errno.raw_os_error(),
        },
        _ => ResolveError::Io {
            path,
            errno: errno.raw_os_error(),
        },
    }
}
