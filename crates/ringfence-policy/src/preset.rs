//! Presets: reviewed lists of what commands should not change or see, on by default.

mod agent_config;
mod credentials;
mod git;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;

use crate::access::{Access, Verdict};
use crate::glob::GlobError;
use crate::guard::{Protection, Subject};
use crate::pattern::Pattern;

/// A named list of guards; the names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Preset {
    /// `git`: what makes the host's next git command run a program.
    Git = 0,
    /// `agent-config`: settings that agents, editors and shells act on by themselves.
    AgentConfig = 1,
    /// `credentials`: keys, tokens and passwords.
    Credentials = 2,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 3] = [Self::Git, Self::AgentConfig, Self::Credentials];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::AgentConfig => "agent-config",
            Self::Credentials => "credentials",
        }
    }

    /// What it consists of.
    pub const fn rows(self) -> &'static [Row] {
        match self {
            Self::Git => git::ROWS,
            Self::AgentConfig => agent_config::ROWS,
            Self::Credentials => credentials::ROWS,
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(text: &str) -> Result<Self, UnknownPreset> {
        let known = Self::ALL.into_iter().find(|preset| preset.name() == text);
        known.ok_or_else(|| UnknownPreset {
            name: text.to_owned(),
        })
    }
}

/// A name that is no preset's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no preset {name:?}")]
pub struct UnknownPreset {
    /// As given.
    pub name: String,
}

impl UnknownPreset {
    /// Stable identifier of this error.
    pub const fn code(&self) -> &'static str {
        "unknown_preset"
    }

    /// What the reader can do about it.
    pub const fn hint(&self) -> &'static str {
        "the presets are git, agent-config and credentials"
    }
}

/// One line of a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is about.
    pub place: Place,
    /// What it keeps commands from.
    pub protection: Protection,
    /// What would go wrong.
    pub reason: &'static str,
}

/// The workspace and the roots of a profile, as far as lines of presets are about them.
pub(crate) struct Places<'a> {
    /// Canonical, so that comparing the text is enough.
    all: HashSet<&'a OsStr>,
    /// Those that are in no other one: what matches beneath them, matches beneath all.
    tops: Vec<&'a Path>,
    /// Those in which a name of its own has to be closed: in any other one nothing can be made, and what is there is
    /// found from the top.
    named: Vec<&'a Path>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(places: impl Iterator<Item = (&'a PathBuf, Verdict)>) -> Self {
        let places: Vec<(&Path, Verdict)> = places.map(|(path, access)| (path.as_path(), access)).collect();
        let all: HashSet<&OsStr> = places.iter().map(|(path, _)| path.as_os_str()).collect();
        let is_top = |path: &Path| {
            !path
                .ancestors()
                .skip(1)
                .any(|above| all.contains(above.as_os_str()))
        };
        let tops: Vec<&Path> = places
            .iter()
            .map(|(path, _)| *path)
            .filter(|path| is_top(path))
            .collect();
        let named = places
            .iter()
            .filter(|(path, access)| access.write != Access::Deny || is_top(path));
        Self {
            named: named.map(|(path, _)| *path).collect(),
            tops,
            all,
        }
    }

    /// The paths of a name in the places; of those in which it need not be closed, the ones that are places themselves.
    fn named(&self, name: &str) -> Vec<Subject> {
        let length = Path::new(name).components().count();
        let ends = |path: &OsStr| path.as_encoded_bytes().ends_with(name.as_bytes());
        let is_named = |path: &Path| {
            path.ends_with(name)
                && path
                    .ancestors()
                    .nth(length)
                    .is_some_and(|place| self.all.contains(place.as_os_str()))
        };
        let needed = self.named.iter().map(|place| place.join(name));
        let places = self
            .all
            .iter()
            .filter(|path| ends(path))
            .map(Path::new)
            .filter(|path| is_named(path))
            .map(Path::to_owned);
        needed.chain(places).map(Subject::Path).collect()
    }
}

impl Row {
    /// What this line is about, for these places and home directories.
    pub(crate) fn subjects(&self, places: &Places<'_>, homes: &[PathBuf]) -> Vec<Subject> {
        // The globs of the tables are well formed, as a test makes sure.
        let matching = |pattern: Result<Pattern, GlobError>| pattern.ok().map(Subject::Pattern);
        let beneath = |glob: &str| {
            let patterns = places.tops.iter().map(|top| Pattern::new(top, glob));
            patterns.filter_map(matching).collect::<Vec<_>>()
        };
        match self.place {
            Place::Root(name) => {
                let mut subjects = places.named(name);
                subjects.extend(beneath(&format!("**/{name}")));
                subjects
            }
            Place::Beneath(glob, except) => {
                let pattern = |top: &&Path| {
                    let pattern = Pattern::new(top, glob);
                    except.iter().fold(pattern, |pattern, glob| pattern?.except(glob))
                };
                places
                    .tops
                    .iter()
                    .filter_map(|top| matching(pattern(top)))
                    .collect()
            }
            Place::Repository(name, _) => beneath(&format!("**/.git/{name}")),
            Place::RepositoryPart(_) => Vec::new(),
            Place::Home(name) => homes.iter().map(|home| Subject::Path(home.join(name))).collect(),
            Place::HomeIfThere(name) => {
                let there = homes.iter().map(|home| Pattern::exactly(home.join(name)));
                there.map(Subject::Pattern).collect()
            }
            Place::Host(path) => vec![Subject::Pattern(Pattern::exactly(path))],
        }
    }
}

/// What a line of a preset is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// This name in the workspace and in every additional root, whether or not something is there; beneath them,
    /// what has the name when a command starts.
    Root(&'static str),
    /// What matches this glob beneath the workspace and the additional roots, when a command starts, unless it
    /// matches one of the exceptions.
    Beneath(&'static str, &'static [&'static str]),
    /// This name below the user's home directory, whether or not something is there.
    Home(&'static str),
    /// The same, for what is there when a command starts.
    HomeIfThere(&'static str),
    /// This absolute path, if something is there.
    Host(&'static str),
    /// This name in the directory of every repository in the workspace and the additional roots, when a command
    /// starts.
    Repository(&'static str, StandIn),
    /// This directory of every such repository stays where it is; what is in it may change.
    RepositoryPart(&'static str),
}

/// What may occupy an absent name on the host, where nothing else keeps a command from creating it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StandIn {
    /// A symbolic link that leads nowhere: to whoever opens it, nothing is there.
    Link,
    /// A file with this content, which means the same as no file, for programs that ask for the name alone.
    File(&'static str),
    /// Nothing: the name alone harms nobody.
    Nothing,
}

impl StandIn {
    /// What the file contains, if it is one.
    #[must_use]
    pub const fn content(self) -> Option<&'static [u8]> {
        match self {
            Self::File(content) => Some(content.as_bytes()),
            Self::Link | Self::Nothing => None,
        }
    }
}

#[cfg(test)]
#[path = "preset_tests.rs"]
mod tests;
