//! What can be wrong with a value, and the way to put it right.

use std::path::PathBuf;

use ringfence_policy::{GlobError, InvalidVariable, Reason};
use thiserror::Error;

/// What is wrong with a value. No variant holds the value of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FileReason {
    /// The file could not be opened or read.
    #[error("{why}")]
    Unreadable {
        /// What the system said.
        why: String,
    },
    /// The file is too long for a profile.
    #[error("is longer than {max} bytes")]
    TooLong {
        /// The most bytes that are read.
        max: u64,
    },
    /// The file has bytes that are no text.
    #[error("is not UTF-8")]
    NotUtf8,
    /// The text is not TOML.
    #[error("{message}")]
    Syntax {
        /// What was found, and what was expected.
        message: String,
    },
    /// A key that means nothing.
    #[error("there is no such key")]
    UnknownKey {
        /// The key that is spelled nearly so.
        nearest: Option<&'static str>,
        /// Every key that can be there.
        known: &'static [&'static str],
    },
    /// A key that means something at the top of the file.
    #[error("there is no such key in a table")]
    Misplaced,
    /// A key that must be there.
    #[error("`{key}` is missing")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A value of another type.
    #[error("is {found}, not {expected}")]
    WrongType {
        /// What it is.
        found: &'static str,
        /// What it must be.
        expected: &'static str,
        /// A value of that type, as TOML.
        example: String,
    },
    /// A word that means nothing.
    #[error("{word:?} is not a word for it")]
    UnknownWord {
        /// The word.
        word: String,
        /// Every word that means something.
        known: Vec<String>,
    },
    /// A name or a path without characters.
    #[error("is empty")]
    Empty,
    /// A name that is in the list already.
    #[error("is in the list already")]
    Twice,
    /// A value that says something else about what another key is about.
    #[error("`{other}` decides it already")]
    Contradicts {
        /// The dotted path of the other key.
        other: &'static str,
    },
    /// A name that no home directory can have.
    #[error("{name:?} can't be the name of a home directory")]
    HomeName {
        /// The name.
        name: String,
    },
    /// A path with a NUL byte.
    #[error("holds a NUL byte")]
    Nul,
    /// A path that begins with a tilde, which a shell would have replaced.
    #[error("`~` does not stand for a home directory")]
    Tilde,
    /// A path that is beneath nothing and not absolute.
    #[error("{path:?} is not absolute")]
    Relative {
        /// The path, with variables replaced.
        path: PathBuf,
    },
    /// A dollar that begins neither a variable nor a dollar.
    #[error("`$` does not begin a variable")]
    LoneDollar,
    /// A variable that there is not.
    #[error("there is no variable {name:?}")]
    UnknownVariable {
        /// Its name.
        name: String,
    },
    /// A variable whose value can't be used.
    #[error("the {name} is {value:?}, which is not absolute")]
    UnusableVariable {
        /// Its name.
        name: String,
        /// Its value.
        value: PathBuf,
    },
    /// A glob that begins like a path.
    #[error("{glob:?} is not beneath a directory")]
    GlobNotRelative {
        /// The glob.
        glob: String,
    },
    /// A glob with something that looks like a variable.
    #[error("{glob:?} has a variable, and globs have none")]
    GlobVariable {
        /// The glob.
        glob: String,
    },
    /// A malformed glob.
    #[error(transparent)]
    Glob(#[from] GlobError),
    /// A name or value that no environment variable can have.
    #[error(transparent)]
    Environment(#[from] InvalidVariable),
    /// A text that is no size.
    #[error("{text:?} is not a size")]
    Size {
        /// The text.
        text: String,
    },
    /// A text that is no time.
    #[error("{text:?} is not a time")]
    Time {
        /// The text.
        text: String,
    },
    /// A size or time beyond what can be counted.
    #[error("{text:?} is too much to count")]
    TooMuch {
        /// The text.
        text: String,
    },
    /// An integer that counts nothing.
    #[error("{number} is not between 0 and 2^64 - 1")]
    Count {
        /// The integer as written.
        number: String,
    },
    /// The profile can't be made on this host.
    #[error(transparent)]
    Profile(Reason),
}

impl FileReason {
    /// Stable identifier of the variant.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "file_unreadable",
            Self::TooLong { .. } => "file_too_long",
            Self::NotUtf8 => "file_not_utf8",
            Self::Syntax { .. } => "file_syntax",
            Self::UnknownKey { .. } => "key_unknown",
            Self::Misplaced => "key_misplaced",
            Self::Missing { .. } => "key_missing",
            Self::WrongType { .. } => "value_type",
            Self::UnknownWord { .. } => "value_unknown",
            Self::Empty => "value_empty",
            Self::Twice => "value_twice",
            Self::Contradicts { .. } => "value_contradicts",
            Self::HomeName { .. } => "home_name",
            Self::Nul => "path_nul",
            Self::Tilde => "path_tilde",
            Self::Relative { .. } => "path_relative",
            Self::LoneDollar => "variable_malformed",
            Self::UnknownVariable { .. } => "variable_unknown",
            Self::UnusableVariable { .. } => "variable_unusable",
            Self::GlobNotRelative { .. } => "glob_not_relative",
            Self::GlobVariable { .. } => "glob_has_variable",
            Self::Glob(error) => error.code(),
            Self::Environment(error) => error.code(),
            Self::Size { .. } => "size",
            Self::Time { .. } => "time",
            Self::TooMuch { .. } => "amount_too_much",
            Self::Count { .. } => "count",
            Self::Profile(reason) => reason.code(),
        }
    }

    /// What the reader can do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        let fixed = match self {
            Self::UnknownKey {
                nearest: Some(key), ..
            } => return format!("did you mean `{key}`?"),
            Self::UnknownKey { known, .. } => {
                let known = known.iter().map(|key| format!("`{key}`"));
                return format!("use {}", alternatives(known));
            }
            Self::UnknownWord { word, known } => {
                if let Some(nearest) = nearest(word, known.iter().map(String::as_str)) {
                    return format!("did you mean {nearest:?}?");
                }
                let known = known.iter().map(|word| format!("{word:?}"));
                return format!("write {}", alternatives(known));
            }
            Self::WrongType { example, .. } => return format!("write it as in {example}"),
            Self::Missing { key: "glob" } => "add it; a path alone is written as a text, not as a table",
            Self::Missing { .. } => "add it",
            Self::Unreadable { .. } => "name a file that exists and that you may read",
            Self::TooLong { .. } => "name a profile file",
            Self::NotUtf8 => "write the file as UTF-8; TOML has no other paths",
            Self::Syntax { .. } => "write it as https://toml.io says",
            Self::Misplaced => "move it up before the first `[table]`; what follows one belongs to it",
            Self::Empty => "write at least one character, or leave it out",
            Self::Twice => "leave it out",
            Self::Contradicts { .. } => "keep one of the two",
            Self::HomeName { .. } => {
                "use up to 64 letters, digits, `.`, `_` and `-`, and begin with a letter or digit"
            }
            Self::Nul => "take the NUL byte out; no path can hold one",
            Self::Tilde => "write `${home}`; to mean a file of that name, begin with `./~`",
            Self::Relative { .. } => "begin it with `${workspace}`, `${home}` or `/`",
            Self::LoneDollar => "write `${workspace}` or `${home}`, and `$$` for a dollar",
            Self::UnknownVariable { .. } => {
                "the variables are `${workspace}` and `${home}`; for the text `${` write `$${`"
            }
            Self::UnusableVariable { .. } => "give an absolute path for it",
            Self::GlobNotRelative { .. } => {
                "name the directory with `in`; a name that begins with `~` is written with `[~]`"
            }
            Self::GlobVariable { .. } => "name the directory with `in`; for the text `${` write `[$]{`",
            Self::Glob(error) => error.hint(),
            Self::Environment(error) => error.hint(),
            Self::Size { .. } => {
                "write bytes as in 4096, or a whole number with B, KB, MB, GB, TB, KiB, MiB, GiB or TiB as in \
                 \"512MiB\""
            }
            Self::Time { .. } => "write a whole number with ms, s, m or h, as in \"30s\"",
            Self::TooMuch { .. } | Self::Count { .. } => "leave it out to set no limit",
            Self::Profile(reason) => reason.hint(),
        };
        fixed.to_owned()
    }

    /// A key that is none of the known ones.
    pub(super) fn unknown_key(key: &str, known: &'static [&'static str]) -> Self {
        Self::UnknownKey {
            nearest: nearest(key, known.iter().copied()),
            known,
        }
    }
}

/// The known word that another is spelled like, if one is.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Below it words have little more in common than single letters.
    const LIKENESS: f64 = 0.8;
    let likeness = |known: &str| strsim::jaro_winkler(word, known);
    known
        .filter(|known| likeness(known) > LIKENESS)
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
}

/// Words as in `a, b or c`.
fn alternatives(words: impl Iterator<Item = String>) -> String {
    let words: Vec<_> = words.collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
