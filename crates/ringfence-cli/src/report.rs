//! What was enforced, for people and for programs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use ringfence::{Access, Ending, Executor, Guarantees, Outcome, RunError, Verdict};
use serde_json::{Value, json};

use crate::failure::Failure;

/// The file of `--json-report`, opened before anything runs so that a wrong path costs nothing.
#[derive(Debug)]
pub(crate) struct JsonReport {
    file: File,
    path: String,
}

impl JsonReport {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::create(path).map_err(|error| {
            Failure::new(format!("--json-report {}: {error}", path.display()))
                .hint("give a file you can write")
        })?;
        Ok(Self {
            file,
            path: path.display().to_string(),
        })
    }

    pub(crate) fn write(
        mut self,
        executor: &Executor,
        result: &Result<Outcome, RunError>,
    ) -> Result<(), Failure> {
        let report = json!({
            "fingerprint": executor.profile().fingerprint().to_string(),
            "level": executor.level(),
            "guarantees": names(executor.guarantees()),
            "obligations": executor.report().entries(),
            "result": self::result(result),
        });
        writeln!(self.file, "{report:#}").map_err(|error| Failure::new(format!("{}: {error}", self.path)))
    }
}

/// The names of guarantees, as reports give them.
pub(crate) fn names(guarantees: Guarantees) -> Vec<String> {
    guarantees
        .iter_names()
        .map(|(name, _)| name.to_lowercase())
        .collect()
}

fn result(result: &Result<Outcome, RunError>) -> Value {
    match result {
        Ok(outcome) => json!({
            "ended": ending(outcome.ended),
            "elapsed_ms": u64::try_from(outcome.elapsed.as_millis()).unwrap_or(u64::MAX),
            "containment": outcome.containment,
        }),
        Err(error) => json!({ "error": { "code": error.code(), "message": error.to_string() } }),
    }
}

fn ending(ending: Ending) -> Value {
    match ending {
        Ending::Exited(code) => json!({ "exited": code }),
        Ending::Signaled { signal, core } => json!({ "signaled": signal, "core": core }),
        Ending::TimedOut => json!("timed_out"),
        Ending::LimitExceeded(_) => json!("limit_exceeded"),
        Ending::Cancelled => json!("cancelled"),
        _ => json!("owner_closed"),
    }
}

/// The regions, as `--dry-run` shows them.
pub(crate) fn regions(executor: &Executor) -> String {
    let mut text = String::from("access  path\n");
    for region in executor.tree().regions() {
        let verdict = if region.kind == ringfence::Kind::Directory {
            region.subtree
        } else {
            region.object
        };
        let sources: Vec<String> = region.rules.iter().map(|rule| rule.source.to_string()).collect();
        let _ = writeln!(
            text,
            "{:6}  {}  ({})",
            letters(verdict),
            region.path.display(),
            sources.join(", ")
        );
    }
    text
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

/// What is enforced and what is not, a line each.
pub(crate) fn summary(executor: &Executor) -> String {
    let mut text = format!(
        "level: {:?}\nguarantees: {}\n",
        executor.level(),
        executor.guarantees()
    );
    for entry in executor.report().entries() {
        let _ = writeln!(text, "{}: {}", entry.obligation, entry.discharge);
    }
    text
}
