//! What is noted while a file is read.

use std::cell::RefCell;
use std::collections::HashMap;

use ringfence_policy::Field;

use super::problem::{FilePosition, FileProblem};
use super::reason::FileReason;

/// Where in a file the fields of a profile are: the dotted path and the position of each.
pub(super) type Places = HashMap<Field, (String, FilePosition)>;

/// What reading a text finds out besides the values. Places in the text are offsets in bytes until the end.
#[derive(Default)]
pub(super) struct Notes {
    problems: RefCell<Vec<(Option<usize>, String, FileReason)>>,
    places: RefCell<Vec<(usize, String, Field)>>,
}

impl Notes {
    /// Notes what is wrong with a field, and where if the text says it.
    pub(super) fn problem(&self, offset: Option<usize>, field: &str, reason: FileReason) {
        self.problems
            .borrow_mut()
            .push((offset, field.to_owned(), reason));
    }

    /// Notes where a field of the profile comes from.
    pub(super) fn place(&self, offset: usize, field: &str, gives: Field) {
        self.places.borrow_mut().push((offset, field.to_owned(), gives));
    }

    /// The problems in the order of the text they are about, and the places.
    pub(super) fn finish(self, text: &str) -> (Vec<FileProblem>, Places) {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|(offset, ..)| *offset);
        let mut positions = Positions::of(text.as_bytes());
        let problems = problems.into_iter().map(|(offset, field, reason)| FileProblem {
            position: offset.map(|offset| positions.at(offset)),
            field,
            reason,
        });
        let problems = problems.collect();
        let mut places = self.places.into_inner();
        places.sort_by_key(|(offset, ..)| *offset);
        let mut positions = Positions::of(text.as_bytes());
        let places = places
            .into_iter()
            .map(|(offset, field, gives)| (gives, (field, positions.at(offset))));
        (problems, places.collect())
    }
}

/// Turns ascending offsets in a text into positions, in one pass over it.
pub(super) struct Positions<'f> {
    rest: &'f [u8],
    offset: usize,
    position: FilePosition,
}

impl<'f> Positions<'f> {
    pub(super) const fn of(text: &'f [u8]) -> Self {
        Self {
            rest: text,
            offset: 0,
            position: FilePosition { line: 1, column: 1 },
        }
    }

    /// The position of a byte that is not before the last one asked for.
    pub(super) fn at(&mut self, offset: usize) -> FilePosition {
        let step = offset.saturating_sub(self.offset).min(self.rest.len());
        let (passed, rest) = self.rest.split_at(step);
        for byte in passed {
            let begins_character = byte & 0xc0 != 0x80;
            if *byte == b'\n' {
                self.position.line += 1;
                self.position.column = 1;
            } else if begins_character {
                self.position.column += 1;
            }
        }
        self.rest = rest;
        self.offset += step;
        self.position
    }
}
