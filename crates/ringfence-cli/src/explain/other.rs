//! Answers about the network, commands and variables.

use std::ffi::OsStr;

use ringfence::blocking::Executor;
use ringfence::{Access, Clause, Entry, EnvironmentRules, Never};

use super::answer::Answer;
use crate::args::Operation;
use crate::plan::Plan;
use crate::text;

/// Whether the host's network can be used.
pub(super) fn network(executor: &Executor) -> Answer {
    let access = executor.profile().network();
    let (remedy, enforced_by) = match access {
        Access::Allow => ("--net deny", Vec::new()),
        Access::Gated | Access::Deny => ("--net allow", entries(executor, Clause::Network)),
    };
    Answer {
        operation: Operation::Connect,
        access,
        because: "the profile's network access".to_owned(),
        rule: None,
        enforced_by,
        remedy: Some(remedy.to_owned()),
        instead: None,
    }
}

/// Whether a command may be started at all, which is decided before there is a process.
pub(super) fn command(plan: &Plan) -> Answer {
    let access = plan.profile.command();
    let word = match access {
        Access::Allow => "deny",
        Access::Gated | Access::Deny => "allow",
    };
    Answer {
        operation: Operation::Execute,
        access,
        because: "the profile's command access".to_owned(),
        rule: None,
        enforced_by: Vec::new(),
        remedy: Some(format!("`command = \"{word}\"` in a profile file")),
        instead: None,
    }
}

/// Whether a command gets a variable of the caller's, or another value for it.
pub(super) fn variable(executor: &Executor, name: &OsStr) -> Answer {
    let rules = executor.profile().environment();
    let notes = executor.environment_notes();
    let variables = executor.variables();
    let present = variables.iter().find(|(other, _)| other == name);
    let is_present = present.is_some();
    // What ringfence sets outranks what the profile does.
    let is_profiles = present.is_some_and(|(_, value)| rules.set_values().get(name) == Some(value));
    let is_here = std::env::var_os(name).is_some();
    let word = text::shell_word(name);
    let risk = Never::of(name).map(|row| row.reason);
    let (access, because, remedy) = if notes.inherited.iter().any(|other| other == name) {
        let by = if EnvironmentRules::default().inherits(name) {
            "every command inherits it"
        } else {
            "a rule passes it on"
        };
        (Access::Allow, by.to_owned(), Some(format!("--env-unset {word}")))
    } else if is_profiles {
        let by = "the profile sets its value".to_owned();
        (Access::Allow, by, Some(format!("--env-unset {word}")))
    } else if is_present {
        (Access::Allow, "ringfence sets its value".to_owned(), None)
    } else if rules.unset_names().contains(name) {
        let by = "a rule keeps it from commands".to_owned();
        (Access::Deny, by, Some(format!("leave out --env-unset {word}")))
    } else if rules.inherits(name) {
        let by = "a rule passes it on, but it is not set here".to_owned();
        (Access::Allow, by, Some(format!("--env-unset {word}")))
    } else {
        let by = match &risk {
            Some(reason) => format!("only a rule for its very name passes it on: it {reason}"),
            None => "no rule passes it on".to_owned(),
        };
        // A secret does not belong on a command line.
        let value = if is_here || risk.is_some() { "" } else { "=VALUE" };
        (Access::Deny, by, Some(format!("--env {word}{value}")))
    };
    Answer {
        operation: Operation::Read,
        access,
        because,
        rule: None,
        enforced_by: if access == Access::Allow {
            Vec::new()
        } else {
            entries(executor, Clause::Environment)
        },
        remedy,
        instead: None,
    }
}

fn entries(executor: &Executor, clause: Clause) -> Vec<Entry> {
    let report = executor.report();
    let entries = report.entries().iter();
    entries
        .filter(|entry| entry.obligation.clause == clause)
        .cloned()
        .collect()
}
