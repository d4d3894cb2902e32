//! Measures what a confined spawn costs beside a plain one and beside peers, all in one interleaved run.
//!
//! Machines drift; so every round runs each candidate once, and what is printed are medians and their ratios to
//! the plain spawn of the same run.

#![forbid(unsafe_code)]

mod candidates;
#[cfg(target_os = "linux")]
mod linux;
mod load;
mod peers;
mod scaled;
mod statistics;
mod steps;

use std::process::ExitCode;

use clap::Parser;
use ringfence::ProfileConfig;

use candidates::{Candidates, Failure};
use statistics::Figures;

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

    /// Only run so many unconfined commands of one executor, one after the other, for whoever counts what that takes
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["quick", "json", "only"])]
    spawns: Option<usize>,

    /// Only compile a policy of 500 rules so many times, likewise
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["quick", "json", "only", "spawns"])]
    compiles: Option<usize>,

    /// The ringfence command to measure [default: beside this program]
    #[arg(long, value_name = "FILE")]
    cli: Option<std::path::PathBuf>,
}

const ROUNDS: usize = 400;
const QUICK_ROUNDS: usize = 60;
/// How often the rates of [`load`] are measured.
const BATCHES: usize = 9;
const QUICK_BATCHES: usize = 3;
/// What they are asked for by.
const LOAD: &str = "load";
#[cfg(target_os = "linux")]
use linux::FACTS;
#[cfg(not(target_os = "linux"))]
const FACTS: [&str; 0] = [];
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
    let done = match (arguments.spawns, arguments.compiles) {
        (Some(number), _) => spawn(number),
        (_, Some(number)) => compile(number),
        _ => measure(&arguments).map(|figures| {
            if arguments.json {
                println!("{:#}", figures.to_json());
            } else {
                print!("{}", figures.to_text());
            }
        }),
    };
    if let Err(error) = done {
        eprintln!("ringfence-bench: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs commands and measures nothing. They are unconfined, since valgrind lacks system calls that confining takes.
fn spawn(number: usize) -> Result<(), Failure> {
    let workspace = tempfile::tempdir()?;
    let warm = scaled::Scaled::new(&ProfileConfig::unconfined(workspace.path()))?;
    for _ in 0..number {
        candidates::confined(&warm.executor, candidates::DYNAMIC.as_ref())?;
    }
    Ok(())
}

fn compile(number: usize) -> Result<(), Failure> {
    let places = tempfile::tempdir()?;
    let config = scaled::with_rules(places.path(), 500)?;
    (0..number).try_for_each(|_| candidates::compile(&config).map(drop))
}

fn measure(arguments: &Arguments) -> Result<Figures, Failure> {
    let only = &arguments.only;
    let asked_for = |name: &str| only.is_empty() || only.iter().any(|only| only == name);
    let candidates = Candidates::new(arguments.cli.clone(), &asked_for)?;
    let is_fact = |name: &str| name == LOAD || FACTS.contains(&name);
    if let Some(unknown) = only.iter().find(|name| !is_fact(name) && !candidates.has(name)) {
        return Err(format!("there is nothing called {unknown} to measure here").into());
    }
    let (rounds, batches) = if arguments.quick {
        (QUICK_ROUNDS, QUICK_BATCHES)
    } else {
        (ROUNDS, BATCHES)
    };
    let mut figures = candidates.measure(WARM_UP_ROUNDS, rounds, &asked_for)?;
    if asked_for(LOAD) {
        figures.facts.extend(load::measure(candidates.warm(), batches)?);
    }
    #[cfg(target_os = "linux")]
    for name in FACTS {
        // Only root can look at all of it; for others that is left out unless they ask for it.
        if asked_for(name) && (!only.is_empty() || rustix::process::geteuid().is_root()) {
            let facts = linux::facts(name, candidates.set(), candidates.warm());
            figures
                .facts
                .extend(facts.map_err(|error| format!("{name}: {error}"))?);
        }
    }
    Ok(figures)
}
