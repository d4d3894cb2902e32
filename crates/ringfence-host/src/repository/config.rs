//! Git's settings files (git-config(1), "SYNTAX"), without what they include.

use std::io;
use std::path::Path;

use super::files;

/// Most bytes of a file.
const MAX_BYTES: u64 = 1 << 20;

/// Most bytes of all names of a file: each repeats that of its section, which may be as long as half the file.
const MAX_NAME_BYTES: usize = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One setting, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// `section.key` or `section.subsection.key`; section and key in lower case. There may be dots in the subsection,
    /// and neither section nor dot where no section was begun.
    pub(crate) name: Vec<u8>,
    /// Nothing without `=`, which is another way to say true.
    pub(crate) value: Option<Vec<u8>>,
}

/// Reads a file; it holds no settings if it does not exist.
///
/// What git would refuse is passed over to the end of its line: git may have obeyed what is before, and a later one
/// what is after it.
///
/// # Errors
/// The file can't be read, is no regular file (`InvalidInput`), is of more than 1 MiB (`FileTooLarge`), or has names
/// of more than 16 MiB altogether (`InvalidData`).
pub(crate) fn read(path: &Path) -> io::Result<Vec<Setting>> {
    match files::read(path, MAX_BYTES)? {
        Some(text) => parse(&text),
        None => Ok(Vec::new()),
    }
}

/// Reads the text of a file, as [`read`] does.
pub(crate) fn parse(text: &[u8]) -> io::Result<Vec<Setting>> {
    let mut lexer = Lexer {
        rest: text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text),
        at_line_start: true,
    };
    let mut settings = Vec::new();
    let mut section = Vec::new();
    let mut name_bytes = 0;
    while let Some(byte) = lexer.next() {
        let understood = match byte {
            _ if is_space(byte) || byte == b'\n' => Some(()),
            b'[' => {
                let found = lexer.section();
                let understood = found.as_ref().map(|_| ());
                section = found.unwrap_or_default();
                understood
            }
            _ if byte.is_ascii_alphabetic() => lexer.setting(&section, byte).map(|setting| {
                name_bytes += setting.name.len();
                settings.push(setting);
            }),
            // A comment, or nothing that git understands.
            _ => None,
        };
        if name_bytes > MAX_NAME_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if understood.is_none() {
            lexer.skip_line();
        }
    }
    Ok(settings)
}

/// The value that counts of a setting that has one: the last.
pub(crate) fn last<'a>(settings: &'a [Setting], name: &str) -> Option<&'a [u8]> {
    let named = settings
        .iter()
        .rev()
        .find(|setting| setting.name == name.as_bytes());
    named?.value.as_deref()
}

/// Whether a setting is there and means true.
pub(crate) fn is_true(settings: &[Setting], name: &str) -> bool {
    let named = settings
        .iter()
        .rev()
        .find(|setting| setting.name == name.as_bytes());
    named.is_some_and(|setting| match setting.value.as_deref() {
        None => true,
        Some(value) => boolean(value).unwrap_or(false),
    })
}

/// What a value says that is a boolean; numbers with a unit are not taken for one.
pub(crate) fn boolean(value: &[u8]) -> Option<bool> {
    match value.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"on" => Some(true),
        b"false" | b"no" | b"off" | b"" => Some(false),
        digits if digits.iter().all(u8::is_ascii_digit) => Some(digits.iter().any(|digit| *digit != b'0')),
        _ => None,
    }
}

/// What is left of a text, read as git does.
struct Lexer<'a> {
    rest: &'a [u8],
    at_line_start: bool,
}

impl Lexer<'_> {
    /// The next byte; CR LF is one, a line end.
    fn next(&mut self) -> Option<u8> {
        let (byte, rest) = match self.rest {
            [b'\r', b'\n', rest @ ..] => (b'\n', rest),
            [byte, rest @ ..] => (*byte, rest),
            [] => return None,
        };
        self.rest = rest;
        self.at_line_start = byte == b'\n';
        Some(byte)
    }

    fn skip_line(&mut self) {
        while !self.at_line_start && self.next().is_some() {}
    }

    /// The name of a section after its `[`, with a dot at the end.
    fn section(&mut self) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        loop {
            match self.next()? {
                b']' => break,
                byte if is_space(byte) => {
                    self.subsection(&mut name)?;
                    break;
                }
                byte if is_of_key(byte) || byte == b'.' => name.push(byte.to_ascii_lowercase()),
                _ => return None,
            }
        }
        if name.is_empty() {
            return None;
        }
        name.push(b'.');
        Some(name)
    }

    /// A subsection in quotes, and the `]` after it.
    fn subsection(&mut self, name: &mut Vec<u8>) -> Option<()> {
        let first = loop {
            let byte = self.next()?;
            if !is_space(byte) {
                break byte;
            }
        };
        if first != b'"' {
            return None;
        }
        name.push(b'.');
        loop {
            match self.next()? {
                b'"' => break,
                b'\\' => name.push(self.next().filter(|byte| *byte != b'\n')?),
                b'\n' => return None,
                byte => name.push(byte),
            }
        }
        (self.next()? == b']').then_some(())
    }

    /// A setting of a section, after the first byte of its key.
    fn setting(&mut self, section: &[u8], first: u8) -> Option<Setting> {
        let mut name = section.to_vec();
        name.push(first.to_ascii_lowercase());
        let mut after = self.next();
        while let Some(byte) = after.filter(|byte| is_of_key(*byte)) {
            name.push(byte.to_ascii_lowercase());
            after = self.next();
        }
        while let Some(b' ' | b'\t') = after {
            after = self.next();
        }
        let value = match after {
            None | Some(b'\n') => None,
            Some(b'=') => Some(before_nul(self.value()?)),
            Some(_) => return None,
        };
        Some(Setting {
            name: canonical(name),
            value,
        })
    }

    /// A value, to the end of its last line.
    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        // Where the value ends if nothing but space outside quotes follows.
        let mut end = 0;
        let mut quoted = false;
        loop {
            match self.next() {
                None | Some(b'\n') if quoted => return None,
                None | Some(b'\n') => break,
                Some(byte) if is_space(byte) && !quoted => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                Some(b'#' | b';') if !quoted => {
                    self.skip_line();
                    break;
                }
                Some(b'"') => quoted = !quoted,
                Some(b'\\') => match self.next() {
                    None | Some(b'\n') => {}
                    Some(b't') => value.push(b'\t'),
                    Some(b'b') => value.push(0x08),
                    Some(b'n') => value.push(b'\n'),
                    Some(byte @ (b'\\' | b'"')) => value.push(byte),
                    Some(_) => return None,
                },
                Some(byte) => value.push(byte),
            }
            end = value.len();
        }
        value.truncate(end);
        Some(value)
    }
}

/// What git understands by a name: it ends at a NUL, which may be in a subsection, and has its last part in lower case.
fn canonical(name: Vec<u8>) -> Vec<u8> {
    let mut name = before_nul(name);
    if let Some(dot) = name.iter().rposition(|byte| *byte == b'.') {
        name[dot..].make_ascii_lowercase();
    }
    name
}

fn before_nul(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(files::before_nul(&bytes).len());
    bytes
}

/// What git takes for space within a line.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

#[cfg(test)]
#[cfg(unix)]
#[path = "config_tests.rs"]
mod tests;
