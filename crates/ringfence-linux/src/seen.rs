//! What a path leads to right now.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use ringfence_policy::Kind;

/// One look at an object of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// In bytes.
    pub(crate) size: u64,
    pub(crate) is_regular: bool,
    pub(crate) is_link: bool,
    /// When it was made, where the file system records it: numbers of inodes are used again.
    made: Option<SystemTime>,
    /// Names of a file; 0 for a directory.
    names: u64,
    /// When content or metadata last changed, in seconds and nanoseconds.
    changed: (i64, i64),
}

impl Seen {
    /// Looks without following a link; `None` when there is nothing.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        let metadata = match path.symlink_metadata() {
            Err(error) if is_nothing(error.kind()) => return Ok(None),
            other => other?,
        };
        Ok(Some(Self {
            kind: if metadata.is_dir() {
                Kind::Directory
            } else {
                Kind::File
            },
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            is_regular: metadata.is_file(),
            is_link: metadata.is_symlink(),
            made: metadata.created().ok(),
            names: if metadata.is_dir() { 0 } else { metadata.nlink() },
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }))
    }

    /// Whether it is the same object with no other names, whatever it contains.
    pub(crate) fn is_same_object(&self, other: &Self) -> bool {
        let of = |seen: &Self| (seen.device, seen.inode, seen.made, seen.is_regular, seen.names);
        of(self) == of(other)
    }

    /// Whether it is the same object and was not touched.
    pub(crate) fn is_unchanged(&self, other: &Self) -> bool {
        self.is_same_object(other) && (self.size, self.changed) == (other.size, other.changed)
    }

    /// An object of the given kind, for tests.
    #[cfg(test)]
    pub(crate) const fn fake(kind: Kind) -> Self {
        let is_regular = matches!(kind, Kind::File);
        Self {
            kind,
            device: 1,
            inode: 1,
            size: 1,
            is_regular,
            is_link: false,
            made: None,
            names: 1,
            changed: (0, 0),
        }
    }
}

/// Whether there is nothing at a path; beneath a file there never is.
const fn is_nothing(error: io::ErrorKind) -> bool {
    matches!(error, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
