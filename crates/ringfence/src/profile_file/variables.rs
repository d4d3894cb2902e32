//! Paths of a file: variables, and what is relative.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::reason::FileReason;

/// What `${workspace}` and `${home}` stand for in a profile file.
///
/// Both are taken literally whatever characters they hold, and need not be UTF-8. One that is not absolute is a
/// problem of a file that needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    /// The workspace, unless the file names another. Where it does, `${workspace}` is this one in the file's
    /// `workspace` and the file's own in everything else.
    pub workspace: PathBuf,
    /// The home directory of the user.
    pub home: PathBuf,
}

impl Variables {
    /// The path that a text means; a relative one is beneath the workspace.
    pub(super) fn path(&self, text: &str) -> Result<PathBuf, FileReason> {
        let path = self.expand(text)?;
        if path.is_absolute() {
            return Ok(path);
        }
        Ok(self.value("workspace")?.join(path))
    }

    /// The same for the workspace itself, which is beneath nothing.
    pub(super) fn absolute(&self, text: &str) -> Result<PathBuf, FileReason> {
        let path = self.expand(text)?;
        if path.is_absolute() {
            return Ok(path);
        }
        Err(FileReason::Relative { path })
    }

    /// What a variable stands for.
    pub(super) fn value(&self, name: &str) -> Result<&Path, FileReason> {
        let value = match name {
            "workspace" => &self.workspace,
            "home" => &self.home,
            _ => {
                return Err(FileReason::UnknownVariable {
                    name: name.to_owned(),
                });
            }
        };
        if value.is_absolute() {
            return Ok(value);
        }
        Err(FileReason::UnusableVariable {
            name: name.to_owned(),
            value: value.clone(),
        })
    }

    /// The text with the values of its variables; the rest of it is literal.
    fn expand(&self, text: &str) -> Result<PathBuf, FileReason> {
        match text.chars().next() {
            None => return Err(FileReason::Empty),
            Some('~') => return Err(FileReason::Tilde),
            Some(_) if text.contains('\0') => return Err(FileReason::Nul),
            Some(_) => {}
        }
        let mut path = OsString::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('$') {
            path.push(literal);
            if let Some(after) = after.strip_prefix('$') {
                path.push("$");
                rest = after;
                continue;
            }
            let (name, after) = after
                .strip_prefix('{')
                .and_then(|after| after.split_once('}'))
                .ok_or(FileReason::LoneDollar)?;
            path.push(self.value(name)?);
            rest = after;
        }
        path.push(rest);
        Ok(path.into())
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "variables_tests.rs"]
mod tests;
