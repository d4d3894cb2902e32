//! Globs: what patterns are written in; a type of their own, so that no path is ever one by accident.

#[cfg(all(unix, any(test, fuzzing)))]
pub(crate) mod oracle;
mod search;
mod token;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::path::{absolute, bytes, clean, is_absolute, is_clean};
use crate::text;
pub use search::Search;
use search::names;
use token::{Malformed, Token};

/// Describes the paths it matches, by the rules of a Unix kernel (POL-29..34).
///
/// | in the pattern | matches |
/// |---|---|
/// | `*` | any run of characters in one name, also none |
/// | `**` | any run of characters, `/` and newlines included, also none |
/// | `/**/` | one `/`, or any directories between two |
/// | `/**` at the end | everything beneath, but not the directory itself |
/// | `?` | one character of a name |
/// | `[a-z_]` | one character of a name that is listed or in a listed range of code points |
/// | `[!a-z_]`, `[^a-z_]` | one character of a name that is not |
/// | anything else | itself |
///
/// Nothing but `**` ever matches a `/`, and the whole path must match. No name is empty, so `/*` is not the root. A `]` directly after the opening of a class
/// is a member of it; a `[` that nothing closes stands for itself, and so does a backslash: the way to write a
/// character that has a meaning is a class, as in `/ws/app/[[]slug]`. Three stars or more are the same as two.
///
/// A character is a code point where the bytes are UTF-8, otherwise one byte. Everything is case-sensitive, and
/// composed and decomposed letters differ; on a file system that is less exact (POL-35) two spellings of one name
/// can get different answers.
///
/// ```
/// # use std::path::Path;
/// # use ringfence_policy::Glob;
/// let secret = Glob::new("/ws/**/.env*")?;
/// assert!(secret.matches(Path::new("/ws/.env")));
/// assert_eq!(secret.covers(Path::new("/ws/a/.env.d/key")), Some(Path::new("/ws/a/.env.d")));
/// # Ok::<(), ringfence_policy::GlobError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Glob {
    text: PathBuf,
    prefix: PathBuf,
    /// What follows the prefix; begins with a `/` unless there is nothing.
    tokens: Vec<Token>,
    /// The first and the last byte of the last name of whatever matches, where they are always the same.
    ends: (Option<u8>, Option<u8>),
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It is relative, not lexically clean, holds a NUL byte, or has a class that means nothing (POL-24).
    pub fn new(text: impl Into<PathBuf>) -> Result<Self, GlobError> {
        let text = text.into();
        if !is_absolute(&text) {
            return Err(GlobError::Relative { pattern: text });
        }
        if !is_clean(&text) {
            return Err(GlobError::Unclean { pattern: text });
        }
        if bytes(&text).contains(&0) {
            return Err(GlobError::Nul { pattern: text });
        }
        match token::parse(bytes(&text)) {
            Ok(tokens) => Ok(Self::split(text, tokens)),
            Err(Malformed::Range(range)) => Err(GlobError::ReversedRange { pattern: text, range }),
            Err(Malformed::Separator(class)) => Err(GlobError::SeparatorInClass { pattern: text, class }),
        }
    }

    /// The pattern as written.
    pub fn text(&self) -> &Path {
        &self.text
    }

    /// The deepest directory that every match is or lies in; a search need look nowhere else.
    ///
    /// It consists of the components before the first one with a metacharacter; of a pattern that has none it is
    /// the only path that matches.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// Whether the whole path matches.
    ///
    /// The path is cleaned lexically first; nothing matches a relative one. Takes time in proportion to the length
    /// of the path times the length of the pattern at worst (POL-31).
    pub fn matches(&self, path: &Path) -> bool {
        self.start(path).is_match()
    }

    /// The shallowest among a path and its ancestors that matches: what is beneath a match is covered too (POL-34).
    ///
    /// A path that is not lexically clean is judged in its clean form, but covered only as it stands: the answer is
    /// the path itself. Takes as long as [`Glob::matches`].
    pub fn covers<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let cleaned = clean(path)?;
        let mut search = Search::at_root(self);
        let mut beneath = names(&cleaned).count();
        let mut names = names(&cleaned);
        while !search.is_match() {
            search.advance(names.next()?);
            beneath -= 1;
        }
        match cleaned {
            Cow::Borrowed(_) => path.ancestors().nth(beneath),
            Cow::Owned(_) => Some(path),
        }
    }

    /// Whether something strictly beneath the directory could match; false lets a search skip it.
    ///
    /// The path is cleaned lexically first; nothing is beneath a relative one.
    pub fn may_match_beneath(&self, directory: &Path) -> bool {
        self.start(directory).may_match_beneath()
    }

    /// Whether a path with this last name could match, as far as its first and last byte tell: most names in a large
    /// directory need no search.
    pub fn may_match_name(&self, name: &OsStr) -> bool {
        let name = name.as_encoded_bytes();
        let (first, last) = self.ends;
        let is = |wanted: Option<u8>, byte: Option<&u8>| wanted.is_none_or(|wanted| byte == Some(&wanted));
        is(first, name.first()) && is(last, name.last())
    }

    /// Begins a search at a directory, which is cleaned lexically first; in a relative one nothing is found.
    pub fn start(&self, directory: &Path) -> Search<'_> {
        let Some(directory) = clean(directory) else {
            return Search::nowhere(self);
        };
        let mut search = Search::at_root(self);
        for name in names(&directory) {
            search.advance(name);
        }
        search
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Separates the literal components at the beginning, which need no automaton.
    fn split(text: PathBuf, mut tokens: Vec<Token>) -> Self {
        let first = tokens.iter().position(|token| !matches!(token, Token::Byte(_)));
        let separator = |first| {
            tokens[..first]
                .iter()
                .rposition(|token| *token == Token::Byte(b'/'))
        };
        let end = first.and_then(separator).unwrap_or(tokens.len());
        tokens.drain(..end);
        // So far each token was one byte, so this is the same place in the text.
        let depth = bytes(&text)[..end].iter().filter(|byte| **byte == b'/').count();
        let prefix = absolute(names(&text).take(depth));
        let ends = ends(&tokens);
        Self {
            text,
            prefix,
            tokens,
            ends,
        }
    }
}

/// The first and the last byte of the last name, where the pattern says them.
fn ends(tokens: &[Token]) -> (Option<u8>, Option<u8>) {
    let byte = |token: Option<&Token>| match token {
        Some(Token::Byte(byte)) => Some(*byte),
        _ => None,
    };
    let first = match tokens.iter().rposition(Token::passes_separator) {
        // Behind one of these a name begins; a `**` may end within a name.
        Some(at) if tokens[at] != Token::Path => byte(tokens.get(at + 1)),
        _ => None,
    };
    (first, byte(tokens.last()))
}

/// The pattern as written; with its raw bytes in hexadecimal where they are not UTF-8.
impl Serialize for Glob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        text::path(&self.text, serializer)
    }
}

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GlobError {
    /// It does not start at the root.
    #[error("the pattern {pattern:?} is not absolute")]
    Relative {
        /// The pattern as given.
        pattern: PathBuf,
    },
    /// It has an empty, `.` or `..` component or a trailing separator, which no canonical path has.
    #[error("the pattern {pattern:?} is not lexically clean")]
    Unclean {
        /// The pattern as given.
        pattern: PathBuf,
    },
    /// It holds a NUL byte, which no path has.
    #[error("the pattern {pattern:?} holds a NUL byte")]
    Nul {
        /// The pattern as given.
        pattern: PathBuf,
    },
    /// A range in a class ends before it begins (POL-30).
    #[error("the pattern {pattern:?} has the range {range:?}, which ends before it begins")]
    ReversedRange {
        /// The pattern as given.
        pattern: PathBuf,
        /// The range, such as `z-a`.
        range: String,
    },
    /// A class holds a `/`, which no class matches (POL-32).
    #[error("the pattern {pattern:?} has a `/` in the class {class:?}")]
    SeparatorInClass {
        /// The pattern as given.
        pattern: PathBuf,
        /// The class, such as `[a/b]`.
        class: String,
    },
}

impl GlobError {
    /// Stable identifier of the variant.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Relative { .. } => "glob_relative",
            Self::Unclean { .. } => "glob_unclean",
            Self::Nul { .. } => "glob_nul",
            Self::ReversedRange { .. } => "glob_reversed_range",
            Self::SeparatorInClass { .. } => "glob_separator_in_class",
        }
    }

    /// What the reader can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Relative { .. } => "begin with `/`; `/**/NAME` is NAME in any directory",
            Self::Unclean { .. } => {
                "write no empty, `.` or `..` component and no `/` at the end; what is beneath a match is covered too"
            }
            Self::Nul { .. } => "take the NUL byte out",
            Self::ReversedRange { .. } => "put the lower character of the range first",
            Self::SeparatorInClass { .. } => {
                "take the `/` out, no class matches it anyway; to mean the character `[` itself, write `[[]`"
            }
        }
    }
}

#[cfg(all(test, unix))]
#[path = "glob/oracle_tests.rs"]
mod oracle_tests;
#[cfg(test)]
#[path = "glob/tests.rs"]
mod tests;
