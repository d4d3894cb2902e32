//! Repositories, known by what is in a directory (gitrepository-layout(5)).

use std::fs::Metadata;
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

/// What is in the directory of every repository, or in the one that its `commondir` names.
pub const PARTS: [&str; 2] = ["objects", "refs"];

/// Whether git takes what is at a path for one of the [`PARTS`]: it asks for nothing but the right to search or execute
/// (`is_git_directory` of its `setup.c`). A link is as good as what it leads to.
pub fn is_part(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_dir() || is_executable(&found))
}

#[cfg(unix)]
fn is_executable(found: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o111 != 0
}

/// There is no such right.
#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    true
}

/// Finds what a directory says about repositories.
///
/// Git asks for `HEAD` too, which a command can take away and put back, as nothing can keep git itself from replacing
/// it; what is asked for here stays where it is while it is protected.
pub(super) fn find(path: &Path, entries: &[Entry]) -> Vec<Repository> {
    let named = |name: &str| entries.iter().find(|entry| entry.name == name);
    // What is no directory is asked again: few have such a name.
    let has_part =
        |name: &str| named(name).is_some_and(|entry| entry.kind.is_dir() || is_part(&path.join(name)));
    let repository = |path: PathBuf, kind| Repository { path, kind };
    let mut found = Vec::new();
    if PARTS.iter().all(|name| has_part(name)) {
        found.push(repository(path.to_owned(), RepositoryKind::Directory));
    } else if named("commondir").is_some_and(|entry| !entry.kind.is_dir() && path.join("commondir").is_file())
    {
        found.push(repository(path.to_owned(), RepositoryKind::WorkingTree));
    }
    if let Some(pointer) = named(".git").filter(|entry| !entry.kind.is_dir()) {
        found.push(repository(path.join(&pointer.name), RepositoryKind::Pointer));
    }
    found
}
