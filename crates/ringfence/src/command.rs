//! The one way to a process: a builder in the shape of `std::process::Command`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence_policy::Limits;

use crate::cancellation::Cancellation;
use crate::environment::Change;
use crate::error::RunError;
use crate::executor::Executor;
use crate::outcome::{Ending, Outcome};
use crate::prepared::PreparedProcess;
use crate::process::Process;
use crate::running::Running;
use crate::stdio::Stdio;
use crate::terminal::Tty;

/// A command of an executor, being put together.
///
/// Nothing runs before [`Command::output`], [`Command::spawn`] or [`PreparedProcess::start`].
#[derive(Debug)]
#[must_use = "a command does nothing until it is started"]
pub struct Command {
    pub(crate) executor: Executor,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) environment: Vec<(OsString, Change)>,
    pub(crate) stdin: Option<Stdio>,
    pub(crate) stdout: Option<Stdio>,
    pub(crate) stderr: Option<Stdio>,
    pub(crate) tty: Option<Tty>,
    /// Whether what appears on the terminal is read here.
    pub(crate) capture_terminal: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) kill_on_drop: bool,
    pub(crate) execution_id: Option<String>,
    pub(crate) grace: Duration,
    pub(crate) capture_bytes: usize,
    pub(crate) limits: Limits,
    pub(crate) cancel: Option<CancelToken>,
}

const DEFAULT_CAPTURE_BYTES: usize = 1024 * 1024;
const DEFAULT_GRACE: Duration = Duration::from_secs(5);

impl Command {
    pub(crate) fn new(executor: Executor, arguments: Vec<OsString>) -> Self {
        Self {
            executor,
            arguments,
            directory: None,
            environment: Vec::new(),
            stdin: None,
            stdout: None,
            stderr: None,
            tty: None,
            capture_terminal: false,
            timeout: None,
            deadline: None,
            kill_on_drop: false,
            execution_id: None,
            grace: DEFAULT_GRACE,
            capture_bytes: DEFAULT_CAPTURE_BYTES,
            limits: Limits::default(),
            cancel: None,
        }
    }

    /// Adds one argument; no shell interprets it.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments; no shell interprets them.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.arguments
            .extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets the working directory: absolute, existing, visible in the profile. Default: the workspace.
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets a variable for this command only, over the executor's environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .push((name.as_ref().to_owned(), Change::Set(value.as_ref().to_owned())));
        self
    }

    /// Removes a variable for this command only.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), Change::Remove));
        self
    }

    /// Connects standard input. Default: the null device for [`Command::output`], a pipe otherwise.
    pub fn stdin(mut self, stdio: Stdio) -> Self {
        self.stdin = Some(stdio);
        self
    }

    /// Connects standard output. Default: captured by [`Command::output`], a pipe otherwise.
    pub fn stdout(mut self, stdio: Stdio) -> Self {
        self.stdout = Some(stdio);
        self
    }

    /// Connects standard error. Default: captured by [`Command::output`], a pipe otherwise.
    pub fn stderr(mut self, stdio: Stdio) -> Self {
        self.stderr = Some(stdio);
        self
    }

    /// Gives the command a terminal of its own, which is its controlling one, and every standard stream that is not
    /// connected otherwise. Its settings are the system's: lines are edited and echoed, Ctrl-C interrupts.
    ///
    /// Where there is no terminal to be had the command is refused, and never given pipes instead
    /// ([`RunError::TtyUnsupported`]).
    pub fn tty(mut self, tty: Tty) -> Self {
        self.tty = Some(tty);
        self
    }

    /// Ends the command at this moment as [`Command::timeout`] does; where that has passed when it is prepared or
    /// started, nothing runs ([`RunError::DeadlineExceeded`]).
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Whether dropping the [`Process`] kills its tree. Default: it goes on, until it ends or its set is closed.
    pub fn kill_on_drop(mut self, kill: bool) -> Self {
        self.kill_on_drop = kill;
        self
    }

    /// Sets the id that tells this execution from every other one: not empty, without white space at its ends.
    /// Default: a fresh one that nobody can guess.
    pub fn execution_id(mut self, id: impl Into<String>) -> Self {
        self.execution_id = Some(id.into());
        self
    }

    /// Ends the command after this time from its start: it is terminated, and killed when the grace is over too. A limit
    /// of wall time does the same.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the time between termination and kill, after [`Signal::Terminate`](crate::Signal::Terminate) and at a time-out.
    /// Default, and what 0 means: 5 seconds.
    pub fn terminate_grace(mut self, grace: Duration) -> Self {
        self.grace = if grace.is_zero() { DEFAULT_GRACE } else { grace };
        self
    }

    /// Keeps at most this many bytes of each captured stream, half from its beginning and half from its end; the
    /// command runs on, and what is dropped is counted. Default: 1 MiB.
    pub fn capture_limit(mut self, bytes: usize) -> Self {
        self.capture_bytes = bytes;
        self
    }

    /// Kills the command when it has written more than this many bytes to both captured streams together; exactly
    /// this many are kept (EXE-43). The capture limit is raised to it. With 0 nothing is run (EXE-42).
    pub fn output_limit(mut self, bytes: u64) -> Self {
        self.limits.output_bytes = Some(bytes);
        self
    }

    /// Limits this command further than the profile does; of two values for one limit the smaller counts.
    /// [`Limits::private_bytes`] is of no effect here: it is about what all commands of an executor share.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = self.limits.meet(limits);
        self
    }

    /// Kills the command when the token is cancelled; before the start, nothing runs.
    pub fn cancel_on(mut self, token: &CancelToken) -> Self {
        self.cancel = Some(token.clone());
        self
    }

    /// Runs the command and captures its output.
    ///
    /// Dropping the future kills the command's whole process tree.
    ///
    /// # Errors
    /// [`RunError`] when nothing ran. However a command that was executed ends, the answer is `Ok`; see
    /// [`Outcome::error`].
    pub async fn output(self) -> Result<Outcome, RunError> {
        let prepared = self.captured()?.prepare().await?;
        prepared.start_for_end().await?.wait_all().await
    }

    /// The same with everything captured that is not connected otherwise.
    pub(crate) fn captured(mut self) -> Result<Self, RunError> {
        for (field, stdio) in [
            ("standard input", &self.stdin),
            ("standard output", &self.stdout),
            ("standard error", &self.stderr),
        ] {
            if matches!(stdio, Some(Stdio::Piped)) {
                let why = "can't be piped here, where nobody holds the other end: use spawn".to_owned();
                return Err(RunError::Invalid { field, why });
            }
        }
        // Nobody types.
        self.stdin.get_or_insert(Stdio::Null);
        if self.tty.is_some() {
            self.capture_terminal = true;
        } else {
            self.stdout.get_or_insert(Stdio::Captured);
            self.stderr.get_or_insert(Stdio::Captured);
        }
        Ok(self)
    }

    /// Starts the command and returns once its program has been executed.
    ///
    /// Dropping the future kills the command; what dropping the [`Process`] does says [`Command::kill_on_drop`].
    ///
    /// # Errors
    /// [`RunError`]; then nothing ran.
    pub async fn spawn(self) -> Result<Process, RunError> {
        self.prepare().await?.start().await
    }

    /// Checks and reserves everything the command needs, without creating a process.
    ///
    /// Dropping the future, or the preparation, releases it all.
    ///
    /// # Errors
    /// [`RunError`]; then nothing is held.
    #[expect(
        clippy::unused_async,
        reason = "grants and network sessions will be waited for here"
    )]
    pub async fn prepare(self) -> Result<PreparedProcess, RunError> {
        PreparedProcess::prepare(self)
    }
}

/// Cancels the commands it was given to; clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    shared: Arc<Cancellation<Running>>,
}

impl CancelToken {
    /// A token that has not been cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Kills every command the token was given to, and keeps those to come from starting. Does not wait.
    pub fn cancel(&self) {
        for running in self.shared.cancel() {
            running.end(Ending::Cancelled);
        }
    }

    /// Whether [`CancelToken::cancel`] has been called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled()
    }

    pub(crate) fn attach(&self, running: &Arc<Running>) {
        if !self.shared.add(running) {
            running.end(Ending::Cancelled);
        }
    }
}
