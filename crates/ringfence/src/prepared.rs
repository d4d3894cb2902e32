//! A command with everything checked and reserved, and no process yet.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ringfence_backend::{Launch, Watch};
use ringfence_policy::{Access, Limits, Resolve};

use crate::command::{CancelToken, Command};
use crate::environment;
use crate::error::RunError;
use crate::executor::Executor;
use crate::lifecycle::Lease;
use crate::pipe::CapturePipe;
use crate::process::Process;
use crate::running::{Deadline, OutputLimits, Running};
use crate::single_use::{Gone, SingleUse};
use crate::stdio::{self, Stdio};

/// A prepared command: single use, started by [`PreparedProcess::start`] or released by
/// [`PreparedProcess::close`] or dropping it.
#[derive(Debug)]
pub struct PreparedProcess {
    reserved: Arc<SingleUse<Capsule>>,
}

/// What a preparation holds until it is started or closed.
#[derive(Debug)]
struct Capsule {
    arguments: Vec<std::ffi::OsString>,
    environment: environment::Variables,
    directory: PathBuf,
    stdio: [Stdio; 3],
    timeout: Option<Duration>,
    grace: Duration,
    limits: Limits,
    output: OutputLimits,
    cancel: Option<CancelToken>,
    executor: Executor,
    /// Last, so that it is dropped last: it says that nothing of this is left.
    lease: Lease,
}

impl PreparedProcess {
    pub(crate) fn prepare(command: Command) -> Result<Self, RunError> {
        let Command {
            executor,
            arguments,
            directory,
            environment: changes,
            stdin,
            stdout,
            stderr,
            ..
        } = command;
        if command.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Err(RunError::Cancelled);
        }
        let lease = executor.lifecycle().admit().ok_or(RunError::ExecutorClosed)?;
        match executor.profile().command() {
            Access::Allow => {}
            Access::Gated => return Err(RunError::GrantRequired),
            Access::Deny => return Err(RunError::GrantDenied),
        }
        check_arguments(&arguments)?;
        check_streams(stdin.as_ref(), stdout.as_ref())?;
        let given = directory.unwrap_or_else(|| executor.workspace_as_given().to_owned());
        let directory = resolve_directory(&given)?;
        for (name, change) in &changes {
            if let Some(why) = environment::problem(name, change) {
                return Err(RunError::Invalid {
                    field: "environment variable",
                    why: format!("{name:?} {why}"),
                });
            }
        }
        let mut variables = executor.variables().to_vec();
        environment::working_directory(&mut variables, &given);
        let limits = executor.profile().limits().meet(command.limits);
        if limits.output_bytes == Some(0) {
            return Err(RunError::Invalid {
                field: "output limit",
                why: "is 0: discard the output instead".to_owned(),
            });
        }
        // All of what is allowed is kept, in one piece.
        let allowed = limits
            .output_bytes
            .map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let output = OutputLimits {
            capture_bytes: command.capture_bytes.max(allowed.saturating_mul(2)),
            kill_after_bytes: limits.output_bytes,
            file_size_limited: limits.file_bytes.is_some(),
        };
        let lifecycle = Arc::clone(executor.lifecycle());
        let capsule = |lease| Capsule {
            lease,
            arguments,
            environment: environment::apply(variables, &changes),
            directory,
            stdio: [stdin, stdout, stderr].map(|stdio| stdio.unwrap_or(Stdio::Piped)),
            timeout: command.timeout.into_iter().chain(limits.wall_time).min(),
            grace: command.grace,
            limits,
            output,
            cancel: command.cancel,
            executor,
        };
        let reserved = SingleUse::reserve(&lifecycle, lease, capsule).ok_or(RunError::ExecutorClosed)?;
        Ok(Self { reserved })
    }

    /// Starts the command and returns once its program has been executed.
    ///
    /// Dropping the future kills the command.
    ///
    /// # Errors
    /// [`RunError::AlreadyStarted`] after a first start, even a failed one; [`RunError::ProcessClosed`] after
    /// [`PreparedProcess::close`] or the close of the set; otherwise why nothing ran.
    pub async fn start(&self) -> Result<Process, RunError> {
        let process = self.launch(Watch::StartAndEnd)?;
        process.started().await?;
        Ok(process)
    }

    /// Starts the command for somebody who only waits for its end.
    pub(crate) fn start_for_end(&self) -> Result<Process, RunError> {
        self.launch(Watch::End)
    }

    /// Releases everything that is reserved; after a start, or a second time, there is nothing to release. Starting
    /// answers [`RunError::ProcessClosed`] from then on (PRE-25).
    pub fn close(&self) {
        self.reserved.close();
    }

    fn launch(&self, watch: Watch) -> Result<Process, RunError> {
        let capsule = self.reserved.take().map_err(|gone| match gone {
            Gone::Taken => RunError::AlreadyStarted,
            Gone::Closed => RunError::ProcessClosed,
        })?;
        if capsule.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Err(RunError::Cancelled);
        }
        let [stdin, stdout, stderr] = capsule.stdio;
        let streams =
            stdio::open(stdin, stdout, stderr).map_err(|error| RunError::io("opening streams", &error))?;
        let supervisor = capsule.executor.supervisor();
        let (id, notifier) = supervisor.reserve();
        let mut captured = [None, None];
        for (slot, pipe) in captured.iter_mut().zip(streams.captured) {
            *slot = pipe
                .map(|pipe| CapturePipe::new(pipe, &notifier))
                .transpose()
                .map_err(|error| RunError::io("reading streams", &error))?;
        }
        let inventory = capsule.executor.inventory();
        let containment = capsule.executor.compiled().launch(Launch {
            arguments: capsule.arguments,
            environment: capsule.environment,
            directory: capsule.directory,
            limits: capsule.limits,
            streams: streams.theirs,
            notifier: notifier.clone(),
        })?;
        let running = Running::new(containment, notifier, captured, capsule.output, inventory);
        // From here on closing the set reaches the running command; if it has begun, it is killed at once.
        capsule.lease.attach(&running);
        running.hold(capsule.lease);
        if let Some(token) = &capsule.cancel {
            token.attach(&running);
        }
        let deadline = capsule
            .timeout
            .and_then(|timeout| Deadline::after(timeout, capsule.grace));
        supervisor.watch(id, &running, watch, deadline);
        Ok(Process::new(
            running,
            capsule.executor,
            streams.stdin,
            streams.stdout,
            streams.stderr,
        ))
    }
}

impl Drop for PreparedProcess {
    fn drop(&mut self) {
        self.close();
    }
}

fn check_arguments(arguments: &[std::ffi::OsString]) -> Result<(), RunError> {
    let invalid = |why: &str| RunError::Invalid {
        field: "command",
        why: why.to_owned(),
    };
    match arguments.first() {
        None => return Err(invalid("has no program")),
        Some(program) if program.is_empty() => return Err(invalid("has an empty program name")),
        Some(_) => {}
    }
    let has_nul = |argument: &OsStr| argument.as_encoded_bytes().contains(&0);
    if arguments.iter().any(|argument| has_nul(argument)) {
        return Err(invalid("has an argument that contains a NUL"));
    }
    Ok(())
}

fn check_streams(stdin: Option<&Stdio>, stdout: Option<&Stdio>) -> Result<(), RunError> {
    let invalid = |field, why: &str| {
        Err(RunError::Invalid {
            field,
            why: why.to_owned(),
        })
    };
    match (stdin, stdout) {
        (Some(Stdio::Captured | Stdio::Merged), _) => {
            invalid("standard input", "can't be captured or merged")
        }
        (_, Some(Stdio::Merged)) => invalid("standard output", "can't be merged: only standard error can"),
        _ => Ok(()),
    }
}

fn resolve_directory(given: &std::path::Path) -> Result<PathBuf, RunError> {
    use ringfence_policy::Kind;
    let invalid = |why: String| RunError::Invalid {
        field: "working directory",
        why,
    };
    let resolved = ringfence_host::Host
        .resolve(given)
        .map_err(|error| invalid(error.to_string()))?;
    match resolved.kind {
        Kind::Directory => Ok(resolved.path),
        Kind::File => Err(invalid(format!("{} is not a directory", given.display()))),
        Kind::Absent => Err(invalid(format!("{} does not exist", given.display()))),
    }
}
