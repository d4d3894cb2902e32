//! What a pattern matches, straight from the definition and without regard to time.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::token::{Character, spell};

const SEPARATOR: Character = Character::Scalar('/');
const STAR: Character = Character::Scalar('*');

/// Whether all of the path matches all of the pattern.
pub(crate) fn oracle(pattern: &[Character], path: &[Character]) -> bool {
    let suffixes = || (0..=path.len()).map(|skipped| path.split_at(skipped));
    match pattern {
        [] => path.is_empty(),
        [SEPARATOR, STAR, STAR, STAR, rest @ ..] => oracle(&[&[SEPARATOR, STAR, STAR], rest].concat(), path),
        [SEPARATOR, STAR, STAR, SEPARATOR, rest @ ..] => {
            let beneath = [&[SEPARATOR], rest].concat();
            let within = [&[STAR, STAR], beneath.as_slice()].concat();
            path.split_first().is_some_and(|(first, after)| {
                *first == SEPARATOR && (oracle(&beneath, path) || oracle(&within, after))
            })
        }
        [STAR, STAR, STAR, ..] => oracle(&pattern[1..], path),
        [STAR, STAR, rest @ ..] => suffixes().any(|(_, suffix)| oracle(rest, suffix)),
        [STAR, rest @ ..] => {
            suffixes().any(|(skipped, suffix)| !skipped.contains(&SEPARATOR) && oracle(rest, suffix))
        }
        [first, rest @ ..] => path
            .split_first()
            .is_some_and(|(next, after)| match (first, bracket(rest)) {
                (Character::Scalar('?'), _) => *next != SEPARATOR && oracle(rest, after),
                (Character::Scalar('['), Some((class, rest))) => {
                    *next != SEPARATOR && member(class, *next) && oracle(rest, after)
                }
                _ => first == next && oracle(rest, after),
            }),
    }
}

/// The characters of a path. The root has no name, not an empty one, so it is no characters at all.
pub(crate) fn characters(path: &Path) -> Vec<Character> {
    let text = path.as_os_str().as_bytes();
    let text = text.strip_suffix(b"/").unwrap_or(text);
    spell(text).filter_map(|(_, character)| character).collect()
}

/// The inside of a class whose `[` is gone, and what follows it.
fn bracket(text: &[Character]) -> Option<(&[Character], &[Character])> {
    let is_negated = matches!(text.first(), Some(Character::Scalar('!' | '^')));
    let fixed = 1 + usize::from(is_negated);
    let end = (fixed..text.len()).find(|end| text[*end] == Character::Scalar(']'))?;
    Some((&text[..end], &text[end + 1..]))
}

fn member(class: &[Character], next: Character) -> bool {
    match class {
        [Character::Scalar('!' | '^'), class @ ..] => !listed(class, next),
        class => listed(class, next),
    }
}

fn listed(class: &[Character], next: Character) -> bool {
    match class {
        [first, Character::Scalar('-'), last, rest @ ..] => {
            (*first..=*last).contains(&next) || listed(rest, next)
        }
        [first, rest @ ..] => *first == next || listed(rest, next),
        [] => false,
    }
}
