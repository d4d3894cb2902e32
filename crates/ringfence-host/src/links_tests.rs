use std::fs::hard_link;
use std::path::Path;

use ringfence_policy::Identity;

use super::{Aliases, aliases, link_count};
use crate::observe;
use crate::testing::Tree;

fn identity(path: &Path) -> Identity {
    observe(path).unwrap().unwrap().1
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
    let found = aliases(&identity(&known), &[tree.path("ws")], 100);
    assert_eq!(
        found,
        Aliases {
            found: vec![other, known.clone()],
            complete: true
        }
    );
    assert_eq!(link_count(&known).unwrap(), 3);
    assert_eq!(link_count(&tree.path("ws/link")).unwrap(), 1);
    assert!(link_count(&tree.path("missing")).is_err());
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
    let found = aliases(&identity(&known), &roots, 2);
    assert_eq!(
        found,
        Aliases {
            found: vec![known],
            complete: true
        }
    );
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
    let found = aliases(&identity(&first), &[tree.path("ws")], 2 + 4);
    let found_first = Aliases {
        found: vec![first, second],
        complete: false,
    };
    assert_eq!(found, found_first);
}

#[test]
fn a_directory_that_cannot_be_listed_makes_it_incomplete() {
    let tree = Tree::new();
    let known = tree.file("ws/f");
    let Some(_locked) = tree.locked("ws/d") else {
        return;
    };
    let found = aliases(&identity(&known), &[tree.path("ws")], 100);
    assert_eq!(
        found,
        Aliases {
            found: vec![known],
            complete: false
        }
    );
}
