//! What programs and libraries there are, looked at before anybody knows what of them counts.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::commands::Listing;
use super::look::Look;
use super::{BundleName, RuntimeAccess, RuntimeEntry, layouts, tables};

/// What [`discover`](super::discover) needs no profile for, which is most of its work: what there is of the tables, what
/// the system's directories of a `PATH` hold, and where the links in them lead.
///
/// Other directories are left alone: a command may have been allowed to write them, and what it left there, thousands of
/// links into a file system that does not answer, must not keep anybody busy before a profile has said so. It decides
/// nothing: what is opened for a link is looked at again.
#[derive(Debug)]
pub struct Survey {
    pub(super) tables: Vec<(BundleName, RuntimeEntry)>,
    directories: HashMap<PathBuf, Listing>,
}

impl Survey {
    /// Looks at the tables, and at those directories of `path` that they open.
    #[must_use]
    pub fn of(path: &OsStr) -> Self {
        let (asked, mut look) = (layouts::program_names(), Look::default());
        let (tables, system) = (tables::find_all(&mut look), tables::cover());
        let is_systems = |path: &Path| system.opens(path, RuntimeAccess::ReadExecute);
        let mut directories = HashMap::new();
        for written in std::env::split_paths(path).filter(|written| is_systems(written)) {
            if let Some(found) = look.directory(&written)
                && is_systems(&found.path)
                && !directories.contains_key(&found.path)
            {
                let listing = look.list(&found.path, &asked);
                directories.insert(found.path, listing);
            }
        }
        Self { tables, directories }
    }

    /// What a canonical directory holds, if it was looked at.
    pub(super) fn listing(&self, directory: &Path) -> Option<&Listing> {
        self.directories.get(directory)
    }
}
