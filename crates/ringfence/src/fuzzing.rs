//! Profile files of any text.

use ringfence_policy::{Kind, Profile, Resolve, ResolveError, Resolved};

use crate::{ProfileFile, ProfileFileError, Variables};

/// A file's bytes.
///
/// # Panics
/// What is told about the file is not true of it.
pub fn profile_toml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let variables = Variables {
        workspace: "/ws/[a]*".into(),
        home: "/home/$x".into(),
    };
    let file = match ProfileFile::parse(text, &variables) {
        Ok(file) => file,
        Err(error) => return is_of_the_text(&error, text),
    };
    assert_eq!(ProfileFile::parse(text, &variables).as_ref(), Ok(&file));
    match Profile::new(&file.config, &Directories) {
        Ok(profile) => {
            let again = Profile::new(&file.config, &Directories);
            assert_eq!(again.map(|again| again.fingerprint()), Ok(profile.fingerprint()));
        }
        Err(invalid) => is_of_the_text(&file.explain(&invalid), text),
    }
}

/// Every problem is one line, and where it is there is such a place.
fn is_of_the_text(error: &ProfileFileError, text: &str) {
    let shown = error.to_string();
    assert!(!error.problems.is_empty());
    assert_eq!(shown.split('\n').count(), error.problems.len(), "{shown:?}");
    assert!(
        !shown.contains(|c: char| c.is_control() && c != '\n'),
        "{shown:?}"
    );
    assert!(error.problems.is_sorted_by_key(|problem| problem.position));
    for position in error.problems.iter().filter_map(|problem| problem.position) {
        let line = text.split('\n').nth(position.line - 1);
        let length = line.map(|line| line.chars().count());
        assert!(
            length.is_some_and(|length| position.column <= length + 1),
            "{error:?}"
        );
    }
}

/// A host where everything is there, by the name it is asked for, unless nobody could ask for it.
struct Directories;

impl Resolve for Directories {
    fn resolve(&self, path: &std::path::Path) -> Result<Resolved, ResolveError> {
        let mut clean = std::path::PathBuf::new();
        for component in path.components() {
            match component {
                std::path::Component::ParentDir => drop(clean.pop()),
                other => clean.push(other),
            }
        }
        Ok(Resolved {
            path: clean,
            kind: Kind::Directory,
            identity: None,
            links: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    #[test]
    fn known_files_are_told_the_truth_about() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/profile_toml");
        assert_ne!(fs::read_dir(corpus).unwrap().count(), 0);
        for entry in fs::read_dir(corpus).unwrap() {
            super::profile_toml(&fs::read(entry.unwrap().path()).unwrap());
        }
    }
}
