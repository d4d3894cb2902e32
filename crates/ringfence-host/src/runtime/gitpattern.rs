//! The conditions of `includeIf`; see git-config(1), "Conditional includes".

use std::path::{Path, PathBuf};

/// What the beginning of a pattern may stand for.
pub(super) struct Bases<'a> {
    /// For `~/`.
    pub(super) home: Option<&'a Path>,
    /// For `./`: where the file is that holds the condition.
    pub(super) file: Option<&'a Path>,
}

/// Whether a condition is one about the directory of the repository, and holds.
pub(super) fn holds(condition: &[u8], bases: &Bases<'_>, git_directory: impl FnOnce() -> PathBuf) -> bool {
    let sensitive = condition
        .strip_prefix(b"gitdir:")
        .map(|pattern| (pattern, Case::Matters));
    let either = || {
        condition
            .strip_prefix(b"gitdir/i:")
            .map(|pattern| (pattern, Case::Ignored))
    };
    let Some((pattern, case)) = sensitive.or_else(either) else {
        return false;
    };
    if pattern.is_empty() || pattern.iter().any(|byte| matches!(byte, b'[' | b'\\')) {
        return false;
    }
    let Some((base, pattern)) = split(pattern, bases) else {
        return false;
    };
    let written = git_directory();
    // Git tries the path with its links, too.
    let canonical = written.canonicalize().unwrap_or_else(|_| written.clone());
    [canonical, written].iter().any(|path| {
        let below = match &base {
            Some(base) => beneath(path, base, case),
            None => Some(path.as_path()),
        };
        below.is_some_and(|below| matches(&pattern, &names(below), case))
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Matters,
    Ignored,
}

/// The directory a pattern begins with, which is taken literally, and the names of the rest; none where the directory
/// is not known.
fn split(pattern: &[u8], bases: &Bases<'_>) -> Option<(Option<PathBuf>, Vec<Vec<u8>>)> {
    let real = |base: Option<&Path>| base?.canonicalize().ok();
    let (base, rest) = match pattern {
        [b'~', b'/', rest @ ..] => (Some(real(bases.home)?), rest),
        [b'.', b'/', rest @ ..] => (Some(real(bases.file)?), rest),
        rest => (None, rest),
    };
    let mut names: Vec<Vec<u8>> = rest
        .split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty())
        .map(<[u8]>::to_vec)
        .collect();
    if base.is_none() && !pattern.starts_with(b"/") {
        names.insert(0, ANY.to_vec());
    }
    if pattern.ends_with(b"/") {
        names.push(ANY.to_vec());
    }
    // At the end it stands for what is in a directory, not for the directory too.
    if names.last().is_some_and(|last| last == ANY) {
        names.push(b"*".to_vec());
    }
    Some((base, names))
}

/// Stands for any number of names.
const ANY: &[u8] = b"**";

/// The part of a path below a directory.
fn beneath<'a>(path: &'a Path, base: &Path, case: Case) -> Option<&'a Path> {
    let mut rest = path.components();
    for name in base.components() {
        let (own, other) = (rest.next()?, name);
        let (own, other) = (own.as_os_str(), other.as_os_str());
        let same = own == other || case == Case::Ignored && own.eq_ignore_ascii_case(other);
        if !same {
            return None;
        }
    }
    Some(rest.as_path())
}

fn names(path: &Path) -> Vec<&[u8]> {
    let names = path
        .components()
        .filter(|part| matches!(part, std::path::Component::Normal(_)));
    names.map(|part| part.as_os_str().as_encoded_bytes()).collect()
}

fn matches(pattern: &[Vec<u8>], path: &[&[u8]], case: Case) -> bool {
    let one = |index: usize, name: usize| name_matches(&pattern[index], path[name], case);
    wild(pattern.len(), path.len(), |index| pattern[index] == ANY, one)
}

fn name_matches(pattern: &[u8], name: &[u8], case: Case) -> bool {
    let same = |a: u8, b: u8| a == b || case == Case::Ignored && a.eq_ignore_ascii_case(&b);
    let one = |index: usize, byte: usize| pattern[index] == b'?' || same(pattern[index], name[byte]);
    wild(pattern.len(), name.len(), |index| pattern[index] == b'*', one)
}

/// Matches a sequence against a pattern in which some items stand for any number of others; goes back to the last
/// of them only, which is enough.
fn wild(
    pattern: usize,
    text: usize,
    any: impl Fn(usize) -> bool,
    one: impl Fn(usize, usize) -> bool,
) -> bool {
    let (mut in_pattern, mut in_text) = (0, 0);
    let mut retry = None;
    while in_text < text {
        if in_pattern < pattern && any(in_pattern) {
            in_pattern += 1;
            retry = Some((in_pattern, in_text));
        } else if in_pattern < pattern && one(in_pattern, in_text) {
            in_pattern += 1;
            in_text += 1;
        } else if let Some((after, from)) = retry {
            (in_pattern, in_text) = (after, from + 1);
            retry = Some((after, from + 1));
        } else {
            return false;
        }
    }
    (in_pattern..pattern).all(any)
}

#[cfg(test)]
#[cfg(unix)]
#[path = "gitpattern_tests.rs"]
mod tests;
