use std::fs;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::super::testing::{Git, Linking};
use super::*;
use crate::testing::Tree;

fn links_of(repository: &Linking, path: &[u8]) -> Linked {
    links(&repository.directory(), path).unwrap()
}

/// Finds what is linked in a repository, and nothing else.
fn check(repository: &Linking) {
    for path in &repository.linked {
        assert_eq!(links_of(repository, path), Linked::Yes, "{}", path.escape_ascii());
    }
    for path in ["dir", "dir/file1", "dir/nested/", "dir/neste", "nested", "A", ""] {
        assert_eq!(links_of(repository, path.as_bytes()), Linked::No, "{path}");
    }
}

#[test]
fn links_are_found_in_every_version_and_object_format() {
    let tree = Tree::new();
    for format in ["sha1", "sha256"] {
        let Some(repository) = Linking::new(&tree, format) else {
            return;
        };
        for (version, flag) in [
            (2, "--no-skip-worktree"),
            (3, "--skip-worktree"),
            (4, "--skip-worktree"),
        ] {
            repository.run(&[&"update-index", &flag, &"dir/file3", &"dir/nested"]);
            repository.run(&[&"update-index", &"--index-version", &version.to_string()]);
            assert_eq!(repository.index()[4..8], [0, 0, 0, version]);
            check(&repository);
        }
    }
}

#[test]
fn an_index_for_several_threads_is_read_as_one_thread_reads_it() {
    let tree = Tree::new();
    let Some(repository) = Linking::new(&tree, "sha1") else {
        return;
    };
    repository.run(&[&"config", &"index.threads", &"3"]);
    for version in ["2", "4"] {
        repository.run(&[
            &"update-index",
            &"--index-version",
            &version,
            &"--force-write-index",
        ]);
        let index = repository.index();
        assert!(index.windows(4).any(|bytes| bytes == b"IEOT"), "{version}");
        check(&repository);
        // Another place for the extensions, or for one of the blocks, is another index for several threads.
        for (signature, distance) in [(b"EOIE", 11), (b"IEOT", 23)] {
            let start = index.windows(4).position(|bytes| bytes == signature).unwrap();
            let mut other = index.clone();
            other[start + distance] ^= 0x08;
            fs::write(repository.directory().join("index"), other).unwrap();
            let error = links(&repository.directory(), b"absent").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
        fs::write(repository.directory().join("index"), index).unwrap();
    }
}

#[test]
fn each_linked_working_tree_has_its_own_index() {
    let tree = Tree::new();
    let Some(git) = Git::installed(&tree) else { return };
    let main = tree.path("main");
    git.repository(&main);
    git.run(&main, &[&"worktree", &"add", &"--quiet", &"../linked"]);
    let info = format!("160000,{},nested", "1".repeat(40));
    git.run(
        &tree.path("linked"),
        &[&"update-index", &"--add", &"--cacheinfo", &info],
    );
    assert_eq!(links(&main.join(".git"), b"nested").unwrap(), Linked::No);
    let own = main.join(".git/worktrees/linked");
    assert_eq!(links(&own, b"nested").unwrap(), Linked::Yes);
}

#[test]
fn git_enters_a_nested_repository_once_it_is_linked() {
    let tree = Tree::new();
    let Some(git) = Git::installed(&tree) else { return };
    let (outer, inner) = (tree.path("outer"), tree.path("outer/inner"));
    git.repository(&outer);
    git.repository(&inner);
    let canary = tree.program("canary");
    let proof = tree.path("proof");
    fs::write(&canary, format!("#!/bin/sh\n: >'{}'\n", proof.display())).unwrap();
    git.run(&inner, &[&"config", &"core.fsmonitor", &canary]);
    git.run(&outer, &[&"status"]);
    assert!(!proof.exists());
    assert_eq!(links(&outer.join(".git"), b"inner").unwrap(), Linked::No);
    git.run(&outer, &[&"add", &"inner"]);
    git.run(&outer, &[&"status"]);
    assert!(proof.exists());
    assert_eq!(links(&outer.join(".git"), b"inner").unwrap(), Linked::Yes);
}

#[test]
fn what_a_split_index_leaves_to_another_file_is_unknown() {
    let tree = Tree::new();
    let Some(repository) = Linking::new(&tree, "sha1") else {
        return;
    };
    repository.run(&[&"update-index", &"--split-index"]);
    assert_eq!(links_of(&repository, b"z"), Linked::Unknown(Doubt::Split));
    repository.add("160000", b"late");
    assert_eq!(links_of(&repository, b"late"), Linked::Yes);
    assert_eq!(links_of(&repository, b"absent"), Linked::Unknown(Doubt::Split));
    repository.run(&[&"update-index", &"--no-split-index"]);
    check(&repository);
}

#[test]
fn what_is_in_a_sparse_directory_is_unknown() {
    let tree = Tree::new();
    let Some(git) = Git::installed(&tree) else { return };
    let path = tree.path("repository");
    git.repository(&path);
    for name in ["in/file", "out/file"] {
        tree.file(path.join(name));
    }
    git.run(&path, &[&"add", &"."]);
    git.run(&path, &[&"commit", &"--quiet", &"--message=files"]);
    git.run(
        &path,
        &[&"sparse-checkout", &"set", &"--cone", &"--sparse-index", &"in"],
    );
    let links = |name: &str| links(&path.join(".git"), name.as_bytes()).unwrap();
    assert_eq!(links("in/nested"), Linked::No);
    assert_eq!(links("outer"), Linked::No);
    assert_eq!(links("out/nested"), Linked::Unknown(Doubt::Sparse));
}

#[test]
fn what_was_not_known_when_this_was_written_is_unknown() {
    let tree = Tree::new();
    fs::write(tree.path("config"), "[extensions]objectFormat=sha3").unwrap();
    assert_eq!(
        links(&tree.root, b"a").unwrap(),
        Linked::Unknown(Doubt::ObjectFormat)
    );
    let index = |extension: &[u8]| [b"DIRC\0\0\0\x02\0\0\0\0", extension, &[0; 20]].concat();
    let doubt = |extension| look(&index(extension), 20, b"a");
    assert_eq!(doubt(b"NEWX\0\0\0\x01x"), Some(Linked::No));
    assert_eq!(doubt(b"newx\0\0\0\x01x"), Some(Linked::Unknown(Doubt::Extension)));
    assert_eq!(doubt(b"newx\0\0\0\x02x"), None);
}

#[test]
fn without_an_index_nothing_is_linked_and_a_large_one_is_an_error() {
    let tree = Tree::new();
    assert_eq!(links(&tree.root, b"a").unwrap(), Linked::No);
    let file = fs::File::create(tree.path("index")).unwrap();
    assert_eq!(
        links(&tree.root, b"a").unwrap_err().kind(),
        io::ErrorKind::InvalidData
    );
    file.set_len(MAX_BYTES + 1).unwrap();
    assert_eq!(
        links(&tree.root, b"a").unwrap_err().kind(),
        io::ErrorKind::FileTooLarge
    );
}

/// An entry of a hand-made index of version 2: `length` is what it says about its name.
fn entry(name: &[u8], length: u8) -> Vec<u8> {
    let mut entry = [
        [0; 24].as_slice(),
        &[0, 0, 0o340, 0],
        &[0; 32],
        &[0, 0, length],
        name,
        &[0],
    ]
    .concat();
    entry.remove(60);
    entry.resize(entry.len().next_multiple_of(8), 0);
    entry
}

#[test]
fn a_name_that_git_may_see_otherwise_is_an_error() {
    let find = |name: &[u8], length| {
        let index = [
            b"DIRC\0\0\0\x02\0\0\0\x01",
            entry(name, length).as_slice(),
            &[0; 20],
        ]
        .concat();
        look(&index, 20, b"sub")
    };
    assert_eq!(find(b"sub", 3), Some(Linked::Yes));
    assert_eq!(find(b"sub", 2), None);
    assert_eq!(find(b"sub", 4), None);
    assert_eq!(find(b"sub\0more", 8), None);
}

proptest! {
    #[test]
    fn whatever_the_bytes_are_they_are_read_to_an_end(version in 1_u8..6, count in 0_u8..4, bytes: Vec<u8>) {
        let index = [&[b'D', b'I', b'R', b'C', 0, 0, 0, version, 0, 0, 0, count], bytes.as_slice()].concat();
        for hash_bytes in [20, 32] {
            look(&index, hash_bytes, b"a");
        }
    }
}

/// Changes real indexes at random; wherever git still reads one, what it says is linked must not be missed.
#[test]
fn no_link_is_missed_in_an_index_that_git_still_reads() {
    let tree = Tree::new();
    for (format, hash_bytes) in [("sha1", 20), ("sha256", 32)] {
        let Some(repository) = Linking::new(&tree, format) else {
            return;
        };
        for version in ["2", "4"] {
            repository.run(&[&"config", &"index.threads", &"2"]);
            repository.run(&[
                &"update-index",
                &"--index-version",
                &version,
                &"--force-write-index",
            ]);
            let index = repository.index();
            let place = 0..index.len();
            let changes = prop::collection::vec((place.clone(), any::<u8>()), 1..4);
            let cases = (changes, prop::option::weighted(0.1, place));
            let checked = TestRunner::new(ProptestConfig::with_cases(100)).run(&cases, |(changes, end)| {
                let mut changed = index.clone();
                for (at, byte) in changes {
                    changed[at] = byte;
                }
                changed.truncate(end.unwrap_or(changed.len()));
                fs::write(repository.directory().join("index"), &changed).unwrap();
                let listed = repository
                    .git
                    .output(&repository.path, &[&"ls-files", &"--stage", &"-z"]);
                let lines = listed.stdout.split(|byte| *byte == 0);
                for line in lines.filter(|line| listed.status.success() && line.starts_with(b"160000")) {
                    let tab = line.iter().position(|byte| *byte == b'\t').unwrap();
                    let found = look(&changed, hash_bytes, &line[tab + 1..]);
                    prop_assert_ne!(found, Some(Linked::No), "{}", line.escape_ascii());
                }
                // Every prefix of what is there, too.
                look(&changed, hash_bytes, b"dir/nested");
                Ok(())
            });
            checked.unwrap();
            fs::write(repository.directory().join("index"), &index).unwrap();
        }
    }
}
