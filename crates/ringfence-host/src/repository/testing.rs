//! Repositories made by the installed git.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
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

/// A repository whose index has files and links to nested repositories.
pub(super) struct Linking {
    pub(super) git: Git,
    pub(super) path: PathBuf,
    /// The paths of the links.
    pub(super) linked: Vec<Vec<u8>>,
    id: String,
}

impl Linking {
    /// The format of objects is `sha1` or `sha256`.
    pub(super) fn new(tree: &Tree, format: &str) -> Option<Self> {
        let git = Git::installed(tree)?;
        let path = tree.dir(format);
        git.run(
            &path,
            &[&"init", &"--quiet", &format!("--object-format={format}")],
        );
        // The last is longer than the length in an entry can say.
        let component = [b'x'; 250].as_slice();
        let linked = vec![
            b"a".to_vec(),
            b"dir/nested".to_vec(),
            b"dir/other".to_vec(),
            b"z".to_vec(),
            [b"dir/", strange().as_bytes()].concat(),
            vec![component; 17].join(&b'/'),
        ];
        let id = "1".repeat(if format == "sha1" { 40 } else { 64 });
        let repository = Self {
            git,
            path,
            linked,
            id,
        };
        for number in 0..20 {
            repository.add("100644", format!("dir/file{number}").as_bytes());
        }
        for path in &repository.linked {
            repository.add("160000", path);
        }
        Some(repository)
    }

    /// Adds an entry to the index.
    pub(super) fn add(&self, mode: &str, path: &[u8]) {
        let info = [format!("{mode},{},", self.id).as_bytes(), path].concat();
        let info = OsStr::from_bytes(&info);
        self.run(&[&"update-index", &"--add", &"--cacheinfo", &info]);
    }

    pub(super) fn run(&self, args: &[&dyn AsRef<OsStr>]) -> Vec<u8> {
        self.git.run(&self.path, args)
    }

    pub(super) fn directory(&self) -> PathBuf {
        self.path.join(".git")
    }

    pub(super) fn index(&self) -> Vec<u8> {
        std::fs::read(self.directory().join("index")).unwrap()
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
