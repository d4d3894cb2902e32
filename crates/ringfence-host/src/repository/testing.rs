//! Repositories made by the installed git.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::testing::{Tree, skip};

/// The installed git, without settings of the user or the system.
pub(super) struct Git {
    home: PathBuf,
}

impl Git {
    /// Its home is the directory of the test. `None`, said aloud, where git is not installed.
    pub(super) fn installed(tree: &Tree) -> Option<Self> {
        if Command::new("git").arg("version").output().is_err() {
            skip("git is not installed");
            return None;
        }
        Some(Self {
            home: tree.root.clone(),
        })
    }

    pub(super) fn output(&self, directory: &Path, args: &[&dyn AsRef<OsStr>]) -> Output {
        let mut git = Command::new("git");
        git.current_dir(directory)
            .args(args.iter().map(AsRef::as_ref))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "Somebody");
            git.env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
        }
        git.output().unwrap()
    }

    /// Runs git, which must succeed, and gives what it prints.
    pub(super) fn run(&self, directory: &Path, args: &[&dyn AsRef<OsStr>]) -> Vec<u8> {
        let output = self.output(directory, args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        output.stdout
    }

    /// A repository with a commit.
    pub(super) fn repository(&self, path: &Path) {
        std::fs::create_dir_all(path).unwrap();
        self.run(path, &[&"init", &"--quiet", &"--initial-branch=main"]);
        self.run(
            path,
            &[&"commit", &"--quiet", &"--allow-empty", &"--message=first"],
        );
    }
}

/// A name with everything that a name may have here.
pub(super) fn strange() -> OsString {
    let mut name = b"a \n[b]*?\\\"'#;=\t".to_vec();
    if cfg!(target_os = "linux") {
        name.push(0xff);
    }
    OsString::from_vec(name)
}
