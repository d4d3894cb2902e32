//! What is asked about.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::args::Operation;
use crate::failure::Failure;
use crate::text;

/// What a question is about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Path(PathBuf),
    Network,
    Command,
    Variable(OsString),
}

impl Subject {
    pub(super) fn new(written: &OsStr) -> Self {
        match written.to_str() {
            Some("network") => return Self::Network,
            Some("command") => return Self::Command,
            _ => {}
        }
        match text::strip_prefix(written, "env:") {
            Some(name) => Self::Variable(name),
            None => Self::Path(written.into()),
        }
    }

    /// What can be done with it: the one operation that is asked for, or each.
    pub(super) fn operations(&self, asked: Option<Operation>) -> Result<Vec<Operation>, Failure> {
        let (what, all) = match self {
            Self::Path(_) => (
                "a path",
                &[Operation::Read, Operation::Execute, Operation::Write][..],
            ),
            Self::Network => ("the network", &[Operation::Connect][..]),
            Self::Command => ("a command", &[Operation::Execute][..]),
            Self::Variable(_) => ("a variable", &[Operation::Read][..]),
        };
        match asked {
            None => Ok(all.to_vec()),
            Some(one) if all.contains(&one) => Ok(vec![one]),
            Some(other) => {
                let names: Vec<_> = all.iter().map(|operation| operation.name()).collect();
                Err(
                    Failure::new(format!("explain: there is no `{}` for {what}", other.name()))
                        .hint(format!("ask for {}", names.join(", "))),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_no_paths() {
        for (written, subject) in [
            ("network", Subject::Network),
            ("command", Subject::Command),
            ("env:PATH", Subject::Variable("PATH".into())),
            ("./network", Subject::Path("./network".into())),
            ("networks", Subject::Path("networks".into())),
            (".env", Subject::Path(".env".into())),
        ] {
            assert_eq!(Subject::new(OsStr::new(written)), subject, "{written}");
        }
    }
}
