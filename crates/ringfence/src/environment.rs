//! The environment of one command: the executor's snapshot and the command's own changes.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use ringfence_policy::NameCase;

/// One change a command makes to its executor's environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Set(OsString),
    Remove,
}

/// Environment entries, without duplicate names.
pub(crate) type Variables = Vec<(OsString, OsString)>;

/// Sets a variable in place, or appends it.
pub(crate) fn set(variables: &mut Variables, name: &OsStr, value: OsString) {
    match variables
        .iter_mut()
        .find(|(other, _)| NameCase::NATIVE.same(other, name))
    {
        Some((_, old)) => *old = value,
        None => variables.push((name.to_owned(), value)),
    }
}

/// Applies a command's changes in their order.
pub(crate) fn apply(mut variables: Variables, changes: &[(OsString, Change)]) -> Variables {
    for (name, change) in changes {
        match change {
            Change::Set(value) => set(&mut variables, name, value.clone()),
            Change::Remove => variables.retain(|(other, _)| !NameCase::NATIVE.same(other, name)),
        }
    }
    variables
}

/// What is wrong with a variable, if anything is.
pub(crate) fn problem(name: &OsStr, change: &Change) -> Option<&'static str> {
    let name = name.as_encoded_bytes();
    let value = match change {
        Change::Set(value) => value.as_encoded_bytes(),
        Change::Remove => b"",
    };
    match () {
        () if name.is_empty() => Some("has an empty name"),
        () if name.contains(&b'=') => Some("has a `=` in its name"),
        () if name.contains(&0) || value.contains(&0) => Some("contains a NUL"),
        () => None,
    }
}

/// The name the caller uses for its directory, for shells that keep logical names (S-05).
pub(crate) fn working_directory(variables: &mut Variables, directory: &Path) {
    set(variables, OsStr::new("PWD"), directory.as_os_str().to_owned());
}

/// What kind of terminal the command has, if that is said or nothing else says it.
pub(crate) fn terminal(variables: &mut Variables, term: Option<&OsStr>) {
    let name = OsStr::new("TERM");
    let said = variables
        .iter()
        .any(|(other, _)| NameCase::NATIVE.same(other, name));
    if let Some(term) = term.or_else(|| (!said).then_some(OsStr::new("xterm-256color"))) {
        set(variables, name, term.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    #[test]
    fn changes_replace_in_place_append_and_remove() {
        let changes = [
            (OsString::from("B"), Change::Set("2".into())),
            (OsString::from("D"), Change::Set("4".into())),
            (OsString::from("A"), Change::Remove),
        ];
        let applied = apply(variables(&[("A", "1"), ("B", "b"), ("C", "3")]), &changes);
        assert_eq!(applied, variables(&[("B", "2"), ("C", "3"), ("D", "4")]));
    }

    #[test]
    fn unusable_variables_are_named() {
        let set = |name: &str, value: &str| problem(OsStr::new(name), &Change::Set(value.into()));
        assert_eq!(set("", "x"), Some("has an empty name"));
        assert_eq!(set("A=B", "x"), Some("has a `=` in its name"));
        assert_eq!(set("A", "x\0y"), Some("contains a NUL"));
        assert_eq!(set("A", ""), None);
    }
}
