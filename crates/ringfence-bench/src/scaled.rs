//! Executors of many rules, and of a workspace with many files.

use std::fs::File;
use std::path::Path;

use ringfence::blocking::{Executor, ExecutorSet};
use ringfence::{Access, Guard, Host, Profile, ProfileConfig, Root, Verdict};
use tempfile::TempDir;

use crate::candidates::Failure;

/// An executor with the set it belongs to, and what its profile is about.
pub(crate) struct Scaled {
    pub(crate) set: ExecutorSet,
    pub(crate) executor: Executor,
    _directories: [TempDir; 2],
}

type Make = fn() -> Result<Scaled, Failure>;

/// By their names.
pub(crate) const ALL: [(&str, Make); 5] = [
    ("rules_10", || rules(10)),
    ("rules_100", || rules(100)),
    ("rules_1000", || rules(1_000)),
    ("rules_5000", || rules(5_000)),
    ("files_200000", || files(200_000)),
];

impl Scaled {
    pub(crate) fn new(config: &ProfileConfig) -> Result<Self, Failure> {
        Self::keeping(config, tempfile::tempdir()?)
    }

    fn keeping(config: &ProfileConfig, places: TempDir) -> Result<Self, Failure> {
        let scratch = tempfile::tempdir()?;
        let profile = Profile::new(config, &Host)?;
        let builder = ringfence::ExecutorSet::builder(profile).scratch_root(scratch.path());
        let set: ExecutorSet = builder.max_executors(usize::MAX).build()?.into();
        Ok(Self {
            executor: set.executor("warm")?,
            set,
            _directories: [scratch, places],
        })
    }
}

/// What most users have: a workspace to write in, and the presets.
pub(crate) fn usual(workspace: &Path) -> ProfileConfig {
    ProfileConfig {
        workspace: workspace.to_owned(),
        workspace_access: Verdict::READ_WRITE,
        command: Access::Allow,
        ..ProfileConfig::default()
    }
}

/// A root and a secret in each of many directories.
pub(crate) fn with_rules(workspace: &Path, rules: usize) -> Result<ProfileConfig, Failure> {
    let mut config = usual(workspace);
    for number in 0..rules / 2 {
        let directory = workspace.join(format!("{}/{number}", number % 50));
        std::fs::create_dir_all(&directory)?;
        config.guards.push(Guard::secret(directory.join("secret")));
        config.roots.push(Root::directory(directory, Verdict::READ_ONLY));
    }
    Ok(config)
}

fn rules(count: usize) -> Result<Scaled, Failure> {
    let places = tempfile::tempdir()?;
    let config = with_rules(places.path(), count)?;
    Scaled::keeping(&config, places)
}

/// A workspace with so many files, 1,000 in each directory.
fn files(count: usize) -> Result<Scaled, Failure> {
    const EACH: usize = 1_000;
    let places = tempfile::tempdir()?;
    for directory in 0..count / EACH {
        let directory = places.path().join(directory.to_string());
        std::fs::create_dir(&directory)?;
        for file in 0..EACH {
            File::create(directory.join(file.to_string()))?;
        }
    }
    Scaled::keeping(&usual(places.path()), places)
}
