//! `ringfence conformance`.

use std::process::ExitCode;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use ringfence_conformance::{Options, SuiteError, Summary};
use serde_json::json;

use crate::args::Conformance;
use crate::failure::Failure;
use crate::report;
use crate::signals::{Asked, Signals};

/// What is said when policy and reality differ.
const DIFFERENT: u8 = 1;

pub(crate) fn conformance(options: &Conformance) -> Result<ExitCode, Failure> {
    let signals = Signals::listen()?;
    let suite = Options {
        cases: options.cases,
        seed: options.seed.unwrap_or_else(any_seed),
        ..Options::default()
    };
    // The cases that are being tried come to their end, so that nothing of them is left behind.
    let ended_by = AtomicI32::new(0);
    let run = || ringfence_conformance::run(&suite, &|_| ended_by.load(Ordering::Relaxed) == 0);
    let found = signals.during(run, |asked| {
        if let Asked::End(signal) = asked {
            ended_by.store(signal, Ordering::Relaxed);
        }
    })?;
    let signal = ended_by.into_inner();
    if signal != 0 {
        return Err(Failure::ended_by(signal));
    }
    let summary = found?;
    report::print(&if options.json {
        json(&summary)
    } else {
        human(&summary)
    })?;
    Ok(if summary.is_clean() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(DIFFERENT)
    })
}

/// Different each time; it is printed, so that the run can be repeated.
fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| u64::from(since.subsec_nanos()) ^ since.as_secs() << 30)
}

fn json(summary: &Summary) -> String {
    let mut value = json!(summary);
    value["agrees"] = summary.is_clean().into();
    format!("{value:#}\n")
}

fn human(summary: &Summary) -> String {
    let verdict = if summary.is_clean() {
        "policy and reality agree"
    } else {
        "policy and reality differ"
    };
    format!("{summary}{verdict}\n")
}

impl From<SuiteError> for Failure {
    fn from(error: SuiteError) -> Self {
        Self::new(format!("conformance: {error}"))
    }
}
