//! `ringfence doctor`.

use std::fmt::Write as _;
use std::process::ExitCode;

use ringfence::{Capabilities, FactState, Unavailable};
use serde_json::json;

use crate::args::Doctor;
use crate::failure::Failure;
use crate::status::OWN_FAILURE;

#[expect(clippy::print_stdout, reason = "what the user asked to see")]
pub(crate) fn doctor(options: &Doctor) -> Result<ExitCode, Failure> {
    let found = ringfence::capabilities();
    let text = if options.json { json(&found) } else { human(&found) };
    print!("{text}");
    Ok(if found.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(OWN_FAILURE)
    })
}

fn json(found: &Result<Capabilities, Unavailable>) -> String {
    let value = match found {
        Ok(capabilities) => {
            json!({ "available": true, "tier": capabilities.tier, "facts": capabilities.facts })
        }
        Err(error) => json!({
            "available": false,
            "error": { "code": error.code(), "message": error.to_string(), "hint": error.hint() },
        }),
    };
    format!("{value:#}\n")
}

fn human(found: &Result<Capabilities, Unavailable>) -> String {
    let mut text = String::new();
    match found {
        Ok(capabilities) => {
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
        }
        Err(error) => {
            let _ = writeln!(text, "commands can't be confined: {error}");
            if !error.hint().is_empty() {
                let _ = writeln!(text, "  to get it: {}", error.hint());
            }
        }
    }
    text
}
