//! Named errors: why a set, an executor or a command could not be had. In each case nothing ran.

use std::path::PathBuf;

use ringfence_backend::{LaunchError, SetupFailed, Unavailable};
use thiserror::Error;

use crate::set::CloseProblem;

/// A set could not be built; nothing is left on disk.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The scratch root is missing or unusable.
    #[error("scratch root {path:?}: {why}")]
    ScratchRoot {
        /// As given.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The maximum number of executors is missing or 0.
    #[error("the maximum number of executors must be at least 1")]
    MaxExecutors,
    /// An option for Windows has another value than its default.
    #[error("an option for Windows is set, and this is another system")]
    WindowsOption,
    /// The explicitly given lifetime of grants is 0.
    #[error("the grant lifetime must be longer than 0")]
    GrantTtl,
    /// A directory for what is kept from one set to the next is unusable.
    #[error("{field} {path:?}: {why}")]
    Kept {
        /// `keep_homes` or `keep_caches`.
        field: &'static str,
        /// As given.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The set's own thread or event queue could not be made.
    #[error("starting the supervisor: {}", std::io::Error::from_raw_os_error(*errno))]
    Supervisor {
        /// What the system said.
        errno: i32,
    },
    /// No backend can enforce the profile here (`ErrSandboxUnavailable`).
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl BuildError {
    /// A stable identifier.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::ScratchRoot { .. } => "scratch_root",
            Self::MaxExecutors => "max_executors",
            Self::WindowsOption => "windows_option",
            Self::GrantTtl => "grant_ttl",
            Self::Kept { .. } => "kept_directory",
            Self::Supervisor { .. } => "supervisor",
            Self::Unavailable(unavailable) => unavailable.code(),
        }
    }

    /// What to do about it; empty when the message says it all.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::ScratchRoot { .. } | Self::Kept { .. } => {
                "give an existing directory that you own and that commands can't write, by an absolute path"
                    .to_owned()
            }
            Self::MaxExecutors => "set max_executors to the number of distinct keys you use".to_owned(),
            Self::Supervisor { .. } => "raise the limits on open files and processes".to_owned(),
            Self::WindowsOption => "leave windows_sandbox_mode and windows_state_root out".to_owned(),
            Self::GrantTtl => "leave grant_ttl out for the default of 15 minutes".to_owned(),
            Self::Unavailable(unavailable) => unavailable.hint(),
        }
    }
}

/// A set could not give an executor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// The key is empty, has white space at its ends, or contains a NUL.
    #[error("executor key {key:?} {why}")]
    Key {
        /// As given.
        key: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The set is closing or closed (`ErrExecutorSetClosed`).
    #[error("the executor set is closed")]
    SetClosed,
    /// A new key would exceed the maximum (`ErrExecutorLimit`).
    #[error("the set already has its {max} executors")]
    Limit {
        /// The set's maximum.
        max: usize,
    },
    /// The policy can't be enforced on this host (`ErrSandboxUnavailable`).
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The executor's private directories could not be made.
    #[error("{path:?}: {why}")]
    Scratch {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// It could not be made, and not all that had been made for it could be removed.
    #[error("{cause}; besides, {}", list(problems))]
    Residue {
        /// Why it could not be made.
        cause: Box<Self>,
        /// What is left of it.
        problems: Vec<CloseProblem>,
    },
}

fn list(problems: &[CloseProblem]) -> String {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    problems.join("; ")
}

impl ExecutorError {
    /// A stable identifier; that of the cause where something is left besides.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Key { .. } => "executor_key",
            Self::SetClosed => "executor_set_closed",
            Self::Limit { .. } => "executor_limit",
            Self::Unavailable(unavailable) => unavailable.code(),
            Self::Scratch { .. } => "scratch_directory",
            Self::Residue { cause, .. } => cause.code(),
        }
    }

    /// What to do about it; empty when the message says it all.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Key { .. } => "keys are compared byte by byte and never trimmed".to_owned(),
            Self::Limit { .. } => "raise max_executors, or reuse a key".to_owned(),
            Self::Unavailable(unavailable) => unavailable.hint(),
            Self::SetClosed | Self::Scratch { .. } => String::new(),
            Self::Residue { cause, .. } => cause.hint(),
        }
    }
}

/// A command did not run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The executor's set is closing or closed (`ErrExecutorClosed`).
    #[error("the executor is closed")]
    ExecutorClosed,
    /// Commands are gated and no grant was given (`ErrGrantRequired`).
    #[error("the profile lets commands run only with a grant")]
    GrantRequired,
    /// The profile lets no command run (`ErrGrantDenied`).
    #[error("the profile lets no command run")]
    GrantDenied,
    /// Part of the command can't be used.
    #[error("{field} {why}")]
    Invalid {
        /// Which part.
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// It was cancelled before it started.
    #[error("the command was cancelled before it started")]
    Cancelled,
    /// A preparation was started twice (`ErrProcessAlreadyStarted`).
    #[error("the preparation has been started already")]
    AlreadyStarted,
    /// A preparation was closed (`ErrProcessClosed`).
    #[error("the preparation has been closed")]
    ProcessClosed,
    /// A terminal was asked for, and this backend has none (`ErrProcessTTYUnsupported`).
    #[error("no terminal is available here")]
    TtyUnsupported,
    /// Its deadline passed before it started (`ErrProcessDeadlineExceeded`).
    #[error("the command's deadline passed before it started")]
    DeadlineExceeded,
    /// A step of the confinement, or executing the program itself, failed.
    #[error("{0}")]
    Setup(#[from] SetupFailed),
    /// The host has changed so that what the profile requires can't be enforced any more.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// A file or directory of the profile was replaced (`ErrGrantTargetChanged` where a grant named it).
    #[error("{path:?} changed since the policy was compiled")]
    Changed {
        /// The path.
        path: PathBuf,
    },
    /// Pipes or descriptors could not be made.
    #[error("{what}: {why}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// What the system said.
        why: String,
    },
}

impl RunError {
    /// A stable identifier.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::ExecutorClosed => "executor_closed",
            Self::GrantRequired => "grant_required",
            Self::GrantDenied => "grant_denied",
            Self::Invalid { .. } => "invalid_command",
            Self::Cancelled => "cancelled",
            Self::AlreadyStarted => "process_already_started",
            Self::ProcessClosed => "process_closed",
            Self::TtyUnsupported => "process_tty_unsupported",
            Self::DeadlineExceeded => "process_deadline_exceeded",
            Self::Setup(_) => "setup_failed",
            Self::Unavailable(unavailable) => unavailable.code(),
            Self::Changed { .. } => "target_changed",
            Self::Io { .. } => "io",
        }
    }

    /// What to do about it; empty when the message says it all.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::GrantRequired => "set the profile's `command` access to allow, or issue a grant".to_owned(),
            Self::TtyUnsupported => "leave the terminal out: the streams are pipes then".to_owned(),
            Self::GrantDenied => "set the profile's `command` access to allow".to_owned(),
            Self::Unavailable(unavailable) => unavailable.hint(),
            Self::Changed { .. } => "make the profile again, so that it names what is there now".to_owned(),
            _ => String::new(),
        }
    }

    pub(crate) fn io(what: &'static str, error: &std::io::Error) -> Self {
        Self::Io {
            what,
            why: error.to_string(),
        }
    }
}

impl From<LaunchError> for RunError {
    fn from(error: LaunchError) -> Self {
        match error {
            LaunchError::Setup(failed) => Self::Setup(failed),
            LaunchError::Changed { path } => Self::Changed { path },
            LaunchError::Unavailable(unavailable) => Self::Unavailable(unavailable),
            LaunchError::Malformed { what, why } => Self::Invalid { field: what, why },
            LaunchError::Released => Self::ExecutorClosed,
            LaunchError::TerminalUnsupported => Self::TtyUnsupported,
            // One that a later backend knows.
            other => Self::Invalid {
                field: "command",
                why: other.to_string(),
            },
        }
    }
}
