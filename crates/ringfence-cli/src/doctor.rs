//! `ringfence doctor`.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use ringfence::{BuildError, Capabilities, FactState, Report, Unavailable};
use serde_json::json;

use crate::args::{Doctor, PolicyOptions};
use crate::failure::Failure;
use crate::plan::{Plan, Purpose};
use crate::report;
use crate::signals::Signals;
use crate::status::OWN_FAILURE;

/// What this host offers, and what a default run in the current directory achieves with it.
struct Findings {
    capabilities: Capabilities,
    report: Arc<Report>,
}

pub(crate) fn doctor(options: &Doctor) -> Result<ExitCode, Failure> {
    // No signal ends this process with something left behind.
    let signals = Signals::listen()?;
    let found = find(&signals);
    if let Err(failure) = &found
        && failure.is_ended()
    {
        return found.map(|_| ExitCode::SUCCESS);
    }
    let text = if options.json { json(&found) } else { human(&found) };
    report::print(&text)?;
    Ok(if found.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(OWN_FAILURE)
    })
}

fn find(signals: &Signals) -> Result<Findings, Failure> {
    let unavailable = |error: Unavailable| Failure::from(BuildError::from(error));
    let capabilities = ringfence::capabilities().map_err(unavailable)?;
    let plan = Plan::new(&PolicyOptions::default())?;
    let set = plan.set(Purpose::Look)?;
    let report = plan.executor(&set, signals).map(|executor| executor.report());
    set.close()?;
    Ok(Findings {
        capabilities,
        report: report?,
    })
}

fn json(found: &Result<Findings, Failure>) -> String {
    let value = match found {
        Ok(Findings { capabilities, report }) => json!({
            "available": true,
            "tier": capabilities.tier,
            "facts": capabilities.facts,
            "level": report.level(),
            "guarantees": report.guarantees(),
            "obligations": report.entries(),
        }),
        Err(failure) => json!({
            "available": false,
            "error": { "message": failure.message, "hint": failure.hint },
        }),
    };
    format!("{value:#}\n")
}

fn human(found: &Result<Findings, Failure>) -> String {
    let mut text = String::new();
    let Findings { capabilities, report } = match found {
        Ok(findings) => findings,
        Err(failure) => {
            let _ = writeln!(text, "commands can't be confined: {}", failure.message);
            if !failure.hint.is_empty() {
                let _ = writeln!(text, "  to get it: {}", failure.hint);
            }
            return text;
        }
    };
    let _ = writeln!(text, "commands can be confined (tier: {})", capabilities.tier);
    for fact in &capabilities.facts {
        let (mark, detail) = match &fact.state {
            FactState::Present(detail) => ("yes", detail),
            FactState::Absent(detail) => ("no ", detail),
        };
        let _ = writeln!(text, "  {mark}  {}: {detail}", fact.name);
        if !fact.advice.is_empty() {
            let _ = writeln!(text, "       to get it: {}", fact.advice);
        }
    }
    let _ = writeln!(
        text,
        "a default run here (level: {:?}) guarantees:",
        report.level()
    );
    for name in report.guarantees().names() {
        let _ = writeln!(text, "  {name}");
    }
    for entry in report.entries().iter().filter(|entry| !entry.discharge.is_met()) {
        let _ = writeln!(text, "not guaranteed: {}: {}", entry.obligation, entry.discharge);
    }
    text
}
