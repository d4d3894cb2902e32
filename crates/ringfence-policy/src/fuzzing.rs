//! Patterns and paths of any bytes: what matches is what the definition says.

#![expect(clippy::panic, reason = "how a fuzz target says what it found")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::glob::oracle::{characters, oracle};
use crate::path::is_clean;
use crate::{Glob, Pattern};

/// The definition takes exponential time.
const LONGEST: usize = 24;
const MOST_STARS: usize = 6;

/// A pattern and the paths it is tried on, with a NUL between two.
///
/// # Panics
/// The automaton and the definition differ.
pub fn patterns(data: &[u8]) {
    let mut parts = data
        .split(|byte| *byte == 0)
        .map(|part| Path::new(OsStr::from_bytes(part)));
    let Some(text) = parts.next() else { return };
    let Ok(glob) = Glob::new(text) else {
        return;
    };
    // As a guard writes it: without the separator at the beginning, beneath a directory whose name is literal.
    let base = Path::new("/[a]*");
    let bytes = text.as_os_str().as_bytes();
    let guard = Pattern::new(base, OsStr::from_bytes(&bytes[1..]));
    let guard =
        guard.unwrap_or_else(|error| panic!("{text:?} is one, and beneath a directory it is not: {error}"));
    // A stray byte of a pattern may match within a character, of which the definition knows nothing.
    let is_defined =
        text.to_str().is_some() && bytes.iter().filter(|byte| **byte == b'*').count() <= MOST_STARS;
    let is_short = is_defined && bytes.len() <= LONGEST;
    for path in parts.filter(|path| is_clean(path)).take(4) {
        let found = glob.matches(path);
        assert!(!found || glob.may_match_name(path.file_name().unwrap_or_default()));
        if is_short && path.as_os_str().len() <= LONGEST {
            assert_eq!(
                found,
                oracle(&characters(text), &characters(path)),
                "{text:?} on {path:?}"
            );
        }
        let lineage: Vec<&Path> = path.ancestors().collect();
        let covered = lineage.iter().rev().find(|path| glob.matches(path)).copied();
        assert_eq!(glob.covers(path), covered, "{text:?} on {path:?}");
        assert!(!found || path.starts_with(glob.prefix()), "{text:?} on {path:?}");
        for directory in &lineage[1..] {
            assert!(
                !found || glob.may_match_beneath(directory),
                "{text:?} on {path:?} from {directory:?}"
            );
            let names = path.strip_prefix(directory).unwrap_or(path);
            let search = names
                .iter()
                .fold(glob.start(directory), |search, name| search.enter(name));
            assert_eq!(
                search.is_match(),
                found,
                "{text:?} on {path:?} from {directory:?}"
            );
        }
        let beneath = base.join(path.strip_prefix("/").unwrap_or(path));
        assert_eq!(
            guard.matches(&beneath),
            found,
            "{text:?} on {path:?} beneath {base:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    #[test]
    fn known_patterns_are_as_defined() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/patterns");
        assert_ne!(fs::read_dir(corpus).unwrap().count(), 0);
        for entry in fs::read_dir(corpus).unwrap() {
            super::patterns(&fs::read(entry.unwrap().path()).unwrap());
        }
    }

    proptest! {
        #[test]
        fn any_patterns_are_as_defined(pattern in "(/[]ab*?!^\\[-é\n.]{1,6}){1,3}", paths in "(\0(/[abé\n\\[.]{1,3}){1,3}){1,4}") {
            super::patterns(format!("{pattern}{paths}").as_bytes());
        }
    }
}
