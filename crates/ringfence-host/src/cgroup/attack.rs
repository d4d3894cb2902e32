//! Commands in real control groups of this host.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::{Cgroups, Limits, Scope, ScopeError, files};
use crate::testing::skip;

pub(super) const MIB: u64 = 1024 * 1024;
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A shell in a scope.
pub(super) struct Attack {
    pub(super) child: Child,
    pub(super) scope: Scope,
    pub(super) directories: Vec<PathBuf>,
}

impl Attack {
    /// A shell that is in the scope and waits.
    pub(super) fn new(scope: Scope, script: &str) -> Self {
        let mut child = Command::new("/bin/sh")
            .args(["-c", &format!("read go; {script}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        scope.add(pid(&child)).unwrap_or_else(|error| {
            child.kill().unwrap();
            panic!("{error}")
        });
        let directories = scope.directories().map(PathBuf::from).collect();
        Self {
            child,
            scope,
            directories,
        }
    }

    /// Lets it begin.
    pub(super) fn go(&mut self) {
        self.child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }

    pub(super) fn begin(scope: Scope, script: &str) -> Self {
        let mut attack = Self::new(scope, script);
        attack.go();
        attack
    }

    /// Reads the lines that the command and its children write, until they are gone or there are `most`.
    pub(super) fn lines(&mut self, most: usize) -> usize {
        let output = BufReader::new(self.child.stdout.take().unwrap());
        output.lines().take(most).count()
    }

    /// Memory in use now.
    pub(super) fn memory(&self) -> u64 {
        let files = ["memory.current", "memory.usage_in_bytes"];
        let numbers = self
            .directories
            .iter()
            .flat_map(|group| files.map(|file| files::number(&group.join(file))));
        numbers.flatten().max().unwrap()
    }

    /// Looks again and again until it is done.
    pub(super) fn until(&self, what: &str, mut done: impl FnMut(&Scope) -> bool) {
        let began = Instant::now();
        while !done(&self.scope) {
            let (usage, breaches) = (self.scope.usage(), self.scope.breaches());
            assert!(began.elapsed() < PATIENCE, "{what}: {usage:?} {breaches:?}");
            sleep(Duration::from_millis(5));
        }
    }

    /// Again while the machine is too busy to let them die in time.
    pub(super) fn kill(&self) {
        let began = Instant::now();
        while let Err(error) = self.scope.kill() {
            assert!(matches!(error, ScopeError::Alive { .. }), "{error}");
            assert!(began.elapsed() < PATIENCE, "{error}");
        }
    }

    /// Kills and removes whatever is left; nothing may stay.
    pub(super) fn end(mut self) -> ExitStatus {
        self.kill();
        let began = Instant::now();
        while let Err(error) = self.scope.remove() {
            assert!(began.elapsed() < PATIENCE, "{error}");
            sleep(Duration::from_millis(1));
        }
        assert!(!self.directories.is_empty());
        assert!(self.directories.iter().all(|directory| !directory.exists()));
        self.child.wait().unwrap()
    }
}

pub(super) fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// A scope with these limits; `None`, said aloud, where nothing was delegated.
pub(super) fn scope(limits: &Limits) -> Option<Scope> {
    match Cgroups::find().scope(limits) {
        Ok(scope) => Some(scope),
        Err(ScopeError::NoPlace { resource, .. }) => {
            skip(&format!("no control group for {resource} can be made here"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn processes(limit: u64) -> Limits {
    Limits {
        processes: Some(limit),
        ..Limits::default()
    }
}

pub(super) fn memory(bytes: u64) -> Limits {
    Limits {
        memory_bytes: Some(bytes),
        ..Limits::default()
    }
}
