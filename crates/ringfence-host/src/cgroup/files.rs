//! Control files: numbers and flat tables of `key value`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use super::ScopeError;

/// What reads as `max`: more than any machine has.
const UNLIMITED: u64 = i64::MAX.unsigned_abs();

/// Whether the effective user may write to a file or directory; a read-only mount says `EROFS`.
pub(super) fn may_write(path: &Path) -> Result<(), Errno> {
    accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS)
}

/// Writes a value in one piece, as control files want it; the file must exist.
pub(super) fn write(file: &Path, value: &str) -> Result<(), ScopeError> {
    let written = File::options()
        .write(true)
        .open(file)
        .and_then(|mut open| open.write_all(value.as_bytes()));
    written.map_err(|error| ScopeError::Write {
        file: file.to_owned(),
        value: value.to_owned(),
        errno: errno(&error),
    })
}

/// Writes a value to a file that older kernels lack.
pub(super) fn write_if_there(file: &Path, value: &str) -> Result<Presence, ScopeError> {
    match write(file, value) {
        Err(error) if error.errno() == Some(Errno::NOENT.raw_os_error()) => Ok(Presence::Absent),
        written => written.map(|()| Presence::There),
    }
}

/// Whether the kernel has a control file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    There,
    Absent,
}

/// Writes a limit and reads it back (LIN-112); without one writes `unlimited`.
pub(super) fn limit(file: PathBuf, limit: Option<u64>, unlimited: &str) -> Result<(), ScopeError> {
    let Some(asked) = limit else {
        return write(&file, unlimited);
    };
    write(&file, &asked.to_string())?;
    // The kernel rounds down to pages.
    match number(&file) {
        Some(found) if found <= asked => Ok(()),
        Some(found) => Err(ScopeError::NotTaken { file, asked, found }),
        None => read(&file).map(drop),
    }
}

/// The text of a file.
pub(super) fn read(file: &Path) -> Result<String, ScopeError> {
    fs::read_to_string(file).map_err(|error| unreadable(file, &error))
}

/// The text of a file, with replacement characters for what is no text.
/// A file that holds one number.
pub(super) fn number(file: &Path) -> Option<u64> {
    match fs::read_to_string(file).ok()?.trim_end() {
        "max" => Some(UNLIMITED),
        digits => digits.parse().ok(),
    }
}

/// A number of a file with lines of `key value`.
pub(super) fn field(file: &Path, key: &str) -> Option<u64> {
    field_of(&fs::read_to_string(file).ok()?, key)
}

/// A number of a text with lines of `key value`.
pub(super) fn field_of(text: &str, key: &str) -> Option<u64> {
    let value = |line: &str| line.strip_prefix(key)?.strip_prefix(' ')?.parse().ok();
    text.lines().find_map(value)
}

/// Whether a file with a list of words has this one.
pub(super) fn lists(file: &Path, word: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|listed| listed == word))
}

pub(super) fn unreadable(file: &Path, error: &io::Error) -> ScopeError {
    ScopeError::Read {
        file: file.to_owned(),
        errno: errno(error),
    }
}

pub(super) fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(Errno::IO.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn lin_112_a_limit_that_the_file_does_not_keep_is_an_error() {
        let tree = Tree::new();
        let file = tree.file("pids.max");
        limit(file.clone(), Some(20), "max").unwrap();
        assert_eq!(number(&file), Some(20));
        let error = limit("/proc/sys/kernel/pid_max".into(), Some(0), "max").unwrap_err();
        assert_eq!(error.code(), "cgroup_write");
        let missing = limit(tree.path("memory.max"), Some(20), "max").unwrap_err();
        assert_eq!(missing.errno(), Some(Errno::NOENT.raw_os_error()));
        assert!(!tree.path("memory.max").exists());
    }

    #[test]
    fn tables_are_searched_by_whole_keys() {
        let text = "low 0\noom 3\noom_kill 12\noom_group_kill\n";
        assert_eq!(field_of(text, "oom"), Some(3));
        assert_eq!(field_of(text, "oom_kill"), Some(12));
        assert_eq!(field_of(text, "oom_group_kill"), None);
        assert_eq!(field_of(text, "oo"), None);
    }
}
