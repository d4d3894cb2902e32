//! A workspace, a scratch root, and sets over them.

#![allow(dead_code, reason = "every test binary uses its own part")]

#[cfg(target_os = "linux")]
pub(crate) mod session;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ringfence::blocking::{Executor, ExecutorSet};
use ringfence::{Access, Host, Profile, ProfileConfig, Verdict};
use tempfile::TempDir;

/// Temporary directories of one test; they disappear with it.
pub(crate) struct Fixture {
    pub(crate) workspace: TempDir,
    pub(crate) scratch: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self {
            workspace: tempfile::tempdir().unwrap(),
            scratch: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.workspace.path().join(name)
    }

    /// The workspace writable, the host closed.
    pub(crate) fn config(&self) -> ProfileConfig {
        ProfileConfig {
            workspace: self.workspace.path().to_owned(),
            workspace_access: Verdict::READ_WRITE,
            command: Access::Allow,
            ..ProfileConfig::default()
        }
    }

    pub(crate) fn set_with(&self, config: &ProfileConfig) -> ExecutorSet {
        self.builder(config).build().unwrap().into()
    }

    /// A set of the backend as it is where names can only be kept by what occupies them.
    #[cfg(target_os = "linux")]
    pub(crate) fn set_without_broker(&self, config: &ProfileConfig) -> ExecutorSet {
        let backend = ringfence_linux::Linux::untried().without_broker();
        let builder = self.builder(config).backend(std::sync::Arc::new(backend));
        builder.build().unwrap().into()
    }

    fn builder(&self, config: &ProfileConfig) -> ringfence::ExecutorSetBuilder {
        ringfence::ExecutorSet::builder(Profile::new(config, &Host).unwrap())
            .scratch_root(self.scratch.path())
            .max_executors(8)
    }

    pub(crate) fn set(&self) -> ExecutorSet {
        self.set_with(&self.config())
    }

    pub(crate) fn scratch_entries(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.scratch.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }
}

/// Says on standard error that a test could not show anything here.
pub(crate) fn skip(test: &str, reason: &str) {
    use std::io::Write;
    // Not `eprintln`: the test harness would keep that to itself.
    // In one piece, as other tests write at the same time.
    let _ = std::io::stderr().write_all(format!("SKIP {test}: {reason}\n").as_bytes());
}

/// Runs shell text and returns what it wrote to both streams; it must succeed.
pub(crate) fn shell(executor: &Executor, directory: &Path, text: &str) -> String {
    let outcome = executor.run_command(directory, text).unwrap();
    let written = outcome.stdout.to_text();
    assert!(
        outcome.success(),
        "`{text}` ended {:?} and wrote: {written}",
        outcome.ended
    );
    written
}

/// Waits until the condition holds; fails after 10 seconds.
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < patience, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The workspace writable and the host closed, and everything open without confinement.
pub(crate) fn confined_or_not(fixture: &Fixture) -> [ProfileConfig; 2] {
    let unconfined = ProfileConfig::unconfined(fixture.workspace.path());
    [fixture.config(), unconfined]
}

/// A time to sleep for, in seconds, that nobody else sleeps for: whoever does can be told by it.
pub(crate) fn own_seconds() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("600.{}{count:03}", std::process::id())
}

/// The ids that processes with this argument have here, whatever namespace they are in.
pub(crate) fn processes_with(argument: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|is| is == argument.as_bytes())
    })
    .collect()
}

/// Shows that a file which grew does not do so any more.
pub(crate) fn stops_growing(file: &Path) {
    let size = || std::fs::metadata(file).unwrap().len();
    let before = size();
    assert_ne!(before, 0, "nobody ever wrote");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(before, size(), "somebody writes on");
}
