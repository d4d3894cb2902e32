use std::os::unix::ffi::OsStrExt;

use super::*;
use crate::fake::{Directories, FakeHost};

#[test]
fn pro_27_containment_holds_at_component_boundaries_only() {
    let within = |path: &str, root: &str| path_within(Path::new(path), Path::new(root));
    assert!(within("/a", "/a") && within("/a/b", "/a") && within("/a", "/") && within("/", "/"));
    assert!(!within("/ab", "/a") && !within("/a", "/a/b") && !within("/", "/a"));
    assert!(!within("/A/b", "/a"), "bytes are compared");
    assert!(!within("/a\\b", "/a"), "a backslash separates nothing");
    assert!(within("/a/./b/", "/a//") && !within("/a/../b", "/a"));
    assert!(!within("a/b", "a") && !within("a", "/"));
}

#[test]
fn pro_27_containment_compares_bytes_that_are_not_text() {
    let raw = |bytes: &'static [u8]| Path::new(OsStr::from_bytes(bytes));
    assert!(path_within(raw(b"/a\xff/x"), raw(b"/a\xff")));
    assert!(!path_within(raw(b"/a\xfe/x"), raw(b"/a\xff")));
}

#[test]
fn cleaning_is_lexical() {
    let cleaned = |path: &str| clean(Path::new(path)).map(Cow::into_owned);
    for (path, expected) in [
        ("/", "/"),
        ("//", "/"),
        ("/..", "/"),
        ("/a/../..", "/"),
        ("/a//b/./", "/a/b"),
        ("/a/b/..", "/a"),
    ] {
        assert_eq!(cleaned(path), Some(PathBuf::from(expected)), "{path}");
        assert!(is_clean(Path::new(expected)));
    }
    assert_eq!(cleaned("a/b"), None);
    assert_eq!(cleaned(""), None);
    for unclean in ["", "a", "//", "/a/", "/a//b", "/./a", "/a/.", "/a/..", "/../a"] {
        assert!(!is_clean(Path::new(unclean)), "{unclean}");
    }
    assert!(is_clean(Path::new("/...")) && is_clean(Path::new("/.a")));
}

#[test]
fn pro_25_what_is_not_absolute_never_reaches_the_host() {
    let host = FakeHost::new();
    assert_eq!(canonical(&host, Path::new("")), Err(ResolveError::Empty));
    assert_eq!(
        canonical(&host, Path::new("ws")),
        Err(ResolveError::Relative { path: "ws".into() })
    );
    assert_eq!(host.asked.get(), 0);
}

#[test]
fn an_answer_that_cannot_be_canonical_is_not_believed() {
    let refused = ResolveError::NotCanonical { path: "/a/..".into() };
    assert_eq!(canonical(&Directories, Path::new("/a/..")), Err(refused));
    assert!(canonical(&Directories, Path::new("/a")).is_ok());
}

#[test]
fn pol_90_absence_is_no_error_but_everything_else_is() {
    // The contract of the trait, as the host used by all tests keeps it.
    let host = FakeHost::new()
        .link("/l", "/ws")
        .locked("/locked")
        .link("/loop", "/loop");
    let missing = canonical(&host, Path::new("/l/new/file")).unwrap();
    assert_eq!(
        (missing.path.as_path(), missing.kind),
        (Path::new("/ws/new/file"), Kind::Absent)
    );
    assert_eq!(
        missing.links,
        [Link {
            path: "/l".into(),
            target: "/ws".into()
        }]
    );
    let denied = ResolveError::Denied {
        path: "/locked".into(),
        errno: 13,
    };
    assert_eq!(canonical(&host, Path::new("/locked/x")), Err(denied));
    assert_eq!(
        canonical(&host, Path::new("/loop/x")),
        Err(ResolveError::Loop { path: "/loop".into() })
    );
}

#[test]
fn errors_are_one_line_whatever_the_path_holds() {
    let error = ResolveError::Relative {
        path: "a\nb\u{1b}[31m".into(),
    };
    assert_eq!(error.to_string(), r#""a\nb\u{1b}[31m" is not absolute"#);
    assert_eq!(error.code(), "path_relative");
    assert!(error.hint().contains("absolute"));
}

#[test]
fn json_keeps_the_bytes_of_a_path_that_is_not_text() {
    let link = Link {
        path: "/plain".into(),
        target: OsStr::from_bytes(b"/\xff").into(),
    };
    assert_eq!(
        serde_json::to_string(&link).unwrap(),
        r#"{"path":"/plain","target":{"hex":"2fff"}}"#
    );
}
