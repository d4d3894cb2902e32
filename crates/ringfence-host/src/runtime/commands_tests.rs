use std::path::PathBuf;

use ringfence_policy::Link;

use super::{is_program, list, read};
use crate::host::Known;
use crate::testing::Tree;

#[test]
fn links_out_of_the_directory_are_followed_in_the_order_of_their_names() {
    let tree = Tree::new();
    tree.link("tools/b", "../files/b");
    tree.link("tools/c", "./inside");
    tree.link("tools/a", "../alias/a");
    tree.link("alias", "files");
    tree.link("tools/d", "d");
    tree.file("tools/inside");
    let paths = |limit| -> Vec<PathBuf> {
        let listing = read(&tree.path("tools"), &[], limit, &mut Known::default());
        let targets = listing.targets.into_iter();
        targets.map(|target| target.path).collect()
    };
    assert_eq!(paths(10), [tree.path("files/a"), tree.path("files/b")]);
    assert_eq!(paths(1), [tree.path("files/a")]);
    let listing = list(&tree.path("tools"), &[], &mut Known::default());
    let link = |path: &str, target: &str| Link {
        path: tree.path(path),
        target: target.into(),
    };
    assert_eq!(
        listing.targets[0].links,
        [link("tools/a", "../alias/a"), link("alias", "files")]
    );
}

#[test]
fn a_link_back_into_the_directory_is_kept_for_the_links_between() {
    let tree = Tree::new();
    tree.link("tools/cc", "../choices/cc");
    tree.link("choices/cc", "../tools/gcc");
    tree.link("tools/gcc", "../files/gcc");
    let listing = list(&tree.path("tools"), &[], &mut Known::default());
    let found: Vec<_> = listing
        .targets
        .iter()
        .map(|target| (target.path.clone(), target.links.len()))
        .collect();
    assert_eq!(found, [(tree.path("tools/gcc"), 2), (tree.path("files/gcc"), 1)]);
}

#[test]
fn names_that_are_asked_for_are_told_whatever_they_are() {
    let tree = Tree::new();
    tree.program("tools/uv");
    tree.link("tools/cargo", "rustup");
    tree.dir("tools/go");
    let mut names = list(
        &tree.path("tools"),
        &["cargo", "go", "node", "uv"],
        &mut Known::default(),
    )
    .names;
    names.sort_unstable();
    assert_eq!(names, ["cargo", "go", "uv"]);
    let nothing = list(&tree.path("missing"), &["uv"], &mut Known::default());
    assert!(nothing.names.is_empty() && nothing.targets.is_empty());
}

#[test]
fn a_program_is_a_file_that_somebody_may_run() {
    let tree = Tree::new();
    assert!(is_program(&tree.program("program")));
    assert!(!is_program(&tree.file("file")));
    assert!(!is_program(&tree.link("link", "program")));
    assert!(!is_program(&tree.dir("directory")));
    assert!(!is_program(&tree.path("missing")));
}
