use std::path::PathBuf;

use ringfence_policy::Link;

use super::{elsewhere, follow, is_program};
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
        let targets = follow(&tree.path("tools"), limit);
        targets.into_iter().map(|target| target.path).collect()
    };
    assert_eq!(paths(10), [tree.path("files/a"), tree.path("files/b")]);
    assert_eq!(paths(1), [tree.path("files/a")]);
    let first = elsewhere(&tree.path("tools")).remove(0);
    let link = |path: &str, target: &str| Link {
        path: tree.path(path),
        target: target.into(),
    };
    assert_eq!(
        first.links,
        [link("tools/a", "../alias/a"), link("alias", "files")]
    );
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
