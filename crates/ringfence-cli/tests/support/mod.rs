//! What the tests of the command have in common: a place to run it in, and what it answered.
//!
//! Every run that a [`Place`] waits for also proves that nothing is left in the scratch root.

#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(clippy::expect_used, reason = "a test that can't go on fails")]

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) const RINGFENCE: &str = env!("CARGO_BIN_EXE_ringfence");

/// Whether every one of these commands succeeds here; a visible skip of the test if one doesn't.
pub(crate) fn installed(test: &str, commands: &[&[&str]]) -> bool {
    let runs = |command: &&[&str]| {
        let mut probe = Command::new(command[0]);
        probe.args(&command[1..]).stdin(Stdio::null());
        probe.stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    };
    let all = commands.iter().all(runs);
    if !all {
        skip(test, "not installed");
    }
    all
}

/// Says visibly that a test can show nothing here.
pub(crate) fn skip(test: &str, reason: &str) {
    // Not by `eprintln!`, which the test harness hides for tests that pass.
    // In one piece, as other tests write at the same time.
    let line = format!("SKIP {test}: {reason}\n");
    std::io::stderr()
        .write_all(line.as_bytes())
        .expect("standard error");
}

/// Compares a text with the one in `tests/snapshots`; where `UPDATE_SNAPSHOTS` is set, writes it there instead.
#[track_caller]
pub(crate) fn assert_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/snapshots")
        .join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, text).expect("a snapshot");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let at = expected
        .lines()
        .zip(text.lines())
        .position(|(expected, line)| expected != line);
    assert!(
        expected == text,
        "{name} differs from line {:?} on; UPDATE_SNAPSHOTS=1 takes over what there is now:\n{text}",
        at.map(|line| line + 1)
    );
}

/// A workspace, and a scratch root of its own (`TMPDIR`).
#[derive(Debug)]
pub(crate) struct Place {
    workspace: TempDir,
    scratch: TempDir,
}

/// What one run answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = || tempfile::tempdir().expect("a temporary directory");
        Self {
            workspace: directory(),
            scratch: directory(),
        }
    }

    pub(crate) fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// A file of the workspace.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.workspace().join(name)
    }

    /// What git takes for a repository in a directory that commands can move.
    pub(crate) fn movable_repository(&self, name: &str) {
        for directory in ["objects", "refs"] {
            let directory = self.file(&format!("{name}/.git/{directory}"));
            fs::create_dir_all(directory).expect("directories");
        }
        self.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
    }

    /// Writes a file of the workspace, and makes the directories it is in.
    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.file(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
        fs::write(path, content).expect("a file");
    }

    /// The command `ringfence` with these arguments, in the workspace, without input.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.unconfined(RINGFENCE);
        command.args(arguments);
        command
    }

    /// Another program in the same surroundings.
    pub(crate) fn unconfined(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.workspace())
            .env("TMPDIR", self.scratch.path())
            .env("PWD", self.workspace())
            // The width of help texts.
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs `ringfence` with these arguments to its end.
    pub(crate) fn ringfence<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Done {
        self.finish(self.command(arguments).spawn().expect("ringfence starts"))
    }

    /// The same, with variables of the caller's.
    pub(crate) fn ringfence_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Done {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        self.finish(command.spawn().expect("ringfence starts"))
    }

    /// Runs a script confined, by `sh -c`, after these options.
    pub(crate) fn sh(&self, options: &[&str], script: &str) -> Done {
        self.ringfence([&["run"], options, &["--", "sh", "-c", script]].concat())
    }

    /// A text with the names of its own directories taken out.
    pub(crate) fn anonymous(&self, text: &str) -> String {
        let name = |path: &Path| path.to_str().expect("a name").to_owned();
        text.replace(&name(self.workspace()), "[workspace]")
            .replace(&name(self.scratch.path()), "[scratch]")
    }

    /// Waits for a started `ringfence`.
    pub(crate) fn finish(&self, child: Child) -> Done {
        let Output {
            status,
            stdout,
            stderr,
        } = child.wait_with_output().expect("ringfence ends");
        let done = Done {
            status: status
                .code()
                .unwrap_or_else(|| -status.signal().expect("an ending")),
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        };
        let left = self.leftovers();
        assert!(left.is_empty(), "{left:?} is left after {done:?}");
        done
    }

    /// How many executors there are, or are being made.
    pub(crate) fn executors(&self) -> usize {
        let inside = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
        // Beside its executors' directories, which have numbers for names, a set keeps files.
        let is_executor = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().parse::<u32>().is_ok();
        let of_users = self.leftovers().into_iter();
        let sets = of_users.flat_map(inside).map(|set| set.path());
        sets.flat_map(inside).filter(is_executor).count()
    }

    /// Everything in the scratch root.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.scratch.path()).expect("a readable directory");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }
}

impl Done {
    /// Panics with everything that was said unless the command succeeded.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.status, 0, "{self:#?}");
        self
    }
}
