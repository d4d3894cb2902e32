//! The environment of a command: what it inherits, what is set for it, what it must not see.
//!
//! Names decide, values never do. [`INHERITED`] is what every command gets of its parent's variables; a profile
//! adds names, sets values and removes names with [`EnvironmentRules`]; [`NEVER`] are the names that only a rule
//! for that very name passes on.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

use serde::Serialize;

use crate::text;

mod assembly;
mod inherited;
mod name;
mod never;

pub use assembly::{Environment, EnvironmentNotes, Explicit, Overridden, Withheld};
pub use inherited::{INHERITED, INHERITED_ON_WINDOWS, Inherited, private_directories};
pub use name::{InvalidVariable, NameCase, VariableName};
pub use never::{NEVER, Never};

use name::{check_name, check_value, is_usable};

/// What a profile says about the environment of its commands.
///
/// The default inherits [`INHERITED`] (on Windows also [`INHERITED_ON_WINDOWS`]) and nothing else (ENV-1). No
/// value of this type means "everything" (ENV-6). On Windows names that differ in case only are one name
/// (ENV-10, EXE-27); it then keeps inherited and removed names in upper case, and the names of set variables as
/// written.
///
/// ```
/// use std::collections::BTreeMap;
/// use ringfence_policy::{EnvironmentRules, InvalidVariable};
///
/// let rules = EnvironmentRules::default()
///     .inherit("CARGO_*".parse()?)
///     .set("CI", "1")?
///     .unset("LANG")?;
/// let parent = [("LANG", "C"), ("CARGO_HOME", "/c"), ("CARGO_REGISTRY_TOKEN", "x"), ("EDITOR", "vi")];
/// let parent = parent.map(|(name, value)| (name.into(), value.into()));
/// let environment = rules.assemble(parent, &BTreeMap::new());
/// assert_eq!(environment.variables, [("CARGO_HOME".into(), "/c".into()), ("CI".into(), "1".into())]);
/// assert_eq!(environment.notes.withheld[0].name, "CARGO_REGISTRY_TOKEN");
/// # Ok::<(), InvalidVariable>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EnvironmentRules {
    #[serde(skip)]
    case: NameCase,
    inherit: BTreeSet<VariableName>,
    /// No name of it is in `unset`.
    #[serde(serialize_with = "text::pairs")]
    set: BTreeMap<OsString, OsString>,
    #[serde(serialize_with = "text::list")]
    unset: BTreeSet<OsString>,
}

impl EnvironmentRules {
    /// Inherits one more variable, or a family of them (ENV-5).
    ///
    /// Only a [`VariableName::Is`] passes on a name of [`NEVER`], which is then reported. A name that no variable
    /// can have is ignored, so the empty beginning does not mean "everything".
    #[must_use]
    pub fn inherit(mut self, name: VariableName) -> Self {
        if is_usable(name.text()) {
            self.inherit.insert(name.folded(self.case));
        }
        self
    }

    /// Gives a variable a value, whatever the parent's is; takes back an earlier [`unset`](Self::unset).
    ///
    /// A name of [`NEVER`] may be set, and is then reported.
    ///
    /// # Errors
    /// A name that no variable can have, or a value with a NUL byte.
    pub fn set(
        mut self,
        name: impl Into<OsString>,
        value: impl Into<OsString>,
    ) -> Result<Self, InvalidVariable> {
        let (name, value) = (name.into(), value.into());
        check_name(&name)?;
        check_value(&name, &value)?;
        self.forget(&name);
        self.set.insert(name, value);
        Ok(self)
    }

    /// Keeps a variable of the parent from the command; takes back an earlier [`set`](Self::set).
    ///
    /// It wins over every rule that inherits the name. What the executor forces, such as `TMPDIR`, stays.
    ///
    /// # Errors
    /// A name that no variable can have.
    pub fn unset(mut self, name: impl Into<OsString>) -> Result<Self, InvalidVariable> {
        let name = name.into();
        check_name(&name)?;
        self.forget(&name);
        self.unset.insert(self.case.key(&name).into_owned());
        Ok(self)
    }

    /// The names that are inherited beyond the default, sorted.
    pub const fn inherit_rules(&self) -> &BTreeSet<VariableName> {
        &self.inherit
    }

    /// The variables with a value of the profile's, sorted by name.
    pub const fn set_values(&self) -> &BTreeMap<OsString, OsString> {
        &self.set
    }

    /// The names that are kept from the command, sorted.
    pub const fn unset_names(&self) -> &BTreeSet<OsString> {
        &self.unset
    }

    /// Whether a variable of the parent reaches the command unless a value is set or forced in its place.
    pub fn inherits(&self, name: &OsStr) -> bool {
        matches!(self.judge(name), Judgement::Passes | Judgement::Overrides(_))
    }

    /// The rules of a profile that is restricted by another: idempotent, commutative and associative.
    ///
    /// Inherited is only what both inherit. Each set value counts; a name that both set, to different values, is
    /// unset. What either side unsets is unset.
    #[must_use]
    pub fn meet(&self, ceiling: &Self) -> Self {
        let case = self.case;
        let both = |ours: &VariableName| {
            let theirs = ceiling.inherit.iter();
            theirs.filter_map(|theirs| ours.meet(theirs)).collect::<Vec<_>>()
        };
        let inherit = self.inherit.iter().flat_map(both).collect();
        let mut unset = &self.unset | &ceiling.unset;
        let mut set = BTreeMap::new();
        for variable in self.set.iter().chain(&ceiling.set) {
            match set.entry(case.key(variable.0)) {
                Entry::Vacant(place) => {
                    place.insert(variable);
                }
                // Of two spellings the lesser, so that the order of the two sides does not matter.
                Entry::Occupied(mut place) if place.get().1 == variable.1 => {
                    place.insert(variable.min(*place.get()));
                }
                Entry::Occupied(place) => {
                    unset.insert(place.key().clone().into_owned());
                }
            }
        }
        set.retain(|key, _| !unset.contains::<OsStr>(key));
        let set = set.into_values();
        Self {
            case,
            inherit,
            set: set.map(|(name, value)| (name.clone(), value.clone())).collect(),
            unset,
        }
    }

    fn judge(&self, name: &OsStr) -> Judgement {
        let key = self.case.key(name);
        if !is_usable(name) || self.unset.contains(&*key) {
            return Judgement::Unnamed;
        }
        let explicit = self.inherit.contains(&VariableName::Is(key.clone().into_owned()));
        let named = explicit
            || self.inherit.iter().any(|rule| rule.matches(&key))
            || Inherited::all(self.case).any(|row| row.covers(self.case, &key));
        match Never::of(name) {
            _ if !named => Judgement::Unnamed,
            None => Judgement::Passes,
            Some(never) if explicit => Judgement::Overrides(never),
            Some(never) => Judgement::Withheld(never),
        }
    }

    /// Drops what was said about a name so far, other than that it is inherited.
    fn forget(&mut self, name: &OsStr) {
        let case = self.case;
        let key = case.key(name);
        self.set.retain(|other, _| case.key(other) != key);
        self.unset.remove(&*key);
    }
}

/// What the rules say about one variable of the parent.
enum Judgement {
    /// Named, and harmless.
    Passes,
    /// Named by a rule for this very name although it is of [`NEVER`].
    Overrides(&'static Never),
    /// Named, though not by a rule for this very name, and of [`NEVER`].
    Withheld(&'static Never),
    /// Named by no rule, removed, or no name at all (ENV-8).
    Unnamed,
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "environment_meet_tests.rs"]
mod meet_tests;
