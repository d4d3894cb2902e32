//! Answers about files and directories.

use std::path::Path;

use ringfence::blocking::Executor;
use ringfence::{
    Access, Axis, Clause, Entry, Guarantees, Hold, Host, Kind, Report, Resolve, Resolved, Rule, Source,
};

use super::answer::Answer;
use super::remedy::Remedies;
use crate::args::{Explain, Operation};
use crate::failure::Failure;
use crate::plan::{self, Plan};

/// Where a path leads on the host.
pub(super) fn resolve(path: &Path) -> Result<Resolved, Failure> {
    let whole = plan::current_directory()?.join(path);
    Host.resolve(&whole)
        .map_err(|error| Failure::new(format!("explain {}: {error}", path.display())).hint(error.hint()))
}

/// What the executor's own regions say of one operation on a path.
pub(super) fn answer(
    plan: &Plan,
    executor: &Executor,
    options: &Explain,
    path: &Path,
    operation: Operation,
) -> Result<Answer, Failure> {
    let at = resolve(path)?;
    let axis = match operation {
        Operation::Write => Axis::Write,
        Operation::Execute => Axis::Execute,
        Operation::Read | Operation::Connect => Axis::Read,
    };
    let tree = executor.tree();
    let decision = tree.decide(&at.path, axis);
    let is_hidden = decision.rule.is_some_and(|rule| is_hidden(&at, rule));
    let access = if is_hidden { Access::Deny } else { decision.access };
    let report = executor.report();
    let enforced_by = if access == Access::Allow || is_hidden {
        Vec::new()
    } else {
        behind(&report, &at.path, axis, decision.rule)
    };
    let remedies = Remedies {
        plan,
        tree: &tree,
        written: path,
        at: &at,
        axis,
        read_only: options.policy.files.read_only,
    };
    Ok(Answer {
        operation,
        access,
        because: decision
            .rule
            .map_or_else(|| "no rule speaks of it".to_owned(), because),
        remedy: match access {
            Access::Allow => remedies.closing(decision.rule),
            Access::Gated | Access::Deny => remedies.opening(decision.rule)?,
        },
        instead: match access {
            Access::Allow => None,
            Access::Gated | Access::Deny => remedies.instead(),
        },
        rule: decision.rule.cloned(),
        enforced_by,
    })
}

fn because(rule: &Rule) -> String {
    let because = format!("{}, at {}", rule.source, rule.path.display());
    if is_private(rule) {
        return format!("{because}; the host's own is out of reach");
    }
    because
}

/// Whether something is there on the host, and not in the command's own file system in its place.
fn is_hidden(at: &Resolved, rule: &Rule) -> bool {
    at.kind != Kind::Absent && is_private(rule) && rule.path != at.path
}

/// Whether a command has a file system of its own where the rule is, as in `/tmp` and `/dev`.
fn is_private(rule: &Rule) -> bool {
    rule.source == Source::Private || rule.source == Source::System && rule.path.starts_with("/dev")
}

/// What keeps an axis of a path closed: the closed region it is in, which no region between opens again.
fn behind(report: &Report, path: &Path, axis: Axis, rule: Option<&Rule>) -> Vec<Entry> {
    let of = |entry: &&Entry, clause| {
        let obligation = &entry.obligation;
        let around = obligation.region.as_deref();
        obligation.clause == clause
            && obligation.axis == Some(axis)
            && around.is_some_and(|region| path.starts_with(region))
    };
    let depth = |entry: &&Entry| {
        entry
            .obligation
            .region
            .as_deref()
            .map(|region| region.iter().count())
    };
    let entries = report.entries().iter();
    let region = entries
        .clone()
        .filter(|entry| of(entry, Clause::FileAccess))
        .max_by_key(depth);
    let other_names = entries.clone().filter(|entry| of(entry, Clause::HardLinks));
    let by_pattern = rule.is_some_and(|rule| rule.hold == Hold::Object);
    let boundary = match axis {
        Axis::Write => Guarantees::WRITE_BOUNDARY,
        Axis::Read | Axis::Execute => Guarantees::READ_BOUNDARY,
    };
    let patterns = entries.filter(|entry| {
        let obligation = &entry.obligation;
        by_pattern && obligation.clause == Clause::Patterns && obligation.guarantee == boundary
    });
    region
        .into_iter()
        .chain(other_names)
        .chain(patterns)
        .cloned()
        .collect()
}
