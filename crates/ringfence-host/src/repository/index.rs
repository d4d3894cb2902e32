//! Links to nested repositories in an index (gitformat-index(5)).

use std::io;
use std::path::Path;

use super::{config, files};

/// Most bytes of an index.
const MAX_BYTES: u64 = 64 << 20;

const HEADER_BYTES: usize = 12;

/// Of an entry: times, device, inode, mode, owner and size.
const STAT_BYTES: usize = 40;

/// Where among them the mode is.
const MODE: usize = 24;

/// The extension that says where the entries end, with its signature and size.
const END_BYTES: usize = 32;

/// Whether an index links a nested repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    /// It does: commands like git status enter what is there.
    Yes,
    /// It does not.
    No,
    /// The index alone does not tell.
    Unknown(Doubt),
}

/// Why an index alone does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// Some of its entries are in a shared index file.
    Split,
    /// The path is in a directory that a sparse index has as one entry.
    Sparse,
    /// The names of objects in the repository are of a kind that was not known when this was written.
    ObjectFormat,
    /// It must be read together with something that was not known when this was written.
    Extension,
}

/// Tells whether the index of a repository links a nested one at this path: whether it has an entry of mode 160000.
///
/// `git_directory` is the repository's directory, or that of one of its linked working trees, which have an index each.
/// The path is relative to the working tree, with `/` between names and none at the end; it must agree byte for byte,
/// whether or not the file system tells upper case from lower. Without an index nothing is linked. Checksums are not
/// checked, as git checks them in `git fsck` only.
///
/// # Errors
/// The index, or the settings that tell how to read it, can't be read, is no regular file (`InvalidInput`) or is too
/// large, at more than 64 MiB (`FileTooLarge`); or the index is not as the manual says (`InvalidData`), in which case
/// git may still find links in it.
pub fn links(git_directory: &Path, path_in_tree: &[u8]) -> io::Result<Linked> {
    let settings = config::read(&files::common_directory(git_directory)?.join("config"))?;
    let hash_bytes = match config::last(&settings, "extensions.objectformat") {
        None | Some(b"sha1") => 20,
        Some(b"sha256") => 32,
        Some(_) => return Ok(Linked::Unknown(Doubt::ObjectFormat)),
    };
    let Some(bytes) = files::read(&git_directory.join("index"), MAX_BYTES)? else {
        return Ok(Linked::No);
    };
    look(&bytes, hash_bytes, path_in_tree).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Looks into an index; nothing if it is not well formed.
pub(crate) fn look(bytes: &[u8], hash_bytes: usize, wanted: &[u8]) -> Option<Linked> {
    let body = bytes.len().checked_sub(hash_bytes)?;
    let mut index = Index {
        bytes: bytes.get(..body)?,
        at: 0,
        version: 0,
        hash_bytes,
        wanted,
        found: Found::default(),
    };
    if index.take(4)? != b"DIRC" {
        return None;
    }
    index.version = index.number()?;
    if !(2..=4).contains(&index.version) {
        return None;
    }
    let entries = index.number()?;
    index.entries(HEADER_BYTES, entries)?;
    if !index.found.link {
        index.extensions(entries)?;
    }
    Some(match index.found {
        Found { link: true, .. } => Linked::Yes,
        Found {
            doubt: Some(doubt), ..
        } => Linked::Unknown(doubt),
        Found { .. } => Linked::No,
    })
}

/// An index, and how far it has been read.
struct Index<'a> {
    /// Without the checksum at the end.
    bytes: &'a [u8],
    at: usize,
    version: u32,
    hash_bytes: usize,
    wanted: &'a [u8],
    found: Found,
}

#[derive(Default)]
struct Found {
    link: bool,
    doubt: Option<Doubt>,
}

impl<'a> Index<'a> {
    /// Reads so many entries from an offset on.
    fn entries(&mut self, offset: usize, count: u32) -> Option<()> {
        self.at = offset;
        let mut name = Vec::new();
        for _ in 0..count {
            let start = self.at;
            let stat = self.take(STAT_BYTES)?;
            let mode = u32::from_be_bytes(*stat.get(MODE..)?.first_chunk()?);
            self.take(self.hash_bytes)?;
            let flags = u16::from_be_bytes(*self.take(2)?.first_chunk()?);
            // Git looks for the second flags in every version.
            if flags & 0x4000 != 0 {
                self.take(2)?;
            }
            self.name(&mut name, usize::from(flags & 0x0fff))?;
            if self.version < 4 {
                // The NUL after the name has been read; up to seven more make the length a multiple of eight.
                let padding = (self.at - start).next_multiple_of(8) - (self.at - start);
                self.take(padding)?;
            }
            self.judge(mode, &name);
        }
        Some(())
    }

    /// Reads a name and its NUL. Where the length is not what the NUL says git may see another name.
    fn name(&mut self, name: &mut Vec<u8>, length: usize) -> Option<()> {
        if self.version < 4 {
            name.clear();
        } else {
            // What is not shared with the entry before; the first of a row shares nothing, whatever it says.
            let removed = self.variable_number()?;
            if !name.is_empty() {
                name.truncate(name.len().checked_sub(removed)?);
            }
        }
        let rest = self.bytes.get(self.at..)?;
        let own = rest.iter().position(|byte| *byte == 0)?;
        name.extend(self.take(own)?);
        self.take(1)?;
        (name.len().min(0x0fff) == length).then_some(())
    }

    fn judge(&mut self, mode: u32, name: &[u8]) {
        match mode & 0o170_000 {
            0o160_000 => self.found.link |= name == self.wanted,
            0o040_000 if self.wanted.starts_with(name) => self.found.doubt = Some(Doubt::Sparse),
            _ => {}
        }
    }

    /// Reads the extensions after the entries.
    fn extensions(&mut self, entries: u32) -> Option<()> {
        self.check_end()?;
        // Shorter than the start of one is what git passes over.
        while self.bytes.len() - self.at >= 8 {
            let signature = self.take(4)?;
            let size = usize::try_from(self.number()?).ok()?;
            let next = self.at.checked_add(size)?;
            match signature {
                b"IEOT" => self.blocks(size, entries)?,
                // Without a shared index it has zeros for the name of one.
                b"link" => {
                    let base = self.take(self.hash_bytes)?;
                    if base.iter().any(|byte| *byte != 0) {
                        self.found.doubt = Some(Doubt::Split);
                    }
                }
                // Sparse directories are known by their mode.
                b"sdir" => {}
                // Git passes over what it doesn't know, if that begins with a capital.
                [b'A'..=b'Z', ..] => {}
                _ => self.found.doubt = Some(Doubt::Extension),
            }
            self.at = next;
            self.bytes.get(next..)?;
        }
        Some(())
    }

    /// Several threads of git read from where the extension at the end says that extensions begin; there is another
    /// index for them if that is not where the entries end.
    fn check_end(&self) -> Option<()> {
        let last = self.bytes.len().checked_sub(END_BYTES);
        let last = last.and_then(|start| self.bytes.get(start..));
        match last.and_then(|last| last.strip_prefix(b"EOIE\0\0\0\x18")) {
            Some([a, b, c, d, ..]) => {
                let end = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).ok()?;
                (end == self.at).then_some(())
            }
            _ => Some(()),
        }
    }

    /// Several threads of git read the entries in the blocks that this extension lists, so these are read as well.
    fn blocks(&mut self, size: usize, entries: u32) -> Option<()> {
        self.take(4)?;
        let mut left = entries;
        for _ in 0..size.checked_sub(4)? / 8 {
            let offset = usize::try_from(self.number()?).ok()?;
            let count = self.number()?;
            let next = self.at;
            left = left.checked_sub(count)?;
            self.entries(offset, count)?;
            self.at = next;
        }
        (left == 0).then_some(())
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(*self.take(4)?.first_chunk()?))
    }

    /// The number of gitformat-pack(5) for offsets: seven bits a byte, and one more for each byte that follows.
    fn variable_number(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        loop {
            let byte = *self.take(1)?.first()?;
            number = number.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
            number = number.checked_add(1)?.checked_mul(0x80)?;
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "index_tests.rs"]
mod tests;
