//! The report for people.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::time::Duration;

use ringfence::{
    Access, Ending, Executor, Explicit, Kind, Limit, Limits, NewRepository, Origin, Outcome, Verdict,
};

use super::facts;

/// Everything that would be enforced, as `--dry-run` shows it.
pub(crate) fn full(executor: &Executor) -> String {
    let mut text = regions(executor);
    text.push_str(&guards(executor));
    let mut section = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            let _ = writeln!(text, "{title}:");
        }
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    };
    let report = executor.report();
    let placeholders = facts::placeholders(&report).into_iter().map(str::to_owned);
    section("placeholders on the host", &placeholders.collect::<Vec<_>>());
    section("environment", &environment(executor));
    section("limits", &limits(&executor.profile().limits()));
    section("bundles", &bundles(executor));
    let _ = writeln!(text, "level: {:?}", report.level());
    let _ = writeln!(text, "guarantees: {}", report.guarantees());
    for entry in report.entries() {
        let _ = writeln!(text, "{}: {}", entry.obligation, entry.discharge);
    }
    text
}

/// What matters of it, as `-v` says it.
pub(crate) fn summary(executor: &Executor) -> String {
    let report = executor.report();
    let mut text = format!(
        "level: {:?}\nguarantees: {}\n",
        report.level(),
        report.guarantees()
    );
    for entry in report.entries().iter().filter(|entry| !entry.discharge.is_met()) {
        let _ = writeln!(text, "not guaranteed: {}: {}", entry.obligation, entry.discharge);
    }
    let placeholders = facts::placeholders(&report).len();
    if placeholders > 0 {
        let _ = writeln!(
            text,
            "placeholders on the host while it runs: {placeholders} (--dry-run lists them)"
        );
    }
    for line in environment(executor) {
        let _ = writeln!(text, "environment: {line}");
    }
    for line in limits(&executor.profile().limits()) {
        let _ = writeln!(text, "limit: {line}");
    }
    let tree = executor.tree();
    let bundles: Vec<_> = facts::bundles(&tree).into_keys().collect();
    let _ = writeln!(text, "bundles: {}", bundles.join(", "));
    text
}

/// How the command ended, and what it used where that was counted.
pub(crate) fn ending(outcome: &Outcome) -> String {
    let ended = match (outcome.error(), outcome.ended) {
        (Some(error), _) => error.to_string(),
        (None, Ending::Exited(code)) => format!("the command exited with {code}"),
        (None, other) => format!("{other:?}"),
    };
    let mut text = format!("{ended} after {:.1?}\n", outcome.elapsed);
    let usage = &outcome.usage;
    let used = [
        usage
            .peak_memory_bytes
            .map(|bytes| format!("memory {}", size(bytes))),
        usage.peak_processes.map(|count| format!("processes {count}")),
        usage.cpu_time.map(|time| format!("CPU time {time:.1?}")),
    ];
    let used: Vec<_> = used.into_iter().flatten().collect();
    if !used.is_empty() {
        let _ = writeln!(text, "it used at most: {}", used.join(", "));
    }
    for limit in &usage.touched {
        let _ = writeln!(text, "it reached its {limit} limit");
    }
    for line in outcome
        .new_repositories
        .iter()
        .map(made)
        .chain(unsearched(outcome))
    {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// What nobody should have to ask for: why the command was ended, repositories that make the host run programs, or
/// that were to be set aside, and where there may be others.
pub(crate) fn warnings(outcome: &Outcome) -> String {
    let ended = matches!(outcome.ended, Ending::TimedOut | Ending::LimitExceeded(_));
    let error = outcome.error().filter(|_| ended).map(|error| error.to_string());
    let is_notable = |repository: &&NewRepository| {
        let runs = !repository.programs.is_empty() || !repository.hooks.is_empty();
        runs || repository.refused || repository.unrefused.is_some()
    };
    let repositories = outcome.new_repositories.iter().filter(is_notable).map(made);
    let lines = error.into_iter().chain(repositories).chain(unsearched(outcome));
    lines.map(|line| format!("ringfence: {line}\n")).collect()
}

/// What is said of a repository the command made; its names are quoted, since they are the command's choice.
fn made(repository: &NewRepository) -> String {
    let mut line = format!("the command made the repository {:?}", repository.path);
    if repository.refused {
        line.push_str(", which was set aside");
    }
    if let Some(why) = &repository.unrefused {
        let _ = write!(line, ", which could not be set aside ({why})");
    }
    if !repository.programs.is_empty() {
        let _ = write!(
            line,
            "; its settings make git run programs: {:?}",
            repository.programs
        );
    }
    if !repository.hooks.is_empty() {
        let _ = write!(line, "; it has the hooks {:?}", repository.hooks);
    }
    if repository.linked {
        line.push_str("; the repository around it enters it");
    }
    line
}

/// Where there may be repositories nobody knows of; as many as a command may like to make.
fn unsearched(outcome: &Outcome) -> impl Iterator<Item = String> {
    const TOLD: usize = 10;
    let could_not = "new repositories could not be looked for in";
    let told = outcome.unsearched.iter().take(TOLD);
    let others = outcome.unsearched.len().saturating_sub(TOLD);
    told.map(move |directory| format!("{could_not} {directory:?}"))
        .chain((others > 0).then(|| format!("{could_not} {others} other directories")))
}

fn regions(executor: &Executor) -> String {
    let mut text = String::from("access  path\n");
    let tree = executor.tree();
    for region in tree.regions().filter(|region| !facts::is_only_guarded(region)) {
        let _ = writeln!(
            text,
            "{:6}  {:?}  ({})",
            letters(facts::verdict(&region)),
            region.path,
            facts::sources(&region).join(", ")
        );
    }
    text
}

fn guards(executor: &Executor) -> String {
    let mut text = String::from("guard    path\n");
    let tree = executor.tree();
    for guarded in facts::guarded(&tree) {
        let _ = writeln!(
            text,
            "{:7}  {:?}{}  ({})",
            guarded.protection.to_string(),
            guarded.path,
            if guarded.kind == Kind::Absent {
                ", absent"
            } else {
                ""
            },
            guarded.source
        );
    }
    let mut of_presets = 0;
    for (pattern, protection, origin) in facts::patterns(executor) {
        if origin != Origin::Profile {
            of_presets += 1;
            continue;
        }
        let mut subject = pattern.base().as_os_str().to_owned();
        subject.extend(pattern.glob().map(|glob| glob.text().as_os_str()));
        let _ = writeln!(
            text,
            "{:7}  {subject:?}  (a pattern of the profile)",
            protection.to_string(),
        );
    }
    if of_presets > 0 {
        let _ = writeln!(
            text,
            "and what {of_presets} patterns of the presets match when it starts"
        );
    }
    text
}

/// Variables by name, and by name only.
fn environment(executor: &Executor) -> Vec<String> {
    let notes = executor.environment_notes();
    let mut lines = Vec::new();
    if !notes.inherited.is_empty() {
        lines.push(format!(
            "passed on: {}",
            names(notes.inherited.iter().map(OsString::as_os_str))
        ));
    }
    let set = facts::set_variables(executor);
    if !set.is_empty() {
        lines.push(format!("set: {}", names(set.into_iter())));
    }
    let withheld = notes.withheld.iter().map(|variable| {
        format!(
            "withheld: {} ({})",
            variable.name.display(),
            variable.never.reason
        )
    });
    lines.extend(withheld);
    let overridden = notes.overridden.iter().map(|variable| {
        let by = match variable.by {
            Explicit::Inherit => "passed on",
            Explicit::Set => "set",
        };
        format!(
            "at a risk: {} is {by}: it {}",
            variable.name.display(),
            variable.never.reason
        )
    });
    lines.extend(overridden);
    lines
}

fn names<'a>(names: impl Iterator<Item = &'a OsStr>) -> String {
    names
        .map(|name| name.to_string_lossy())
        .collect::<Vec<_>>()
        .join(", ")
}

fn limits(limits: &Limits) -> Vec<String> {
    let lines = limits.set().map(|limit| {
        let value = limits.get(limit).unwrap_or_default();
        let value = match limit {
            Limit::Processes | Limit::OpenFiles => value.to_string(),
            Limit::CpuTime | Limit::WallTime => format!("{:?}", Duration::from_nanos(value)),
            _ => size(value),
        };
        format!("{limit}: {value}")
    });
    lines.collect()
}

fn bundles(executor: &Executor) -> Vec<String> {
    let tree = executor.tree();
    let lines = facts::bundles(&tree).into_iter().map(|(name, opened)| {
        let because: Vec<_> = opened.because.into_iter().collect();
        format!("{name}: {} paths ({})", opened.paths.len(), because.join(", "))
    });
    lines.collect()
}

/// Bytes in the greatest unit that they are a whole number of.
fn size(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let whole = units
        .into_iter()
        .find(|(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    match whole {
        Some((unit, shift)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} bytes"),
    }
}

fn letters(verdict: Verdict) -> String {
    let letter = |access, letter| match access {
        Access::Allow => letter,
        Access::Gated => '?',
        Access::Deny => '-',
    };
    [
        letter(verdict.read, 'r'),
        letter(verdict.write, 'w'),
        letter(verdict.execute, 'x'),
    ]
    .iter()
    .collect()
}
