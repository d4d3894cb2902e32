//! Files that lead to a repository, and what the repository says about it (gitrepository-layout(5)).

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{config, files};

/// Where a `.git` file leads, as it says: joined to the directory of the file where it is relative.
///
/// Anybody can write such a file; only [`belongs`] tells whether to believe it.
///
/// # Errors
/// There is no such file (`NotFound`) or it can't be read; it is no regular file, such as a directory
/// (`InvalidInput`); it is of more than 64 KiB (`FileTooLarge`); it is not `gitdir: ` and a path (`InvalidData`).
pub fn pointed(file: &Path) -> io::Result<PathBuf> {
    files::read_path(file, b"gitdir: ")?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// A directory that belongs to a working tree, and what it is a part of. Paths are canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// What it is.
    pub attachment: Attachment,
    /// The directory: `worktrees/NAME` or `modules/NAME` of another repository.
    pub git_directory: PathBuf,
    /// The directory with the settings, hooks, objects and refs; the same for a submodule.
    pub common_directory: PathBuf,
}

/// How a directory belongs to a working tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// As the part of its repository that is the linked working tree's own (git-worktree(1)).
    LinkedWorkingTree,
    /// As a repository kept within that of its superproject (gitsubmodules(7)).
    Submodule,
}

/// Asks the directory of a repository whether it belongs to a working tree that says so.
///
/// A linked working tree: `git_directory` is in `worktrees` of the repository that its `commondir` names, and its
/// `gitdir` names `.git` of the working tree. A submodule: it is beneath `modules` of a repository, and `core.worktree`
/// leads back to the working tree. Both are read in files that the working tree does not hold. Paths are compared once
/// they are canonical, so that links and relative paths don't matter. A repository is known by its `HEAD`, `objects` and
/// `refs`; the latter two must be directories and not links, since a link could lead anywhere.
///
/// The answer is about this moment. It is worth as much as the files in `git_directory`: whoever could write there
/// before has given it.
///
/// # Errors
/// Why it does not belong, or can't be known to.
pub fn belongs(git_directory: &Path, working_tree: &Path) -> Result<Attached, NotAttached> {
    let git_directory = canonical(git_directory)?;
    let working_tree = canonical(working_tree)?;
    let common = files::common_directory(&git_directory);
    let common = canonical(&common.map_err(NotAttached::reading(&git_directory))?)?;
    // Where it names itself it says nothing.
    if common == git_directory {
        submodule(git_directory, working_tree)
    } else {
        linked(git_directory, common, working_tree)
    }
}

fn linked(
    git_directory: PathBuf,
    common_directory: PathBuf,
    working_tree: PathBuf,
) -> Result<Attached, NotAttached> {
    if git_directory.parent() != Some(&common_directory.join("worktrees")) {
        return Err(NotAttached::Misplaced { git_directory });
    }
    require_repository(&common_directory)?;
    let back = files::read_path(&git_directory.join("gitdir"), b"");
    let Some(named) = back.map_err(NotAttached::reading(&git_directory))? else {
        return Err(NotAttached::Unclaimed { git_directory });
    };
    // The file it names is the working tree's own; if that is a link it does not matter where it leads.
    let root = match (named.file_name(), named.parent()) {
        (Some(name), Some(root)) if name == ".git" => root.canonicalize().ok(),
        _ => None,
    };
    if root.as_deref() != Some(&working_tree) {
        return Err(NotAttached::Elsewhere {
            git_directory,
            named,
            working_tree,
        });
    }
    Ok(Attached {
        attachment: Attachment::LinkedWorkingTree,
        git_directory,
        common_directory,
    })
}

fn submodule(git_directory: PathBuf, working_tree: PathBuf) -> Result<Attached, NotAttached> {
    require_repository(&git_directory)?;
    let named = work_tree(&git_directory).map_err(NotAttached::reading(&git_directory))?;
    let Some(named) = named else {
        return Err(NotAttached::Unclaimed { git_directory });
    };
    let root = named.canonicalize().ok();
    if root.as_deref() != Some(&working_tree) {
        return Err(NotAttached::Elsewhere {
            git_directory,
            named,
            working_tree,
        });
    }
    if !is_module(&git_directory) {
        return Err(NotAttached::Misplaced { git_directory });
    }
    Ok(Attached {
        attachment: Attachment::Submodule,
        common_directory: git_directory.clone(),
        git_directory,
    })
}

/// The working tree that a repository says it has.
fn work_tree(git_directory: &Path) -> io::Result<Option<PathBuf>> {
    const NAME: &str = "core.worktree";
    let mut settings = config::read(&git_directory.join("config"))?;
    if config::is_true(&settings, "extensions.worktreeconfig") {
        settings.extend(config::read(&git_directory.join("config.worktree"))?);
    }
    let named = config::last(&settings, NAME);
    Ok(named.map(|named| git_directory.join(files::to_path(named))))
}

/// Whether a directory is beneath `modules` of a repository, or of one of its linked working trees.
fn is_module(git_directory: &Path) -> bool {
    let mut above = git_directory.ancestors().skip(1);
    above.any(|place| {
        let owner = place
            .parent()
            .filter(|_| place.file_name().is_some_and(|name| name == "modules"));
        owner.is_some_and(|owner| {
            let common = files::common_directory(owner);
            common.is_ok_and(|common| require_repository(&common).is_ok()) && owner.join("HEAD").exists()
        })
    })
}

fn require_repository(directory: &Path) -> Result<(), NotAttached> {
    let is_directory = |name: &str| {
        let seen = directory.join(name).symlink_metadata();
        seen.is_ok_and(|seen| seen.is_dir())
    };
    let head = directory.join("HEAD").symlink_metadata().is_ok();
    if head && is_directory("objects") && is_directory("refs") {
        Ok(())
    } else {
        Err(NotAttached::NoRepository {
            directory: directory.to_owned(),
        })
    }
}

fn canonical(path: &Path) -> Result<PathBuf, NotAttached> {
    path.canonicalize().map_err(NotAttached::reading(path))
}

/// Why a directory does not belong to a working tree that says so.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotAttached {
    /// Something could not be read.
    #[error("{path:?} could not be read ({kind})")]
    Unreadable {
        /// What, or the directory it is in.
        path: PathBuf,
        /// Why: what the system answered, or that a file is not of the kind or size it should be.
        kind: io::ErrorKind,
    },
    /// There is no repository where one should be.
    #[error("{directory:?} is no repository")]
    NoRepository {
        /// Where.
        directory: PathBuf,
    },
    /// The directory is not where the repository keeps such a one.
    #[error("{git_directory:?} is not in the worktrees or modules of its repository")]
    Misplaced {
        /// The directory.
        git_directory: PathBuf,
    },
    /// The repository does not say that it has a working tree elsewhere.
    #[error("{git_directory:?} names no working tree")]
    Unclaimed {
        /// The directory.
        git_directory: PathBuf,
    },
    /// The repository names another working tree.
    #[error("{git_directory:?} belongs to {named:?}, not to {working_tree:?}")]
    Elsewhere {
        /// The directory.
        git_directory: PathBuf,
        /// What it names: a working tree, or the `.git` of one.
        named: PathBuf,
        /// The working tree that leads to it.
        working_tree: PathBuf,
    },
}

impl NotAttached {
    /// Stable identifier of the variant.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "repository_unreadable",
            Self::NoRepository { .. } => "repository_missing",
            Self::Misplaced { .. } => "repository_misplaced",
            Self::Unclaimed { .. } => "repository_unclaimed",
            Self::Elsewhere { .. } => "repository_elsewhere",
        }
    }

    /// What the reader can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "check that the path exists and that the calling user may read it",
            Self::NoRepository { .. } => {
                "check where `.git` leads; in the repository there, objects and refs must be directories, not links"
            }
            Self::Misplaced { .. } => {
                "only linked working trees and submodules made by git are known; open the repository yourself if needed"
            }
            Self::Unclaimed { .. } => {
                "check who wrote `.git`; a repository made with --separate-git-dir must be opened by name"
            }
            Self::Elsewhere { .. } => {
                "if the working tree was moved run `git worktree repair`; if not, check who wrote `.git`"
            }
        }
    }

    fn reading(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Unreadable {
            path,
            kind: error.kind(),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "pointer_tests.rs"]
mod tests;
