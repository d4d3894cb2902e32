#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

use std::cell::Cell;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use ringfence_policy::Pattern;

use super::{Found, Object, Repository, RepositoryKind, Scope, Search};
use crate::testing::Tree;

/// A search that nobody abandons.
fn whole(scope: Scope) -> Search {
    let mut search = Search::new(scope, &|| false).unwrap();
    assert!(!search.is_quiet());
    search.watch();
    assert!(!search.is_quiet(), "something may have happened before that");
    assert!(!search.look());
    search
}

fn search(tree: &Tree, globs: &[&str]) -> Search {
    let pattern = |glob: &&str| Pattern::new(tree.path(""), *glob).unwrap();
    whole(Scope {
        places: vec![tree.path("")],
        closed: vec![tree.path("closed")],
        patterns: globs.iter().map(pattern).collect(),
        repositories: true,
        ..Scope::default()
    })
}

fn matches(search: &Search) -> Vec<(PathBuf, Object)> {
    let found = search.found().iter();
    let matches = found.filter_map(|found| match found {
        Found::Match { path, object, .. } => Some((path.clone(), *object)),
        Found::Repository(_) => None,
    });
    matches.collect()
}

fn repositories(search: &Search) -> Vec<Repository> {
    let found = search.found().iter();
    let repositories = found.filter_map(|found| match found {
        Found::Repository(repository) => Some(repository.clone()),
        Found::Match { .. } => None,
    });
    repositories.collect()
}

#[test]
fn matches_are_found_at_any_depth_and_links_are_not_followed() {
    let tree = Tree::new();
    tree.file("a/b/.env");
    tree.dir("a/.env");
    tree.file("closed/.env");
    tree.file("line\nbreak/.env");
    tree.link("outside", "/etc");
    tree.link("l/.env", "nowhere");
    tree.file("notenv");
    let found = search(&tree, &["**/.env"]);
    let expected = [
        (tree.path("a/.env"), Object::Directory),
        (tree.path("a/b/.env"), Object::File),
        (tree.path("l/.env"), Object::Link),
        (tree.path("line\nbreak/.env"), Object::File),
    ];
    assert_eq!(matches(&found), expected);
    assert!(found.is_complete());
}

#[test]
fn exceptions_and_exact_paths_hold() {
    let tree = Tree::new();
    tree.file("x/.env.local");
    tree.file("x/.env.example.local");
    tree.file("single");
    let pattern = Pattern::new(tree.path(""), "**/.env*")
        .unwrap()
        .except("**/*.example.local")
        .unwrap();
    let mut found = whole(Scope {
        places: vec![tree.path("")],
        patterns: vec![
            pattern,
            Pattern::exactly(tree.path("single")),
            Pattern::exactly(tree.path("later")),
        ],
        ..Scope::default()
    });
    let expected = [
        (tree.path("single"), Object::File),
        (tree.path("x/.env.local"), Object::File),
    ];
    assert_eq!(matches(&found), expected);
    assert!(!found.look());
    tree.dir("later");
    assert!(found.look());
    assert_eq!(matches(&found)[0], (tree.path("later"), Object::Directory));
}

#[test]
fn whatever_comes_or_goes_is_noticed_and_nothing_else_is_news() {
    let tree = Tree::new();
    tree.file("a/x");
    let mut search = search(&tree, &["**/secret"]);
    let mut expect = |change: &dyn Fn(), names: &[&str]| {
        let before = matches(&search);
        change();
        let news = search.look();
        let now: Vec<PathBuf> = matches(&search).into_iter().map(|(path, _)| path).collect();
        assert_eq!(now, names.iter().map(|name| tree.path(name)).collect::<Vec<_>>());
        assert_eq!(news, before != matches(&search));
        assert!(!search.look(), "nothing has changed since");
    };
    let rename = |from: &str, to: &str| fs::rename(tree.path(from), tree.path(to)).unwrap();
    expect(&|| drop(tree.file("a/secret")), &["a/secret"]);
    expect(&|| drop(tree.file("a/other")), &["a/secret"]);
    expect(
        &|| drop(tree.file("new/deep/secret")),
        &["a/secret", "new/deep/secret"],
    );
    expect(
        &|| drop(tree.file("new/deep/er/secret")),
        &["a/secret", "new/deep/er/secret", "new/deep/secret"],
    );
    expect(
        &|| rename("new", "moved"),
        &["a/secret", "moved/deep/er/secret", "moved/deep/secret"],
    );
    expect(&|| fs::remove_dir_all(tree.path("moved")).unwrap(), &["a/secret"]);
    expect(&|| rename("a/secret", "a/plain"), &[]);
    // A directory that takes another's name.
    tree.file("b/secret");
    expect(&|| {}, &["b/secret"]);
    tree.file("c/x");
    expect(
        &|| {
            rename("b", "away");
            rename("c", "b");
        },
        &["away/secret"],
    );
}

#[test]
fn single_paths_are_news_however_they_come_and_go() {
    let tree = Tree::new();
    tree.dir("a");
    let path = "a/b/c/secret";
    let mut search = whole(Scope {
        patterns: vec![
            Pattern::exactly(tree.path(path)),
            Pattern::exactly(tree.path("x")),
        ],
        ..Scope::default()
    });
    let mut expect = |change: &dyn Fn(), object: Option<Object>, news: bool| {
        change();
        assert_eq!(search.look(), news);
        let expected: Vec<_> = object
            .map(|object| (tree.path(path), object))
            .into_iter()
            .collect();
        assert_eq!(matches(&search), expected);
        assert!(!search.look(), "nothing has changed since");
    };
    let rename = |from: &str, to: &str| fs::rename(tree.path(from), tree.path(to)).unwrap();
    expect(&|| drop(tree.dir("a/b")), None, false);
    expect(&|| drop(tree.dir("a/b/c")), None, false);
    expect(&|| drop(tree.file("a/b/c/other")), None, false);
    expect(&|| drop(tree.file(path)), Some(Object::File), true);
    expect(&|| rename("a", "away"), None, true);
    expect(&|| drop(tree.file("away/b/c/more")), None, false);
    expect(&|| rename("away", "a"), Some(Object::File), true);
    expect(
        &|| {
            fs::remove_dir_all(tree.path("a")).unwrap();
            tree.dir(path);
        },
        Some(Object::Directory),
        true,
    );
    // Through a link nobody tells of changes, so it is looked at each time.
    expect(&|| rename("a/b", "real"), None, true);
    expect(
        &|| drop(tree.link("a/b", tree.path("real"))),
        Some(Object::Directory),
        true,
    );
    expect(&|| rename("real/c", "real/d"), None, true);
    expect(&|| rename("real/d", "real/c"), Some(Object::Directory), true);
}

#[test]
fn repositories_are_known_by_what_they_contain() {
    let tree = Tree::new();
    for directory in ["w/.git", "w/.git/modules/a/b", "bare"] {
        tree.file(format!("{directory}/HEAD"));
        tree.dir(format!("{directory}/objects/ab"));
        tree.dir(format!("{directory}/refs"));
    }
    tree.file("w/.git/worktrees/x/HEAD");
    tree.file("w/.git/worktrees/x/commondir");
    tree.file("w/sub/.git");
    tree.link("linked/.git", "../bare");
    tree.dir("empty/.git");
    let kind = |path: &str, kind| Repository {
        path: tree.path(path),
        kind,
    };
    let expected = [
        kind("bare", RepositoryKind::Directory),
        kind("linked/.git", RepositoryKind::Pointer),
        kind("w/.git", RepositoryKind::Directory),
        kind("w/.git/modules/a/b", RepositoryKind::Directory),
        kind("w/.git/worktrees/x", RepositoryKind::WorkingTree),
        kind("w/sub/.git", RepositoryKind::Pointer),
    ];
    let mut search = search(&tree, &[]);
    assert_eq!(repositories(&search), expected);
    // What comes into the objects of one is no news, but it has to be looked at.
    let told = cfg!(target_os = "linux");
    assert_eq!(search.is_quiet(), told);
    tree.file("bare/objects/ab/cd");
    assert!(!search.is_quiet());
    assert!(!search.look());
    assert_eq!(search.is_quiet(), told);
}

#[test]
#[cfg(target_os = "linux")]
fn a_change_is_noticed_where_the_kernel_does_not_tell() {
    let tree = Tree::new();
    tree.dir("a");
    let mut search = search(&tree, &["**/secret"]);
    search.watches = super::Watches::none();
    let watched = std::mem::take(&mut search.directories);
    search.walk(watched.into_keys().collect(), &|| false).unwrap();
    tree.file("a/secret");
    assert!(search.look());
    assert_eq!(matches(&search).len(), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn what_may_have_been_replaced_is_told_until_somebody_has_looked() {
    let tree = Tree::new();
    tree.dir("a/b");
    tree.file("a/other");
    let paths = [tree.path("a/b/file"), tree.path("a/missing/file")];
    let mut replaced = super::Replaced::watch(paths.iter().map(PathBuf::as_path));
    assert_eq!(replaced.may_be(), None);
    // Beside the way.
    tree.file("a/b/another");
    fs::rename(tree.path("a/other"), tree.path("a/elsewhere")).unwrap();
    assert_eq!(replaced.may_be(), None);
    for change in ["a/b/file", "a/missing/file"] {
        tree.file(change);
        let told = replaced.may_be().unwrap();
        assert_eq!(replaced.may_be(), Some(told));
        tree.file("a/b/another one");
        replaced.settle(told);
        assert_eq!(replaced.may_be(), None);
    }
    fs::rename(tree.path("a"), tree.path("c")).unwrap();
    let told = replaced.may_be().unwrap();
    fs::rename(tree.path("c"), tree.path("a")).unwrap();
    let later = replaced.may_be().unwrap();
    replaced.settle(told);
    assert_eq!(
        replaced.may_be(),
        Some(later),
        "who looked before that has not seen it"
    );
}

#[test]
fn nothing_that_happens_before_the_first_watch_is_missed() {
    let tree = Tree::new();
    tree.dir("a");
    let patterns = vec![
        Pattern::new(tree.path(""), "**/secret").unwrap(),
        Pattern::exactly(tree.path("one")),
    ];
    let scope = Scope {
        places: vec![tree.path("")],
        patterns,
        ..Scope::default()
    };
    let mut search = Search::new(scope, &|| false).unwrap();
    tree.file("a/secret");
    tree.file("one");
    search.watch();
    assert!(search.look());
    assert_eq!(matches(&search).len(), 2);
    assert!(!search.look() && search.is_quiet() == cfg!(target_os = "linux"));
}

#[test]
fn a_directory_of_which_everything_matches_is_closed_as_one_unless_something_in_it_is_not() {
    let tree = Tree::new();
    for path in [
        "data/a",
        "data/sub/b",
        "deep/x/all/c",
        "deep/x/all/y/d",
        "open/e",
        "open/sub/f",
        "base/g",
    ] {
        tree.file(path);
    }
    let pattern = |glob: &str| Pattern::new(tree.path(""), glob).unwrap();
    let scope = Scope {
        places: vec![tree.path("")],
        patterns: vec![
            pattern("data/**"),
            pattern("**/all/**"),
            pattern("open/**"),
            pattern("**/b"),
            pattern("**/d"),
            Pattern::new(tree.path("base"), "**").unwrap(),
        ],
        hiding: [0].into(),
        ruled: vec![tree.path(""), tree.path("open/sub")],
        ..Scope::default()
    };
    let mut search = whole(scope);
    let expected = [
        (tree.path("base"), Object::Directory),
        // What is in it needs no search any more, whichever pattern it matches.
        (tree.path("data"), Object::Directory),
        (tree.path("deep/x/all"), Object::Directory),
        // This one can be read, and what is in it may be closed even more.
        (tree.path("deep/x/all/y/d"), Object::File),
        (tree.path("open/e"), Object::File),
        (tree.path("open/sub"), Object::Directory),
        (tree.path("open/sub/f"), Object::File),
    ];
    assert_eq!(matches(&search), expected);
    tree.file("data/later");
    tree.file("deep/x/all/y/later");
    assert!(!search.look(), "it is closed already");
    tree.file("open/later");
    assert!(search.look());
}

#[test]
fn a_place_of_the_profile_is_never_closed_as_one() {
    let tree = Tree::new();
    tree.file("a");
    tree.file("sub/b");
    let search = whole(Scope {
        places: vec![tree.path("")],
        patterns: vec![Pattern::new(tree.path(""), "**").unwrap()],
        ruled: vec![tree.path("")],
        ..Scope::default()
    });
    let expected = [
        (tree.path("a"), Object::File),
        (tree.path("sub"), Object::Directory),
        (tree.path("sub/b"), Object::File),
    ];
    assert_eq!(matches(&search), expected);
}

fn unsearched(search: &Search) -> Vec<PathBuf> {
    let directories = search.unsearched().iter();
    directories.map(|directory| directory.path.clone()).collect()
}

#[test]
fn a_search_that_is_cut_off_says_where_and_still_looks_at_what_it_knows() {
    let tree = Tree::new();
    for directory in ["a", "b", "c"] {
        tree.dir(directory);
    }
    let scope = Scope {
        places: vec![tree.path("")],
        patterns: vec![Pattern::new(tree.path(""), "**/secret").unwrap()],
        ..Scope::default()
    };
    let whole = Search::limited(scope.clone(), 4, &|| false).unwrap();
    assert!(whole.is_complete() && whole.beyond().is_none());
    let mut search = Search::limited(scope, 3, &|| false).unwrap();
    assert!(!search.is_complete());
    let beyond = search.beyond().unwrap().to_owned();
    assert_eq!(beyond.parent(), Some(tree.root.as_path()));
    // More directories beyond the limit, on top of the pile, and changes beneath them in it.
    for directory in ["a", "b", "c"] {
        tree.file(format!("{directory}/new/secret"));
        tree.file(format!("{directory}/secret"));
    }
    assert!(search.look());
    assert_eq!(matches(&search).len(), 2, "one in each directory that is known");
    assert_eq!(search.beyond(), Some(beyond.as_path()));
}

#[test]
fn a_directory_that_was_closed_to_its_own_user_is_named_as_long_as_it_is() {
    let tree = Tree::new();
    for directory in ["unlisted", "unentered", "above/deep"] {
        tree.dir(directory);
    }
    let mut search = search(&tree, &["**/secret"]);
    let mode = |name: &str, mode| fs::set_permissions(tree.path(name), Permissions::from_mode(mode)).unwrap();
    for directory in ["unlisted/new", "unentered/new", "above/deep/new"] {
        tree.file(format!("{directory}/secret"));
    }
    let closed = [("above", 0o000), ("unentered", 0o444), ("unlisted", 0o311)];
    closed.iter().for_each(|(name, closed)| mode(name, *closed));
    search.look();
    let named = unsearched(&search);
    let found = matches(&search);
    assert!(
        !search.look() || cfg!(not(target_os = "linux")),
        "nothing has changed since"
    );
    closed.iter().for_each(|(name, _)| mode(name, 0o755));
    let before = search.unsearched().clone();
    search.look();
    assert_eq!(unsearched(&search), Vec::<PathBuf>::new());
    assert_eq!(matches(&search).len(), 3);
    // Nothing is closed to root.
    if !rustix::process::geteuid().is_root() {
        let closed = closed.map(|(name, _)| tree.path(name));
        assert_eq!(named, closed);
        assert_eq!(found, closed.clone().map(|path| (path, Object::Directory)));
        // Closed again, it may have something else in it.
        tree.file("unlisted/x");
        mode("unlisted", 0o311);
        search.look();
        assert_eq!(unsearched(&search), [tree.path("unlisted")]);
        assert!(search.unsearched().is_disjoint(&before));
        mode("unlisted", 0o755);
    }
}

#[test]
fn a_directory_too_deep_to_have_a_path_is_named() {
    let tree = Tree::new();
    let name = "d".repeat(200);
    let mut search = search(&tree, &[]);
    let top = tree.dir(&name);
    for _ in 0..21 {
        let up = tree.dir("up");
        fs::rename(&top, up.join(&name)).unwrap();
        fs::rename(&up, &top).unwrap();
    }
    search.look();
    let named = unsearched(&search);
    assert_eq!(named.len(), 1);
    assert!(named[0].starts_with(&top) && named[0].as_os_str().len() > 4095);
    assert!(!search.is_quiet());
    assert!(!search.look());
    assert_eq!(unsearched(&search), named);
    fs::remove_dir_all(&top).unwrap();
    search.look();
    assert_eq!(unsearched(&search), Vec::<PathBuf>::new());
}

/// Asked before every directory, it lists none after it was told to stop.
#[test]
fn an_abandoned_search_stops_at_the_next_directory() {
    let tree = Tree::new();
    for number in 0..10 {
        tree.dir(format!("{number}/x"));
    }
    let scope = || Scope {
        places: vec![tree.path("")],
        repositories: true,
        ..Scope::default()
    };
    let asked = Cell::new(0);
    let after = |count| {
        asked.set(0);
        Search::new(scope(), &|| {
            asked.set(asked.get() + 1);
            asked.get() > count
        })
    };
    assert!(after(3).is_none());
    assert_eq!(asked.get(), 4);
    assert!(after(21).is_some());
}

#[test]
fn single_paths_are_followed_without_watches_however_they_come_and_go() {
    let tree = Tree::new();
    for directory in ["a", "far/there", "old"] {
        tree.dir(directory);
    }
    tree.link("way", "far");
    let single = ["a/one", "a/two", "missing/deep/three", "way/there/four"];
    let scope = Scope {
        patterns: single.map(|path| Pattern::exactly(tree.path(path))).into(),
        ..Scope::default()
    };
    let mut search = Search::new(scope, &|| false).unwrap();
    // Long enough for change times to tell one look from the next.
    let mut settled = || {
        std::thread::sleep(Duration::from_millis(60));
        let different = search.look();
        assert!(!search.look(), "the second time nothing is different");
        (different, matches(&search))
    };
    assert_eq!(settled(), (false, vec![]));
    tree.file("a/one");
    assert_eq!(settled(), (true, vec![(tree.path("a/one"), Object::File)]));
    fs::remove_file(tree.path("a/one")).unwrap();
    tree.dir("a/one");
    assert_eq!(settled(), (true, vec![(tree.path("a/one"), Object::Directory)]));
    fs::remove_dir(tree.path("a/one")).unwrap();
    tree.file("missing/deep/three");
    tree.file("far/there/four");
    let both = [
        (tree.path("missing/deep/three"), Object::File),
        (tree.path("way/there/four"), Object::File),
    ];
    assert_eq!(settled(), (true, both.to_vec()));
    // Another directory of the same name, and the same link to another one, of which neither has just changed.
    fs::rename(tree.path("missing/deep"), tree.path("moved")).unwrap();
    tree.dir("missing/deep");
    fs::remove_file(tree.path("way")).unwrap();
    tree.link("way", "old");
    assert_eq!(settled(), (true, vec![]));
}

#[test]
fn a_name_that_comes_right_after_a_look_is_found_by_the_next() {
    // Change times advance with the kernel's clock, some milliseconds at a time.
    for _ in 0..50 {
        let tree = Tree::new();
        tree.dir("a");
        let scope = Scope {
            patterns: vec![Pattern::exactly(tree.path("a/one"))],
            ..Scope::default()
        };
        let mut search = Search::new(scope, &|| false).unwrap();
        tree.file("a/one");
        assert!(search.look());
        fs::remove_file(tree.path("a/one")).unwrap();
        assert!(search.look());
    }
}
