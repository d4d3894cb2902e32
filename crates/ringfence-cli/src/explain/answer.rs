//! Answers, for people and for programs.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use ringfence::{Access, Clause, Entry, Kind, Resolved, Rule};
use serde_json::{Value, json};

use crate::args::Operation;
use crate::report;

/// Everything there is to say about a subject.
#[derive(Debug)]
pub(super) struct Explanation<'a> {
    /// As it was written.
    pub(super) subject: &'a OsStr,
    /// Where a path leads.
    pub(super) resolved: Option<Resolved>,
    pub(super) answers: Vec<Answer>,
}

/// Whether one operation would succeed.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) operation: Operation,
    pub(super) access: Access,
    /// Who says so.
    pub(super) because: String,
    /// The rule that says so.
    pub(super) rule: Option<Rule>,
    /// What keeps it closed.
    pub(super) enforced_by: Vec<Entry>,
    /// The options that open what is closed, or close what is open.
    pub(super) remedy: Option<String>,
    /// An option with which nothing of the host's has to be opened.
    pub(super) instead: Option<String>,
}

impl Explanation<'_> {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        match &self.resolved {
            None => {
                let _ = writeln!(text, "{}", self.subject.display());
            }
            Some(at) => {
                let absent = if at.kind == Kind::Absent {
                    " (does not exist)"
                } else {
                    ""
                };
                let _ = writeln!(text, "{}{absent}", at.path.display());
                for link in &at.links {
                    let _ = writeln!(
                        text,
                        "  by the link {} -> {}",
                        link.path.display(),
                        link.target.display()
                    );
                }
            }
        }
        for answer in &self.answers {
            let verdict = match answer.access {
                Access::Allow => "allowed",
                Access::Gated => "denied without a grant",
                Access::Deny => "denied",
            };
            let _ = writeln!(
                text,
                "  {:7}  {verdict}: {}",
                answer.operation.name(),
                answer.because
            );
            let mut enforced: Vec<_> = answer.enforced_by.iter().map(enforcement).collect();
            // One clause can be behind several guarantees.
            enforced.dedup();
            for line in enforced {
                let _ = writeln!(text, "           {line}");
            }
            let _ = writeln!(text, "           {}", answer.remedy());
            if let Some(instead) = &answer.instead {
                let _ = writeln!(text, "           or give commands one of their own: {instead}");
            }
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let answers = self.answers.iter().map(|answer| {
            let (to_open, to_close) = match answer.access {
                Access::Allow => (None, answer.remedy.as_deref()),
                Access::Gated | Access::Deny => (answer.remedy.as_deref(), None),
            };
            json!({
                "operation": answer.operation.name(),
                "access": answer.access,
                "because": answer.because,
                "rule": answer.rule,
                "enforced_by": answer.enforced_by,
                "to_open": to_open,
                "to_close": to_close,
                "instead": answer.instead,
            })
        });
        json!({
            "subject": report::path(Path::new(self.subject)),
            "resolved": self.resolved,
            "answers": answers.collect::<Vec<_>>(),
        })
    }
}

impl Answer {
    fn remedy(&self) -> String {
        let what = match self.access {
            Access::Allow => "close",
            Access::Gated | Access::Deny => "open",
        };
        match &self.remedy {
            Some(remedy) => format!("to {what} it: {remedy}"),
            None => format!("no option can {what} it"),
        }
    }
}

fn enforcement(entry: &Entry) -> String {
    match entry.obligation.clause {
        Clause::FileAccess => entry.discharge.to_string(),
        clause => format!("{clause}: {}", entry.discharge),
    }
}
