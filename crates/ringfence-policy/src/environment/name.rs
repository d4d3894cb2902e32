//! Names of variables: when two are the same, and how they are written in a profile.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;

use super::Never;
use crate::text;

/// Whether names that differ in case only name the same variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameCase {
    /// They name different variables: every system but Windows.
    Sensitive,
    /// They name the same variable: Windows (ENV-10, EXE-27).
    Insensitive,
}

impl NameCase {
    /// What holds on the system this library was built for.
    pub const NATIVE: Self = if cfg!(windows) {
        Self::Insensitive
    } else {
        Self::Sensitive
    };

    /// The form of a name that is equal for all spellings of it: upper case where case does not matter.
    ///
    /// Letters beyond ASCII count too, unless their upper case has more than one character or is in ASCII.
    pub fn key(self, name: &OsStr) -> Cow<'_, OsStr> {
        match (self, name.to_str()) {
            (Self::Sensitive, _) => Cow::Borrowed(name),
            (Self::Insensitive, Some(text)) => {
                Cow::Owned(text.chars().map(upper_case).collect::<String>().into())
            }
            (Self::Insensitive, None) => Cow::Owned(name.to_ascii_uppercase()),
        }
    }

    /// Whether two spellings name the same variable.
    pub fn same(self, one: &OsStr, other: &OsStr) -> bool {
        self.key(one) == self.key(other)
    }
}

impl Default for NameCase {
    fn default() -> Self {
        Self::NATIVE
    }
}

/// The name of a variable, or how a family of names begins.
///
/// It is written as `NAME` or `PREFIX_*`. A name with a `*` of its own, or one that is not UTF-8, can be built
/// but not written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VariableName {
    /// This one name.
    Is(#[serde(serialize_with = "text::path")] OsString),
    /// Every name that begins like this, whatever follows.
    StartsWith(#[serde(serialize_with = "text::path")] OsString),
}

impl VariableName {
    /// The name, or its beginning.
    pub(super) fn text(&self) -> &OsStr {
        match self {
            Self::Is(text) | Self::StartsWith(text) => text,
        }
    }

    pub(super) fn folded(self, case: NameCase) -> Self {
        match self {
            Self::Is(name) => Self::Is(case.key(&name).into_owned()),
            Self::StartsWith(start) => Self::StartsWith(case.key(&start).into_owned()),
        }
    }

    /// Whether it covers a name in the same [key form](NameCase::key) as itself.
    pub(super) fn matches(&self, key: &OsStr) -> bool {
        match self {
            Self::Is(name) => name == key,
            Self::StartsWith(start) => starts_with(key, start),
        }
    }

    /// What both let pass: the narrower one, if the other covers it.
    pub(super) fn meet(&self, other: &Self) -> Option<Self> {
        let narrower = match (self, other) {
            (Self::Is(one), Self::Is(another)) if one == another => self,
            (Self::StartsWith(one), Self::StartsWith(another)) if starts_with(one, another) => self,
            (Self::StartsWith(one), Self::StartsWith(another)) if starts_with(another, one) => other,
            // A beginning lets no name of the never-list pass; the narrower rule alone would.
            (narrow @ Self::Is(name), Self::StartsWith(start))
            | (Self::StartsWith(start), narrow @ Self::Is(name))
                if starts_with(name, start) && Never::of(name).is_none() =>
            {
                narrow
            }
            _ => return None,
        };
        Some(narrower.clone())
    }
}

impl FromStr for VariableName {
    type Err = InvalidVariable;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (start, is_family) = match text.strip_suffix('*') {
            Some(start) => (start, true),
            None => (text, false),
        };
        match start {
            "" if is_family => return Err(InvalidVariable::Everything),
            _ if start.contains('*') => return Err(InvalidVariable::Star { name: text.into() }),
            _ => check_name(OsStr::new(start))?,
        }
        Ok(if is_family {
            Self::StartsWith(start.into())
        } else {
            Self::Is(start.into())
        })
    }
}

/// Why a text is not the name of a variable, or not its value; no variant holds a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidVariable {
    /// The name has no characters.
    #[error("the name of a variable is empty")]
    Empty,
    /// A lone `*`.
    #[error("`*` stands for every variable")]
    Everything,
    /// A `*` that is not the last character.
    #[error("{name:?} has a `*` before its end")]
    Star {
        /// The name as written.
        name: String,
    },
    /// The name holds a `=`.
    #[error("the name {name:?} is followed by `=`")]
    Equals {
        /// What is before the `=`; the rest may be a value.
        name: String,
    },
    /// The name holds a NUL byte.
    #[error("the name {name:?} has a NUL byte")]
    Nul {
        /// The name as given.
        name: OsString,
    },
    /// The value holds a NUL byte.
    #[error("the value of {name:?} has a NUL byte")]
    ValueNul {
        /// Name of the variable.
        name: OsString,
    },
}

impl InvalidVariable {
    /// Stable identifier of the variant.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "variable_empty",
            Self::Everything => "variable_everything",
            Self::Star { .. } => "variable_star",
            Self::Equals { .. } => "variable_equals",
            Self::Nul { .. } => "variable_nul",
            Self::ValueNul { .. } => "variable_value_nul",
        }
    }

    /// What the reader can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "name a variable, such as CARGO_HOME",
            Self::Everything => "name each variable, or how the names begin, such as CARGO_*",
            Self::Star { .. } => "end the beginning of a family of names with the only *, such as CARGO_*",
            Self::Equals { .. } => "give the name alone; a value is given by setting the variable",
            Self::Nul { .. } | Self::ValueNul { .. } => "remove the NUL byte; no variable can hold one",
        }
    }
}

/// Whether a variable can have this name (ENV-8).
pub(super) fn is_usable(name: &OsStr) -> bool {
    check_name(name).is_ok()
}

/// Says what keeps a variable from having this name.
pub(super) fn check_name(name: &OsStr) -> Result<(), InvalidVariable> {
    let bytes = name.as_encoded_bytes();
    if bytes.is_empty() {
        return Err(InvalidVariable::Empty);
    }
    if let Some(end) = bytes.iter().position(|byte| *byte == b'=') {
        let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
        return Err(InvalidVariable::Equals { name });
    }
    if bytes.contains(&0) {
        return Err(InvalidVariable::Nul { name: name.into() });
    }
    Ok(())
}

/// Says what keeps a variable from having this value.
pub(super) fn check_value(name: &OsStr, value: &OsStr) -> Result<(), InvalidVariable> {
    if value.as_encoded_bytes().contains(&0) {
        return Err(InvalidVariable::ValueNul { name: name.into() });
    }
    Ok(())
}

/// Whether a name fits a row of a table, where a `*` at one end of the row stands for anything.
pub(super) fn fits(row: &[u8], key: &[u8]) -> bool {
    match (row.strip_prefix(b"*"), row.strip_suffix(b"*")) {
        (Some(end), _) => key.ends_with(end),
        (None, Some(start)) => key.starts_with(start),
        (None, None) => key == row,
    }
}

fn starts_with(name: &OsStr, start: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(start.as_encoded_bytes())
}

/// Upper case as Windows has it: one character for one, and none moves into ASCII.
fn upper_case(character: char) -> char {
    let mut upper = character.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(single), None) if single.is_ascii() == character.is_ascii() => single,
        _ => character,
    }
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
