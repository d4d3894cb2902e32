//! One control group of a scope.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use super::{Limits, Place, Resource, ScopeError, Version, files, v1, v2};

/// The limit of the pids controller, under one name in both versions.
const PROCESSES_LIMIT: &str = "pids.max";
/// More than `kernel.pid_max` can be, and the most that the controller takes.
const MOST_PROCESSES: u64 = 4_194_304;

/// One control group; the directory exists.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) version: Version,
    pub(super) directory: PathBuf,
    /// What it counts and can limit.
    pub(super) resources: Vec<Resource>,
    /// The lowest limits of the groups that this process is in and this group is not.
    inherited: Inherited,
}

#[derive(Debug, Default)]
struct Inherited {
    memory: Option<u64>,
    swap: Option<u64>,
    processes: Option<u64>,
}

impl Group {
    /// Makes a group without limits; after an error there is none.
    pub(super) fn make(place: &Place, name: &str, wanted: &[Resource]) -> Result<Self, ScopeError> {
        if place.version() == Version::V2 {
            let mut controllers = wanted.iter().filter_map(|resource| v2::controller(*resource));
            controllers.try_for_each(|controller| v2::pass_on(place.directory(), controller))?;
        }
        let directory = place.directory().join(name);
        let made = DirBuilder::new().mode(0o700).create(&directory);
        made.map_err(|error| ScopeError::Create {
            directory: directory.clone(),
            errno: files::errno(&error),
        })?;
        if place.version() == Version::V1 {
            let adopted = v1::adopt_cpuset(&directory, place.directory());
            adopted.inspect_err(|_| drop(fs::remove_dir(&directory)))?;
        }
        let resources = match place.version() {
            Version::V1 => wanted.to_vec(),
            Version::V2 => v2::resources(&directory),
        };
        let lowest = |file| v2::lowest(place.between(), file);
        Ok(Self {
            version: place.version(),
            directory,
            resources,
            inherited: Inherited {
                memory: lowest(v2::MEMORY_LIMIT),
                swap: lowest(v2::SWAP_LIMIT),
                processes: lowest(PROCESSES_LIMIT),
            },
        })
    }

    pub(super) fn limit(&self, limits: &Limits) -> Result<(), ScopeError> {
        let inherited = &self.inherited;
        if self.resources.contains(&Resource::Memory) {
            let bytes = lower(limits.memory_bytes, inherited.memory);
            match self.version {
                Version::V1 => v1::limit_memory(&self.directory, bytes)?,
                Version::V2 => {
                    let swap = limits.memory_bytes.map_or(inherited.swap, |_| Some(0));
                    v2::limit_memory(&self.directory, bytes, swap)?;
                }
            }
        }
        if self.resources.contains(&Resource::Processes) {
            let processes = lower(limits.processes, inherited.processes);
            let processes = processes.map(|limit| limit.min(MOST_PROCESSES));
            files::limit(self.directory.join(PROCESSES_LIMIT), processes, "max")?;
        }
        Ok(())
    }

    /// Lets no process of the group make another; nothing to do when the group is gone.
    pub(super) fn refuse_processes(&self) -> Result<(), ScopeError> {
        files::write_if_there(&self.directory.join(PROCESSES_LIMIT), "0").map(drop)
    }

    /// The file that counts CPU time, open.
    pub(super) fn meter(&self) -> Result<File, ScopeError> {
        let file = self.directory.join(match self.version {
            Version::V1 => v1::CPU,
            Version::V2 => v2::CPU,
        });
        File::open(&file).map_err(|error| files::unreadable(&file, &error))
    }
}

fn lower(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}
