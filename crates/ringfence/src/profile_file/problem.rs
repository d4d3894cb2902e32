//! What is wrong with a profile file: everything at once, each with its place and the way to put it right.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use super::reason::FileReason;

/// A file that is no profile.
///
/// It displays as one line per problem: `FILE:LINE:COLUMN: field: what is wrong (what to do about it)`, without the
/// parts that there are none of.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", lines(self))]
#[non_exhaustive]
pub struct ProfileFileError {
    /// The file as it was named; none for a text.
    pub file: Option<PathBuf>,
    /// At least one; first those without a position, then in the order of the text.
    pub problems: Vec<FileProblem>,
}

impl ProfileFileError {
    /// A stable identifier.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "invalid_profile_file"
    }
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", line(self))]
pub struct FileProblem {
    /// Where the value is, or the key if that is wrong; none where the text does not say what is wrong.
    pub position: Option<FilePosition>,
    /// The dotted path of the value, such as `secret[1].glob`; empty for the file as a whole.
    pub field: String,
    /// What is wrong.
    pub reason: FileReason,
}

/// A place in a text; displays as `LINE:COLUMN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePosition {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1; every code point is one, a tab too.
    pub column: usize,
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

fn lines(error: &ProfileFileError) -> String {
    let file = error.file.as_ref().map(|file| file.display());
    let line = |problem: &FileProblem| match (&file, problem.position) {
        (Some(file), Some(_)) => format!("{file}:{problem}"),
        (Some(file), None) => format!("{file}: {problem}"),
        (None, _) => problem.to_string(),
    };
    error.problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(problem: &FileProblem) -> String {
    let position = problem.position.map(|position| position.to_string());
    let field = (!problem.field.is_empty()).then(|| problem.field.clone());
    let what = format!("{} ({})", problem.reason, problem.reason.hint());
    let parts = position.into_iter().chain(field).chain([what]);
    parts.collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
