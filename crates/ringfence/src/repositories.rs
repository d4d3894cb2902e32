//! Repositories that a command made.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence_host::guarded::{Repository, RepositoryKind};
use ringfence_host::repository::{self, Linked};
use ringfence_policy::{Identity, NewRepositories};

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
    /// Why it was not, where the profile wants it.
    pub unrefused: Option<String>,
}

/// What there was before a command, to be compared with what there is afterwards.
#[derive(Debug)]
pub(crate) struct Inventory {
    places: Arc<GuardedPlaces>,
    /// Where there is one, and which one: another may come to the same place.
    before: BTreeMap<PathBuf, Option<Identity>>,
    wanted: NewRepositories,
}

impl Inventory {
    pub(crate) fn take(places: &Arc<GuardedPlaces>, wanted: NewRepositories) -> Self {
        let known = places
            .repositories()
            .into_iter()
            .map(|repository| (identity(&repository.path), repository.path))
            .map(|(identity, path)| (path, identity));
        Self {
            places: Arc::clone(places),
            before: known.collect(),
            wanted,
        }
    }

    /// Whether comparing costs nothing; else it is for a thread that watches no other commands.
    pub(crate) fn is_quick(&self) -> bool {
        self.places.is_quiet()
    }

    /// The repositories that came since, without those that are part of other new ones; sets them aside if that is
    /// wanted.
    pub(crate) fn compare(&self) -> Vec<NewRepository> {
        let now = self.places.repositories();
        let known: HashSet<Identity> = self.before.values().flatten().copied().collect();
        let is_new = |repository: &&Repository| {
            let there = identity(&repository.path);
            let same = self
                .before
                .get(&repository.path)
                .is_some_and(|before| *before == there);
            // One that was moved is no new one, unless nobody can tell.
            !same && there.is_none_or(|there| !known.contains(&there))
        };
        let new: Vec<&Repository> = now.iter().filter(is_new).collect();
        let whole = |repository: &&&Repository| {
            repository.kind == RepositoryKind::Directory && repository.path.ends_with(".git")
        };
        let whole: BTreeSet<&Path> = new
            .iter()
            .filter(whole)
            .map(|repository| repository.path.as_path())
            .collect();
        let is_part = |path: &Path| path.ancestors().skip(1).any(|above| whole.contains(above));
        new.iter()
            .filter(|repository| repository.kind != RepositoryKind::WorkingTree && !is_part(&repository.path))
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
        let refusal = (self.wanted == NewRepositories::Refuse).then(|| set_aside(git));
        NewRepository {
            path: tree,
            programs,
            hooks,
            linked,
            refused: matches!(refusal, Some(Ok(()))),
            unrefused: refusal.and_then(Result::err).map(|error| error.to_string()),
        }
    }

    /// Whether a repository around a working tree has it in its index, or may have.
    fn is_linked(&self, tree: &Path) -> bool {
        tree.ancestors().skip(1).any(|above| {
            let git = above.join(".git");
            let Ok(rest) = tree.strip_prefix(above) else {
                return false;
            };
            let known = self.before.contains_key(&git);
            known
                && !matches!(
                    repository::links(&git, rest.as_os_str().as_encoded_bytes()),
                    Ok(Linked::No)
                )
        })
    }
}

#[cfg(target_os = "linux")]
fn set_aside(git: &Path) -> io::Result<()> {
    repository::set_aside(git)
}

/// No backend here runs commands that are confined.
#[cfg(not(target_os = "linux"))]
fn set_aside(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn identity(path: &Path) -> Option<Identity> {
    let seen = ringfence_host::observe(path).ok()?;
    seen.map(|(_, identity)| identity)
}
