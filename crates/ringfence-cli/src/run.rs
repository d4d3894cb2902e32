//! `ringfence run`.

use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use ringfence::blocking::{Command, Executor};
use ringfence::{Outcome, RunError, SetupFailed, Stdio};

use crate::args::{Run, When};
use crate::failure::Failure;
use crate::plan::{self, Plan, Purpose, Set};
use crate::relay::Relay;
use crate::report::{self, JsonReport};
use crate::signals::Signals;
use crate::status;
use crate::terminal::{self, Raw, Wanted};

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
    let done = run_in(&set, &plan, options, json, &signals);
    plan::close(set);
    done
}

#[expect(clippy::print_stderr, reason = "what the user asked to see")]
fn run_in(
    set: &Set,
    plan: &Plan,
    options: &Run,
    json: Option<JsonReport>,
    signals: &Signals,
) -> Result<ExitCode, Failure> {
    let executor = plan.executor(set, signals)?;
    if let Some(warning) = plan.warning() {
        eprintln!("ringfence: {warning}");
    }
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
        .current_dir(&plan.directory);
    // Whoever asked for the end before there was a command meant this program.
    if let Some(signal) = signals.arrived() {
        return Err(Failure::ended_by(signal));
    }
    let limit = executor.profile().limits().output_bytes;
    let result = match terminal::wanted(options.tty) {
        Wanted::Whole(tty) => run_in_terminal(
            with_own_output(command.tty(tty), options.tty),
            options,
            limit,
            signals,
        ),
        // What has to be counted is counted at a pipe.
        Wanted::Output(tty) if limit.is_none() => {
            let command = command.tty(tty).stdin(terminal::input());
            run_in_terminal(with_own_output(command, options.tty), options, limit, signals)
        }
        Wanted::Output(_) | Wanted::Nothing => run_in_pipes(command.stdin(terminal::input()), limit, signals),
    };
    let written = json.map(|json| json.write(&executor, Some(&result))).transpose();
    let outcome = result.map_err(|error| {
        let left_out = left_out_of_path(&error, program, &executor);
        let failure = Failure::from(error);
        match left_out {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    })?;
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

/// Where a program is that was not found, because commands can change the directory and so don't look there.
fn left_out_of_path(error: &RunError, program: &OsStr, executor: &Executor) -> Option<String> {
    let missing = matches!(error, RunError::Setup(failed) if failed.step == SetupFailed::EXECUTE);
    let name = Path::new(program);
    if !missing || name.components().count() != 1 {
        return None;
    }
    let theirs = executor.variables().iter().find(|(name, _)| name == "PATH");
    let theirs: Vec<_> = theirs
        .map(|(_, path)| std::env::split_paths(path).collect())
        .unwrap_or_default();
    let ours = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&ours)
        .filter(|directory| !theirs.contains(directory))
        .map(|directory| directory.join(name))
        .find(|path| path.is_file())?;
    Some(format!(
        "{found:?} is there, but commands can change its directory or not see it, so it is not in their PATH: give the path"
    ))
}

/// Runs the command to its end. Its output is its own unless it has to be counted, or would be the user's terminal.
fn run_in_pipes(command: Command, limit: Option<u64>, signals: &Signals) -> Result<Outcome, RunError> {
    let own = |is_terminal: bool| match limit {
        None if !is_terminal => Stdio::Inherit,
        _ => Stdio::Piped,
    };
    let command = command
        .stdout(own(std::io::stdout().is_terminal()))
        .stderr(own(std::io::stderr().is_terminal()));
    let mut process = command.kill_on_drop(true).spawn()?;
    let (output, errors) = (process.take_stdout(), process.take_stderr());
    let (process, relay) = (Arc::new(process), Arc::new(Relay::new(limit)));
    if let Some(output) = output {
        relay.start(signals, &process, output, terminal::output())?;
    }
    if let Some(errors) = errors {
        relay.start(signals, &process, errors, terminal::errors())?;
    }
    let outcome = signals.wait(&process, None)?;
    signals.deliver(outcome.ended);
    Ok(relay.judge(outcome))
}

/// What of the output is not for a terminal goes where it is to go.
fn with_own_output(command: Command, when: When) -> Command {
    if when == When::Always || std::io::stdout().is_terminal() {
        command
    } else {
        command.stdout(Stdio::Inherit)
    }
}

/// Runs the command to its end in a terminal of its own. Its errors go elsewhere only where the user's do.
fn run_in_terminal(
    command: Command,
    options: &Run,
    limit: Option<u64>,
    signals: &Signals,
) -> Result<Outcome, RunError> {
    let elsewhere = limit.map_or(Stdio::Inherit, |_| Stdio::Piped);
    let command = if std::io::stderr().is_terminal() {
        command
    } else {
        command.stderr(elsewhere)
    };
    let failed = |error: std::io::Error| RunError::Io {
        what: "preparing the terminal",
        why: error.to_string(),
    };
    let shown = terminal::screen(options.tty).map_err(failed)?;
    let mut process = command.kill_on_drop(true).spawn()?;
    let (keys, screen, errors) = (process.take_stdin(), process.take_stdout(), process.take_stderr());
    let (process, relay) = (Arc::new(process), Arc::new(Relay::new(limit)));
    let raw = keys.map(|keys| Raw::enter(&process, keys)).transpose();
    let raw = raw.map_err(failed)?;
    if let Some(screen) = screen {
        let (process, relay) = (Arc::clone(&process), Arc::clone(&relay));
        signals.relay(move || {
            relay.pass(screen, shown, &process);
            // Whoever sees nothing any more has hung up.
            process.close();
        })?;
    }
    if let Some(errors) = errors {
        relay.start(signals, &process, errors, terminal::errors())?;
    }
    let outcome = signals.wait(&process, raw.as_ref())?;
    signals.deliver(outcome.ended);
    Ok(relay.judge(outcome))
}
