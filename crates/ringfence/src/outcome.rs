//! How a command ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ringfence_backend::{Lifetime, Signal, Usage};
use ringfence_policy::{Guarantees, Level, Limit, Report};
use thiserror::Error;

use crate::capture::Captured;
use crate::repositories::NewRepository;

/// Everything about a command that was executed and has ended, with nothing of its process tree left.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub ended: Ending,
    /// Captured standard output; empty when it was not captured. With merged streams, both.
    pub stdout: Captured,
    /// Captured standard error; empty when it was not captured or merged.
    pub stderr: Captured,
    /// What was enforced.
    pub achieved: Achieved,
    /// How surely its process tree ends, and on what that rests.
    pub lifetime: Lifetime,
    /// The last signal it was sent by [`Process::signal`](crate::Process::signal) or [`Process::kill`](crate::Process::kill)
    /// before it ended.
    pub requested: Option<Signal>,
    /// What its process tree used, where a limit made somebody count it.
    pub usage: Usage,
    /// Repositories it made in the workspace and the roots, where the preset `git` applies.
    pub new_repositories: Vec<NewRepository>,
    /// Directories in which new repositories could not be looked for; empty when everything was.
    ///
    /// Those that can't be listed, and were not in that very state before the command; and where the search was cut off
    /// at its limit, the first directory beyond it, for this and all others.
    pub unsearched: Vec<PathBuf>,
    /// When it was started.
    pub started: SystemTime,
    /// Wall time from its start to its end.
    pub elapsed: Duration,
}

/// How a command ended, as soon as that is known: the rest of its process tree may still be ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// How it ended.
    pub ended: Ending,
    /// See [`Outcome::requested`].
    pub requested: Option<Signal>,
    /// When it was started.
    pub started: SystemTime,
    /// Wall time from its start to its end.
    pub elapsed: Duration,
}

/// What was enforced for one command, which may be less or more than for the one before: the host changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Achieved {
    /// Guarantees that were in force.
    pub guarantees: Guarantees,
    /// How much of the policy was enforced.
    pub level: Level,
    /// Every obligation with what became of it.
    pub report: Arc<Report>,
}

impl Achieved {
    pub(crate) fn of(report: Arc<Report>) -> Self {
        Self {
            guarantees: report.guarantees(),
            level: report.level(),
            report,
        }
    }
}

/// What an ending means is asked of what has one.
macro_rules! ending {
    ($name:ident) => {
        impl $name {
            /// Whether the command exited with code 0.
            #[must_use]
            pub fn success(&self) -> bool {
                self.ended == Ending::Exited(0)
            }

            /// The exit code; `None` unless the command exited by itself.
            #[must_use]
            pub const fn code(&self) -> Option<i32> {
                self.ended.code()
            }

            /// The named error of every ending but an exit, whatever its code (EXE-30).
            #[must_use]
            pub const fn error(&self) -> Option<OutcomeError> {
                self.ended.error()
            }
        }
    };
}

ending!(Outcome);
ending!(Exit);

impl Ending {
    /// The exit code of a command that exited by itself.
    #[must_use]
    pub const fn code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// The named error of every ending but an exit.
    #[must_use]
    pub const fn error(self) -> Option<OutcomeError> {
        match self {
            Self::Exited(_) => None,
            Self::Signaled { signal, core } => Some(OutcomeError::Signaled { signal, core }),
            Self::TimedOut => Some(OutcomeError::TimedOut),
            Self::LimitExceeded(limit) => Some(OutcomeError::LimitExceeded(limit)),
            Self::Cancelled => Some(OutcomeError::Cancelled),
            Self::OwnerClosed => Some(OutcomeError::OwnerClosed),
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// It exited with this code.
    Exited(i32),
    /// A signal ended it: its own, that of somebody else, or one that was asked for ([`Outcome::requested`]).
    Signaled {
        /// Signal number.
        signal: i32,
        /// Whether it left a core dump.
        core: bool,
    },
    /// Its deadline passed; it was terminated, and killed if that did not help.
    TimedOut,
    /// It went over a limit and was killed.
    LimitExceeded(Limit),
    /// The caller cancelled or killed it, or its termination lasted longer than the grace; it was killed.
    Cancelled,
    /// Its set was closed; it was killed.
    OwnerClosed,
}

/// The named error of a command that did not exit by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum OutcomeError {
    /// See [`Ending::Signaled`].
    #[error("the command was ended by signal {signal}")]
    Signaled {
        /// Signal number.
        signal: i32,
        /// Whether it left a core dump.
        core: bool,
    },
    /// See [`Ending::TimedOut`].
    #[error("the command's deadline passed")]
    TimedOut,
    /// See [`Ending::LimitExceeded`].
    #[error("the command went over its {0} limit")]
    LimitExceeded(Limit),
    /// See [`Ending::Cancelled`].
    #[error("the command was cancelled")]
    Cancelled,
    /// See [`Ending::OwnerClosed`].
    #[error("the command's executor set was closed")]
    OwnerClosed,
}
