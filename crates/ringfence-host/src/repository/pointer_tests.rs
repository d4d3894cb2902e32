use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::super::testing::{Git, strange};
use super::*;
use crate::testing::Tree;

/// What a file `.git` of a working tree leads to.
fn follow(working_tree: &Path) -> Result<Attached, NotAttached> {
    belongs(&pointed(&working_tree.join(".git")).unwrap(), working_tree)
}

fn code(result: Result<Attached, NotAttached>) -> &'static str {
    result.unwrap_err().code()
}

/// A repository at `main` with a linked working tree at `linked`.
fn linked(tree: &Tree) -> Option<(Git, PathBuf, PathBuf)> {
    let git = Git::installed(tree)?;
    let (main, linked) = (tree.path("main"), tree.path("linked"));
    git.repository(&main);
    git.run(&main, &[&"worktree", &"add", &"--quiet", &"../linked"]);
    Some((git, main, linked))
}

fn add_submodule(git: &Git, superproject: &Path, source: &Path, path: &dyn AsRef<std::ffi::OsStr>) {
    let allow = "protocol.file.allow=always";
    git.run(
        superproject,
        &[&"-c", &allow, &"submodule", &"--quiet", &"add", &source, path],
    );
}

#[test]
fn a_linked_working_tree_belongs_whatever_its_name() {
    let tree = Tree::new();
    let Some(git) = Git::installed(&tree) else { return };
    let main = tree.dir("m").join(strange());
    let linked = tree.dir("l").join(strange());
    git.repository(&main);
    git.run(&main, &[&"worktree", &"add", &"--quiet", &"-b", &"side", &linked]);
    let found = follow(&linked).unwrap();
    assert_eq!(found.attachment, Attachment::LinkedWorkingTree);
    assert_eq!(found.common_directory, main.join(".git"));
    assert_eq!(found.git_directory.parent().unwrap(), main.join(".git/worktrees"));
    // The same by another spelling of the working tree.
    let spelled = tree.link("link", &linked);
    assert_eq!(follow(&spelled).unwrap(), found);
    // Git itself agrees.
    let common = git.run(
        &linked,
        &[&"rev-parse", &"--path-format=absolute", &"--git-common-dir"],
    );
    assert_eq!(
        common.strip_suffix(b"\n").unwrap(),
        found.common_directory.as_os_str().as_bytes()
    );
}

#[test]
fn a_linked_working_tree_belongs_by_relative_paths() {
    let tree = Tree::new();
    let Some((git, main, linked)) = linked(&tree) else {
        return;
    };
    let own = main.join(".git/worktrees/linked");
    let expected = follow(&linked).unwrap();
    fs::write(linked.join(".git"), "gitdir: ../main/.git/worktrees/linked\r\n").unwrap();
    fs::write(own.join("gitdir"), "../../../../linked/.git\n").unwrap();
    assert_eq!(follow(&linked).unwrap(), expected);
    git.run(&linked, &[&"status"]);
    fs::write(own.join("commondir"), main.join(".git").as_os_str().as_bytes()).unwrap();
    assert_eq!(follow(&linked).unwrap(), expected);
}

#[test]
fn a_submodule_belongs_wherever_it_is_kept() {
    let tree = Tree::new();
    let Some((git, main, linked)) = linked(&tree) else {
        return;
    };
    let (source, inner) = (tree.path("source"), tree.path("inner"));
    git.repository(&source);
    git.repository(&inner);
    add_submodule(&git, &source, &inner, &"deep");
    git.run(&source, &[&"commit", &"--quiet", &"--message=deep"]);
    let check = |working_tree: &Path, git_directory: PathBuf| {
        let found = follow(working_tree).unwrap();
        assert_eq!(found.attachment, Attachment::Submodule);
        assert_eq!(found.git_directory, git_directory);
        assert_eq!(found.common_directory, git_directory);
    };
    add_submodule(&git, &main, &source, &"libs/sub");
    check(&main.join("libs/sub"), main.join(".git/modules/libs/sub"));
    // In a submodule.
    let update: &[&dyn AsRef<std::ffi::OsStr>] = &[
        &"-c",
        &"protocol.file.allow=always",
        &"submodule",
        &"--quiet",
        &"update",
        &"--init",
    ];
    git.run(&main.join("libs/sub"), update);
    check(
        &main.join("libs/sub/deep"),
        main.join(".git/modules/libs/sub/modules/deep"),
    );
    // In a linked working tree, at a path that needs quotes in the settings.
    git.run(
        &linked,
        &[
            &"-c",
            &"protocol.file.allow=always",
            &"submodule",
            &"--quiet",
            &"add",
            &"--name",
            &"named",
            &source,
            &strange(),
        ],
    );
    check(
        &linked.join(strange()),
        main.join(".git/worktrees/linked/modules/named"),
    );
    // Where the working tree is a setting of its own.
    git.run(&main.join("libs/sub"), &[&"sparse-checkout", &"set", &"x"]);
    assert!(main.join(".git/modules/libs/sub/config.worktree").exists());
    check(&main.join("libs/sub"), main.join(".git/modules/libs/sub"));
    // What occupies an absent name changes nothing.
    fs::write(main.join(".git/modules/libs/sub/commondir"), ".\n").unwrap();
    check(&main.join("libs/sub"), main.join(".git/modules/libs/sub"));
    // A linked working tree of a submodule.
    git.run(
        &main.join("libs/sub/deep"),
        &[&"worktree", &"add", &"--quiet", &tree.path("side")],
    );
    let found = follow(&tree.path("side")).unwrap();
    assert_eq!(found.attachment, Attachment::LinkedWorkingTree);
    assert_eq!(
        found.common_directory,
        main.join(".git/modules/libs/sub/modules/deep")
    );
}

#[test]
fn a_planted_pointer_is_not_believed() {
    let tree = Tree::new();
    let Some((git, main, linked)) = linked(&tree) else {
        return;
    };
    let source = tree.path("source");
    git.repository(&source);
    add_submodule(&git, &main, &source, &"sub");
    let planted = tree.dir("planted");
    for (target, expected) in [
        (main.join(".git"), "repository_unclaimed"),
        (main.join(".git/worktrees/linked"), "repository_elsewhere"),
        (main.join(".git/modules/sub"), "repository_elsewhere"),
        (main.join(".git/modules"), "repository_missing"),
        (main.clone(), "repository_missing"),
        (tree.path("absent"), "repository_unreadable"),
    ] {
        fs::write(
            planted.join(".git"),
            [b"gitdir: ", target.as_os_str().as_bytes()].concat(),
        )
        .unwrap();
        assert_eq!(code(follow(&planted)), expected, "{target:?}");
    }
    // Beneath and above the working tree that the repository has.
    for path in ["inside", ".."] {
        let other = linked.join(path);
        fs::create_dir_all(&other).unwrap();
        assert_eq!(
            code(belongs(&main.join(".git/worktrees/linked"), &other)),
            "repository_elsewhere"
        );
    }
}

#[test]
fn a_planted_directory_does_not_open_the_repository_it_names() {
    let tree = Tree::new();
    let Some((git, main, _)) = linked(&tree) else {
        return;
    };
    let planted = tree.dir("planted");
    let point = |to: &str| fs::write(planted.join(".git"), format!("gitdir: {to}\n")).unwrap();
    // As complete as its maker can have it, but not where the repository keeps it.
    tree.file("planted/own/HEAD");
    fs::write(tree.path("planted/own/gitdir"), "../.git\n").unwrap();
    fs::write(
        tree.path("planted/own/commondir"),
        main.join(".git").as_os_str().as_bytes(),
    )
    .unwrap();
    point("own");
    assert_eq!(code(follow(&planted)), "repository_misplaced");
    // Reached through a link that gives it the right place.
    tree.link("planted/worktrees", ".");
    point("worktrees/own");
    assert_eq!(code(follow(&planted)), "repository_misplaced");
    // A whole repository whose objects would be those of another.
    let fake = tree.path("planted/fake/.git");
    git.repository(&tree.path("planted/fake"));
    let own = fake.join("worktrees/own");
    tree.file(own.join("HEAD"));
    fs::write(own.join("gitdir"), "../../../../.git").unwrap();
    fs::write(own.join("commondir"), "../..").unwrap();
    point("fake/.git/worktrees/own");
    assert_eq!(follow(&planted).unwrap().common_directory, fake);
    fs::remove_dir_all(fake.join("objects")).unwrap();
    tree.link(fake.join("objects"), main.join(".git/objects"));
    assert_eq!(code(follow(&planted)), "repository_missing");
}

#[test]
fn a_repository_that_is_no_submodule_is_not_taken_for_one() {
    let tree = Tree::new();
    let Some(git) = Git::installed(&tree) else { return };
    let (working_tree, separate) = (tree.dir("w"), tree.path("separate"));
    git.run(
        &working_tree,
        &[&"init", &"--quiet", &"--separate-git-dir", &separate],
    );
    assert_eq!(code(follow(&working_tree)), "repository_unclaimed");
    git.run(
        &separate,
        &[&"config", &"--file", &"config", &"core.worktree", &"../w"],
    );
    assert_eq!(code(follow(&working_tree)), "repository_misplaced");
}

#[test]
fn a_moved_working_tree_does_not_belong_until_it_is_repaired() {
    let tree = Tree::new();
    let Some((git, _, linked)) = linked(&tree) else {
        return;
    };
    let moved = tree.path("moved");
    fs::rename(&linked, &moved).unwrap();
    let error = follow(&moved).unwrap_err();
    assert_eq!(error.code(), "repository_elsewhere");
    assert!(error.hint().contains("git worktree repair"));
    git.run(&moved, &[&"worktree", &"repair"]);
    assert_eq!(follow(&moved).unwrap().attachment, Attachment::LinkedWorkingTree);
}

#[test]
fn a_pointer_is_read_as_git_reads_it() {
    let tree = Tree::new();
    let file = tree.path("w/.git");
    tree.dir("w");
    let read = |text: &[u8]| {
        fs::write(&file, text).unwrap();
        pointed(&file).map_err(|error| error.kind())
    };
    assert_eq!(read(b"gitdir: /a b\n c\n\r\n"), Ok(PathBuf::from("/a b\n c")));
    assert_eq!(read(b"gitdir: ../x"), Ok(tree.path("w/../x")));
    assert_eq!(read(b"gitdir: /a\0b"), Ok(PathBuf::from("/a")));
    for bad in [
        "",
        "gitdir:",
        "gitdir: ",
        "gitdir: \n",
        "gitdir:/a",
        " gitdir: /a",
        "gitdir: \0a",
    ] {
        assert_eq!(read(bad.as_bytes()), Err(io::ErrorKind::InvalidData), "{bad:?}");
    }
    assert_eq!(read(&[b'x'; 100_000]), Err(io::ErrorKind::FileTooLarge));
    let kind = |path: &Path| pointed(path).unwrap_err().kind();
    assert_eq!(kind(&tree.dir("d/.git")), io::ErrorKind::InvalidInput);
    assert_eq!(kind(&tree.path("absent/.git")), io::ErrorKind::NotFound);
}
