use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Place, Places, Preset};
use crate::access::Verdict;
use crate::guard::Subject;

fn rows() -> impl Iterator<Item = (Preset, &'static super::Row)> {
    Preset::ALL
        .into_iter()
        .flat_map(|preset| preset.rows().iter().map(move |row| (preset, row)))
}

#[test]
fn every_row_says_what_would_go_wrong() {
    for (preset, row) in rows() {
        assert!(
            row.reason.len() > 5 && !row.reason.ends_with('.'),
            "{preset}: {row:?}"
        );
    }
}

#[test]
fn no_row_says_what_another_one_says() {
    let mut seen = BTreeSet::new();
    for (preset, row) in rows() {
        assert!(
            seen.insert(format!("{:?} {:?}", row.place, row.protection)),
            "{preset}: {row:?}"
        );
    }
}

#[test]
fn every_row_can_be_applied() {
    let (root, home) = (PathBuf::from("/w"), [PathBuf::from("/home/me")]);
    let places = Places::new([(&root, Verdict::READ_WRITE)].into_iter());
    for (preset, row) in rows() {
        // What a repository has of the parts is found out from the repository.
        let is_found = matches!(row.place, Place::RepositoryPart(_));
        assert_eq!(
            row.subjects(&places, &home).is_empty(),
            is_found,
            "{preset}: {row:?}"
        );
        let clean = |path: &str| crate::path::is_clean(&Path::new("/x").join(path));
        match row.place {
            Place::Root(name) | Place::Home(name) | Place::Repository(name, _) => assert!(clean(name)),
            Place::HomeIfThere(name) | Place::RepositoryPart(name) => assert!(clean(name)),
            Place::Host(path) => assert!(crate::path::is_clean(Path::new(path))),
            Place::Beneath(glob, _) => assert!(glob.starts_with("**/")),
        }
    }
}

#[test]
fn names_are_stable_and_read_back() {
    let names: Vec<String> = Preset::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["git", "agent-config", "credentials"]);
    for preset in Preset::ALL {
        assert_eq!(preset.name().parse(), Ok(preset));
    }
    assert!("Git".parse::<Preset>().is_err());
}

#[test]
fn a_name_is_closed_wherever_it_could_be_made_and_is_looked_for_from_the_top() {
    let written = [
        ("/w", Verdict::READ_WRITE),
        ("/w/read", Verdict::READ_ONLY),
        ("/w/read/write", Verdict::READ_WRITE),
        ("/w/read/.vscode", Verdict::READ_WRITE),
        ("/other", Verdict::READ_ONLY),
        ("/alone/.vscode", Verdict::READ_WRITE),
    ];
    let written = written.map(|(path, access)| (PathBuf::from(path), access));
    let places = Places::new(written.iter().map(|(path, access)| (path, *access)));
    let vscode = Preset::AgentConfig
        .rows()
        .iter()
        .find(|row| row.place == Place::Root(".vscode"));
    let (mut names, mut bases) = (Vec::new(), Vec::new());
    for subject in vscode.unwrap().subjects(&places, &[]) {
        match subject {
            Subject::Path(path) => names.push(path),
            Subject::Pattern(pattern) => bases.push(pattern.base().to_owned()),
        }
    }
    names.sort();
    names.dedup();
    // In `/w/read` none can be made, but one is opened there, which has to be noticed.
    let expected = [
        "/alone/.vscode/.vscode",
        "/other/.vscode",
        "/w/.vscode",
        "/w/read/.vscode",
        "/w/read/.vscode/.vscode",
        "/w/read/write/.vscode",
    ];
    assert_eq!(names, expected.map(PathBuf::from));
    bases.sort();
    assert_eq!(bases, ["/alone/.vscode", "/other", "/w"].map(PathBuf::from));
}

#[test]
fn the_files_that_hold_secrets_are_matched_and_their_samples_are_not() {
    let workspace = PathBuf::from("/w");
    let places = Places::new([(&workspace, Verdict::READ_WRITE)].into_iter());
    let rows = Preset::Credentials.rows().iter();
    let subjects: Vec<Subject> = rows.flat_map(|row| row.subjects(&places, &[])).collect();
    let is_secret = |path: &str| {
        subjects.iter().any(|subject| match subject {
            Subject::Pattern(pattern) => pattern.matches(Path::new(path)),
            Subject::Path(name) => name == Path::new(path),
        })
    };
    for secret in [
        "/w/.env",
        "/w/a/.env.local",
        "/w/.env.production",
        "/w/a/.env.staging",
        "/w/.dev.vars",
        "/w/.netrc",
    ] {
        assert!(is_secret(secret), "{secret}");
    }
    for open in [
        "/w/.env.example",
        "/w/.env.development",
        "/w/.envrc",
        "/w/env",
        "/w/.env.sample.local",
    ] {
        assert!(!is_secret(open), "{open}");
    }
}
