//! Values of options that are more than a path, a number or a name.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use clap::builder::{OsStringValueParser, PossibleValuesParser, StringValueParser, TypedValueParser};
use ringfence::{BundleName, Cache, GlobError, Guarantees, Pattern, Preset};

use crate::text;

/// What makes a value a pattern; without it a path is literal whatever characters it has.
const PATTERN: &str = "glob:";

/// What `--secret` and `--protect` name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// One name and what is beneath it.
    Path(PathBuf),
    /// What matches.
    Pattern(OsString),
}

/// What `--device` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    /// It must be there.
    Required(PathBuf),
    /// Commands go without where it is not.
    Optional(PathBuf),
}

/// Which home directory `--home` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// An empty one that vanishes with the run.
    Isolated,
    /// The user's.
    Real,
    /// One that is kept under this name.
    Named(String),
}

impl Place {
    /// As it was written.
    pub(crate) fn text(&self) -> OsString {
        match self {
            Self::Path(path) => path.clone().into_os_string(),
            Self::Pattern(glob) => {
                let mut text = OsString::from(PATTERN);
                text.push(glob);
                text
            }
        }
    }
}

/// A pattern as an option writes it. What is literal at its beginning is where it is about, so that nothing else has to
/// be searched; the current directory is literal whatever characters its path has.
pub(crate) fn pattern(glob: &OsStr, current: &Path) -> Result<Pattern, GlobError> {
    let glob = Path::new(glob);
    let names: Vec<_> = glob.components().collect();
    let is_special = |name: &Component<'_>| {
        let name = name.as_os_str().as_encoded_bytes();
        name.iter().any(|byte| b"*?[".contains(byte))
    };
    let last = names.len().saturating_sub(1);
    let literal = names.iter().position(is_special).unwrap_or(last).min(last);
    let (base, rest) = names.split_at(literal);
    Pattern::new(current.join(PathBuf::from_iter(base)), PathBuf::from_iter(rest))
}

/// A path as an option takes it literally: one that would be read as a pattern is given a directory in front.
pub(crate) fn literal(path: OsString) -> OsString {
    if text::strip_prefix(&path, PATTERN).is_none() && text::strip_prefix(&path, "-").is_none() {
        return path;
    }
    let mut literal = OsString::from("./");
    literal.push(path);
    literal
}

pub(super) fn place() -> impl TypedValueParser<Value = Place> {
    OsStringValueParser::new().try_map(|value| {
        if value.is_empty() {
            return Err("it is empty; name a path, or a pattern as in glob:**/*.pem".to_owned());
        }
        let Some(glob) = text::strip_prefix(&value, PATTERN) else {
            return Ok(Place::Path(value.into()));
        };
        if glob.is_empty() {
            return Err("the pattern is empty; write for example glob:**/*.pem".to_owned());
        }
        // Whether its classes mean something does not depend on where it is about.
        let checked = pattern(&glob, Path::new("/"));
        checked.map_err(|error| format!("{error}; {}", error.hint()))?;
        Ok(Place::Pattern(glob))
    })
}

pub(super) fn device() -> impl TypedValueParser<Value = Device> {
    OsStringValueParser::new().map(|value| match text::strip_suffix(&value, "?") {
        Some(path) => Device::Optional(path.into()),
        None => Device::Required(value.into()),
    })
}

pub(super) fn home() -> impl TypedValueParser<Value = Home> {
    StringValueParser::new().try_map(|value| match value.as_str() {
        "isolated" => Ok(Home::Isolated),
        "real" => Ok(Home::Real),
        _ => check_name(&value).map(|()| Home::Named(value.clone())),
    })
}

/// A name that can be the name of a directory anywhere.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && name.len() <= 64 && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(
        "it can't be a name; use up to 64 letters, digits, `.`, `_` and `-`, and begin with a letter or digit"
            .to_owned(),
    )
}

pub(super) fn preset() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(Preset::ALL.map(Preset::name)).try_map(|name| name.parse::<Preset>())
}

pub(super) fn bundle() -> impl TypedValueParser<Value = BundleName> {
    let names = BundleName::ALL.iter().map(|bundle| bundle.as_str());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<BundleName>())
}

pub(super) fn cache() -> impl TypedValueParser<Value = Cache> {
    let names = Cache::ALL.iter().map(|cache| cache.as_str());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Cache>())
}

pub(super) fn guarantee() -> impl TypedValueParser<Value = Guarantees> {
    PossibleValuesParser::new(Guarantees::all().names()).map(|name| {
        let mut all = Guarantees::all().names().zip(Guarantees::all());
        let known = all.find(|(known, _)| *known == name);
        known.map(|(_, guarantee)| guarantee).unwrap_or_default()
    })
}

#[cfg(all(test, unix))]
#[path = "values_tests.rs"]
mod tests;
