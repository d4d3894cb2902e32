//! Paths: taken apart, put together, resolved.

use super::{Fd, Path, sys};
use crate::body::sys::Site;

/// Where a name is, or is to be made.
pub(super) struct Place<'t> {
    pub(super) directory: Fd,
    pub(super) site: Site,
    pub(super) name: Path<'t>,
    /// Whether slashes follow it: only a directory can be meant.
    pub(super) is_directory: bool,
}

impl Place<'_> {
    /// Whether no slashes follow the name; where they do, nothing but a directory can be made.
    pub(super) fn is_plain(&self) -> bool {
        !self.is_directory
    }
}

/// Splits a path, which ends in a NUL, and finds the directory it leads to.
pub(super) fn place(base: Option<Fd>, path: &mut [u8]) -> Option<Place<'_>> {
    let (directory, name, is_directory) = split(path)?;
    let directory = match base {
        Some(base) if directory.bytes() == b"." => base,
        base => resolve(base.as_ref(), directory, sys::O_DIRECTORY).ok()?,
    };
    let site = sys::site(&directory).ok()?;
    Some(Place {
        directory,
        site,
        name,
        is_directory,
    })
}

/// Finds what a path leads to. Links of `/proc` would lead elsewhere than for the caller.
pub(super) fn resolve(base: Option<&Fd>, path: Path<'_>, flags: u64) -> sys::Result<Fd> {
    let base = base.map_or(sys::CWD, Fd::raw);
    let flags = flags | sys::O_PATH | sys::O_CLOEXEC;
    sys::open_resolving(base, path, flags, sys::RESOLVE_NO_MAGICLINKS)
}

/// The directory, the last name, and whether slashes follow it. Nothing where there is no last name: what such paths
/// lead to exists, or is refused by the kernel.
fn split(path: &mut [u8]) -> Option<(Path<'_>, Path<'_>, bool)> {
    let whole = path.len().checked_sub(1)?;
    let end = path.get(..whole)?.iter().rposition(|byte| *byte != b'/')? + 1;
    *path.get_mut(end)? = 0;
    let start = path
        .get(..end)?
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |slash| slash + 1);
    let is_directory = end < whole;
    if matches!(path.get(start..end)?, b"." | b"..") {
        return None;
    }
    let directory: &[u8] = match start {
        0 => b".\0",
        1 => b"/\0",
        _ => {
            *path.get_mut(start - 1)? = 0;
            path.get(..start)?
        }
    };
    Some((
        Path::new(directory),
        Path::new(path.get(start..=end)?),
        is_directory,
    ))
}

/// The number in a path that names a descriptor of whoever uses it.
pub(super) fn own_descriptor(path: &[u8]) -> Option<i32> {
    let path = path.strip_suffix(b"\0")?;
    let digits = path
        .strip_prefix(b"/proc/self/fd/")
        .or_else(|| path.strip_prefix(b"/proc/thread-self/fd/"))
        .or_else(|| path.strip_prefix(b"/dev/fd/"))?;
    number(digits, 10).and_then(|number| i32::try_from(number).ok())
}

/// A number in digits of a radix.
pub(super) fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let add = |value: u32, digit: &u8| {
        let digit = char::from(*digit).to_digit(radix)?;
        value.checked_mul(radix)?.checked_add(digit)
    };
    let value = digits.iter().try_fold(0, add)?;
    (!digits.is_empty()).then_some(value)
}

/// A path that is put together.
pub(super) struct Text {
    bytes: [u8; 48],
    length: usize,
}

impl Text {
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; 48],
            length: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            // One byte stays for the NUL.
            if self.length + 1 < self.bytes.len() {
                self.bytes[self.length] = *byte;
                self.length += 1;
            }
        }
    }

    pub(super) fn push_number(&mut self, mut number: u32) {
        let mut digits = [0; 10];
        let mut start = digits.len();
        loop {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[start..]);
    }

    pub(super) fn end(&self) -> Path<'_> {
        Path::new(&self.bytes[..=self.length])
    }
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
