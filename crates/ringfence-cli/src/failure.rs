//! Why the command line gives up: one line, a hint, an exit status.

use std::fmt::Display;

use ringfence::{BuildError, ExecutorError, RunError};

use crate::status;

/// A failure of ringfence itself, or of starting the command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// A line for each thing that is wrong.
    pub(crate) message: String,
    pub(crate) hint: String,
    pub(crate) status: u8,
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            hint: String::new(),
            status: status::OWN_FAILURE,
        }
    }

    /// A signal asked this program to end, which needs no words.
    pub(crate) fn ended_by(signal: i32) -> Self {
        Self {
            status: status::of_signal(signal),
            ..Self::new("")
        }
    }

    /// Whether it is that a signal asked for the end.
    pub(crate) fn is_ended(&self) -> bool {
        self.message.is_empty()
    }

    /// Says it on standard error: a line for each thing that is wrong, and the hint set off by a blank one.
    #[expect(clippy::print_stderr, reason = "the one place where failures reach the user")]
    pub(crate) fn print(&self) {
        for line in self.message.lines() {
            eprintln!("ringfence: {line}");
        }
        if !self.hint.is_empty() {
            eprintln!("\nhint: {}", self.hint);
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The same failure, of what an option asked for.
    pub(crate) fn in_option(mut self, option: &str) -> Self {
        self.message = format!("{option}: {}", self.message);
        self
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::new(&error).hint(error.hint())
    }
}

impl From<ExecutorError> for Failure {
    fn from(error: ExecutorError) -> Self {
        Self::new(&error).hint(error.hint())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self {
            message: error.to_string(),
            hint: error.hint(),
            status: status::of_run_error(&error),
        }
    }
}
