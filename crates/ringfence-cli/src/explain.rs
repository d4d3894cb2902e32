//! `ringfence explain`: whether a run could do something, why, what enforces it, and how to change that.

mod answer;
mod file;
mod other;
mod remedy;
mod subject;

use std::process::ExitCode;

use ringfence::Access;

use crate::args::Explain;
use crate::failure::Failure;
use crate::plan::{self, Plan, Purpose};
use crate::report;
use crate::signals::Signals;
use answer::Explanation;
use subject::Subject;

/// What was asked about is denied.
const DENIED: u8 = 1;

pub(crate) fn explain(options: &Explain) -> Result<ExitCode, Failure> {
    // No signal ends this process with something left behind.
    let signals = Signals::listen()?;
    let subject = Subject::new(&options.subject);
    let operations = subject.operations(options.operation)?;
    let plan = Plan::new(&options.policy)?;
    let set = plan.set(Purpose::Look)?;
    let explained = plan.executor(&set, &signals).and_then(|executor| {
        let answers = |operation| match &subject {
            Subject::Path(path) => file::answer(&plan, &executor, options, path, operation),
            Subject::Network => Ok(other::network(&executor)),
            Subject::Command => Ok(other::command(&plan)),
            Subject::Variable(name) => Ok(other::variable(&executor, name)),
        };
        let answers: Result<Vec<_>, _> = operations.iter().map(|operation| answers(*operation)).collect();
        let resolved = match &subject {
            Subject::Path(path) => Some(file::resolve(path)?),
            _ => None,
        };
        Ok(Explanation {
            subject: &options.subject,
            resolved,
            answers: answers?,
        })
    });
    plan::close(set);
    let explained = explained?;
    if let Some(signal) = signals.arrived() {
        return Err(Failure::ended_by(signal));
    }
    report::print(&if options.json {
        format!("{:#}\n", explained.json())
    } else {
        explained.text()
    })?;
    let denied = explained
        .answers
        .iter()
        .any(|answer| answer.access != Access::Allow);
    Ok(if options.operation.is_some() && denied {
        ExitCode::from(DENIED)
    } else {
        ExitCode::SUCCESS
    })
}
