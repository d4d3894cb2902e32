//! What was enforced, for people and for programs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use ringfence::{Access, Ending, Executor, Guarantees, Outcome, RunError, Verdict};
use serde_json::{Value, json};

use crate::failure::Failure;

/// The file of `--json-report`, looked at before anything runs so that a wrong path costs nothing.
///
/// It may lie where the command can write. So nothing is opened by its name before the command is over, and then the
/// report is written under another name and put in place by renaming: whatever the command made of the name, a link
/// or a pipe, is replaced and never followed. Only what lies in `/dev` is written to as it is.
#[derive(Debug)]
pub(crate) struct JsonReport {
    path: PathBuf,
}

impl JsonReport {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let report = Self {
            path: path.to_owned(),
        };
        let probe = if report.is_device() {
            File::options().write(true).open(path)
        } else {
            report.aside()
        };
        match probe {
            Ok(_) if path.is_dir() => Err(Failure::new(format!(
                "--json-report {}: is a directory",
                path.display()
            ))
            .hint("give a file you can write")),
            Ok(_) => Ok(report),
            Err(error) => Err(failure(path, &error).hint("give a file you can write")),
        }
    }

    /// Writes the report; without a result for a run that was only planned.
    pub(crate) fn write(
        &self,
        executor: &Executor,
        result: Option<&Result<Outcome, RunError>>,
    ) -> Result<(), Failure> {
        let report = executor.report();
        let text = json!({
            "fingerprint": executor.profile().fingerprint().to_string(),
            "level": report.level(),
            "guarantees": names(report.guarantees()),
            "obligations": report.entries(),
            "result": result.map(self::result),
        });
        self.put(&format!("{text:#}\n"))
            .map_err(|error| failure(&self.path, &error))
    }

    fn put(&self, text: &str) -> std::io::Result<()> {
        if self.is_device() {
            return File::options()
                .write(true)
                .open(&self.path)?
                .write_all(text.as_bytes());
        }
        self.aside()?.write_all(text.as_bytes())?;
        std::fs::rename(self.aside_path(), &self.path)
    }

    /// A new file beside the report's place; what had its name before is gone.
    fn aside(&self) -> std::io::Result<File> {
        let path = self.aside_path();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        File::options().write(true).create_new(true).open(path)
    }

    fn aside_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{}.tmp", std::process::id()));
        name.into()
    }

    fn is_device(&self) -> bool {
        self.path.starts_with("/dev")
    }
}

impl Drop for JsonReport {
    fn drop(&mut self) {
        if !self.is_device() {
            // After a report was put in place there is none.
            let _ = std::fs::remove_file(self.aside_path());
        }
    }
}

fn failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("--json-report {}: {error}", path.display()))
}

/// Prints what was asked for; a reader who has gone away wanted no more.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("standard output: {error}")))
        }
        _ => Ok(()),
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
        Ending::OwnerClosed => json!("owner_closed"),
        other => json!(format!("{other:?}")),
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
