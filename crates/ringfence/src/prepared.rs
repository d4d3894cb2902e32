//! A command with everything checked and reserved, and no process yet.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ringfence_backend::{Containment, Launch, Terminal, Watch};
use ringfence_policy::{Access, Identity, Limits, Resolve, Resolved};

use crate::access::EffectiveAccess;
use crate::command::{CancelToken, Command};
use crate::completion::{Completion, block_on};
use crate::end::End;
use crate::environment;
use crate::error::RunError;
use crate::executor::Executor;
#[cfg(unix)]
use crate::input::ChildStdin;
use crate::lifecycle::{Execution, Lease};
#[cfg(unix)]
use crate::output::{ChildStderr, ChildStdout, Output};
use crate::pipe::CapturePipe;
use crate::process::{Ends, Process};
use crate::running::{OutputLimits, Running};
use crate::single_use::{Gone, SingleUse};
use crate::stdio::{self, Stdio};
use crate::terminal::Tty;

/// A prepared command: single use, started by [`PreparedProcess::start`] or released by
/// [`PreparedProcess::close`] or dropping it.
#[derive(Debug)]
pub struct PreparedProcess {
    reserved: Arc<SingleUse<Capsule>>,
    cancel: Option<CancelToken>,
    access: EffectiveAccess,
    id: String,
}

/// What a preparation holds until it is started or closed.
#[derive(Debug)]
struct Capsule {
    arguments: Vec<OsString>,
    environment: environment::Variables,
    directory: PathBuf,
    directory_identity: Option<Identity>,
    stdio: [Option<Stdio>; 3],
    tty: Option<Tty>,
    capture_terminal: bool,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    grace: Duration,
    kill_on_drop: bool,
    limits: Limits,
    output: OutputLimits,
    cancel: Option<CancelToken>,
    id: String,
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
        if command.tty.is_some() && !executor.compiled().has_terminals() {
            return Err(RunError::TtyUnsupported);
        }
        check_arguments(&arguments)?;
        let id = execution_id(command.execution_id)?;
        match executor.profile().command() {
            Access::Allow => {}
            Access::Gated => return Err(RunError::GrantRequired),
            Access::Deny => return Err(RunError::GrantDenied),
        }
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
        check_deadline(command.deadline)?;
        let mut variables = executor.variables().to_vec();
        environment::working_directory(&mut variables, &given);
        if let Some(tty) = &command.tty {
            environment::terminal(&mut variables, tty.term.as_deref());
        }
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
        let access = EffectiveAccess::of(executor.profile());
        let cancel = command.cancel.clone();
        let capsule = |lease| Capsule {
            lease,
            arguments,
            environment: environment::apply(variables, &changes),
            directory_identity: executor
                .pins(&directory.path)
                .then_some(directory.identity)
                .flatten(),
            directory: directory.path,
            stdio: [stdin, stdout, stderr],
            tty: command.tty,
            capture_terminal: command.capture_terminal,
            timeout: command.timeout.into_iter().chain(limits.wall_time).min(),
            deadline: command.deadline,
            grace: command.grace,
            kill_on_drop: command.kill_on_drop,
            limits,
            output,
            cancel: command.cancel,
            id: id.clone(),
            executor,
        };
        let reserved = SingleUse::reserve(&lifecycle, lease, capsule).ok_or(RunError::ExecutorClosed)?;
        Ok(Self {
            reserved,
            cancel,
            access,
            id,
        })
    }

    /// What the command may write, as it was when this was prepared. The value is the caller's own.
    #[must_use]
    pub fn effective_access(&self) -> EffectiveAccess {
        self.access.clone()
    }

    /// The id that tells this execution from every other one: the caller's, else a fresh unguessable one.
    #[must_use]
    pub fn execution_id(&self) -> &str {
        &self.id
    }

    /// Starts the command and returns once its program has been executed.
    ///
    /// Where something has to be searched for, or made first, as for the first command and for one with a terminal, that
    /// happens on a thread of its own.
    /// Dropping the future kills the command.
    ///
    /// # Errors
    /// [`RunError::AlreadyStarted`] after a first start, even a failed one; [`RunError::ProcessClosed`] after
    /// [`PreparedProcess::close`] or the close of the set; [`RunError::Cancelled`] if its token has been cancelled, which
    /// uses nothing up; otherwise why nothing ran.
    pub async fn start(&self) -> Result<Process, RunError> {
        let (process, kill_on_drop) = self.launch_anywhere(Watch::StartAndEnd).await?;
        process.started(kill_on_drop).await
    }

    /// As [`PreparedProcess::start`], for a caller that may be held up.
    pub(crate) fn start_here(&self) -> Result<Process, RunError> {
        let (process, kill_on_drop) = self.take()?.launch(Watch::StartAndEnd)?;
        block_on(process.started(kill_on_drop))
    }

    /// Starts the command for somebody who only waits for its end, and kills it if that somebody goes away.
    pub(crate) async fn start_for_end(&self) -> Result<Process, RunError> {
        let (process, _) = self.launch_anywhere(Watch::End).await?;
        Ok(process)
    }

    /// As [`PreparedProcess::start_for_end`], for a caller that may be held up.
    pub(crate) fn start_for_end_here(&self) -> Result<Process, RunError> {
        let (process, _) = self.take()?.launch(Watch::End)?;
        Ok(process)
    }

    /// Releases everything that is reserved; after a start, or a second time, there is nothing to release. Starting
    /// answers [`RunError::ProcessClosed`] from then on (PRE-25).
    pub fn close(&self) {
        self.reserved.close();
    }

    fn take(&self) -> Result<Capsule, RunError> {
        // Asked first, so that nothing is used up (PRE-25).
        if self.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Err(RunError::Cancelled);
        }
        self.reserved.take().map_err(|gone| match gone {
            Gone::Taken => RunError::AlreadyStarted,
            Gone::Closed => RunError::ProcessClosed,
        })
    }

    /// Launches it, on another thread where it may take its time.
    async fn launch_anywhere(&self, watch: Watch) -> Result<(Process, bool), RunError> {
        let capsule = self.take()?;
        // One with a terminal is not made ahead.
        if capsule.tty.is_none() && capsule.executor.is_warm() {
            return capsule.launch(watch);
        }
        let handoff = Handoff::default();
        let theirs = handoff.clone();
        std::thread::Builder::new()
            .name("ringfence-start".to_owned())
            .spawn(move || {
                let _told = Told(theirs.told.clone());
                theirs.give(capsule.launch(watch));
            })
            .map_err(|error| RunError::io("making a thread for the start", &error))?;
        handoff.told.clone().await;
        // A thread that panicked leaves nothing.
        let launched = handoff.launched().take();
        launched.unwrap_or(Err(RunError::ExecutorClosed))
    }
}

type Launched = Result<(Process, bool), RunError>;

/// What a thread launched, for whoever waits. If nobody does any more, the process is dropped here, and so killed.
#[derive(Clone, Default)]
struct Handoff {
    launched: Arc<Mutex<Option<Launched>>>,
    told: Completion<()>,
}

impl Handoff {
    fn launched(&self) -> MutexGuard<'_, Option<Launched>> {
        self.launched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&self, launched: Launched) {
        *self.launched() = Some(launched);
    }
}

/// Also by panicking.
struct Told(Completion<()>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.complete(());
    }
}

impl Capsule {
    /// The process, and whether it is to be killed when its handle is dropped.
    fn launch(self, watch: Watch) -> Result<(Process, bool), RunError> {
        check_deadline(self.deadline)?;
        let io = |what| move |error: std::io::Error| RunError::io(what, &error);
        let streams = stdio::open(self.stdio, self.tty.is_some()).map_err(io("opening streams"))?;
        let supervisor = self.executor.supervisor();
        let (number, notifier) = supervisor.reserve();
        let mut captured = [None, None, None];
        for (slot, pipe) in captured.iter_mut().zip(streams.captured) {
            *slot = pipe
                .map(|pipe| CapturePipe::new(pipe, &notifier))
                .transpose()
                .map_err(io("reading streams"))?;
        }
        self.executor.look_for_command();
        let inventory = self.executor.inventory();
        let identity = Execution {
            executor: self.executor.key().to_owned(),
            id: self.id,
            program: self.arguments.first().cloned().unwrap_or_default(),
            exited: false,
            killed_for: None,
        };
        let containment = self.executor.compiled().launch(Launch {
            arguments: self.arguments,
            environment: self.environment,
            directory: self.directory,
            directory_identity: self.directory_identity,
            limits: self.limits,
            streams: streams.theirs,
            terminal: self.tty.map(|tty| Terminal {
                streams: streams.terminal,
                rows: tty.size.rows(),
                columns: tty.size.columns(),
                like: tty.like,
            }),
            notifier: notifier.clone(),
        })?;
        let mut ends = Ends {
            stdin: streams.stdin,
            stdout: streams.stdout,
            stderr: streams.stderr,
        };
        let (streams, capture) = (streams.terminal, self.capture_terminal);
        let terminal = connect(&*containment, streams, capture, &mut ends, &mut captured)
            .map_err(io("opening the terminal"))?;
        let of = (identity, self.grace);
        let running = Running::new(containment, notifier, captured, self.output, inventory, of);
        // From here on closing the set reaches the running command; if it has begun, it is killed at once.
        self.lease.attach(&running);
        running.hold(self.lease);
        if let Some(token) = &self.cancel {
            token.attach(&running);
        }
        // A moment beyond what the clock can say is as good as never.
        let timeout = self
            .timeout
            .and_then(|timeout| Instant::now().checked_add(timeout));
        let deadline = timeout.into_iter().chain(self.deadline).min();
        supervisor.watch(number, &running, watch, deadline);
        let process = Process::new(running, self.executor, ends, terminal);
        Ok((process, self.kill_on_drop))
    }
}

impl Drop for PreparedProcess {
    fn drop(&mut self) {
        self.close();
    }
}

/// Connects our ends of the streams that are a terminal with its master.
#[cfg(unix)]
fn connect(
    containment: &dyn Containment,
    [input, output, error]: [bool; 3],
    capture: bool,
    ends: &mut Ends,
    captured: &mut [Option<CapturePipe>; 3],
) -> std::io::Result<Option<Arc<End>>> {
    let Some(master) = containment.terminal() else {
        return Ok(None);
    };
    let terminal = Arc::new(End::new(master)?);
    if input {
        ends.stdin = Some(ChildStdin::terminal(Arc::clone(&terminal)));
    }
    if capture {
        // Where neither output is the terminal, what is shown on it is read all the same: nobody is to wait for room.
        let slot = match (output, error) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        captured[slot] = Some(CapturePipe::Terminal(Arc::clone(&terminal)));
    } else {
        // Also where neither output is the terminal: something may be shown on it.
        ends.stdout
            .get_or_insert_with(|| ChildStdout(Output::Terminal(Arc::clone(&terminal))));
    }
    if error {
        ends.stderr = Some(ChildStderr(Output::Nothing));
    }
    Ok(Some(terminal))
}

/// No backend has terminals there.
#[cfg(not(unix))]
fn connect(
    _: &dyn Containment,
    _: [bool; 3],
    _: bool,
    _: &mut Ends,
    _: &mut [Option<CapturePipe>; 3],
) -> std::io::Result<Option<Arc<End>>> {
    Ok(None)
}

fn check_deadline(deadline: Option<Instant>) -> Result<(), RunError> {
    match deadline {
        Some(deadline) if deadline <= Instant::now() => Err(RunError::DeadlineExceeded),
        _ => Ok(()),
    }
}

/// The caller's id, or a fresh one that nobody can guess.
fn execution_id(given: Option<String>) -> Result<String, RunError> {
    let Some(given) = given else {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| RunError::Io {
            what: "making an execution id",
            why: error.to_string(),
        })?;
        return Ok(format!("{:032x}", u128::from_ne_bytes(bytes)));
    };
    let why = match &*given {
        "" => "is empty",
        id if id.contains('\0') => "contains a NUL",
        id if id.trim() != id => "has white space at its ends",
        _ => return Ok(given),
    };
    Err(RunError::Invalid {
        field: "execution id",
        why: why.to_owned(),
    })
}

fn check_arguments(arguments: &[OsString]) -> Result<(), RunError> {
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

fn resolve_directory(given: &std::path::Path) -> Result<Resolved, RunError> {
    use ringfence_policy::Kind;
    let invalid = |why: String| RunError::Invalid {
        field: "working directory",
        why,
    };
    let resolved = ringfence_host::Host
        .resolve(given)
        .map_err(|error| invalid(error.to_string()))?;
    match resolved.kind {
        Kind::Directory => Ok(resolved),
        Kind::File => Err(invalid(format!("{given:?} is not a directory"))),
        Kind::Absent => Err(invalid(format!("{given:?} does not exist"))),
    }
}
