use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Place, Preset};

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
    let (root, home) = (Path::new("/w"), [PathBuf::from("/home/me")]);
    for (preset, row) in rows() {
        // What a repository has of the parts is found out from the repository.
        let is_found = matches!(row.place, Place::RepositoryPart(_));
        assert_eq!(
            row.subjects(&[root], &home).is_empty(),
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
