//! `ringfence run`.

use std::process::ExitCode;

use ringfence::blocking::{ExecutorSet, Process};
use ringfence::{Outcome, Probe, RunError, Stdio};

use crate::args::Run;
use crate::failure::Failure;
use crate::profile::{self, Plan};
use crate::report::{self, JsonReport};
use crate::{scratch, status};

/// The one executor of a run.
const KEY: &str = "run";

pub(crate) fn run(options: &Run) -> Result<ExitCode, Failure> {
    let plan = profile::build(options)?;
    let json = options
        .json_report
        .as_deref()
        .map(JsonReport::create)
        .transpose()?;
    let set: ExecutorSet = ringfence::ExecutorSet::builder(plan.profile.clone())
        .scratch_root(scratch::root()?)
        .max_executors(1)
        .probe(Probe::AtFirstExecutor)
        .build()?
        .into();
    let done = run_in(&set, &plan, options, json);
    let closed = set.close();
    let code = done?;
    if let Some(problem) = closed.problems.first() {
        return Err(Failure::new(format!("not everything was cleaned up: {problem}")));
    }
    Ok(code)
}

#[expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "what the user asked to see"
)]
fn run_in(
    set: &ExecutorSet,
    plan: &Plan,
    options: &Run,
    json: Option<JsonReport>,
) -> Result<ExitCode, Failure> {
    let executor = set.executor(KEY)?;
    if options.verbose {
        eprint!("{}", report::summary(&executor));
    }
    if options.dry_run {
        print!("{}{}", report::regions(&executor), report::summary(&executor));
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
    let result = command.spawn().and_then(|process| wait(&process));
    if let Some(json) = json {
        json.write(&executor, &result)?;
    }
    Ok(ExitCode::from(status::of_ending(result?.ended)))
}

/// Waits for the end, and passes on the signals that ask for it.
#[cfg(unix)]
fn wait(process: &Process) -> Result<Outcome, RunError> {
    use ringfence::Signal;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(|error| RunError::Io {
        what: "listening for signals",
        why: error.to_string(),
    })?;
    let listening = signals.handle();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for signal in &mut signals {
                let signal = match signal {
                    SIGHUP => Signal::Hangup,
                    SIGTERM => Signal::Terminate,
                    _ => Signal::Interrupt,
                };
                // A command that has just ended needs no signal.
                let _ = process.signal(signal);
            }
        });
        let result = process.wait();
        listening.close();
        result
    })
}

#[cfg(not(unix))]
fn wait(process: &Process) -> Result<Outcome, RunError> {
    process.wait()
}
