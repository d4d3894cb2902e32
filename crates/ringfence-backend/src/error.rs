//! Named errors of the seam.

use std::fmt;
use std::path::PathBuf;

use ringfence_policy::{Clause, Discharge, Entry, Guarantees, Limit, Obligation};
use thiserror::Error;

/// No backend can enforce what the profile requires on this host; nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// This system, or this build, has no backend for confined commands.
    #[error("no confinement is available: {why}")]
    NoBackend {
        /// What is missing.
        why: String,
        /// How to get it.
        advice: String,
    },
    /// The host lacks what the set-up needs; the failing step was found by trying it.
    #[error("confinement could not be set up: {failed}")]
    Probe {
        /// The step that failed.
        failed: SetupFailed,
        /// How to get what is missing.
        advice: String,
    },
    /// Guarantees that the profile requires are not achieved.
    #[error("required guarantees are not achieved: {missing}")]
    Guarantees {
        /// The missing guarantees.
        missing: Guarantees,
        /// The undischarged obligations behind them.
        entries: Vec<Entry>,
    },
    /// A path of the policy can't be enforced as asked.
    #[error("{path:?} can't be enforced as asked: {why}")]
    Path {
        /// The path.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Namespaces that commands make themselves can't be allowed.
    #[error("nested namespaces can't be allowed: {why}")]
    NestedNamespaces {
        /// Why not.
        why: String,
        /// What to do about it.
        advice: String,
    },
    /// Any of these, and not all that had been made for the policy could be removed.
    #[error("{cause}; besides, {left}")]
    Residue {
        /// Why there is no policy.
        cause: Box<Self>,
        /// What is left of it.
        left: ReleaseFailed,
    },
}

impl Unavailable {
    /// Limits that nothing keeps, all for the same reason.
    pub fn limits(limits: impl IntoIterator<Item = Limit>, why: &str) -> Self {
        let entry = |limit| Entry {
            obligation: Obligation::of(Guarantees::RESOURCE_LIMITS, Clause::Limit(limit)),
            discharge: Discharge::Unenforced { why: why.to_owned() },
        };
        Self::Guarantees {
            missing: Guarantees::RESOURCE_LIMITS,
            entries: limits.into_iter().map(entry).collect(),
        }
    }

    /// A stable identifier; that of the cause where something is left besides.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoBackend { .. } => "sandbox_unavailable",
            Self::Probe { .. } => "sandbox_probe_failed",
            Self::Guarantees { .. } => "guarantees_missing",
            Self::Path { .. } => "path_unenforceable",
            Self::NestedNamespaces { .. } => "nested_namespaces_unavailable",
            Self::Residue { cause, .. } => cause.code(),
        }
    }

    /// What to do about it; empty when the message says it all.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NoBackend { advice, .. }
            | Self::Probe { advice, .. }
            | Self::NestedNamespaces { advice, .. } => advice.clone(),
            Self::Guarantees { missing, entries } if entries.is_empty() => {
                format!("nothing in this profile brings {missing} about here; leave it out of `require`")
            }
            Self::Guarantees { entries, .. } => entries
                .iter()
                .map(|entry| format!("{}: {}", entry.obligation, entry.discharge))
                .collect::<Vec<_>>()
                .join("; "),
            Self::Path { .. } => String::new(),
            Self::Residue { cause, .. } => cause.hint(),
        }
    }
}

/// Something that a policy held could not be given back.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}: {why}")]
pub struct ReleaseFailed {
    /// What it was.
    pub what: String,
    /// What kept it.
    pub why: String,
}

/// A step of the set-up failed, so the command was never executed.
///
/// `step` is a stable name such as `build the file view`; `errno` is what the failing call answered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct SetupFailed {
    /// The step, by a stable name.
    pub step: &'static str,
    /// The error number of the failing call.
    pub errno: i32,
    /// The path the step worked on, if it worked on one.
    pub path: Option<PathBuf>,
}

impl SetupFailed {
    /// Name of the last step, the only one whose failure is the program's fault and not the host's.
    pub const EXECUTE: &'static str = "execute the program";

    /// Whether everything was set up and only the program could not be executed.
    #[must_use]
    pub fn is_execute(&self) -> bool {
        self.step == Self::EXECUTE
    }
}

impl fmt::Display for SetupFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.step)?;
        // A name may hold line ends, and worse for a terminal.
        match &self.path {
            Some(path) if path.to_string_lossy().contains(char::is_control) => write!(f, " {path:?}")?,
            Some(path) => write!(f, " {}", path.display())?,
            None => {}
        }
        write!(f, ": {}", std::io::Error::from_raw_os_error(self.errno))
    }
}

/// A command could not be started; no process of it exists.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A step of the set-up failed.
    #[error("{0}")]
    Setup(#[from] SetupFailed),
    /// A file or directory the policy names was replaced since it was compiled.
    #[error("{path:?} changed since the policy was compiled")]
    Changed {
        /// The path.
        path: PathBuf,
    },
    /// The host has changed so that the policy can't be enforced on it any more.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// An argument, a variable or the directory can't be passed to a program.
    #[error("{what} {why}")]
    Malformed {
        /// Which part of the command.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The policy has been released.
    #[error("the policy has been released")]
    Released,
    /// A terminal was asked for, and this backend has none.
    #[error("this backend has no terminals")]
    TerminalUnsupported,
}

/// A signal was not delivered (`ErrProcessSignalUnsupported` where it can't be).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SignalError {
    /// The backend can't deliver this signal.
    #[error("this backend can't deliver that signal")]
    Unsupported,
    /// The command has ended.
    #[error("the command has ended")]
    Ended,
    /// The system refused.
    #[error("sending the signal: {}", std::io::Error::from_raw_os_error(*errno))]
    Failed {
        /// What it answered.
        errno: i32,
    },
}

impl SignalError {
    /// A stable identifier.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unsupported => "process_signal_unsupported",
            Self::Ended => "process_ended",
            Self::Failed { .. } => "process_signal_failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_line_whatever_the_path_holds() {
        let shown = |path: &str| {
            let failed = SetupFailed {
                step: "execute the program",
                errno: 2,
                path: Some(path.into()),
            };
            failed.to_string()
        };
        assert!(shown("/a b").starts_with("execute the program /a b: "));
        assert!(shown("/a\n\u{1b}[1mb").starts_with(r#"execute the program "/a\n\u{1b}[1mb": "#));
    }
}
