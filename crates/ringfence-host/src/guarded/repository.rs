//! Repositories, known by what is in a directory (gitrepository-layout(5)).

use std::path::{Path, PathBuf};

use super::directory::Entry;

/// The directory of a repository, or what leads to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub kind: RepositoryKind,
}

/// What of a repository is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepositoryKind {
    /// The directory itself: `.git`, one in `modules`, a bare repository.
    Directory,
    /// The directory of a linked working tree, in `worktrees`.
    WorkingTree,
    /// A file or link `.git` that leads to such a directory.
    Pointer,
}

/// Finds what a directory says about repositories.
///
/// Git asks for `HEAD` too, which a command can take away and put back, as nothing can keep git itself from replacing
/// it; what is asked for here stays where it is while it is protected.
pub(super) fn find(path: &Path, entries: &[Entry]) -> Vec<Repository> {
    let named = |name: &str| entries.iter().find(|entry| entry.name == name);
    // A link to a directory is as good as one; what occupies an absent name leads to none.
    let has_directory = |name: &str| {
        named(name)
            .is_some_and(|entry| entry.kind.is_dir() || entry.kind.is_symlink() && path.join(name).is_dir())
    };
    let repository = |path: PathBuf, kind| Repository { path, kind };
    let mut found = Vec::new();
    if has_directory("objects") && has_directory("refs") {
        found.push(repository(path.to_owned(), RepositoryKind::Directory));
    } else if named("commondir").is_some_and(|entry| entry.kind.is_file()) {
        found.push(repository(path.to_owned(), RepositoryKind::WorkingTree));
    }
    if let Some(pointer) = named(".git").filter(|entry| !entry.kind.is_dir()) {
        found.push(repository(path.join(&pointer.name), RepositoryKind::Pointer));
    }
    found
}
