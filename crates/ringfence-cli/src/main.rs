//! The `ringfence` command.

#![forbid(unsafe_code)]

mod args;
mod conformance;
mod doctor;
mod documents;
mod explain;
mod failure;
mod plan;
mod private;
mod relay;
mod report;
mod run;
mod scratch;
mod signals;
mod status;
#[cfg_attr(not(unix), path = "terminal/other.rs")]
mod terminal;
mod text;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Task};

fn main() -> ExitCode {
    let done = match Arguments::try_parse() {
        Ok(arguments) => execute(&arguments.task),
        Err(error) => usage::answer(&error),
    };
    done.unwrap_or_else(|failure| {
        failure.print();
        ExitCode::from(failure.status)
    })
}

fn execute(task: &Task) -> Result<ExitCode, failure::Failure> {
    match task {
        Task::Run(options) => run::run(options),
        Task::Explain(options) => explain::explain(options),
        Task::Doctor(options) => doctor::doctor(options),
        Task::Conformance(options) => conformance::conformance(options),
        Task::Man(options) => documents::man(options),
        Task::Completions(options) => documents::completions(options),
    }
}
