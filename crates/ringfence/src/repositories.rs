//! Repositories that a command made.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence_backend::Guarded as _;
use ringfence_host::guarded::{Repository, RepositoryKind, Unsearched};
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

/// What a command made, as far as it can be told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) repositories: Vec<NewRepository>,
    pub(crate) unsearched: Vec<PathBuf>,
}

/// What there was before a command, to be compared with what there is afterwards.
#[derive(Debug)]
pub(crate) struct Inventory {
    places: Arc<GuardedPlaces>,
    /// Where there is one, and which one: another may come to the same place.
    before: BTreeMap<PathBuf, Option<Identity>>,
    unsearched: BTreeSet<Unsearched>,
    wanted: NewRepositories,
}

impl Inventory {
    /// What was there at the last look.
    pub(crate) fn take(places: &Arc<GuardedPlaces>, wanted: NewRepositories) -> Self {
        let now = places.repositories();
        let known = now
            .repositories
            .into_iter()
            .map(|repository| (identity(&repository.path), repository.path))
            .map(|(identity, path)| (path, identity));
        Self {
            places: Arc::clone(places),
            before: known.collect(),
            unsearched: now.unsearched,
            wanted,
        }
    }

    /// Whether comparing costs nothing; else it is for a thread that watches no other commands.
    pub(crate) fn is_quick(&self) -> bool {
        self.places.is_quiet()
    }

    /// Looks for what came since, and sets new repositories aside if that is wanted.
    pub(crate) fn compare(&self) -> News {
        self.places.look();
        let now = self.places.repositories();
        let came = now.unsearched.difference(&self.unsearched);
        let unsearched = came.map(|directory| directory.path.clone());
        News {
            repositories: self.new_repositories(&now.repositories),
            unsearched: unsearched.chain(now.beyond).collect(),
        }
    }

    /// Those that were not there before, without those that are part of other new ones.
    fn new_repositories(&self, now: &[Repository]) -> Vec<NewRepository> {
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
        // What git itself makes for a linked working tree lies in `worktrees` of its repository.
        let is_linked = |repository: &Repository| {
            let worktrees = repository.path.parent();
            let of = worktrees.filter(|worktrees| worktrees.ends_with("worktrees"));
            repository.kind == RepositoryKind::WorkingTree
                && of.and_then(Path::parent).is_some_and(|of| {
                    now.iter()
                        .any(|other| other.kind == RepositoryKind::Directory && other.path == of)
                })
        };
        new.iter()
            .filter(|repository| !is_linked(repository) && !is_part(&repository.path))
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
        let refusal = (self.wanted == NewRepositories::Refuse).then(|| repository::set_aside(git));
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

fn identity(path: &Path) -> Option<Identity> {
    let seen = ringfence_host::observe(path).ok()?;
    seen.map(|(_, identity)| identity)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use ringfence_host::Host;
    use ringfence_policy::{Profile, ProfileConfig, Verdict};

    use super::*;

    /// What is told twice after something was done in this workspace, of which so many directories are looked at.
    #[expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
    fn compare(workspace: &Path, limit: usize, command: &dyn Fn()) -> (News, News) {
        let config = ProfileConfig {
            workspace: workspace.to_owned(),
            workspace_access: Verdict::READ_WRITE,
            ..ProfileConfig::default()
        };
        let profile = Profile::new(&config, &Host).unwrap();
        let places = Arc::new(GuardedPlaces::limited(&profile, limit).unwrap());
        let inventory = Inventory::take(&places, NewRepositories::Report);
        command();
        (inventory.compare(), inventory.compare())
    }

    #[test]
    fn where_the_search_was_cut_off_is_told_each_time() {
        let workspace = tempfile::tempdir().unwrap();
        let top = workspace.path().canonicalize().unwrap();
        let compare = |limit, command: &dyn Fn()| compare(&top, limit, command);
        let hide = || fs::create_dir_all(top.join("sub/.git/objects")).unwrap();
        let (first, second) = compare(2, &hide);
        assert_eq!(first.unsearched, [top.join("sub/.git")]);
        assert_eq!(first, second);
        let (first, _) = compare(100, &|| fs::create_dir_all(top.join("sub/.git/refs")).unwrap());
        assert_eq!(first.unsearched, Vec::<PathBuf>::new());
        assert_eq!(first.repositories.len(), 1);
        let (first, _) = compare(3, &|| ());
        assert_eq!(first.unsearched.len(), 1, "it was so before the command too");
    }

    #[test]
    fn what_could_not_be_searched_before_is_told_only_if_it_is_another_now() {
        let workspace = tempfile::tempdir().unwrap();
        let top = workspace.path().canonicalize().unwrap();
        let closed = top.join("closed");
        fs::create_dir_all(closed.join("sub")).unwrap();
        let mode = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
        mode(0o311);
        let compare = |command: &dyn Fn()| compare(&top, 100, command).0;
        let nothing_new = compare(&|| ());
        let changed = compare(&|| fs::create_dir(closed.join("new")).unwrap());
        mode(0o755);
        assert_eq!(nothing_new.unsearched, Vec::<PathBuf>::new());
        // Nothing is closed to root.
        let root = rustix::process::geteuid().is_root();
        assert_eq!(changed.unsearched, if root { vec![] } else { vec![closed] });
    }
}
