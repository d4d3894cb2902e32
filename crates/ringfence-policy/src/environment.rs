//! The environment of a command, built from an allowlist.

use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};
use std::ffi::{OsStr, OsString};

/// Which variables a command inherits; everything else is absent (ENV-1).
///
/// The default is exactly [`INHERITED`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentRules {
    extra: Vec<VariableName>,
}

/// The name of a variable, or how a family of names begins.
///
/// An empty one matches nothing, so that no value of this type means "everything" (ENV-6).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VariableName {
    /// This one name.
    Is(OsString),
    /// Every name that begins like this, whatever follows.
    StartsWith(OsString),
}

/// A variable that is inherited by default, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inherited {
    /// The name; a trailing `*` stands for any rest.
    pub name: &'static str,
    /// Why a command needs it, and why it is harmless.
    pub reason: &'static str,
}

/// Every variable that is inherited by default.
pub const INHERITED: &[Inherited] = &[
    Inherited {
        name: "PATH",
        reason: "programs are looked up by it; the policy decides which may run",
    },
    Inherited {
        name: "HOME",
        reason: "replaced by the executor; kept so that its place in the list is stable",
    },
    Inherited {
        name: "TERM",
        reason: "full-screen and colour output depend on it; names a terminal type only",
    },
    Inherited {
        name: "LANG",
        reason: "language and character set of messages",
    },
    Inherited {
        name: "LC_*",
        reason: "the same for single categories",
    },
    Inherited {
        name: "USER",
        reason: "name of the invoking user, which the user id gives away anyway",
    },
    Inherited {
        name: "LOGNAME",
        reason: "the other customary spelling of USER",
    },
    Inherited {
        name: "SHELL",
        reason: "programs that start a subshell ask for it",
    },
    Inherited {
        name: "TZ",
        reason: "local time",
    },
];

impl EnvironmentRules {
    /// Inherits one more variable, or a family of them (ENV-5).
    #[must_use]
    pub fn inherit(mut self, name: VariableName) -> Self {
        self.extra.push(name);
        self
    }

    /// Whether a variable of the parent reaches the command.
    pub fn inherits(&self, name: &OsStr) -> bool {
        let name = name.as_encoded_bytes();
        let default = INHERITED
            .iter()
            .any(|inherited| match inherited.name.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix.as_bytes()),
                None => name == inherited.name.as_bytes(),
            });
        default || self.extra.iter().any(|extra| extra.matches(name))
    }

    /// Builds the whole environment of a command from the parent's and the forced values (ENV-2).
    ///
    /// Inherited variables keep the order of the parent; of a name that occurs twice the last value counts, at
    /// the place of the first. A forced value replaces the inherited one in place; new names follow, sorted.
    /// Entries without a usable name are dropped (ENV-8): empty, or holding `=` or a NUL byte.
    ///
    /// An empty answer means an empty environment, never "inherit everything" (ENV-7).
    pub fn assemble(
        &self,
        parent: impl IntoIterator<Item = (OsString, OsString)>,
        forced: &BTreeMap<OsString, OsString>,
    ) -> Vec<(OsString, OsString)> {
        let inherited = parent.into_iter().filter(|(name, _)| self.inherits(name));
        let forced = forced.iter().map(|(name, value)| (name.clone(), value.clone()));
        let mut environment: Vec<(OsString, OsString)> = Vec::new();
        let mut places: HashMap<OsString, usize> = HashMap::new();
        for (name, value) in inherited.chain(forced).filter(|(name, _)| is_usable(name)) {
            match places.entry(name.clone()) {
                Entry::Occupied(place) => environment[*place.get()].1 = value,
                Entry::Vacant(place) => {
                    place.insert(environment.len());
                    environment.push((name, value));
                }
            }
        }
        environment
    }
}

impl VariableName {
    fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::Is(exact) => name == exact.as_encoded_bytes(),
            Self::StartsWith(prefix) => !prefix.is_empty() && name.starts_with(prefix.as_encoded_bytes()),
        }
    }
}

fn is_usable(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !name.is_empty() && !name.iter().any(|byte| matches!(byte, b'=' | 0))
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
