//! The text of `/proc/net/unix`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::Bound;

/// Takes the bound paths out of the table; see `unix_seq_show` in the kernel's net/unix/af_unix.c.
pub(crate) fn parse(table: &[u8]) -> Bound {
    let mut names = names(table);
    names.sort_unstable();
    let (mut absolute, relative): (Vec<_>, Vec<_>) =
        names.into_iter().partition(|name| name.starts_with(b"/"));
    // Two relative ones with the same name are two sockets.
    absolute.dedup();
    let paths = |names: Vec<&[u8]>| {
        names
            .into_iter()
            .map(|name| OsStr::from_bytes(name).into())
            .collect()
    };
    Bound {
        absolute: paths(absolute),
        relative: paths(relative),
    }
}

fn names(table: &[u8]) -> Vec<&[u8]> {
    let mut names = Vec::new();
    // Where the name of the latest record starts, if it has one that names a file.
    let mut open: Option<usize> = None;
    let mut start = 0;
    for line in table.split_inclusive(|byte| *byte == b'\n') {
        if let Some(record) = record(line) {
            close(&mut names, table, open.take(), start);
            open = match record {
                Record::Named(offset) if line[offset] != b'@' => Some(start + offset),
                Record::Named(_) | Record::Unnamed => None,
            };
        }
        start += line.len();
    }
    close(&mut names, table, open, start);
    names
}

/// Ends a name at the newline before `end`.
fn close<'a>(names: &mut Vec<&'a [u8]>, table: &'a [u8], open: Option<usize>, end: usize) {
    if let Some(from) = open {
        let name = &table[from..end];
        names.push(name.strip_suffix(b"\n").unwrap_or(name));
    }
}

enum Record {
    /// Where in the line the name starts.
    Named(usize),
    Unnamed,
}

/// Recognises `0000000012345678: 00000002 00000000 00010000 0001 01 12345 /name`, name and its blank
/// optional.
fn record(line: &[u8]) -> Option<Record> {
    let mut at = line.iter().position(|byte| *byte == b':')? + 1;
    if at == 1 || line[..at].contains(&b' ') {
        return None;
    }
    // Count of references, protocol, flags, type and state have fixed widths.
    for width in [8, 8, 8, 4, 2] {
        let field = line.get(at..at + 1 + width)?;
        let (blank, digits) = field.split_first()?;
        if *blank != b' ' || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        at += field.len();
    }
    // The inode number is padded with blanks on the left.
    let blanks = line[at..].iter().take_while(|byte| **byte == b' ').count();
    at += blanks;
    let digits = line[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    at += digits;
    if blanks == 0 || digits == 0 {
        return None;
    }
    match line.get(at) {
        None | Some(b'\n') => Some(Record::Unnamed),
        // A blank at the very end would be a name without a byte, which nobody can bind.
        Some(b' ') if at + 1 < line.len() => Some(Record::Named(at + 1)),
        Some(_) => None,
    }
}
