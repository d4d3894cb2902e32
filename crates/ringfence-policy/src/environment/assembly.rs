//! Putting the environment of one executor together.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fmt;

use serde::Serialize;

use super::name::is_usable;
use super::{EnvironmentRules, Judgement, NameCase, Never};
use crate::text;

/// The whole environment of a command; its `Debug` shows no value.
#[derive(Clone, PartialEq, Eq)]
pub struct Environment {
    /// Names and values; no name twice, none that a variable cannot have. Empty means an empty environment, never
    /// "inherit everything" (ENV-7, EXE-21).
    pub variables: Vec<(OsString, OsString)>,
    /// What was decided about them.
    pub notes: EnvironmentNotes,
}

/// What a report says about an environment: names and reasons, never a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EnvironmentNotes {
    /// The variables that have the parent's value, in the order of the environment.
    #[serde(serialize_with = "text::list")]
    pub inherited: Vec<OsString>,
    /// The parent's variables that are absent because of [`NEVER`](super::NEVER) although a rule names them, in
    /// the order of the parent.
    pub withheld: Vec<Withheld>,
    /// The variables that are present although [`NEVER`](super::NEVER) lists them, in the order of the
    /// environment.
    pub overridden: Vec<Overridden>,
}

/// A variable that a rule names and the command does not get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Withheld {
    /// As the parent spells it.
    #[serde(serialize_with = "text::path")]
    pub name: OsString,
    /// What lists it, and why.
    pub never: &'static Never,
}

/// A variable that the command gets by an explicit rule and at a risk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overridden {
    /// As it is in the environment.
    #[serde(serialize_with = "text::path")]
    pub name: OsString,
    /// The rule that did it.
    pub by: Explicit,
    /// What lists it, and what goes wrong.
    pub never: &'static Never,
}

/// A rule that overrides [`NEVER`](super::NEVER).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Explicit {
    /// The name is inherited by a [`VariableName::Is`](super::VariableName::Is).
    Inherit,
    /// The profile sets a value.
    Set,
}

impl EnvironmentRules {
    /// Builds the environment of a command from the parent's variables and the executor's own values (ENV-2).
    ///
    /// Inherited variables keep the order of the parent; of a name that occurs twice the last value counts, at
    /// the place of the first. A value the profile sets, and after it one the executor forces, replaces in place;
    /// new names follow, sorted, the profile's before the executor's. Entries without a usable name are dropped
    /// (ENV-8): empty, or holding `=` or a NUL byte.
    pub fn assemble(
        &self,
        parent: impl IntoIterator<Item = (OsString, OsString)>,
        forced: &BTreeMap<OsString, OsString>,
    ) -> Environment {
        let mut assembly = Assembly::new(self.case);
        let mut withheld = Vec::new();
        for (name, value) in parent {
            match self.judge(&name) {
                Judgement::Passes => assembly.put(name, value, Origin::Parent(None)),
                Judgement::Overrides(never) => assembly.put(name, value, Origin::Parent(Some(never))),
                Judgement::Withheld(never) => withheld.push(Withheld { name, never }),
                Judgement::Unnamed => {}
            }
        }
        for (name, value) in &self.set {
            assembly.put(name.clone(), value.clone(), Origin::Profile(Never::of(name)));
        }
        for (name, value) in forced.iter().filter(|(name, _)| is_usable(name)) {
            assembly.put(name.clone(), value.clone(), Origin::Executor);
        }
        assembly.finish(withheld)
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("Environment")
            .field("names", &names)
            .field("notes", &self.notes)
            .finish()
    }
}

/// Where a value comes from, and the row of the never-list that its rule overrides.
enum Origin {
    Parent(Option<&'static Never>),
    Profile(Option<&'static Never>),
    Executor,
}

struct Assembly {
    case: NameCase,
    variables: Vec<(OsString, OsString)>,
    /// One for each of `variables`.
    origins: Vec<Origin>,
    /// Where in `variables` a name is.
    places: HashMap<OsString, usize>,
}

impl Assembly {
    fn new(case: NameCase) -> Self {
        Self {
            case,
            variables: Vec::new(),
            origins: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Replaces the variable in place, or appends it.
    fn put(&mut self, name: OsString, value: OsString, origin: Origin) {
        match self.places.entry(self.case.key(&name).into_owned()) {
            Entry::Occupied(place) => {
                self.variables[*place.get()] = (name, value);
                self.origins[*place.get()] = origin;
            }
            Entry::Vacant(place) => {
                place.insert(self.variables.len());
                self.variables.push((name, value));
                self.origins.push(origin);
            }
        }
    }

    fn finish(self, mut withheld: Vec<Withheld>) -> Environment {
        let mut seen = HashSet::new();
        let key = |name: &OsStr| self.case.key(name).into_owned();
        withheld.retain(|variable| {
            let key = key(&variable.name);
            !self.places.contains_key(&key) && seen.insert(key)
        });
        let mut notes = EnvironmentNotes {
            withheld,
            ..EnvironmentNotes::default()
        };
        for ((name, _), origin) in self.variables.iter().zip(&self.origins) {
            let (by, never) = match origin {
                Origin::Parent(never) => {
                    notes.inherited.push(name.clone());
                    (Explicit::Inherit, never)
                }
                Origin::Profile(never) => (Explicit::Set, never),
                Origin::Executor => continue,
            };
            notes.overridden.extend(never.map(|never| Overridden {
                name: name.clone(),
                by,
                never,
            }));
        }
        Environment {
            variables: self.variables,
            notes,
        }
    }
}

#[cfg(test)]
#[path = "assembly_tests.rs"]
mod tests;
