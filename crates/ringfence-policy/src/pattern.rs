//! Patterns: what a guard matches beneath a directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::glob::{Glob, GlobError};
use crate::path::bytes;
use crate::text;

/// Matches paths beneath a directory; the directory itself is literal whatever characters its path holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Pattern {
    #[serde(serialize_with = "text::path")]
    base: PathBuf,
    /// What of the rest matches; none means that only the base itself does.
    glob: Option<Glob>,
    except: Vec<Glob>,
}

impl Pattern {
    /// What matches `glob` beneath `base`, such as `**/.env` beneath the workspace.
    ///
    /// # Errors
    /// A malformed glob.
    pub fn new(base: impl Into<PathBuf>, glob: impl Into<OsString>) -> Result<Self, GlobError> {
        Ok(Self {
            base: base.into(),
            glob: Some(anchored(glob)?),
            except: Vec::new(),
        })
    }

    /// The one path, if something is there when a command starts.
    pub fn exactly(path: impl Into<PathBuf>) -> Self {
        Self {
            base: path.into(),
            glob: None,
            except: Vec::new(),
        }
    }

    /// The same pattern without what matches this glob beneath the base.
    ///
    /// # Errors
    /// A malformed glob.
    pub fn except(mut self, glob: impl Into<OsString>) -> Result<Self, GlobError> {
        self.except.push(anchored(glob)?);
        self.except.sort();
        Ok(self)
    }

    /// The same pattern beneath another directory.
    #[must_use]
    pub fn beneath(self, base: PathBuf) -> Self {
        Self { base, ..self }
    }

    /// The directory beneath which it matches, or the one path.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// What of the rest matches, anchored at the base as if that were `/`; none for the base alone.
    pub const fn glob(&self) -> Option<&Glob> {
        self.glob.as_ref()
    }

    /// The exceptions, anchored in the same way.
    pub fn exceptions(&self) -> &[Glob] {
        &self.except
    }

    /// Whether the whole path matches. The path must be absolute and clean.
    pub fn matches(&self, path: &Path) -> bool {
        let Ok(rest) = path.strip_prefix(&self.base) else {
            return false;
        };
        let Some(glob) = &self.glob else {
            return rest.as_os_str().is_empty();
        };
        let rest = Path::new("/").join(rest);
        glob.matches(&rest) && !self.except.iter().any(|except| except.matches(&rest))
    }

    /// The deepest of a path and what is above it that matches: all beneath a match is covered too (POL-34).
    pub fn covers<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        // Comparing names one by one takes much longer, and most paths are elsewhere.
        if cfg!(unix) && !bytes(path).starts_with(bytes(&self.base)) {
            return None;
        }
        path.ancestors().find(|path| self.matches(path))
    }
}

fn anchored(glob: impl Into<OsString>) -> Result<Glob, GlobError> {
    let mut text = OsString::from("/");
    text.push(glob.into());
    Glob::new(text)
}
