use std::collections::HashSet;
use std::fs::hard_link;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{FileId, Names, multiply_linked, names_of};
use crate::testing::Tree;

fn id(path: &Path) -> FileId {
    let seen = path.symlink_metadata().unwrap();
    (seen.dev(), seen.ino())
}

fn search(file: &Path, roots: &[PathBuf], limit: usize) -> (Vec<PathBuf>, bool) {
    paths(names_of(&HashSet::from([id(file)]), roots, limit))
}

fn paths(names: Names) -> (Vec<PathBuf>, bool) {
    (
        names.found.into_iter().map(|name| name.path).collect(),
        names.complete,
    )
}

#[test]
fn every_name_below_the_roots_is_found_and_no_other() {
    let tree = Tree::new();
    let known = tree.file("ws/f");
    let other = tree.dir("ws/a/b").join("new\nname");
    let outside = tree.dir("outside").join("f");
    hard_link(&known, &other).unwrap();
    hard_link(&known, &outside).unwrap();
    tree.file("ws/stranger");
    tree.link("ws/link", "f");
    tree.link("ws/away", "../outside");
    assert_eq!(
        search(&known, &[tree.path("ws")], 100),
        (vec![other.clone(), known.clone()], true)
    );
    let multiple = multiply_linked(&tree.path("ws"), 100);
    assert!(multiple.found.iter().all(|name| name.file == id(&known)));
    assert_eq!(paths(multiple), (vec![other, known.clone()], true));
    assert_eq!(paths(multiply_linked(&known, 0)), (vec![known], true));
    assert_eq!(
        paths(multiply_linked(&tree.path("ws/stranger"), 100)),
        (vec![], true)
    );
    assert_eq!(paths(multiply_linked(&tree.path("missing"), 100)), (vec![], true));
}

#[test]
fn roots_inside_each_other_are_looked_through_once() {
    let tree = Tree::new();
    let known = tree.file("ws/a/f");
    let roots = [
        tree.path("ws/a"),
        tree.path("ws"),
        tree.path("missing"),
        known.clone(),
    ];
    assert_eq!(search(&known, &roots, 2), (vec![known], true));
}

#[test]
fn the_limit_cuts_off_the_deepest() {
    let tree = Tree::new();
    let first = tree.file("ws/a/f");
    let second = tree.dir("ws/b").join("f");
    for side in ["a", "b"] {
        for number in 0..5 {
            tree.file(format!("ws/{side}/deep/{number}"));
        }
        hard_link(&first, tree.path(format!("ws/{side}/deep/f"))).unwrap();
    }
    hard_link(&first, &second).unwrap();
    // Two directories in the root, and two names in each of them.
    assert_eq!(
        search(&first, &[tree.path("ws")], 2 + 4),
        (vec![first, second], false)
    );
}

#[test]
fn a_directory_that_cannot_be_listed_makes_it_incomplete() {
    let tree = Tree::new();
    let known = tree.file("ws/f");
    let Some(_locked) = tree.locked("ws/d") else {
        return;
    };
    assert_eq!(search(&known, &[tree.path("ws")], 100), (vec![known], false));
}
