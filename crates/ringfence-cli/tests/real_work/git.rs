//! git, on a repository that is there already and on those a command makes.

use std::path::Path;
use std::process::Command;

use crate::support::{Place, installed};

#[test]
fn git_init_and_commit_in_a_subdirectory() {
    if !has_git() {
        return;
    }
    let place = Place::new();
    let script = r#"
        set -e
        git init --quiet project && cd project
        git config user.name Somebody && git config user.email somebody@example.com
        echo one >file && git add file && git commit --quiet --message first
        git switch --quiet --create side && echo two >>file && git commit --quiet --all --message second
        git rebase --quiet HEAD~1 && git gc --quiet && git fsck --no-progress
        git status --short --branch
    "#;
    let done = place.sh(&[], script).succeeded();
    assert_eq!(done.stdout, "## side\n");
    // A host git reads what was made inside.
    assert_eq!(
        git(&place.file("project"), &["log", "--format=%s %an"]),
        "second Somebody\nfirst Somebody\n"
    );
}

#[test]
fn git_commits_in_a_worktree_inside_the_workspace() {
    let Some(place) = repository() else { return };
    let script = "
        set -e
        git worktree add --quiet -b side trees/side && git worktree add --quiet --detach trees/other
        cd trees/side && echo two >two && git add two && git commit --quiet --message second
        git worktree remove ../other && git status --short --branch
    ";
    let done = place.sh(&[], script).succeeded();
    assert_eq!(done.stdout, "## side\n");
    assert_eq!(
        git(place.workspace(), &["log", "--format=%s", "refs/heads/side"]),
        "second\nfirst\n"
    );
    let trees = git(place.workspace(), &["worktree", "list", "--porcelain"]);
    assert_eq!(trees.matches("worktree ").count(), 2, "{trees}");
}

#[test]
fn git_rebases_a_branch_onto_another() {
    let Some(place) = repository() else { return };
    let script = "
        set -e
        git switch --quiet --create side && echo side >side && git add side && git commit --quiet --message side
        git switch --quiet main && echo main >main && git add main && git commit --quiet --message main
        git switch --quiet side && git rebase --quiet main && ls file main side
    ";
    let done = place.sh(&[], script).succeeded();
    assert_eq!(done.stdout, "file\nmain\nside\n");
    assert_eq!(
        git(place.workspace(), &["log", "--format=%s", "refs/heads/side"]),
        "side\nmain\nfirst\n"
    );
}

/// The list of steps is edited by a program, and one of the steps runs a command.
#[test]
fn git_rebases_interactively() {
    let Some(place) = repository() else { return };
    let script = r#"
        set -e
        for name in a b c; do echo $name >>list && git add list && git commit --quiet --message $name; done
        export GIT_SEQUENCE_EDITOR='sed -i -e "2s/^pick/fixup/"'
        git rebase --quiet --interactive HEAD~3
        GIT_SEQUENCE_EDITOR=true git rebase --quiet --interactive --exec 'wc -l <list >>seen' HEAD~2
        cat seen
    "#;
    let done = place.sh(&[], script).succeeded();
    assert_eq!(done.stdout, "2\n3\n");
    assert_eq!(git(place.workspace(), &["log", "--format=%s"]), "c\na\nfirst\n");
    assert_eq!(git(place.workspace(), &["show", "HEAD~1:list"]), "a\nb\n");
}

#[test]
fn git_stashes_changes_and_brings_them_back() {
    let Some(place) = repository() else { return };
    let script = "
        set -e
        echo changed >file && echo new >new && git stash push --quiet --include-untracked
        cat file; test ! -e new; git stash pop --quiet && cat file new; git stash list
    ";
    let done = place.sh(&[], script).succeeded();
    assert_eq!(done.stdout, "one\nchanged\nnew\n");
    assert_eq!(
        git(place.workspace(), &["status", "--short"]),
        " M file\n?? new\n"
    );
}

#[test]
fn git_clones_local_repositories_into_the_workspace() {
    let (Some(place), Some(outside)) = (repository(), repository()) else {
        return;
    };
    let source = outside.workspace().to_str().unwrap();
    let script = r#"
        set -e
        git clone --quiet "$0" outside && git clone --quiet . inside
        cd outside && echo two >>file && git -c user.name=N -c user.email=n@example.com commit --quiet -am second
    "#;
    let arguments = ["run", "--ro", source, "--", "sh", "-c", script, source];
    place.ringfence(arguments).succeeded();
    for (clone, log) in [("outside", "second\nfirst\n"), ("inside", "first\n")] {
        assert_eq!(git(&place.file(clone), &["log", "--format=%s"]), log, "{clone}");
        git(&place.file(clone), &["fsck", "--strict"]);
    }
    assert_eq!(git(outside.workspace(), &["log", "--format=%s"]), "first\n");
}

#[test]
fn git_branches_tags_merges_and_collects_garbage() {
    let Some(place) = repository() else { return };
    let script = "
        set -e
        git branch side && git branch old && git branch --quiet --delete old
        echo main >main && git add main && git commit --quiet --message main && git tag --annotate v1 --message one
        git switch --quiet side && echo side >side && git add side && git commit --quiet --message side
        git switch --quiet main && git merge --quiet --no-ff --message merged side
        git gc --quiet --prune=now && git pack-refs --all && git count-objects
        git describe
    ";
    let done = place.sh(&[], script).succeeded();
    let described = done.stdout.strip_prefix("0 objects, 0 kilobytes\nv1-2-g");
    assert!(described.is_some(), "{done:?}");
    let refs = git(
        place.workspace(),
        &["for-each-ref", "--format=%(refname) %(objecttype)"],
    );
    assert_eq!(
        refs,
        "refs/heads/main commit\nrefs/heads/side commit\nrefs/tags/v1 tag\n"
    );
    git(place.workspace(), &["fsck", "--strict"]);
    let parents = git(place.workspace(), &["show", "--no-patch", "--format=%P"]);
    assert_eq!(parents.split_whitespace().count(), 2, "not a merge");
}

/// Whatever settings it uses: nothing stands where a closed name could be made.
#[test]
fn git_sees_nothing_of_what_is_closed() {
    let Some(place) = repository() else { return };
    for home in ["", "HOME=/tmp "] {
        let script = format!("{home}git status --short && {home}git add --all && {home}git status --short");
        assert_eq!(place.sh(&[], &script).succeeded().stdout, "");
    }
    assert!(place.sh(&[], "touch .mcp.json").status != 0);
}

/// A workspace with a repository that was made outside, of one commit; `None` is a visible skip.
fn repository() -> Option<Place> {
    if !has_git() {
        return None;
    }
    let place = Place::new();
    let run = |arguments: &[&str]| git(place.workspace(), arguments);
    run(&["init", "--quiet"]);
    run(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    run(&["config", "user.name", "Somebody"]);
    run(&["config", "user.email", "somebody@example.com"]);
    place.write("file", "one\n");
    run(&["add", "file"]);
    run(&["commit", "--quiet", "--message", "first"]);
    Some(place)
}

/// What git of the host says about a repository, whoever owns it and whatever the user's own settings are.
fn git(repository: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "safe.directory=*"])
        .args(arguments)
        .current_dir(repository)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn has_git() -> bool {
    installed("real_work_git", &[&["git", "--version"]])
}
