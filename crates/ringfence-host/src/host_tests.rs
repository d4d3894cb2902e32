use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ringfence_policy::{Kind, Link, Resolve, ResolveError, Resolved};

use crate::testing::Tree;
use crate::{Host, observe};

fn resolve(path: impl AsRef<Path>) -> Resolved {
    Host.resolve(path.as_ref()).unwrap()
}

fn refused(path: impl AsRef<Path>) -> ResolveError {
    Host.resolve(path.as_ref()).unwrap_err()
}

fn io(path: impl Into<PathBuf>, errno: rustix::io::Errno) -> ResolveError {
    ResolveError::Io {
        path: path.into(),
        errno: errno.raw_os_error(),
    }
}

fn link(path: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Link {
    Link {
        path: path.into(),
        target: target.into(),
    }
}

#[test]
fn an_object_without_links_is_itself_with_its_identity() {
    let tree = Tree::new();
    for (path, kind) in [
        (tree.dir("a/b"), Kind::Directory),
        (tree.file("a/f"), Kind::File),
        ("/".into(), Kind::Directory),
    ] {
        let identity = observe(&path).unwrap().map(|(_, identity)| identity);
        let links = Vec::new();
        assert!(identity.is_some());
        assert_eq!(
            resolve(&path),
            Resolved {
                path,
                kind,
                identity,
                links
            }
        );
    }
}

#[test]
fn pol_90_missing_components_are_attached_again() {
    let tree = Tree::new();
    tree.link("l", "a");
    let directory = tree.dir("a");
    let found = resolve(tree.path("l/x//y/./z/"));
    assert_eq!(
        found,
        Resolved {
            path: directory.join("x/y/z"),
            kind: Kind::Absent,
            identity: None,
            links: vec![link(tree.path("l"), "a")],
        }
    );
}

#[test]
fn a_chain_of_links_is_followed_and_recorded_in_order() {
    let tree = Tree::new();
    let file = tree.file("real/dir/f");
    tree.link("one", "real/./dir/../two");
    tree.link("real/two", tree.path("three"));
    tree.link("three", "real/dir");
    let found = resolve(tree.path("one/f"));
    assert_eq!(found.path, file);
    assert_eq!(
        found.links,
        [
            link(tree.path("one"), "real/./dir/../two"),
            link(tree.path("real/two"), tree.path("three")),
            link(tree.path("three"), "real/dir"),
        ]
    );
}

#[test]
fn the_place_of_a_recorded_link_is_canonical() {
    let tree = Tree::new();
    tree.dir("real");
    tree.link("alias", "real");
    tree.link("real/inner", "target");
    let links = resolve(tree.path("alias/inner")).links;
    assert_eq!(links.last(), Some(&link(tree.path("real/inner"), "target")));
}

#[test]
fn a_dangling_link_leads_to_something_absent() {
    let tree = Tree::new();
    tree.link("l", "missing/x");
    let found = resolve(tree.path("l"));
    assert_eq!((found.path, found.kind), (tree.path("missing/x"), Kind::Absent));
    assert_eq!(found.links.len(), 1);
}

#[test]
fn dot_dot_is_applied_after_a_link() {
    let tree = Tree::new();
    let beside = tree.file("real/beside");
    tree.dir("real/inner");
    tree.link("l", "real/inner");
    assert_eq!(resolve(tree.path("l/../beside")).path, beside);
    assert_eq!(resolve("/../../").path, Path::new("/"));
}

#[test]
fn dot_dot_below_what_is_missing_has_no_meaning() {
    let tree = Tree::new();
    let expected = io(tree.path("missing"), rustix::io::Errno::NOENT);
    assert_eq!(refused(tree.path("missing/../x")), expected);
}

#[test]
fn existing_paths_agree_with_the_system() {
    let tree = Tree::new();
    tree.file("d/e/f");
    tree.link("d/up", "..");
    tree.link("d/here", ".");
    tree.link("slash", "d/");
    for path in [
        "d/up/d/here/e/f",
        "slash/e/../e/f",
        "d//./e/",
        "slash/",
        "d/up/d/up",
    ] {
        let path = tree.path(path);
        assert_eq!(resolve(&path).path, path.canonicalize().unwrap(), "{path:?}");
    }
}

#[test]
fn pol_90_below_a_file_is_an_error_and_not_absent() {
    let tree = Tree::new();
    let file = tree.file("f");
    tree.link("l", "f/");
    for path in ["f/x", "f/", "f/.", "f/..", "f/../f", "l"] {
        let error = refused(tree.path(path));
        let ResolveError::Io { path: at, errno } = &error else {
            panic!("{path}: {error:?}");
        };
        assert_eq!(*errno, rustix::io::Errno::NOTDIR.raw_os_error(), "{path}");
        assert!(at.starts_with(&file), "{path}: {at:?}");
    }
}

#[test]
fn a_loop_is_an_error() {
    let tree = Tree::new();
    tree.link("a", "b");
    tree.link("b", "a");
    assert!(matches!(refused(tree.path("a/x")), ResolveError::Loop { .. }));
}

#[test]
fn forty_links_are_followed_as_by_the_kernel() {
    let tree = Tree::new();
    let file = tree.file("0");
    for number in 1..=41 {
        tree.link(number.to_string(), (number - 1).to_string());
    }
    assert_eq!(resolve(tree.path("40")).path, file);
    assert!(fs::metadata(tree.path("40")).is_ok());
    assert_eq!(
        refused(tree.path("41")),
        ResolveError::Loop { path: tree.path("1") }
    );
}

#[test]
fn pol_21_any_byte_may_be_in_a_name() {
    let tree = Tree::new();
    for name in [&b"[a]*?"[..], b"new\nline", b"in\xffvalid", b" ", b"..."] {
        let name = OsStr::from_bytes(name);
        let file = tree.file(Path::new(name).join("f"));
        tree.link("l", name);
        let found = resolve(tree.path("l/f"));
        assert_eq!((&found.path, found.kind), (&file, Kind::File));
        assert_eq!(found.links, [link(tree.path("l"), name)]);
        fs::remove_file(tree.path("l")).unwrap();
    }
}

#[test]
fn paths_the_kernel_would_never_see_are_refused() {
    assert_eq!(refused(""), ResolveError::Empty);
    assert_eq!(refused("a/b"), ResolveError::Relative { path: "a/b".into() });
    for path in ["/a\0b", "/missing/a\0b"] {
        assert_eq!(refused(path), io(path, rustix::io::Errno::INVAL));
    }
    let long = Path::new("/").join("x".repeat(300));
    assert_eq!(refused(&long), io(&long, rustix::io::Errno::NAMETOOLONG));
}

#[test]
fn pol_90_a_directory_that_may_not_be_searched_is_an_error() {
    let tree = Tree::new();
    let Some(locked) = tree.locked("d") else { return };
    for below in ["x", "x/y", ".."] {
        let error = refused(locked.0.join(below));
        assert!(
            matches!(&error, ResolveError::Denied { path, .. } if path.starts_with(&locked.0)),
            "{error:?}"
        );
    }
    assert_eq!(resolve(&locked.0).kind, Kind::Directory);
}

#[test]
fn remembered_directories_change_no_answer() {
    let tree = Tree::new();
    tree.file("d/e/f");
    tree.link("d/l", "e/../e");
    let mut known = crate::host::Known::default();
    for path in ["d/e/f", "d/l/f", "d/l/f", "d/l/missing/x", "d/l/../l/f"] {
        let path = tree.path(path);
        let again = Host.resolve_knowing(&path, &mut known);
        assert_eq!(again, Host.resolve(&path), "{path:?}");
    }
    assert!(
        known.plain.contains(tree.path("d/e").as_os_str())
            && !known.plain.contains(tree.path("d/e/f").as_os_str())
    );
}
