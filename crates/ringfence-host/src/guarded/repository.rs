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

/// Finds what a directory says about repositories, and which of its subdirectories need no search.
pub(super) fn find(path: &Path, entries: &[Entry]) -> (Vec<Repository>, &'static [&'static str]) {
    let has = |name: &str| entries.iter().any(|entry| entry.name == name);
    let repository = |path: PathBuf, kind| Repository { path, kind };
    let mut found = Vec::new();
    let mut inside: &[&str] = &[];
    if has("HEAD") && has("objects") && has("refs") {
        found.push(repository(path.to_owned(), RepositoryKind::Directory));
        inside = &["objects", "refs", "logs", "info", "hooks", "lfs"];
    } else if has("HEAD") && has("commondir") {
        found.push(repository(path.to_owned(), RepositoryKind::WorkingTree));
        inside = &["refs", "logs", "modules"];
    }
    let pointer = entries
        .iter()
        .find(|entry| entry.name == ".git" && !entry.kind.is_dir());
    if let Some(pointer) = pointer {
        found.push(repository(path.join(&pointer.name), RepositoryKind::Pointer));
    }
    (found, inside)
}
