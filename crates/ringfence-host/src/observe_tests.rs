use std::fs;
use std::os::unix::fs::MetadataExt;

use ringfence_policy::Kind;

use super::{look_without_statx, observe};
use crate::testing::{Tree, skip};

#[test]
fn nothing_is_none_and_below_a_file_is_an_error() {
    let tree = Tree::new();
    let file = tree.file("f");
    assert_eq!(observe(&tree.path("missing/x")).unwrap(), None);
    let error = observe(&file.join("x")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotADirectory);
}

#[test]
fn device_and_inode_are_those_of_stat() {
    let tree = Tree::new();
    let directory = tree.dir("d");
    for path in [directory, "/dev/null".into(), "/".into()] {
        let (_, identity) = observe(&path).unwrap().unwrap();
        let seen = path.symlink_metadata().unwrap();
        assert_eq!(
            (identity.device, identity.inode),
            (seen.dev(), seen.ino()),
            "{path:?}"
        );
    }
}

#[test]
fn a_link_is_looked_at_itself() {
    let tree = Tree::new();
    let target = tree.dir("d");
    let link = tree.link("l", "d");
    let (kind, identity) = observe(&link).unwrap().unwrap();
    assert_eq!(kind, Kind::File);
    assert_ne!(Some((Kind::Directory, identity)), observe(&target).unwrap());
}

#[test]
fn a_hard_link_is_the_same_object_and_a_replacement_another() {
    let tree = Tree::new();
    let first = tree.file("first");
    let second = tree.path("second");
    fs::hard_link(&first, &second).unwrap();
    let before = observe(&first).unwrap();
    assert_eq!(before, observe(&second).unwrap());
    fs::rename(tree.file("new"), &first).unwrap();
    assert_ne!(before, observe(&first).unwrap());
}

#[test]
fn without_statx_only_the_mount_is_missing() {
    let tree = Tree::new();
    let paths = [
        tree.dir("d"),
        tree.file("f"),
        tree.link("l", "f"),
        tree.path("missing"),
    ];
    for path in paths {
        let mut expected = observe(&path).unwrap();
        if let Some((_, identity)) = &mut expected {
            identity.mount = None;
        }
        assert_eq!(look_without_statx(&path).unwrap(), expected, "{path:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn two_mounts_differ() {
    let mount = |path: &str| observe(path.as_ref()).unwrap().unwrap().1.mount;
    if mount("/").is_none() {
        skip("this kernel does not tell the mount of a path");
        return;
    }
    assert_ne!(mount("/"), mount("/proc"));
}
