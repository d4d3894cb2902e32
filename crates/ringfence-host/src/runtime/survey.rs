//! What programs and libraries there are, looked at before anybody knows what of them counts.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::commands::Listing;
use super::look::Look;
use super::{BundleName, RuntimeEntry, layouts, tables};

/// What [`discover`](super::discover) needs no profile for, which is most of its work: what there is of the tables, what
/// the directories of a `PATH` hold, and where the links in them lead.
///
/// It decides nothing: a directory that is not to be trusted is not asked about, and what is opened for a link is
/// looked at again.
#[derive(Debug)]
pub struct Survey {
    pub(super) tables: Vec<(BundleName, RuntimeEntry)>,
    directories: HashMap<PathBuf, Listing>,
}

impl Survey {
    /// Looks at the tables, and at the directories of `path`.
    #[must_use]
    pub fn of(path: &OsStr) -> Self {
        let (asked, mut look) = (layouts::program_names(), Look::default());
        let tables = tables::find_all(&mut look);
        let mut directories = HashMap::new();
        for written in std::env::split_paths(path) {
            if let Some(found) = look.directory(&written)
                && !directories.contains_key(&found.path)
            {
                let listing = look.list(&found.path, &asked);
                directories.insert(found.path, listing);
            }
        }
        Self { tables, directories }
    }

    /// What a canonical directory holds, if it was looked at.
    pub(super) fn take(&mut self, directory: &Path) -> Option<Listing> {
        self.directories.remove(directory)
    }
}
