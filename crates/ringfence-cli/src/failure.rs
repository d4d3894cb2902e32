//! Why the command line gives up: one line, a hint, an exit status.

use std::fmt::Display;

use ringfence::{BuildError, ExecutorError, InvalidProfile, RunError};

use crate::status;

/// A failure of ringfence itself, or of starting the command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
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

    /// Says it on standard error: one line, and the hint set off by a blank one.
    #[expect(clippy::print_stderr, reason = "the one place where failures reach the user")]
    pub(crate) fn print(&self) {
        eprintln!("ringfence: {}", self.message);
        if !self.hint.is_empty() {
            eprintln!("\nhint: {}", self.hint);
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl From<InvalidProfile> for Failure {
    fn from(error: InvalidProfile) -> Self {
        let hints: Vec<String> = error
            .problems
            .iter()
            .map(|problem| problem.reason.hint().to_string())
            .collect();
        Self::new(&error).hint(hints.join("; "))
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
