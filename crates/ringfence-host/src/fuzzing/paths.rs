//! Paths through links, as this crate walks them and as the kernel does.

#![expect(clippy::panic, reason = "how a fuzz target says what it found")]

use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ringfence_policy::{Kind, Resolve, ResolveError, Resolved};
use rustix::fs::{Mode, OFlags, ResolveFlags, mkdirat, open, openat, openat2, symlinkat};
use rustix::io::Errno;

use crate::Host;
use crate::host::Known;

/// Makes the objects that the bytes describe in an empty directory, whose path is canonical, and compares what becomes of
/// the paths that they describe.
///
/// # Panics
/// The kernel knows better.
pub fn paths(data: &[u8], root: &Path) {
    let mut source = Source { rest: data, root };
    for _ in 0..source.byte() % 12 {
        let names = source.names();
        // What can't be made is not there.
        let _ = source.make(OsStr::from_bytes(&names));
    }
    let mut known = Known::default();
    for _ in 0..4 {
        let path = source.path();
        let found = Host.resolve(&path);
        assert_eq!(
            Host.resolve_knowing(&path, &mut known),
            found,
            "{path:?} when something is known"
        );
        agree(&path, &found, root);
    }
}

fn agree(path: &Path, found: &Result<Resolved, ResolveError>, root: &Path) {
    match (look(path), found) {
        (Ok(object), Ok(found)) => {
            let at = name_of(&object);
            assert_eq!(
                (&found.path, is_directory(&object)),
                (&at, found.kind == Kind::Directory),
                "{path:?}"
            );
            assert_ne!(found.kind, Kind::Absent, "{path:?}");
            let seen = fs::metadata(&at).map(|seen| (seen.dev(), seen.ino())).ok();
            let identity = found.identity.map(|identity| (identity.device, identity.inode));
            assert_eq!(identity, seen, "{path:?}");
        }
        (Err(Errno::LOOP), Err(ResolveError::Loop { .. })) => {}
        (Err(Errno::NOENT), Ok(found)) => {
            assert_eq!((found.kind, found.identity), (Kind::Absent, None), "{path:?}");
            is_where_it_would_be_made(path, &found.path, root);
        }
        (Err(expected), Err(ResolveError::Io { errno, .. })) => {
            assert_eq!(*errno, expected.raw_os_error(), "{path:?}");
        }
        (kernel, found) => panic!("{path:?}: the kernel says {kernel:?}, and not {found:?}"),
    }
}

/// Where nothing is, the kernel makes a file at the same place.
fn is_where_it_would_be_made(path: &Path, found: &Path, root: &Path) {
    if !found.starts_with(root) {
        return;
    }
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    // Its directory is missing too, or it has to be a directory.
    let Ok(made) = open(path, flags, Mode::RUSR) else {
        return;
    };
    let at = name_of(&made);
    fs::remove_file(&at).unwrap_or_else(|error| panic!("{at:?}: {error}"));
    assert_eq!(found, at, "{path:?}");
}

fn look(path: &Path) -> Result<OwnedFd, Errno> {
    open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

fn name_of(object: &OwnedFd) -> PathBuf {
    fs::read_link(format!("/proc/self/fd/{}", object.as_raw_fd())).unwrap_or_default()
}

fn is_directory(object: &OwnedFd) -> bool {
    fs::metadata(format!("/proc/self/fd/{}", object.as_raw_fd())).is_ok_and(|seen| seen.is_dir())
}

/// Makes paths of bytes.
struct Source<'a> {
    rest: &'a [u8],
    root: &'a Path,
}

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        *first
    }

    /// Makes an object, nowhere but in the root.
    fn make(&mut self, names: &OsStr) -> Result<(), Errno> {
        let names = Path::new(names);
        let (Some(parent), Some(name)) = (names.parent(), names.file_name()) else {
            return Err(Errno::INVAL);
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(self.root, flags, Mode::empty())?;
        let parent = if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        };
        let parent = openat2(root, parent, flags, Mode::empty(), ResolveFlags::BENEATH)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        match self.byte() % 4 {
            0 => mkdirat(&parent, name, Mode::RWXU),
            1 => openat(&parent, name, flags, Mode::RUSR).map(drop),
            _ => symlinkat(self.target(), &parent, name),
        }
    }

    /// Never above the root: what is there is others' business.
    fn path(&mut self) -> PathBuf {
        let names = self.names();
        let path = [self.root.as_os_str().as_bytes(), b"/", &names].concat();
        OsStr::from_bytes(&path).into()
    }

    fn target(&mut self) -> PathBuf {
        if self.byte().is_multiple_of(4) {
            return self.path();
        }
        let names = self.names();
        let names = names.strip_prefix(b"/").unwrap_or(&names);
        OsStr::from_bytes(if names.is_empty() { b"." } else { names }).into()
    }

    fn names(&mut self) -> Vec<u8> {
        const NAMES: [&[u8]; 8] = [b"a", b"b", b"c", b"d\n", b"..", b".", b"", b"\xff"];
        let mut text = Vec::new();
        for _ in 0..self.byte() % 6 {
            let byte = self.byte();
            text.extend(NAMES[usize::from(byte % 8)]);
            if byte & 0x80 == 0 {
                text.push(b'/');
            }
        }
        text
    }
}
