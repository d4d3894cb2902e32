use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStringExt;

use super::super::testing::{Git, strange};
use super::*;
use crate::testing::Tree;

fn keys(git_directory: &Path) -> Vec<String> {
    programs(git_directory).unwrap().keys
}

#[test]
fn a_new_repository_runs_nothing() {
    let tree = Tree::new();
    let Some(git) = Git::installed(&tree) else { return };
    git.repository(&tree.path("first"));
    git.run(&tree.root, &[&"clone", &"--quiet", &"first", &"second"]);
    for name in ["first/.git", "second/.git", "absent"] {
        assert_eq!(programs(&tree.path(name)).unwrap(), Programs::default(), "{name}");
    }
}

#[test]
fn names_are_sorted_and_each_is_there_once() {
    let tree = Tree::new();
    let text = "[include]path=x\n[core]fsmonitor=a\nbare\n[filter \"b\\\"\u{e4}\"]clean=a\n[Core]FSMONITOR=b\n[alias]y=!b\n";
    fs::write(tree.path("config"), text).unwrap();
    fs::write(
        tree.path("config.worktree"),
        "[alias]x=!a\nz=b\n[core]fsmonitor=c",
    )
    .unwrap();
    let expected = [
        "alias.x",
        "alias.y",
        "core.fsmonitor",
        "filter.b\"\u{e4}.clean",
        "include.path",
    ];
    assert_eq!(keys(&tree.root), expected);
}

#[test]
fn a_linked_working_tree_has_the_settings_and_hooks_of_its_repository() {
    let tree = Tree::new();
    let Some(git) = Git::installed(&tree) else { return };
    let main = tree.path(strange());
    git.repository(&main);
    git.run(&main, &[&"worktree", &"add", &"--quiet", &"../linked"]);
    git.run(&main, &[&"config", &"core.pager", &"x"]);
    git.run(&main, &[&"config", &"extensions.worktreeConfig", &"true"]);
    git.run(
        &tree.path("linked"),
        &[&"config", &"--worktree", &"core.editor", &"x"],
    );
    tree.program(main.join(".git/hooks/pre-commit"));
    assert_eq!(keys(&main.join(".git")), ["core.pager"]);
    let found = programs(&main.join(".git/worktrees/linked")).unwrap();
    assert_eq!(found.keys, ["core.editor", "core.pager"]);
    assert_eq!(found.hooks, ["pre-commit"]);
    // Anybody can make such a directory, and git believes it.
    fs::write(
        tree.file("planted/commondir"),
        main.join(".git").as_os_str().as_encoded_bytes(),
    )
    .unwrap();
    assert_eq!(keys(&tree.path("planted")), ["core.pager"]);
    fs::write(tree.path("planted/commondir"), ".\n").unwrap();
    fs::write(tree.path("planted/config"), "[core]editor=x").unwrap();
    assert_eq!(keys(&tree.path("planted")), ["core.editor"]);
}

#[test]
fn hooks_are_what_git_can_run() {
    let tree = Tree::new();
    let odd = OsString::from_vec(b"pre-push \n".to_vec());
    tree.program("hooks/pre-commit");
    tree.program(Path::new("hooks").join(&odd));
    tree.program("hooks/update.sample");
    tree.file("hooks/post-commit");
    tree.dir("hooks/post-merge");
    tree.link("hooks/post-checkout", "/bin/sh");
    tree.link("hooks/post-rewrite", "post-commit");
    tree.link("hooks/pre-rebase", "nowhere");
    let expected = [OsStr::new("post-checkout"), OsStr::new("pre-commit"), &odd];
    assert_eq!(programs(&tree.root).unwrap().hooks, expected);
}

#[test]
fn what_can_not_be_read_is_an_error() {
    let tree = Tree::new();
    fs::write(tree.path("commondir"), "\n").unwrap();
    assert_eq!(
        programs(&tree.root).unwrap_err().kind(),
        io::ErrorKind::InvalidData
    );
    fs::remove_file(tree.path("commondir")).unwrap();
    tree.dir("config");
    assert_eq!(
        programs(&tree.root).unwrap_err().kind(),
        io::ErrorKind::InvalidInput
    );
    fs::remove_dir(tree.path("config")).unwrap();
    for number in 0..=MAX_HOOKS {
        tree.file(format!("hooks/{number}"));
    }
    assert_eq!(
        programs(&tree.root).unwrap_err().kind(),
        io::ErrorKind::InvalidData
    );
}

/// Settings, with `CANARY` for a program, and a command of git that runs it.
const RUN: &[(&str, &[&str])] = &[
    ("[core]fsmonitor=CANARY", &["status"]),
    ("[core \"fsmonitor\0x\"]y=CANARY", &["status"]),
    ("[alias]a=!CANARY", &["a"]),
    ("[alias]a=-c core.fsmonitor=CANARY status", &["a"]),
    ("[alias \"a\"]b=!CANARY", &["a.b"]),
    ("[filter \"x\"]clean=CANARY", &["add", "file"]),
    ("[filter \"x\"]process=CANARY", &["add", "file"]),
    ("[diff]external=CANARY", &["diff"]),
    ("[diff \"x\"]textconv=CANARY", &["diff"]),
    (
        "[diff]tool=../../../../../../../..CANARY",
        &["difftool", "--no-prompt"],
    ),
    (
        "[difftool \"x\"]cmd=CANARY",
        &["difftool", "--no-prompt", "--tool=x"],
    ),
    ("[core]editor=CANARY", &["commit", "--allow-empty"]),
    ("[tar \"x\"]command=CANARY", &["archive", "--format=x", "HEAD"]),
    ("[remote \"x\"]url=.\nuploadpack=CANARY", &["fetch", "x"]),
    (
        "[remote \"x\"]url=.\nreceivepack=CANARY",
        &["push", "x", "HEAD:y"],
    ),
    (
        "[core]sshCommand=CANARY\n[remote \"x\"]url=ssh://x/y",
        &["fetch", "x"],
    ),
    (
        "[protocol \"ext\"]allow=always\n[remote \"x\"]url=ext::CANARY",
        &["fetch", "x"],
    ),
    (
        "[protocol]allow=always\n[branch \"main\"]remote=ext::CANARY\nmerge=x",
        &["fetch"],
    ),
    (
        "[protocol]allow=always\n[url \"ext::CANARY \"]insteadOf=y\n[remote \"x\"]url=yz",
        &["fetch", "x"],
    ),
    (
        "[gpg]program=CANARY",
        &["commit", "--allow-empty", "--gpg-sign", "--message=x"],
    ),
    (
        "[trailer \"x\"]cmd=CANARY",
        &["interpret-trailers", "--trailer=x:y", "file"],
    ),
    ("[include]path=../settings", &["status"]),
];

#[test]
fn what_git_really_runs_is_among_the_names() {
    let tree = Tree::new();
    let Some(git) = Git::installed(&tree) else { return };
    let repository = tree.path("repository");
    git.repository(&repository);
    let canary = tree.program("canary");
    let proof = tree.path("proof");
    fs::write(&canary, format!("#!/bin/sh\n: >'{}'\n", proof.display())).unwrap();
    let settle = |text: &str| text.replace("CANARY", canary.to_str().unwrap());
    fs::write(tree.path("repository/settings"), settle("[core]fsmonitor=CANARY")).unwrap();
    tree.file("repository/file");
    git.run(&repository, &[&"add", &"file"]);
    fs::write(tree.path("repository/.gitattributes"), "* filter=x diff=x\n").unwrap();
    let config = repository.join(".git/config");
    let clean = fs::read_to_string(&config).unwrap();
    for (number, (text, args)) in RUN.iter().enumerate() {
        fs::write(tree.path("repository/file"), format!("{number}\n")).unwrap();
        fs::write(&config, format!("{clean}{}", settle(text))).unwrap();
        let args: Vec<&dyn AsRef<OsStr>> = args.iter().map(|arg| arg as &dyn AsRef<OsStr>).collect();
        let output = git.output(&repository, &args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(fs::remove_file(&proof).is_ok(), "{text:?} runs nothing: {said}");
        assert!(!keys(&repository.join(".git")).is_empty(), "{text:?}");
    }
    for name in ["pre-commit", "post-index-change"] {
        fs::write(&config, &clean).unwrap();
        let hook = repository.join(".git/hooks").join(name);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::copy(&canary, &hook).unwrap();
        git.run(
            &repository,
            &[&"commit", &"--all", &"--quiet", &"--allow-empty", &"--message=x"],
        );
        assert!(fs::remove_file(&proof).is_ok(), "{name}");
        assert_eq!(programs(&repository.join(".git")).unwrap().hooks, [name]);
        fs::remove_file(&hook).unwrap();
    }
}
