//! The files of a repository that name others.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// More than a file has that holds one path.
const MAX_PATH_BYTES: u64 = 65_536;

/// Reads a regular file, following links; nothing if there is none.
///
/// # Errors
/// Anything else than a regular file is `InvalidInput`, one of more than `limit` bytes `FileTooLarge`.
pub(super) fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path) {
        Err(error) if is_absence(&error) => return Ok(None),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(bytes))
}

/// The path that a file consists of, after `prefix`, as git reads it; nothing if there is no file.
///
/// It is relative to the directory of the file. Ends of lines at the end don't count, a NUL ends it earlier.
///
/// # Errors
/// As [`read`]; `InvalidData` without the prefix or without a path.
pub(super) fn read_path(file: &Path, prefix: &[u8]) -> io::Result<Option<PathBuf>> {
    let Some(bytes) = read(file, MAX_PATH_BYTES)? else {
        return Ok(None);
    };
    let line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let length = bytes
        .iter()
        .rposition(|byte| !line_end(byte))
        .map_or(0, |last| last + 1);
    let path = bytes[..length].strip_prefix(prefix).map(before_nul);
    match path {
        Some(path) if !path.is_empty() => {
            let directory = file.parent().unwrap_or(Path::new(""));
            Ok(Some(directory.join(to_path(path))))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The directory whose settings, hooks, objects and refs this one uses: itself, unless its `commondir` names another.
///
/// # Errors
/// The file can't be read, is no regular file (`InvalidInput`) or of more than 64 KiB (`FileTooLarge`).
pub fn common_directory(git_directory: &Path) -> io::Result<PathBuf> {
    let named = read_path(&git_directory.join("commondir"), b"")?;
    Ok(named.unwrap_or_else(|| git_directory.to_owned()))
}

/// What git sees of bytes that it takes for a C string.
pub(super) fn before_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

#[cfg(unix)]
pub(super) fn to_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
pub(super) fn to_path(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Whether nothing is there, or nothing can be there.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Looks before it opens, since opening a device can have effects; and again, since it may be another one by then.
fn open(path: &Path) -> io::Result<File> {
    let irregular = || io::Error::from(io::ErrorKind::InvalidInput);
    if !path.metadata()?.is_file() {
        return Err(irregular());
    }
    let file = open_without_waiting(path)?;
    if !file.metadata()?.is_file() {
        return Err(irregular());
    }
    Ok(file)
}

#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}
