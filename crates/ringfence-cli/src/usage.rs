//! Answers to command lines that are no task: help, or what is wrong with them.

use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::failure::Failure;
use crate::status;

/// Help and version go to standard output and are a success; everything else is our own failure.
pub(crate) fn answer(error: &clap::Error) -> Result<ExitCode, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            crate::report::print(&error.render().to_string())?;
            Ok(ExitCode::SUCCESS)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // Nothing was said, so nothing is wrong in particular.
            let _ = error.print();
            Ok(ExitCode::from(status::OWN_FAILURE))
        }
        _ => Err(failure(&error.render().to_string())),
    }
}

/// The parser's message in the form of every other: what is wrong in one line, and a hint.
fn failure(message: &str) -> Failure {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let mut paragraphs = message.split("\n\n");
    let what = paragraphs.next().unwrap_or_default();
    let tips: Vec<_> = paragraphs
        .flat_map(str::lines)
        .filter_map(|line| line.trim().strip_prefix("tip: "))
        .filter(|tip| tip.contains("similar"))
        .collect();
    let help = "--help lists what there is";
    let hint = if tips.is_empty() {
        help.to_owned()
    } else {
        format!("{}; {help}", tips.join("; "))
    };
    Failure::new(what.split_whitespace().collect::<Vec<_>>().join(" ")).hint(hint)
}
