use std::path::Path;

use ringfence_policy::{Kind, Link, Resolved};

use super::Cover;
use crate::runtime::RuntimeAccess::{self, Read, ReadExecute};
use crate::runtime::{BundleName, Provenance, RuntimeEntry};

fn entry(path: &str, access: RuntimeAccess, links: &[&str]) -> ((), RuntimeEntry) {
    let link = |path: &&str| Link {
        path: path.into(),
        target: "somewhere".into(),
    };
    let resolved = Resolved {
        path: path.into(),
        kind: Kind::Directory,
        identity: None,
        links: links.iter().map(link).collect(),
    };
    let entry = RuntimeEntry {
        resolved,
        access,
        why: Provenance::Table(BundleName::Base),
    };
    ((), entry)
}

fn distinct(cover: &Cover, entries: Vec<((), RuntimeEntry)>) -> Vec<((), RuntimeEntry)> {
    let forwards = cover.distinct(entries.clone());
    let backwards = cover.distinct(entries.into_iter().rev().collect());
    assert_eq!(forwards, backwards, "the order given matters");
    forwards
}

#[test]
fn what_a_directory_above_opens_is_dropped() {
    let entries = vec![
        entry("/a/b", Read, &[]),
        entry("/a", ReadExecute, &[]),
        entry("/a", Read, &[]),
        entry("/ab", Read, &[]),
    ];
    let expected = [entry("/a", ReadExecute, &[]), entry("/ab", Read, &[])];
    assert_eq!(distinct(&Cover::default(), entries), expected);
}

#[test]
fn a_wider_entry_below_a_narrow_one_stays() {
    let entries = vec![entry("/a/b", ReadExecute, &[]), entry("/a", Read, &[])];
    let expected = [entry("/a", Read, &[]), entry("/a/b", ReadExecute, &[])];
    assert_eq!(distinct(&Cover::default(), entries), expected);
}

#[test]
fn s_04_a_link_keeps_its_entry_and_does_not_narrow_it() {
    let entries = vec![
        entry("/usr/bin", ReadExecute, &["/bin"]),
        entry("/usr", ReadExecute, &[]),
        entry("/usr/zone", Read, &["/etc/localtime"]),
    ];
    let expected = [
        entry("/usr", ReadExecute, &[]),
        entry("/usr/bin", ReadExecute, &["/bin"]),
        entry("/usr/zone", ReadExecute, &["/etc/localtime"]),
    ];
    assert_eq!(distinct(&Cover::default(), entries), expected);
}

#[test]
fn a_link_that_is_there_anyway_keeps_nothing() {
    let entries = vec![
        entry("/usr", ReadExecute, &[]),
        entry("/usr/a", Read, &["/z/link"]),
        entry("/usr/b", Read, &["/link"]),
        entry("/usr/b/c", Read, &["/link"]),
        entry("/z", Read, &[]),
    ];
    let expected = [
        entry("/usr", ReadExecute, &[]),
        entry("/usr/b", ReadExecute, &["/link"]),
        entry("/z", Read, &[]),
    ];
    assert_eq!(distinct(&Cover::default(), entries), expected);
}

#[test]
fn what_was_open_before_counts() {
    let mut cover = Cover::default();
    cover.add(Path::new("/usr"), ReadExecute);
    cover.add(Path::new("/etc"), Read);
    cover.add(Path::new("/bin"), Read);
    cover.add(Path::new("/usr"), Read);
    let entries = vec![
        entry("/usr", ReadExecute, &[]),
        entry("/usr/bin", ReadExecute, &["/bin"]),
        entry("/etc/x", ReadExecute, &[]),
    ];
    assert_eq!(distinct(&cover, entries), [entry("/etc/x", ReadExecute, &[])]);
    assert!(cover.opens(Path::new("/etc/x"), Read) && !cover.opens(Path::new("/etc/x"), ReadExecute));
}
