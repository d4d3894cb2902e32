//! Why the command line gives up: one line, a hint, an exit status.

use std::fmt::Display;

use ringfence::{BuildError, Clause, Discharge, Entry, ExecutorError, RunError, Unavailable};

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

    /// The same failure with options in the hint, if any help; then what is missing is part of the message.
    fn with_ways_out(mut self, unavailable: &Unavailable) -> Self {
        if let Unavailable::Guarantees { entries, .. } = unavailable
            && let Some(ways) = ways_out(entries)
        {
            self.message = format!("{}: {}", self.message, self.hint);
            self.hint = ways;
        }
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
        let failure = Self::new(&error).hint(error.hint());
        match error {
            ExecutorError::Unavailable(unavailable) => failure.with_ways_out(&unavailable),
            _ => failure,
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let failure = Self {
            message: error.to_string(),
            hint: error.hint(),
            status: status::of_run_error(&error),
        };
        match error {
            RunError::Unavailable(unavailable) => failure.with_ways_out(&unavailable),
            _ => failure,
        }
    }
}

/// The options that help where these can't be kept, as far as there are any.
pub(crate) fn ways_out(entries: &[Entry]) -> Option<String> {
    let mut ways: Vec<_> = entries.iter().filter_map(way_out).collect();
    ways.dedup();
    (!ways.is_empty()).then(|| ways.join("; "))
}

fn way_out(entry: &Entry) -> Option<&'static str> {
    match (entry.obligation.clause, &entry.discharge) {
        (Clause::HardLinks, Discharge::Unenforced { .. }) => Some(
            "remove the other name, close it too with --secret or --protect, or leave the first one open (--unprotect \
             for what a preset closes); where not all places could be searched, give a smaller --workspace",
        ),
        (Clause::Patterns, Discharge::Unenforced { .. }) => Some(
            "give a smaller --workspace, or leave out what is looked for everywhere, which --without does for a preset",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringfence::{Guarantees, Obligation};

    fn refused(clauses: &[Clause]) -> Failure {
        let entry = |clause: &Clause| Entry {
            obligation: Obligation::of(Guarantees::READ_BOUNDARY, *clause),
            discharge: Discharge::Unenforced {
                why: "nothing does".to_owned(),
            },
        };
        let unavailable = Unavailable::Guarantees {
            missing: Guarantees::READ_BOUNDARY,
            entries: clauses.iter().map(entry).collect(),
        };
        ExecutorError::from(unavailable).into()
    }

    #[test]
    fn what_an_option_can_help_with_names_it_once() {
        let failure = refused(&[Clause::Patterns, Clause::Patterns]);
        assert!(
            failure.message.ends_with(
                "not achieved: read_boundary: patterns at start: unenforced: nothing does; \
                                       patterns at start: unenforced: nothing does"
            ),
            "{failure:?}"
        );
        assert_eq!(failure.hint.matches("--workspace").count(), 1, "{failure:?}");
        assert!(failure.hint.contains("--without"), "{failure:?}");
        let failure = refused(&[Clause::HardLinks]);
        for option in ["--secret", "--protect", "--unprotect", "--workspace"] {
            assert!(failure.hint.contains(option), "{failure:?}");
        }
        let failure = refused(&[Clause::Terminal]);
        assert!(failure.hint.ends_with("nothing does"), "{failure:?}");
    }
}
