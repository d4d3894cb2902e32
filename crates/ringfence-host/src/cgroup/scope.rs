//! The control groups of one command.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::Pid;

use super::files::{self, Presence};
use super::group::Group;
use super::{Limits, Place, Resource, ScopeError, Version, kill, names, v1, v2};

/// The control groups of one command, with their limits.
///
/// Dropping it kills whatever is in the groups and removes them, which blocks for up to a second when processes
/// are slow to die; what can't be removed even then is left to [`Cgroups::sweep`](super::Cgroups::sweep) of a
/// later process. [`Scope::remove`] does not block.
#[derive(Debug)]
pub struct Scope {
    groups: Vec<Group>,
    limits: Limits,
    /// The file that counts CPU time.
    meter: Option<(Version, File)>,
    cpus: u32,
}

/// What a tree has used so far; `None` where the kernel doesn't count it or no group of the scope does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Highest use of memory, in bytes. Memory that a process had before it was added is not in it.
    pub peak_memory_bytes: Option<u64>,
    /// Highest number of tasks at once; from Linux 6.1.
    pub peak_processes: Option<u64>,
    /// CPU time, user and system, of all processes that are or were in the scope, from when they were added.
    pub cpu_time: Option<Duration>,
}

/// Which limits were reached; `None` where the kernel doesn't count it or the scope has no such limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breaches {
    /// Processes killed by the kernel because the tree had reached its memory limit.
    ///
    /// Version 2 kills the whole tree at once. Version 1 kills one process: whoever promised that a breach ends
    /// the tree must look from time to time, and [kill](Scope::kill) the rest.
    pub memory_kills: Option<u64>,
    /// How often a new process or thread was refused with `EAGAIN` because there were too many. With version 1,
    /// and before Linux 6.11, refusals by a limit farther up count here too.
    pub refused_processes: Option<u64>,
    /// By how much the CPU time is used up; zero when it is just used up, `None` while it is not.
    pub cpu_time_over: Option<Duration>,
}

impl Scope {
    /// Moves a process with all its threads into the scope; its later children are born there.
    ///
    /// Children that it has already stay where they are, so this comes before the program is executed. Takes
    /// 5 to 20 ms the first time in a while, less than a millisecond for processes moved right after another.
    ///
    /// # Errors
    /// `ESRCH` when the process is dead. After an error it may be in some of the groups: kill it.
    pub fn add(&self, process: Pid) -> Result<(), ScopeError> {
        let number = process.to_string();
        self.groups
            .iter()
            .try_for_each(|group| files::write(&group.directory.join(v2::PROCESSES), &number))
    }

    /// Replaces the limits, also of processes that are in the scope already.
    ///
    /// A limit that is now `None` ends. Version 1 refuses a memory limit that it can't reach by reclaiming
    /// memory; version 2 kills.
    ///
    /// # Errors
    /// The scope was made without a limit of a resource, or the kernel refused a step; then some limits may be
    /// the old ones.
    pub fn limit(&mut self, limits: &Limits) -> Result<(), ScopeError> {
        if let Some(resource) = limits
            .resources()
            .into_iter()
            .find(|resource| self.group(*resource).is_none())
        {
            return Err(ScopeError::NotCovered { resource });
        }
        self.groups.iter().try_for_each(|group| group.limit(limits))?;
        self.limits = *limits;
        Ok(())
    }

    /// Kills every process in the scope.
    ///
    /// With version 2 on Linux 5.14 and later they may still be dying afterwards. Otherwise new processes are
    /// refused from now on, and the call blocks until all are dead, for up to two seconds. Where the pids
    /// controller can't be had besides, a command that forks fast enough can outlive that.
    ///
    /// # Errors
    /// The kernel refused it, or some processes did not die in time.
    pub fn kill(&self) -> Result<(), ScopeError> {
        self.kill_within(Duration::from_secs(2))
    }

    /// CPU time that the tree has used so far; one read of a small file.
    ///
    /// # Errors
    /// The scope doesn't count it, or somebody removed the group. A limit can't be kept any more then.
    pub fn cpu_time_used(&self) -> io::Result<Duration> {
        let Some((version, file)) = &self.meter else {
            return Err(Errno::NODATA.into());
        };
        // The number is in the first lines.
        let mut text = [0; 256];
        let length = file.read_at(&mut text, 0)?;
        let text = String::from_utf8_lossy(&text[..length]);
        let counted = match version {
            Version::V1 => v1::cpu_time(&text),
            Version::V2 => v2::cpu_time(&text),
        };
        counted.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// When to look again at the CPU time, if `used` is what has been used; `None` without a limit.
    ///
    /// Zero when it is used up. Otherwise the earliest moment when all processors together can have used it up,
    /// but at least 10 ms: a tree can overrun its limit by that much on each processor.
    #[must_use]
    pub fn next_look(&self, used: Duration) -> Option<Duration> {
        const SHORTEST: Duration = Duration::from_millis(10);
        let left = self.limits.cpu_time?.saturating_sub(used);
        Some(match left {
            Duration::ZERO => Duration::ZERO,
            left => SHORTEST.max(left / self.cpus),
        })
    }

    /// The directories of the groups.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.groups.iter().map(|group| group.directory.as_path())
    }

    /// What the tree has used so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let processes = self.group(Resource::Processes);
        Usage {
            peak_memory_bytes: self.memory(v1::peak_memory, v2::peak_memory),
            peak_processes: processes.and_then(|group| files::number(&group.directory.join("pids.peak"))),
            cpu_time: self.cpu_time_used().ok(),
        }
    }

    /// Which limits were reached so far.
    #[must_use]
    pub fn breaches(&self) -> Breaches {
        let processes = self.group(Resource::Processes);
        let used = self.cpu_time_used().ok();
        Breaches {
            memory_kills: self.memory(v1::memory_kills, v2::memory_kills),
            refused_processes: processes
                .and_then(|group| files::field(&group.directory.join("pids.events"), "max")),
            cpu_time_over: self.limits.cpu_time.and_then(|limit| used?.checked_sub(limit)),
        }
    }

    /// Removes the groups, if nobody is in them any more. One attempt, which may be repeated.
    ///
    /// Success proves that every process of the scope is dead, zombies aside. The counters are gone then, and no
    /// process can be added.
    ///
    /// # Errors
    /// `EBUSY` while there are processes.
    pub fn remove(&self) -> io::Result<()> {
        // What was removed before is not there, and takes no process either.
        self.groups
            .iter()
            .rev()
            .try_for_each(|group| match fs::remove_dir(&group.directory) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            })
    }

    pub(super) fn make(
        places: &[(&Place, Vec<Resource>)],
        limits: &Limits,
        cpus: u32,
    ) -> Result<Self, ScopeError> {
        let name = names::new()?;
        let mut scope = Self {
            groups: Vec::new(),
            limits: Limits::default(),
            meter: None,
            cpus,
        };
        // What is made so far goes with the scope when a step fails.
        for (place, resources) in places {
            scope.groups.push(Group::make(place, &name, resources)?);
        }
        if let Some(group) = scope.group(Resource::CpuTime) {
            scope.meter = Some((group.version, group.meter()?));
        }
        scope.limit(limits)?;
        Ok(scope)
    }

    fn kill_within(&self, patience: Duration) -> Result<(), ScopeError> {
        let unified = self.groups.iter().find(|group| group.version == Version::V2);
        if let Some(group) = unified
            && v2::kill(&group.directory)? == Presence::There
        {
            return Ok(());
        }
        let Some(group) = unified.or(self.groups.first()) else {
            return Ok(());
        };
        if let Some(group) = self.group(Resource::Processes) {
            group.refuse_processes()?;
        }
        kill::one_by_one(&group.directory, patience)
    }

    fn group(&self, resource: Resource) -> Option<&Group> {
        self.groups
            .iter()
            .find(|group| group.resources.contains(&resource))
    }

    fn memory(&self, v1: fn(&Path) -> Option<u64>, v2: fn(&Path) -> Option<u64>) -> Option<u64> {
        let group = self.group(Resource::Memory)?;
        match group.version {
            Version::V1 => v1(&group.directory),
            Version::V2 => v2(&group.directory),
        }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(1);
        const LONGEST_PAUSE: Duration = Duration::from_millis(20);
        let began = Instant::now();
        let mut pause = Duration::from_micros(500);
        while self.remove().is_err() {
            let Some(left) = PATIENCE.checked_sub(began.elapsed()) else {
                return;
            };
            // Again each time: a process may just have been added.
            let _ = self.kill_within(left);
            thread::sleep(pause);
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }
}
