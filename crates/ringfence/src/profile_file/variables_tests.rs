use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;

fn variables() -> Variables {
    Variables {
        workspace: "/w".into(),
        home: "/home/me".into(),
    }
}

#[test]
fn variables_are_replaced_wherever_they_are() {
    for (text, expected) in [
        ("${workspace}", "/w"),
        ("${home}/.ssh", "/home/me/.ssh"),
        ("/mnt${workspace}/${home}x", "/mnt/w//home/mex"),
        ("/$$", "/$"),
        ("/$${home}", "/${home}"),
        ("/$$$${", "/$${"),
        ("/$$${home}", "/$/home/me"),
    ] {
        assert_eq!(variables().path(text), Ok(expected.into()), "{text}");
    }
}

#[test]
fn relative_paths_are_beneath_the_workspace() {
    for (text, expected) in [
        ("src", "/w/src"),
        (".", "/w/."),
        ("../other", "/w/../other"),
        ("./~", "/w/./~"),
        ("a~", "/w/a~"),
        ("$$x", "/w/$x"),
        ("{home}", "/w/{home}"),
    ] {
        assert_eq!(variables().path(text), Ok(expected.into()), "{text}");
        assert!(matches!(
            variables().absolute(text),
            Err(FileReason::Relative { .. })
        ));
    }
    assert_eq!(variables().absolute("${workspace}/a"), Ok("/w/a".into()));
}

#[test]
fn pro_24_values_are_literal_whatever_they_hold() {
    let strange = Variables {
        workspace: OsStr::from_bytes(b"/a[b]/x*/${home}/\xff?").into(),
        home: "/$$".into(),
    };
    assert_eq!(strange.path("${workspace}"), Ok(strange.workspace.clone()));
    assert_eq!(strange.path("x"), Ok(strange.workspace.join("x")));
    assert_eq!(strange.path("${home}/${home}"), Ok("/$$//$$".into()));
}

#[test]
fn what_is_no_path_is_named() {
    let unknown = |name: &str| FileReason::UnknownVariable {
        name: name.to_owned(),
    };
    for (text, expected) in [
        ("", FileReason::Empty),
        ("~", FileReason::Tilde),
        ("~/x", FileReason::Tilde),
        ("~me/x", FileReason::Tilde),
        ("/a\0b", FileReason::Nul),
        ("$HOME/x", FileReason::LoneDollar),
        ("/x$", FileReason::LoneDollar),
        ("/${home", FileReason::LoneDollar),
        ("/$$$", FileReason::LoneDollar),
        ("${HOME}", unknown("HOME")),
        ("${}", unknown("")),
        ("${ home }", unknown(" home ")),
    ] {
        assert_eq!(variables().path(text), Err(expected), "{text:?}");
    }
}

#[test]
fn a_variable_is_needed_only_where_it_is_used() {
    let without_home = Variables {
        home: PathBuf::new(),
        ..variables()
    };
    assert_eq!(without_home.path("x"), Ok("/w/x".into()));
    let unusable = FileReason::UnusableVariable {
        name: "home".to_owned(),
        value: PathBuf::new(),
    };
    assert_eq!(without_home.path("${home}/x"), Err(unusable));
    let lost = Variables {
        workspace: "w".into(),
        ..variables()
    };
    assert_eq!(lost.path("/x"), Ok("/x".into()));
    assert!(matches!(lost.path("x"), Err(FileReason::UnusableVariable { .. })));
}
