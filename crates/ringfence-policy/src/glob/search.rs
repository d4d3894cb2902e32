//! The automaton of a pattern, moved one name at a time.

use std::ffi::OsStr;
use std::path::{Component, Path};

use crate::glob::Glob;
use crate::glob::token::{Character, Move, Token, spell};
use crate::path::bytes;

/// Where a search for a pattern stands: at one directory or file, with all that is known about it.
///
/// A walker keeps one for each directory and enters every name from it, so that a common ancestor is looked at only
/// once. Entering a name takes time in proportion to its length times that of the pattern at worst, and allocates
/// nothing if the pattern has fewer than 64 bytes beyond its [prefix](Glob::prefix).
#[derive(Clone, Debug)]
pub struct Search<'p> {
    pattern: &'p Glob,
    /// What is left of the prefix; the automaton starts behind it.
    ahead: &'p [u8],
    positions: Positions,
}

impl<'p> Search<'p> {
    /// Goes to one name in this directory, a single component as the directory lists it.
    #[must_use]
    pub fn enter(&self, name: &OsStr) -> Self {
        let mut search = self.clone();
        search.advance(name);
        search
    }

    /// Whether this very path matches; what is beneath it is then covered too (POL-34).
    pub fn is_match(&self) -> bool {
        self.ahead.is_empty() && self.positions.contains(self.pattern.tokens().len())
    }

    /// Whether something strictly beneath could match; false means that nothing ever will.
    pub fn may_match_beneath(&self) -> bool {
        let open = |at| self.pattern.tokens().get(at).is_some_and(Token::passes_separator);
        !self.ahead.is_empty() || self.positions.iter().any(open)
    }

    pub(crate) fn at_root(pattern: &'p Glob) -> Self {
        let prefix = bytes(pattern.prefix());
        Self {
            pattern,
            ahead: prefix.strip_suffix(b"/").unwrap_or(prefix),
            positions: Positions::first(pattern.tokens()),
        }
    }

    pub(crate) fn nowhere(pattern: &'p Glob) -> Self {
        Self {
            pattern,
            ahead: &[],
            positions: Positions::default(),
        }
    }

    /// As [`Search::enter`], in place.
    pub(crate) fn advance(&mut self, name: &OsStr) {
        let name = name.as_encoded_bytes();
        if self.ahead.is_empty() {
            let tokens = self.pattern.tokens();
            self.positions.step(tokens, b'/', Some(Character::Scalar('/')));
            for (byte, character) in spell(name) {
                // Most names fail early, and then nothing changes before the next separator.
                if self
                    .positions
                    .iter()
                    .all(|at| tokens.get(at) == Some(&Token::Directories))
                {
                    break;
                }
                self.positions.step(tokens, byte, character);
            }
            return;
        }
        let rest = self
            .ahead
            .strip_prefix(b"/")
            .and_then(|ahead| ahead.strip_prefix(name));
        match rest {
            Some(rest) if rest.is_empty() || rest.starts_with(b"/") => self.ahead = rest,
            _ => *self = Self::nowhere(self.pattern),
        }
    }
}

/// The names in a clean absolute path, from the root down.
pub(crate) fn names(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    })
}

/// The set of places in a list of tokens where the automaton may be; behind the last token everything has matched.
#[derive(Clone, Debug, Default)]
struct Positions {
    /// The first 64, so that short patterns need no allocation.
    low: u64,
    high: Vec<u64>,
}

impl Positions {
    /// The set that holds the place before the first token, with room for all.
    fn first(tokens: &[Token]) -> Self {
        Self {
            low: 1,
            high: vec![0; tokens.len() / 64],
        }
    }

    fn contains(&self, at: usize) -> bool {
        self.word(at / 64) & 1 << (at % 64) != 0
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        (0..=self.high.len()).flat_map(|index| members(self.word(index)).map(move |bit| index * 64 + bit))
    }

    /// Consumes one byte; the character is given with the last byte of its spelling.
    ///
    /// Works in place, from the end: no move leads backwards, so a word is not read again once others add to it.
    fn step(&mut self, tokens: &[Token], byte: u8, character: Option<Character>) {
        for index in (0..=self.high.len()).rev() {
            let word = std::mem::take(self.word_mut(index));
            for bit in members(word) {
                let at = index * 64 + bit;
                match tokens.get(at).and_then(|token| token.consume(byte, character)) {
                    Some(Move::Stay) => self.reach(tokens, at, byte),
                    Some(Move::On) => self.reach(tokens, at + 1, byte),
                    None => {}
                }
            }
        }
    }

    /// Adds a place and those behind it that can be reached without another byte.
    fn reach(&mut self, tokens: &[Token], mut at: usize, last: u8) {
        while !self.contains(at) {
            *self.word_mut(at / 64) |= 1 << (at % 64);
            if tokens.get(at).is_some_and(|token| token.may_be_skipped(last)) {
                at += 1;
            }
        }
    }

    fn word(&self, index: usize) -> u64 {
        match index.checked_sub(1) {
            Some(index) => self.high.get(index).copied().unwrap_or_default(),
            None => self.low,
        }
    }

    fn word_mut(&mut self, index: usize) -> &mut u64 {
        match index.checked_sub(1) {
            Some(index) => &mut self.high[index],
            None => &mut self.low,
        }
    }
}

/// The bits that are set.
fn members(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.checked_ilog2()?;
        word ^= 1 << bit;
        Some(bit as usize)
    })
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
