//! What the tests share: a piece of ground with files, a fence around part of it, and attacks from both sides.
//!
//! An attack is one line for the program `attack`. In it `{t}` stands for the ground, `{w}` for the workspace on
//! it, `{o}` for a directory outside of the workspace.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "each test binary uses its part; tests end by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use ringfence::{
    Access, BundleName, Ending, ExecutorSet, Host, Profile, ProfileConfig, Root, Stdio, Verdict, blocking,
};
use tempfile::TempDir;

/// The attacking program.
pub(crate) const ATTACK: &str = env!("CARGO_BIN_EXE_attack");
/// The host program that can be killed.
pub(crate) const VICTIM_HOST: &str = env!("CARGO_BIN_EXE_victim-host");

/// What became of an attack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// It worked; what it printed besides.
    Done(String),
    /// It was refused with this errno.
    Refused(String),
    /// A signal ended it.
    Killed(i32),
}

impl Attempt {
    /// Refused with this errno.
    pub(crate) fn refused(errno: &str) -> Self {
        Self::Refused(errno.to_owned())
    }

    /// What it printed; it must have worked.
    pub(crate) fn printed(self) -> String {
        match self {
            Self::Done(text) => text,
            other => panic!("{other:?} instead of done"),
        }
    }

    fn of(code: Option<i32>, signal: Option<i32>, output: &str) -> Self {
        let output = output.trim_end();
        let (before, last) = output.rsplit_once('\n').unwrap_or(("", output));
        match (code, signal) {
            (Some(0), _) if last == "done" => Self::Done(before.to_owned()),
            (Some(1), _) => Self::Refused(last.to_owned()),
            (None, Some(signal)) => Self::Killed(signal),
            other => panic!("the attack itself failed: {other:?}, {output}"),
        }
    }
}

/// Says on standard error that a test, or one row of it, could not show anything here.
pub(crate) fn skip(test: &str, reason: &str) {
    // Not `eprintln`: the test harness would keep that to itself.
    // In one piece, as other tests write at the same time.
    let _ = std::io::stderr().write_all(format!("SKIP {test}: {reason}\n").as_bytes());
}

/// Whether the tests run with user id 0.
pub(crate) fn is_root() -> bool {
    // SAFETY: no preconditions.
    unsafe { libc::geteuid() == 0 }
}

/// Fresh directories: `w` the workspace, `o` outside with a file `secret`, `s` for scratch files.
#[derive(Debug)]
pub(crate) struct Ground {
    top: TempDir,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let ground = Self {
            top: tempfile::Builder::new().prefix("rf-").tempdir().unwrap(),
        };
        for name in ["w", "o", "o/d", "s"] {
            fs::create_dir(ground.at(name)).unwrap();
        }
        ground.write("o/secret", "secret\n");
        ground
    }

    /// A path on the ground.
    pub(crate) fn at(&self, relative: &str) -> PathBuf {
        // Canonical, since the directory for temporary files may be a link.
        self.top.path().canonicalize().unwrap().join(relative)
    }

    /// Writes a file and makes the directories it needs.
    pub(crate) fn write(&self, relative: &str, content: &str) {
        let path = self.at(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Puts paths for the placeholders.
    pub(crate) fn line(&self, text: &str) -> String {
        let path = |name| self.at(name).display().to_string();
        text.replace("{w}", &path("w"))
            .replace("{o}", &path("o"))
            .replace("{t}", self.at("").to_str().unwrap().trim_end_matches('/'))
    }

    /// The attack without any confinement.
    pub(crate) fn control(&self, line: &str) -> Attempt {
        let line = self.line(line);
        let output = Command::new(ATTACK)
            .args(line.split_whitespace())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Attempt::of(output.status.code(), output.status.signal(), &text)
    }

    /// Whether the attack works without confinement. What a host may lack, or keep from an ordinary user, is a
    /// reason to skip; anything else means that the attack is wrong.
    pub(crate) fn works(&self, test: &str, line: &str) -> bool {
        match self.control(line) {
            Attempt::Done(_) => true,
            Attempt::Refused(errno)
                if ["ENOSYS", "EPERM", "EACCES", "EROFS", "ENOENT"].contains(&errno.as_str()) =>
            {
                skip(test, &format!("unconfined, `{line}` gives {errno} here"));
                false
            }
            other => panic!("unconfined, `{line}` gives {other:?}"),
        }
    }

    /// The default profile: the workspace writable, nothing else of the host readable, no network.
    pub(crate) fn profile(&self) -> ProfileConfig {
        ProfileConfig {
            workspace: self.at("w"),
            workspace_access: Verdict::READ_WRITE,
            command: Access::Allow,
            roots: vec![Root::file(ATTACK, Verdict::READ_ONLY)],
            ..ProfileConfig::default()
        }
    }

    /// A set of the default shape.
    pub(crate) fn set(&self, profile: &ProfileConfig) -> ringfence::ExecutorSetBuilder {
        ExecutorSet::builder(Profile::new(profile, &Host).unwrap())
            .scratch_root(self.at("s"))
            .max_executors(4)
            .bundles([BundleName::Base])
            .environment([("PATH".into(), "/usr/bin:/bin".into())])
    }

    /// Puts a fence with this profile around the workspace.
    pub(crate) fn fence(self, profile: &ProfileConfig) -> Fence {
        let set = blocking::ExecutorSet::from(self.set(profile).build().unwrap());
        self.fence_of(set)
    }

    /// The fence of a set on this ground.
    pub(crate) fn fence_of(self, set: blocking::ExecutorSet) -> Fence {
        let executor = set.executor("test").unwrap();
        Fence {
            executor,
            set,
            ground: self,
        }
    }
}

/// An executor with its ground.
#[derive(Debug)]
pub(crate) struct Fence {
    pub(crate) executor: blocking::Executor,
    pub(crate) set: blocking::ExecutorSet,
    ground: Ground,
}

impl std::ops::Deref for Fence {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.ground
    }
}

impl Fence {
    /// The default profile.
    pub(crate) fn new() -> Self {
        let ground = Ground::new();
        let profile = ground.profile();
        ground.fence(&profile)
    }

    /// The default profile with changes.
    pub(crate) fn with(change: impl FnOnce(&Ground, &mut ProfileConfig)) -> Self {
        let ground = Ground::new();
        let mut profile = ground.profile();
        change(&ground, &mut profile);
        ground.fence(&profile)
    }

    /// A command that attacks from inside.
    pub(crate) fn attacker(&self, line: &str) -> blocking::Command {
        self.executor
            .command(ATTACK)
            .args(self.line(line).split_whitespace())
    }

    /// The attack from inside.
    pub(crate) fn attack(&self, line: &str) -> Attempt {
        let outcome = self.attacker(line).output().unwrap();
        let signal = match outcome.ended {
            Ending::Signaled { signal, .. } => Some(signal),
            _ => None,
        };
        Attempt::of(outcome.code(), signal, &outcome.stdout.to_text())
    }

    /// Has the shell run a text inside; gives its exit code and both streams as one.
    pub(crate) fn shell(&self, text: &str) -> (Option<i32>, String) {
        let outcome = self
            .executor
            .shell(self.line(text))
            .stderr(Stdio::Merged)
            .output()
            .unwrap();
        (outcome.code(), outcome.stdout.to_text())
    }

    /// The output of a shell text that must succeed.
    pub(crate) fn succeeds(&self, text: &str) -> String {
        let (code, output) = self.shell(text);
        assert_eq!(code, Some(0), "`{text}` printed {output}");
        output.trim_end().to_owned()
    }

    /// Shows for each row that the attack works outside, if it can here, and fails inside in the given way. An
    /// attack that takes more than one step inside is stopped at the first.
    pub(crate) fn resists(&self, test: &str, rows: &[(&str, &str)]) {
        for (line, errno) in rows {
            self.works(test, line);
            assert_eq!(self.attack(line), Attempt::refused(errno), "inside, `{line}`");
        }
    }
}

/// Everything below a directory with all that an attack could change.
pub(crate) fn snapshot(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let seen = fs::symlink_metadata(&path).unwrap();
        let content = if seen.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            String::new()
        } else if seen.is_symlink() {
            fs::read_link(&path).unwrap().display().to_string()
        } else if seen.is_file() {
            fs::read_to_string(&path).unwrap_or_default()
        } else {
            "special".to_owned()
        };
        let time = (seen.mtime(), seen.mtime_nsec());
        let facts = format!(
            "{} {:o} {} {time:?} {content:?}",
            seen.ino(),
            seen.permissions().mode(),
            seen.nlink()
        );
        found.insert(path, facts);
    }
    found
}

/// A process of the host that ends with the test.
#[derive(Debug)]
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The system's python; one in a home directory is not for every user.
pub(crate) fn python(test: &str) -> Option<&'static str> {
    let path = "/usr/bin/python3";
    if Path::new(path).exists() {
        return Some(path);
    }
    skip(test, "there is no /usr/bin/python3");
    None
}
