//! `ringfence conformance`.

use std::io::{IsTerminal as _, Write as _};
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
    let progress = Progress::of(suite.cases);
    let heard = |done| {
        progress.show(done);
        ended_by.load(Ordering::Relaxed) == 0
    };
    let run = || ringfence_conformance::run(&suite, &heard);
    let found = signals.during(run, |asked| {
        if let Asked::End(signal) = asked {
            ended_by.store(signal, Ordering::Relaxed);
        }
    })?;
    progress.clear();
    let summary = found?;
    // Also of a run that was ended: hours may be in it.
    report::print(&if options.json {
        json(&summary)
    } else {
        human(&summary)
    })?;
    match ended_by.into_inner() {
        0 if summary.is_clean() => Ok(ExitCode::SUCCESS),
        0 => Ok(ExitCode::from(DIFFERENT)),
        signal => Err(Failure::ended_by(signal)),
    }
}

/// How far a run is, in a line of the terminal if there is one.
struct Progress {
    cases: u64,
    is_shown: bool,
}

impl Progress {
    fn of(cases: u64) -> Self {
        Self {
            cases,
            is_shown: std::io::stderr().is_terminal(),
        }
    }

    fn show(&self, done: u64) {
        self.write(&format!("\r{done} of {} cases", self.cases));
    }

    fn clear(&self) {
        self.write("\r\x1b[K");
    }

    /// What can't be shown is not missed.
    fn write(&self, text: &str) {
        if self.is_shown {
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }
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
