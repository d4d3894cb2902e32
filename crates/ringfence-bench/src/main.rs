//! Measures what a confined spawn costs beside a plain one and beside peers, all in one interleaved run.
//!
//! Machines drift; so every round runs each candidate once, and what is printed are medians and their ratios to
//! the plain spawn of the same run.

#![forbid(unsafe_code)]

mod candidates;
#[cfg(target_os = "linux")]
mod linux;
mod statistics;

use std::process::ExitCode;

use clap::Parser;

use candidates::Candidates;

/// Measure what confinement costs, interleaved in one run.
#[derive(Debug, Parser)]
struct Arguments {
    /// Fewer rounds, for a first look
    #[arg(long)]
    quick: bool,

    /// Print the figures as JSON
    #[arg(long)]
    json: bool,

    /// Measure only these, and what they are compared with
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,

    /// The ringfence command to measure [default: beside this program]
    #[arg(long, value_name = "FILE")]
    cli: Option<std::path::PathBuf>,
}

const ROUNDS: usize = 400;
const QUICK_ROUNDS: usize = 60;
/// Rounds before measuring: caches fill, the first zygote starts.
const WARM_UP_ROUNDS: usize = 5;

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that prints its results"
)]
fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == linux::LAST_WORD)
    {
        return linux::say_now().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let arguments = Arguments::parse();
    let measured = Candidates::new(arguments.cli.clone()).and_then(|candidates| {
        let rounds = if arguments.quick { QUICK_ROUNDS } else { ROUNDS };
        candidates.measure(WARM_UP_ROUNDS, rounds, &arguments.only)
    });
    match measured {
        Ok(figures) if arguments.json => println!("{:#}", figures.to_json()),
        Ok(figures) => print!("{}", figures.to_text()),
        Err(error) => {
            eprintln!("ringfence-bench: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
