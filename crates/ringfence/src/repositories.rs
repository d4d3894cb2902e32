//! Repositories that a command made.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence_host::guarded::{Repository, RepositoryKind};
use ringfence_host::repository::{self, Linked};
use ringfence_policy::NewRepositories;

use crate::guarded::GuardedPlaces;

/// A repository that was not there before a command ran.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewRepository {
    /// Its working tree; of a bare one, the repository itself.
    pub path: PathBuf,
    /// Keys of its settings that make git run programs or obey other files, such as `core.fsmonitor`, and then what
    /// could not be read.
    pub programs: Vec<String>,
    /// Executable files among its hooks.
    pub hooks: Vec<OsString>,
    /// Whether the repository around it has it in its index: then a mere `git status` of the host enters it.
    pub linked: bool,
    /// Whether it was set aside, as the profile wants it: under another name git takes no notice of it.
    pub refused: bool,
}

/// What there was before a command, to be compared with what there is afterwards.
#[derive(Debug)]
pub(crate) struct Inventory {
    places: Arc<GuardedPlaces>,
    before: BTreeSet<PathBuf>,
    wanted: NewRepositories,
}

impl Inventory {
    pub(crate) fn take(places: &Arc<GuardedPlaces>, wanted: NewRepositories) -> Self {
        let known = places
            .repositories()
            .into_iter()
            .map(|repository| repository.path);
        Self {
            places: Arc::clone(places),
            before: known.collect(),
            wanted,
        }
    }

    /// Whether comparing may take long enough to be kept from a thread that watches other commands.
    pub(crate) fn is_large(&self) -> bool {
        const DIRECTORIES_AT_ONCE: usize = 500;
        self.places.directory_count() > DIRECTORIES_AT_ONCE
    }

    /// The repositories that came since, those within other new ones left out; sets them aside if that is wanted.
    pub(crate) fn compare(&self) -> Vec<NewRepository> {
        let now = self.places.repositories();
        let new = now
            .iter()
            .filter(|repository| !self.before.contains(&repository.path));
        let new: Vec<&Repository> = new.collect();
        let inside = |path: &Path| {
            new.iter().any(|other| {
                other.kind == RepositoryKind::Directory && path != other.path && path.starts_with(&other.path)
            })
        };
        new.iter()
            .filter(|repository| repository.kind != RepositoryKind::WorkingTree && !inside(&repository.path))
            .map(|repository| self.describe(repository))
            .collect()
    }

    fn describe(&self, repository: &Repository) -> NewRepository {
        let git = &repository.path;
        let named = git.file_name().is_some_and(|name| name == ".git");
        let tree = git.parent().filter(|_| named).unwrap_or(git).to_owned();
        let directory = match repository.kind {
            RepositoryKind::Pointer => repository::pointed(git).unwrap_or_else(|_| git.clone()),
            _ => git.clone(),
        };
        let (mut programs, mut hooks) = (Vec::new(), Vec::new());
        match repository::programs(&directory) {
            Ok(found) => (programs, hooks) = (found.keys, found.hooks),
            Err(error) => programs.push(format!("(unreadable: {error})")),
        }
        let linked = self.is_linked(&tree);
        let refused = self.wanted == NewRepositories::Refuse && set_aside(git, named).is_ok();
        NewRepository {
            path: tree,
            programs,
            hooks,
            linked,
            refused,
        }
    }

    /// Whether a repository around a working tree has it in its index, or may have.
    fn is_linked(&self, tree: &Path) -> bool {
        tree.ancestors().skip(1).any(|above| {
            let git = above.join(".git");
            let Ok(rest) = tree.strip_prefix(above) else {
                return false;
            };
            let known = self.before.contains(&git);
            known
                && !matches!(
                    repository::links(&git, rest.as_os_str().as_encoded_bytes()),
                    Ok(Linked::No)
                )
        })
    }
}

/// Gives a repository a name by which git does not find it: its own, or that of the file without which a directory is
/// none.
fn set_aside(git: &Path, named: bool) -> io::Result<()> {
    let key = if named { git.to_owned() } else { git.join("HEAD") };
    let mut number = 0u32;
    loop {
        let mut name = key.clone().into_os_string();
        name.push(format!(".refused-{number}"));
        let aside = PathBuf::from(name);
        if aside.symlink_metadata().is_err() {
            return fs::rename(&key, aside);
        }
        number += 1;
    }
}
