//! `ringfence run`.

use std::process::ExitCode;

use ringfence::blocking::{Command, Executor, ExecutorSet};
use ringfence::{Ending, Limit, Outcome, RunError, Stdio};

use crate::args::Run;
use crate::failure::Failure;
use crate::plan::{self, Plan, Purpose};
use crate::relay::Relay;
use crate::report::{self, JsonReport};
use crate::signals::Signals;
use crate::status;

pub(crate) fn run(options: &Run) -> Result<ExitCode, Failure> {
    // From the first moment on, so that no signal ends this process with something left behind.
    let signals = Signals::listen()?;
    let plan = Plan::new(&options.policy)?;
    let json = options
        .report
        .json_report
        .as_deref()
        .map(JsonReport::create)
        .transpose()?;
    let purpose = if options.report.dry_run {
        Purpose::Look
    } else {
        Purpose::Run
    };
    let set = plan.set(purpose)?;
    let done = run_in(&set, &plan, options, json, signals);
    plan::close(&set);
    done
}

#[expect(clippy::print_stderr, reason = "what the user asked to see")]
fn run_in(
    set: &ExecutorSet,
    plan: &Plan,
    options: &Run,
    json: Option<JsonReport>,
    mut signals: Signals,
) -> Result<ExitCode, Failure> {
    let executor = plan.executor(set)?;
    if options.report.dry_run {
        json.map(|json| json.write(&executor, None)).transpose()?;
        report::print(&report::full(&executor))?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.report.verbose {
        eprint!("{}", report::summary(&executor));
    }
    let Some((program, arguments)) = options.command.split_first() else {
        return Err(Failure::new("no command"));
    };
    let command = executor
        .command(program)
        .args(arguments)
        .current_dir(&plan.directory)
        .stdin(Stdio::Inherit);
    // Whoever asked for the end before there was a command meant this program.
    if let Some(signal) = signals.arrived() {
        return Ok(ExitCode::from(status::of_signal(signal)));
    }
    let result = finish(command, &executor, signals);
    let written = json.map(|json| json.write(&executor, Some(&result))).transpose();
    let outcome = result?;
    if options.report.verbose {
        eprint!("{}", report::ending(&outcome));
    } else {
        eprint!("{}", report::warnings(&outcome));
    }
    let code = ExitCode::from(status::of_ending(outcome.ended));
    if let Err(failure) = written {
        // The command has run: what came of it is what the status tells.
        failure.print();
    }
    Ok(code)
}

/// Runs the command to its end. Its output is its own unless it has to be counted.
fn finish(command: Command, executor: &Executor, signals: Signals) -> Result<Outcome, RunError> {
    let Some(limit) = executor.profile().limits().output_bytes else {
        let process = command.stdout(Stdio::Inherit).stderr(Stdio::Inherit).spawn()?;
        return signals.wait(&process);
    };
    let mut process = command.stdout(Stdio::Piped).stderr(Stdio::Piped).spawn()?;
    let (output, errors) = (process.take_stdout(), process.take_stderr());
    let relay = Relay::new(limit);
    let mut outcome = std::thread::scope(|scope| {
        if let Some(output) = output {
            scope.spawn(|| relay.pass(output, std::io::stdout(), &process));
        }
        if let Some(errors) = errors {
            scope.spawn(|| relay.pass(errors, std::io::stderr(), &process));
        }
        signals.wait(&process)
    })?;
    if relay.is_exceeded() && outcome.ended != Ending::TimedOut {
        outcome.ended = Ending::LimitExceeded(Limit::Output);
    }
    Ok(outcome)
}
