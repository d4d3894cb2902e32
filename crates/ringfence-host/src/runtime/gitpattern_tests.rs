use std::path::{Path, PathBuf};

use super::{Bases, holds};
use crate::testing::Tree;

fn asks(condition: &str, git_directory: &str) -> bool {
    let bases = Bases {
        home: None,
        file: None,
    };
    holds(condition.as_bytes(), &bases, || PathBuf::from(git_directory))
}

#[test]
fn a_pattern_matches_as_in_git() {
    for (pattern, matching, other) in [
        ("/srv/w/", "/srv/w/a/b/.git", "/srv/wa/.git"),
        ("/srv/w/**", "/srv/w/.git", "/srv/.git"),
        ("/srv/w/.git", "/srv/w/.git", "/srv/w/a/.git"),
        ("work/", "/srv/work/a/.git", "/srv/works/a/.git"),
        ("/srv/*/a/.git", "/srv/x/a/.git", "/srv/x/y/a/.git"),
        ("/srv/**/a/.git", "/srv/x/y/a/.git", "/srv/x/y/b/.git"),
        ("/srv/**/a/.git", "/srv/a/.git", "/a/.git"),
        ("/srv/w?rk-*/", "/srv/work-1/x/.git", "/srv/wrk-1/x/.git"),
    ] {
        assert!(asks(&format!("gitdir:{pattern}"), matching), "{pattern}");
        assert!(!asks(&format!("gitdir:{pattern}"), other), "{pattern}");
    }
    assert!(!asks("gitdir:/srv/w/.git/", "/srv/w/.git"));
    assert!(!asks("gitdir:/srv/W/", "/srv/w/a/.git"));
    assert!(asks("gitdir/i:/srv/W/", "/srv/w/a/.git"));
}

#[test]
fn a_condition_that_is_not_understood_does_not_hold() {
    for condition in [
        "",
        "gitdir:",
        "gitdir:/srv/[w]/",
        "gitdir:/srv/\\w/",
        "onbranch:main",
        "hasconfig:remote.*.url:x",
        "GITDIR:/srv/",
        "gitdir:~/",
        "gitdir:./",
    ] {
        assert!(!asks(condition, "/srv/w/.git"), "{condition}");
    }
}

#[test]
fn a_home_is_taken_literally_and_links_are_followed() {
    let tree = Tree::new();
    let home = tree.dir("people/a*b/work/x/.git");
    let home = home.ancestors().nth(3).unwrap();
    tree.link("link", "people");
    let holds = |home: &Path, condition: &str, at: &str| {
        let bases = Bases {
            home: Some(home),
            file: Some(home),
        };
        holds(condition.as_bytes(), &bases, || tree.path(at))
    };
    let by_link = tree.path("link/a*b");
    for home in [home, &by_link] {
        for condition in ["gitdir:~/work/", "gitdir:./work/", "gitdir/i:~/WORK/"] {
            assert!(holds(home, condition, "people/a*b/work/x/.git"), "{condition}");
            assert!(holds(home, condition, "link/a*b/work/x/.git"), "{condition}");
            assert!(!holds(home, condition, "people/aab/work/x/.git"), "{condition}");
        }
    }
    assert!(holds(home, "gitdir:link/**", "link/a*b/work/x/.git"));
}

#[test]
fn many_stars_take_no_time() {
    let pattern = "*a".repeat(700);
    let name = "a".repeat(699);
    assert!(!asks(&format!("gitdir:/{pattern}b"), &format!("/{name}")));
    let pattern = "**/a/".repeat(300);
    assert!(!asks(&format!("gitdir:/{pattern}b"), &"/a".repeat(299)));
}
