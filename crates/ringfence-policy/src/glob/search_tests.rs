use super::*;
use crate::path::clean;

fn pattern(text: &str) -> Glob {
    Glob::new(text).unwrap()
}

#[test]
fn a_search_finds_the_same_from_wherever_it_begins() {
    let pattern = pattern("/ws/a/**/x.[ab]");
    for start in ["/", "/ws", "/ws/a", "/a/../ws//a/"] {
        let start = Path::new(start);
        let names = ["ws", "a", "b", "x.a"]
            .iter()
            .skip(names(&clean(start).unwrap()).count());
        let file = names.fold(pattern.start(start), |search, name| {
            search.enter(OsStr::new(name))
        });
        assert!(file.is_match() && file.may_match_beneath(), "{start:?}");
    }
}

#[test]
fn siblings_are_entered_from_one_search() {
    let pattern = pattern("/ws/*.key");
    let directory = pattern.start(Path::new("/ws"));
    let found = |name| directory.enter(OsStr::new(name)).is_match();
    assert!(found("a.key") && !found("a.pub") && found("b.key") && found(".key"));
    assert!(!directory.is_match() && !directory.enter(OsStr::new("d")).may_match_beneath());
}

#[test]
fn nothing_is_found_in_a_relative_directory() {
    let all = pattern("/**");
    for directory in ["", "a", "./a", "../a"] {
        let search = all.start(Path::new(directory));
        assert!(!search.is_match() && !search.may_match_beneath());
        assert!(!search.enter(OsStr::new("a")).is_match());
    }
}

#[test]
fn a_pattern_with_a_long_prefix_needs_no_allocation() {
    let prefix = format!("/{}", "a".repeat(200));
    for (rest, words) in [
        ("/**/*.key".into(), 0),
        (format!("/{}", "?".repeat(62)), 0),
        (format!("/{}", "?".repeat(63)), 1),
    ] {
        let pattern = pattern(&format!("{prefix}{rest}"));
        let search = pattern.start(Path::new(&prefix));
        assert_eq!(search.positions.high.capacity(), words, "{rest}");
        assert!(search.may_match_beneath());
    }
}

#[test]
fn a_search_skips_directories_that_lead_nowhere() {
    for (text, open, closed) in [
        (
            "/a/b/*.key",
            ["/", "/a", "/a/b"].as_slice(),
            ["/b", "/ab", "/a/bc", "/a/b/c", "/a/b/c.key"].as_slice(),
        ),
        ("/a/*/c", &["/", "/a", "/a/x"], &["/a/x/c", "/a/x/y", "/x"]),
        ("/a/[xy]*/c", &["/a/x", "/a/yes"], &["/a/z", "/a/x/c"]),
        ("/a/**/c", &["/", "/a", "/a/b", "/a/b/c", "/a/c"], &["/b"]),
        ("/a/b**c", &["/a", "/a/b", "/a/bx", "/a/b/x"], &["/a/c"]),
        ("/a/**", &["/", "/a", "/a/b/c"], &["/b"]),
        ("/a/b", &["/", "/a"], &["/a/b", "/b"]),
        ("/", &[], &["/", "/a"]),
    ] {
        let pattern = pattern(text);
        for path in open {
            assert!(pattern.may_match_beneath(Path::new(path)), "{text} {path}");
        }
        for path in closed {
            assert!(!pattern.may_match_beneath(Path::new(path)), "{text} {path}");
        }
    }
}
