//! Texts of the system's, which need not be UTF-8, taken apart.

use std::ffi::{OsStr, OsString};

/// What follows a beginning.
pub(crate) fn strip_prefix(text: &OsStr, prefix: &str) -> Option<OsString> {
    bytes(text)?.strip_prefix(prefix.as_bytes()).map(from_bytes)
}

/// What stands before an end.
pub(crate) fn strip_suffix(text: &OsStr, suffix: &str) -> Option<OsString> {
    bytes(text)?.strip_suffix(suffix.as_bytes()).map(from_bytes)
}

/// What stands before and after the first `=`.
pub(crate) fn split_at_equals(text: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = bytes(text)?;
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let (name, value) = bytes.split_at(at);
    Some((from_bytes(name), from_bytes(&value[1..])))
}

/// A path or name as one word of a POSIX shell.
pub(crate) fn shell_word(text: &OsStr) -> String {
    let text = text.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Whether one name is spelled like another.
pub(crate) fn is_near(name: &str, other: &str) -> bool {
    /// Below it names have little more in common than single letters.
    const LIKENESS: f64 = 0.8;
    strsim::jaro_winkler(name, other) > LIKENESS
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have texts without bytes")]
fn bytes(text: &OsStr) -> Option<&[u8]> {
    use std::os::unix::ffi::OsStrExt;
    Some(text.as_bytes())
}

#[cfg(unix)]
fn from_bytes(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt;
    OsStr::from_bytes(bytes).to_owned()
}

#[cfg(not(unix))]
fn bytes(text: &OsStr) -> Option<&[u8]> {
    text.to_str().map(str::as_bytes)
}

#[cfg(not(unix))]
fn from_bytes(bytes: &[u8]) -> OsString {
    // Cut at ASCII characters, a part of UTF-8 is UTF-8.
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn texts_that_are_not_utf_8_are_taken_apart_too() {
        let text = OsStr::from_bytes(b"glob:\xff=\xfe=?");
        assert_eq!(
            strip_prefix(text, "glob:"),
            Some(OsStr::from_bytes(b"\xff=\xfe=?").to_owned())
        );
        assert_eq!(strip_prefix(text, "blob:"), None);
        let (name, value) = split_at_equals(text).unwrap();
        assert_eq!(
            (name.as_bytes(), value.as_bytes()),
            (&b"glob:\xff"[..], &b"\xfe=?"[..])
        );
        assert_eq!(
            strip_suffix(&value, "?"),
            Some(OsStr::from_bytes(b"\xfe=").to_owned())
        );
    }

    #[test]
    fn names_are_near_that_were_meant() {
        assert!(is_near("pyhton", "python") && is_near("timeot", "timeout") && is_near("tim", "timeout"));
        assert!(!is_near("nope", "unprotect") && !is_near("ruby", "rust"));
    }

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, word) in [
            (".git/config", ".git/config"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(shell_word(OsStr::new(path)), word);
        }
    }
}
