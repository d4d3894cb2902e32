//! How `/proc/PID/mountinfo` writes paths (`proc_pid_mountinfo(5)`).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The path that a field stands for: blank, tab, newline and backslash are written as `\` and three octal digits.
#[must_use]
pub fn path(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..3).filter(|_| *first == b'\\');
        let octal = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &more[3..] } else { more };
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::path;

    #[test]
    fn only_a_backslash_with_three_octal_digits_stands_for_a_byte() {
        assert_eq!(path(b"/a\\040b\\134c\\0"), Path::new("/a b\\c\\0"));
    }
}
