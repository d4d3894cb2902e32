//! A piece of ground with a fence around part of it, and attacks from both sides.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ringfence::blocking::{Executor, ExecutorSet};
use ringfence::{Outcome, ProfileConfig};
use tempfile::TempDir;

use crate::common::{Fixture, skip};

pub(crate) const PYTHON: &str = "/usr/bin/python3";
const PRELUDE: &str = include_str!("attacks/prelude.py");

/// `w`, the workspace, and `o`, which is outside of it.
pub(crate) struct Ground {
    pub(crate) fixture: Fixture,
    outside: TempDir,
    /// What no command may learn.
    secret: String,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let name = outside.path().file_name().unwrap().to_str().unwrap();
        let ground = Self {
            secret: format!("secret-of-{}", name.trim_start_matches('.')),
            fixture: Fixture::new(),
            outside,
        };
        ground.hide("o/secret");
        ground
    }

    /// A path that begins with `w` or `o`.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        let (top, rest) = path.split_once('/').unwrap_or((path, ""));
        let top = match top {
            "w" => self.fixture.workspace.path(),
            "o" => self.outside.path(),
            other => panic!("no place: {other}"),
        };
        // Without the separator that joining nothing leaves.
        top.canonicalize().unwrap().join(rest).components().collect()
    }

    pub(crate) fn text(&self, path: &str) -> String {
        self.at(path).to_str().unwrap().to_owned()
    }

    /// Makes a file with the directories it needs.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Makes a file that holds the secret.
    pub(crate) fn hide(&self, path: &str) {
        self.write(path, &format!("{}\n", self.secret));
    }

    /// The words of a command line that attacks.
    fn words(&self, script: &str, side: &str, arguments: &[&str]) -> Vec<String> {
        let script = format!("{PRELUDE}\n{script}");
        let places = [self.text("w"), self.text("o"), side.to_owned()];
        let own = ["-c".to_owned(), script].into_iter().chain(places);
        own.chain(arguments.iter().map(|&argument| argument.to_owned()))
            .collect()
    }

    /// A command that attacks without any confinement.
    pub(crate) fn attacker(&self, script: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(PYTHON);
        command
            .args(self.words(script, "control", arguments))
            .current_dir(self.at("w"));
        command
    }

    /// Attacks without any confinement.
    pub(crate) fn control(&self, script: &str, arguments: &[&str]) -> Tried {
        let output = self.attacker(script, arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}{error}");
        Tried::parse(&said)
    }

    /// A fence with the default profile, changed like this.
    pub(crate) fn fence(&self, change: impl FnOnce(&mut ProfileConfig)) -> Fence<'_> {
        let mut config = self.fixture.config();
        change(&mut config);
        let set = self.fixture.set_with(&config);
        let executor = set.executor("attacker").unwrap();
        Fence {
            ground: self,
            executor,
            _set: set,
        }
    }
}

/// One who attacks from inside.
pub(crate) struct Fence<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) executor: Executor,
    /// Keeps the executor.
    _set: ExecutorSet,
}

impl Fence<'_> {
    /// A command that attacks from inside.
    pub(crate) fn attacker(&self, script: &str, arguments: &[&str]) -> ringfence::blocking::Command {
        self.executor
            .command(PYTHON)
            .args(self.ground.words(script, "inside", arguments))
            .current_dir(self.ground.at("w"))
            .timeout(Duration::from_secs(120))
    }

    /// Attacks from inside.
    pub(crate) fn attack(&self, script: &str, arguments: &[&str]) -> Tried {
        self.tried(&self.attacker(script, arguments).output().unwrap())
    }

    /// What a command that attacked says; nobody says the secret.
    pub(crate) fn tried(&self, outcome: &Outcome) -> Tried {
        let said = outcome.stdout.to_text();
        let error = outcome.stderr.to_text();
        assert!(outcome.success(), "{:?}: {said}{error}", outcome.ended);
        let secret = &self.ground.secret;
        assert!(!said.contains(secret) && !error.contains(secret), "{said}{error}");
        Tried::parse(&said)
    }

    /// Each way works without confinement and none inside.
    pub(crate) fn resists(&self, script: &str, arguments: &[&str]) {
        self.ground.control(script, arguments).all_worked();
        self.attack(script, arguments).none_worked();
    }

    /// Each way works without confinement and none inside, and `happened` tells that apart as well. It is asked after
    /// either, and puts everything back.
    pub(crate) fn withstands(&self, script: &str, arguments: &[&str], happened: &dyn Fn() -> bool) {
        self.ground.control(script, arguments).all_worked();
        assert!(happened(), "unconfined, nothing happened");
        self.attack(script, arguments).none_worked();
        assert!(!happened(), "it happened, though it is said not to have worked");
    }

    /// Some ways work without confinement on this host, and none inside.
    pub(crate) fn resists_what_there_is(&self, test: &str, script: &str, arguments: &[&str]) {
        if !self.ground.control(script, arguments).has_worked() {
            skip(test, "unconfined, none of it works here either");
        }
        self.attack(script, arguments).none_worked();
    }
}

/// What came of each way to attack.
pub(crate) struct Tried(BTreeMap<String, String>);

impl Tried {
    fn parse(said: &str) -> Self {
        let parse = |line: &str| {
            let (name, result) = line.split_once(' ').unwrap_or_else(|| panic!("{said}"));
            (name.to_owned(), result.trim_end().to_owned())
        };
        let tried: BTreeMap<_, _> = said.lines().map(parse).collect();
        assert!(!tried.is_empty(), "nothing was tried");
        Self(tried)
    }

    pub(crate) fn worked(&self) -> impl Iterator<Item = &str> {
        let worked = self.0.iter().filter(|(_, result)| result.starts_with("worked"));
        worked.map(|(name, _)| name.as_str())
    }

    pub(crate) fn has_worked(&self) -> bool {
        self.worked().next().is_some()
    }

    #[track_caller]
    pub(crate) fn all_worked(&self) {
        assert_eq!(self.worked().count(), self.0.len(), "unconfined: {:?}", self.0);
    }

    #[track_caller]
    pub(crate) fn none_worked(&self) {
        assert!(!self.has_worked(), "inside: {:?}", self.0);
    }

    /// Whether this way was refused like this.
    #[track_caller]
    pub(crate) fn ended(&self, way: &str, result: &str) {
        assert_eq!(self.0.get(way).map(String::as_str), Some(result), "{:?}", self.0);
    }
}

/// Whether a file or directory is there, and not any more.
pub(crate) fn was_there(path: &Path) -> bool {
    let was = path.symlink_metadata().is_ok();
    if was {
        fs::remove_dir(path).or_else(|_| fs::remove_file(path)).unwrap();
    }
    was
}

/// Whether the tests run with user id 0.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
