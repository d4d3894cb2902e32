//! The `ringfence` command.

#![forbid(unsafe_code)]

mod args;
mod doctor;
mod failure;
mod profile;
mod report;
mod run;
mod scratch;
mod signals;
mod status;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Task};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let done = match &arguments.task {
        Task::Run(options) => run::run(options),
        Task::Doctor(options) => doctor::doctor(options),
    };
    done.unwrap_or_else(|failure| {
        failure.print();
        ExitCode::from(failure.status)
    })
}

/// Help and version go to standard output and are a success; everything else is our own failure.
fn usage(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    match (error.use_stderr(), printed) {
        (false, Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::from(status::OWN_FAILURE),
    }
}
