//! Where the program of a command may be.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The paths to try, in this order: a name with a slash is a path; any other is looked up in the *command's* `PATH`,
/// the last one given, where an empty element means the working directory (LIN-41, EXE-35).
#[must_use]
pub fn candidates(program: &OsStr, environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return vec![program.into()];
    }
    let Some((_, path)) = environment.iter().rev().find(|(name, _)| name == "PATH") else {
        return Vec::new();
    };
    let directories = path.as_bytes().split(|byte| *byte == b':');
    let directories = directories.map(|directory| match directory {
        b"" => Path::new("."),
        _ => Path::new(OsStr::from_bytes(directory)),
    });
    directories.map(|directory| directory.join(program)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // ENV-12, LIN-41
    #[test]
    fn lin_41_programs_are_looked_up_in_the_commands_path() {
        let look = |program: &str, pairs: &[(&str, &str)]| {
            let environment: Vec<(OsString, OsString)> = pairs
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            candidates(OsStr::new(program), &environment)
        };
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(
            look("sh", &[("PATH", "/bin::/usr/bin")]),
            paths(&["/bin/sh", "./sh", "/usr/bin/sh"])
        );
        assert_eq!(
            look("sh", &[("PATH", "/first"), ("PATH", "/last")]),
            paths(&["/last/sh"])
        );
        assert_eq!(look("./sh", &[("PATH", "/bin")]), paths(&["./sh"]));
        assert!(look("sh", &[]).is_empty(), "without PATH nothing is found");
    }
}
