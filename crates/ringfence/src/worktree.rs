//! A workspace whose repository lies elsewhere: a linked working tree, or the working tree of a submodule.

use std::path::{Path, PathBuf};

use ringfence_host::Host;
use ringfence_host::guarded::{Repository, RepositoryKind};
use ringfence_host::repository::{self, Attached, Attachment};
use ringfence_policy::{Axes, Hold, Preset, Profile, Protection, Reach, Resolve, Rule, Source};

/// What of the main repository belongs to its own working tree, or makes git run programs.
const OF_THE_MAIN_TREE: [&str; 7] = [
    "HEAD",
    "index",
    "info",
    "description",
    "COMMIT_EDITMSG",
    "logs/HEAD",
    "hooks",
];

/// The repository that the workspace is a working tree of, if it lies outside and itself says so: a file `.git` alone
/// proves nothing, since anybody can write one.
pub(crate) fn attached(profile: &Profile) -> Option<Attached> {
    let workspace = &profile.workspace().path;
    let pointer = workspace.join(".git");
    let file = pointer.symlink_metadata().ok()?.is_file();
    let wanted = file && profile.presets().any(|preset| preset == Preset::Git);
    let directory = wanted.then(|| repository::pointed(&pointer).ok()).flatten()?;
    let attached = repository::belongs(&directory, workspace).ok()?;
    (!attached.common_directory.starts_with(workspace)).then_some(attached)
}

/// Opens what git commands in the workspace need of it.
pub(crate) fn opened(profile: &Profile, attached: &Attached) -> Option<Rule> {
    let at = Host.resolve(&attached.common_directory).ok()?;
    let access = Axes::from(profile.workspace_access());
    Some(Rule::new(at, Reach::Tree, access, Source::Repository))
}

/// The repository whose settings and hooks stay closed.
pub(crate) fn closed(attached: &Attached) -> Repository {
    Repository {
        path: attached.common_directory.clone(),
        kind: RepositoryKind::Directory,
    }
}

/// Closes to writing what belongs to the main working tree and to other linked ones.
pub(crate) fn others(attached: &Attached) -> Vec<Rule> {
    if attached.attachment != Attachment::LinkedWorkingTree {
        return Vec::new();
    }
    let common = &attached.common_directory;
    let own = &attached.git_directory;
    let main = OF_THE_MAIN_TREE.iter().map(|name| common.join(name));
    let siblings = entries(&common.join("worktrees"))
        .into_iter()
        .filter(|path| path != own);
    let pointers = ["gitdir", "commondir"].map(|name| own.join(name));
    let hold = Hold::From(common.clone());
    main.chain(siblings)
        .chain(pointers)
        .filter_map(|path| {
            let at = Host.resolve(&path).ok().filter(|at| at.identity.is_some())?;
            let rule = Rule::new(at, Reach::Tree, Protection::Protect.axes(), Source::Repository);
            Some(rule.holding(hold.clone()))
        })
        .collect()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
