//! Looks at paths in quick succession, so that no directory is asked about twice.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ringfence_policy::{Kind, Resolved};

use super::commands::{self, Listing};
use crate::Host;
use crate::host::Known;

#[derive(Debug, Default)]
pub(super) struct Look {
    known: Known,
    /// Names in directories that were read, sorted.
    names: HashMap<PathBuf, Vec<OsString>>,
}

impl Look {
    /// What is at an absolute path; nothing if it isn't there or can't be looked at.
    pub(super) fn existing(&mut self, path: &Path) -> Option<Resolved> {
        let found = Host.resolve_knowing(path, &mut self.known).ok()?;
        (found.kind != Kind::Absent).then_some(found)
    }

    /// An existing directory, by its absolute path.
    pub(super) fn directory(&mut self, path: &Path) -> Option<Resolved> {
        self.existing(path).filter(|found| found.kind == Kind::Directory)
    }

    /// The names in a directory, sorted; none if it can't be read.
    pub(super) fn names(&mut self, directory: &Path) -> &[OsString] {
        let read = || {
            let entries = directory.read_dir().into_iter().flatten().flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort_unstable();
            names
        };
        self.names.entry(directory.to_owned()).or_insert_with(read)
    }

    /// What a canonical directory of programs holds, and which of the names.
    pub(super) fn list(&mut self, directory: &Path, asked: &[&'static str]) -> Listing {
        commands::list(directory, asked, &mut self.known)
    }
}
