//! A running command.

use std::sync::{Arc, Mutex, PoisonError};

use ringfence_backend::{LifetimeContainment, Signal, SignalError};

use crate::error::RunError;
use crate::executor::Executor;
use crate::outcome::{Ending, Outcome};
use crate::running::Running;
use crate::stdio::{ChildStderr, ChildStdin, ChildStdout};

/// A running command and its process tree. Dropping it kills the tree.
#[derive(Debug)]
pub struct Process {
    running: Arc<Running>,
    /// The supervisor that watches this command lives in the set the executor belongs to.
    _executor: Executor,
    /// Closed by whoever waits, if nobody took it.
    stdin: Mutex<Option<ChildStdin>>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

impl Process {
    pub(crate) fn new(
        running: Arc<Running>,
        executor: Executor,
        stdin: Option<ChildStdin>,
        stdout: Option<ChildStdout>,
        stderr: Option<ChildStderr>,
    ) -> Self {
        Self {
            running,
            _executor: executor,
            stdin: Mutex::new(stdin),
            stdout,
            stderr,
        }
    }

    pub(crate) async fn started(&self) -> Result<(), RunError> {
        self.running.started.clone().await
    }

    /// Takes the writing end of a piped standard input; `None` the second time.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.close_stdin()
    }

    fn close_stdin(&self) -> Option<ChildStdin> {
        self.stdin.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the reading end of a piped standard output; `None` the second time.
    pub const fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// Takes the reading end of a piped standard error; `None` the second time.
    pub const fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.stderr.take()
    }

    /// Waits until the command has ended and nothing of its tree is left.
    ///
    /// A piped standard input that nobody took is closed first, so that a command that reads it does not wait for
    /// us. Any number of callers may wait, each gets the same outcome. Dropping the future stops only this waiting.
    ///
    /// # Errors
    /// [`RunError`] when the program turned out not to be executable, for a command nobody waited for to start.
    pub async fn wait(&self) -> Result<Outcome, RunError> {
        drop(self.close_stdin());
        self.running.done.clone().await
    }

    /// The outcome, if the command has ended.
    #[must_use]
    pub fn try_wait(&self) -> Option<Result<Outcome, RunError>> {
        self.running.done.get()
    }

    /// Sends a signal to the command's process group.
    ///
    /// # Errors
    /// [`SignalError::Ended`] after its end, [`SignalError::Unsupported`] where the system can't.
    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        self.running.signal(signal)
    }

    /// Kills the whole tree; the outcome says [`Ending::Cancelled`]. Does not wait.
    pub fn kill(&self) {
        self.running.end(Ending::Cancelled);
    }

    /// How surely the tree ends with its owner.
    #[must_use]
    pub fn lifetime_containment(&self) -> LifetimeContainment {
        self.running.class()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.running.done.get().is_none() {
            self.kill();
        }
    }
}
