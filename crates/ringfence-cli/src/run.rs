//! `ringfence run`.

use std::process::ExitCode;

use ringfence::blocking::ExecutorSet;
use ringfence::{Probe, Stdio};

use crate::args::Run;
use crate::failure::Failure;
use crate::profile::{self, Plan};
use crate::report::{self, JsonReport};
use crate::signals::Signals;
use crate::{scratch, status};

/// The one executor of a run.
const KEY: &str = "run";

pub(crate) fn run(options: &Run) -> Result<ExitCode, Failure> {
    // From the first moment on, so that no signal ends this process with something left behind.
    let signals = Signals::listen()?;
    let plan = profile::build(options)?;
    let json = options
        .json_report
        .as_deref()
        .map(JsonReport::create)
        .transpose()?;
    let set: ExecutorSet = ringfence::ExecutorSet::builder(plan.profile.clone())
        .scratch_root(scratch::root(&plan.profile)?)
        .max_executors(1)
        .probe(Probe::AtFirstExecutor)
        .build()?
        .into();
    let done = run_in(&set, &plan, options, json, signals);
    let closed = set.close();
    let code = done?;
    if let Some(problem) = closed.problems.first() {
        Failure::new(format!("not everything was cleaned up: {problem}")).print();
    }
    Ok(code)
}

#[expect(clippy::print_stderr, reason = "what the user asked to see")]
fn run_in(
    set: &ExecutorSet,
    plan: &Plan,
    options: &Run,
    json: Option<JsonReport>,
    mut signals: Signals,
) -> Result<ExitCode, Failure> {
    let executor = set.executor(KEY)?;
    if options.verbose {
        eprint!("{}", report::summary(&executor));
    }
    if options.dry_run {
        json.map(|json| json.write(&executor, None)).transpose()?;
        report::print(&format!(
            "{}{}",
            report::regions(&executor),
            report::summary(&executor)
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some((program, arguments)) = options.command.split_first() else {
        return Err(Failure::new("no command"));
    };
    let mut command = executor
        .command(program)
        .args(arguments)
        .current_dir(&plan.directory)
        .stdin(Stdio::Inherit)
        .stdout(Stdio::Inherit)
        .stderr(Stdio::Inherit);
    if let Some(timeout) = options.timeout {
        command = command.timeout(timeout);
    }
    // Whoever asked for the end before there was a command meant this program.
    if let Some(signal) = signals.arrived() {
        return Ok(ExitCode::from(status::of_signal(signal)));
    }
    let result = command.spawn().and_then(|process| signals.wait(&process));
    let written = json.map(|json| json.write(&executor, Some(&result))).transpose();
    let code = ExitCode::from(status::of_ending(result?.ended));
    if let Err(failure) = written {
        // The command has run: what came of it is what the status tells.
        failure.print();
    }
    Ok(code)
}
