//! The same API for callers without an async runtime: every call blocks until its answer is there.
//!
//! These types wrap those of the crate root and convert from them; whatever does not wait is reached through
//! dereferencing. They work in any thread; inside an async task they would block its runtime.

use std::ffi::OsStr;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::completion::block_on;
use crate::prepared;
use crate::{
    CancelToken, CloseReport, ExecutorError, Exit, Limits, Outcome, RunError, Stdio, StillClosing, Tty,
};

/// Declares a wrapper with its conversions.
macro_rules! wrapper {
    ($name:ident $(, $derive:ident)*) => {
        #[doc = concat!("See [`", stringify!($name), "`](crate::", stringify!($name), ").")]
        #[derive(Debug $(, $derive)*)]
        pub struct $name(crate::$name);

        impl From<crate::$name> for $name {
            fn from(inner: crate::$name) -> Self {
                Self(inner)
            }
        }

        impl Deref for $name {
            type Target = crate::$name;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl DerefMut for $name {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }
    };
}

wrapper!(ExecutorSet, Clone);
wrapper!(Executor, Clone, PartialEq, Eq);
wrapper!(Command);
wrapper!(PreparedProcess);
wrapper!(Process);

impl ExecutorSet {
    /// See [`ExecutorSet::executor`](crate::ExecutorSet::executor). Builds on the caller's own thread.
    ///
    /// # Errors
    /// As there.
    pub fn executor(&self, key: &str) -> Result<Executor, ExecutorError> {
        self.0.executor_here(key).map(Executor)
    }

    /// See [`ExecutorSet::release`](crate::ExecutorSet::release).
    ///
    /// # Errors
    /// As there.
    pub fn release(&self, key: &str) -> Result<CloseReport, ExecutorError> {
        block_on(self.0.release(key))
    }

    /// See [`ExecutorSet::close_within`](crate::ExecutorSet::close_within).
    ///
    /// # Errors
    /// As there.
    pub fn close_within(&self, patience: Duration) -> Result<CloseReport, StillClosing> {
        block_on(self.0.close_within(patience))
    }

    /// See [`ExecutorSet::close`](crate::ExecutorSet::close).
    #[must_use = "the report says whether everything was cleaned up"]
    pub fn close(&self) -> CloseReport {
        block_on(self.0.close())
    }
}

impl Executor {
    /// See [`Executor::command`](crate::Executor::command).
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        Command(self.0.command(program))
    }

    /// See [`Executor::shell`](crate::Executor::shell).
    pub fn shell(&self, text: impl AsRef<OsStr>) -> Command {
        Command(self.0.shell(text))
    }

    /// See [`Executor::run_argv`](crate::Executor::run_argv).
    ///
    /// # Errors
    /// As there.
    pub fn run_argv(
        &self,
        directory: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Result<Outcome, RunError> {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        Command(self.0.argv_command(directory.as_ref(), arguments.collect())).output()
    }

    /// See [`Executor::run_command`](crate::Executor::run_command).
    ///
    /// # Errors
    /// As there.
    pub fn run_command(
        &self,
        directory: impl AsRef<Path>,
        text: impl AsRef<OsStr>,
    ) -> Result<Outcome, RunError> {
        Command(self.0.shell_command(directory.as_ref(), text.as_ref())).output()
    }
}

/// Forwards the settings of a command.
macro_rules! settings {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        impl Command {
            $(
                #[must_use = "a command does nothing until it is started"]
                #[doc = concat!("See [`Command::", stringify!($name), "`](crate::Command::", stringify!($name), ").")]
                pub fn $name(self, $($argument: $kind),*) -> Self {
                    Self(self.0.$name($($argument),*))
                }
            )*
        }
    };
}

settings! {
    arg(argument: impl AsRef<OsStr>);
    args(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>);
    current_dir(directory: impl AsRef<Path>);
    env(name: impl AsRef<OsStr>, value: impl AsRef<OsStr>);
    env_remove(name: impl AsRef<OsStr>);
    stdin(stdio: Stdio);
    stdout(stdio: Stdio);
    stderr(stdio: Stdio);
    tty(tty: Tty);
    timeout(timeout: Duration);
    deadline(deadline: Instant);
    kill_on_drop(kill: bool);
    execution_id(id: impl Into<String>);
    terminate_grace(grace: Duration);
    capture_limit(bytes: usize);
    output_limit(bytes: u64);
    limits(limits: Limits);
    cancel_on(token: &CancelToken);
}

impl Command {
    /// See [`Command::output`](crate::Command::output).
    ///
    /// # Errors
    /// As there.
    pub fn output(self) -> Result<Outcome, RunError> {
        let prepared = prepared::PreparedProcess::prepare(self.0.captured()?)?;
        block_on(prepared.start_for_end_here()?.wait_all())
    }

    /// See [`Command::spawn`](crate::Command::spawn).
    ///
    /// # Errors
    /// As there.
    pub fn spawn(self) -> Result<Process, RunError> {
        self.prepare()?.start()
    }

    /// See [`Command::prepare`](crate::Command::prepare).
    ///
    /// # Errors
    /// As there.
    pub fn prepare(self) -> Result<PreparedProcess, RunError> {
        block_on(self.0.prepare()).map(PreparedProcess)
    }
}

impl PreparedProcess {
    /// See [`PreparedProcess::start`](crate::PreparedProcess::start).
    ///
    /// # Errors
    /// As there.
    pub fn start(&self) -> Result<Process, RunError> {
        self.0.start_here().map(Process)
    }
}

impl Process {
    /// See [`Process::wait`](crate::Process::wait).
    ///
    /// # Errors
    /// As there.
    pub fn wait(&self) -> Result<Exit, RunError> {
        block_on(self.0.wait())
    }

    /// See [`Process::wait_all`](crate::Process::wait_all).
    ///
    /// # Errors
    /// As there.
    pub fn wait_all(&self) -> Result<Outcome, RunError> {
        block_on(self.0.wait_all())
    }

    /// See [`Process::shutdown`](crate::Process::shutdown).
    ///
    /// # Errors
    /// As there.
    pub fn shutdown(&self, grace: Duration) -> Result<Outcome, RunError> {
        block_on(self.0.shutdown(grace))
    }
}
