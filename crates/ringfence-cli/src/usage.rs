//! Answers to command lines that are no task: help, or what is wrong with them.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::TASKS;
use crate::failure::Failure;
use crate::{status, text};

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
        _ => Err(failure(error)),
    }
}

/// The parser's message in the form of every other: what is wrong in one line, and a hint.
fn failure(error: &clap::Error) -> Failure {
    let message = error.render().to_string();
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let mut paragraphs = message.split("\n\n");
    let what = paragraphs.next().unwrap_or_default();
    let tips: Vec<_> = paragraphs
        .flat_map(str::lines)
        .filter_map(|line| line.trim().strip_prefix("tip: "))
        .filter(|tip| tip.contains("similar") && is_near(error))
        .collect();
    let help = format!("`ringfence{} --help` lists what there is", task());
    let hint = if tips.is_empty() {
        help
    } else {
        format!("{}; {help}", tips.join("; "))
    };
    Failure::new(what.split_whitespace().collect::<Vec<_>>().join(" ")).hint(hint)
}

/// Whether what the parser suggests is spelled like what was written: it likes to suggest what has a few letters in
/// common, and some options open what nobody meant to.
fn is_near(error: &clap::Error) -> bool {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
        _ => None,
    };
    let pairs = [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
    ];
    pairs.into_iter().any(|(written, suggested)| {
        let (Some(written), Some(suggested)) = (text(written), text(suggested)) else {
            return false;
        };
        text::is_near(written.trim_start_matches('-'), suggested.trim_start_matches('-'))
    })
}

/// The task that was asked for, after a blank.
fn task() -> String {
    let first = std::env::args_os().nth(1).unwrap_or_default();
    let known = TASKS.iter().any(|task| first == **task);
    if known {
        format!(" {}", first.display())
    } else {
        String::new()
    }
}
