//! The directories that several sets, and several hosts, have in common.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use ringfence::blocking::ExecutorSet;
use ringfence::{Access, Host, Profile, ProfileConfig, Verdict};
use tempfile::TempDir;

const VARIABLE: &str = "RINGFENCE_SOAK_GROUND";

pub(crate) struct Ground {
    pub(crate) workspace: PathBuf,
    scratch: PathBuf,
    homes: PathBuf,
    /// Removed by whoever made it.
    _owned: Option<TempDir>,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let owned = tempfile::tempdir().unwrap();
        let ground = Self::at(&owned.path().canonicalize().unwrap());
        for directory in [&ground.workspace, &ground.scratch, &ground.homes] {
            fs::create_dir(directory).unwrap();
        }
        Self {
            _owned: Some(owned),
            ..ground
        }
    }

    /// That of the process that started this one.
    pub(crate) fn given() -> Option<Self> {
        env::var_os(VARIABLE).map(|directory| Self::at(Path::new(&directory)))
    }

    pub(crate) fn give_to<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env(VARIABLE, self.directory())
    }

    fn at(directory: &Path) -> Self {
        Self {
            workspace: directory.join("workspace"),
            scratch: directory.join("scratch"),
            homes: directory.join("homes"),
            _owned: None,
        }
    }

    /// The one that everything is in.
    pub(crate) fn directory(&self) -> &Path {
        self.workspace.parent().unwrap()
    }

    pub(crate) fn config(&self) -> ProfileConfig {
        ProfileConfig {
            workspace: self.workspace.clone(),
            workspace_access: Verdict::READ_WRITE,
            command: Access::Allow,
            ..ProfileConfig::default()
        }
    }

    /// Its homes are kept.
    pub(crate) fn set(&self, config: &ProfileConfig) -> ExecutorSet {
        let profile = Profile::new(config, &Host).unwrap();
        let builder = ringfence::ExecutorSet::builder(profile)
            .scratch_root(&self.scratch)
            .keep_homes(&self.homes);
        builder.max_executors(8).build().unwrap().into()
    }

    /// What is in the workspace, in the scratch root and beside the homes.
    pub(crate) fn names(&self) -> BTreeSet<PathBuf> {
        let places = [&self.workspace, &self.scratch, &self.homes];
        let entries = places.map(|place| fs::read_dir(place).unwrap());
        entries
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect()
    }
}
