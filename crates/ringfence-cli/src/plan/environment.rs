//! From options to the rules for environment variables.

use std::ffi::{OsStr, OsString};

use ringfence::{EnvironmentRules, InvalidVariable, VariableName};

use crate::args::EnvironmentOptions;
use crate::failure::Failure;
use crate::text;

/// Rules with what the options add and take away; no message holds a value.
pub(super) fn with(
    written: &EnvironmentRules,
    options: &EnvironmentOptions,
) -> Result<EnvironmentRules, Failure> {
    let mut rules = written.clone();
    for variable in &options.env {
        rules = match text::split_at_equals(variable) {
            Some((name, value)) => rules
                .set(&name, value)
                .map_err(|error| failure("--env", &name, &error))?,
            None => {
                let parsed = variable.to_str().map(str::parse::<VariableName>);
                let name = parsed.unwrap_or_else(|| Ok(VariableName::Is(variable.clone())));
                let name = name.map_err(|error| failure("--env", variable, &error))?;
                without(&rules, variable)
                    .map_err(|error| failure("--env", variable, &error))?
                    .inherit(name)
            }
        };
    }
    for name in &options.env_unset {
        rules = rules
            .unset(name)
            .map_err(|error| failure("--env-unset", name, &error))?;
    }
    Ok(rules)
}

/// The rules without what they set or unset for a name: that it is passed on now replaces it.
fn without(rules: &EnvironmentRules, name: &OsStr) -> Result<EnvironmentRules, InvalidVariable> {
    let is_other = |other: &OsString| {
        if cfg!(windows) {
            !other.eq_ignore_ascii_case(name)
        } else {
            other != name
        }
    };
    let inherited = rules.inherit_rules().iter().cloned();
    let mut kept = inherited.fold(EnvironmentRules::default(), EnvironmentRules::inherit);
    for (name, value) in rules.set_values().iter().filter(|(name, _)| is_other(name)) {
        kept = kept.set(name, value)?;
    }
    for name in rules.unset_names().iter().filter(|name| is_other(name)) {
        kept = kept.unset(name)?;
    }
    Ok(kept)
}

fn failure(option: &str, name: &OsStr, error: &InvalidVariable) -> Failure {
    // What stands before the first `=` is all there is of the name.
    let name = text::split_at_equals(name).map_or_else(|| name.to_owned(), |(name, _)| name);
    let option = if name.is_empty() {
        option.to_owned()
    } else {
        format!("{option} {}", name.display())
    };
    Failure::new(format!("{option}: {error}")).hint(error.hint())
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
