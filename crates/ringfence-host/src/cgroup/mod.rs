//! Control groups: limits that hold for a whole tree of processes.
//!
//! [`Cgroups::find`] tells where this process may make groups, [`Cgroups::scope`] makes those of one command.
//! Both versions are used, each resource from the one that has its controller. No daemon is asked, and nothing
//! is tried that the caller has no right to.
//!
//! # Where groups are made
//! * Version 2: in the nearest group, from this process's own one upwards, where the caller may write and that
//!   passes the controller on to its children or can be made to. A group other than the root that holds
//!   processes can't pass a controller on, so this process's own group usually can't. This process is never moved.
//! * Version 1: in this process's own group of the controller's hierarchy.
//!
//! # What is not promised
//! * The place is as good as its owner leaves it: whoever may write there can move processes out of a scope.
//!   The command must not see a writable control-group file system.
//! * A scope above this process's own group takes over the lowest memory and process limits of the groups in
//!   between. Their other limits, such as `cpu.max`, don't reach it.
//! * CPU time has no limit in the kernel. [`Scope::cpu_time_used`] is to be polled.
//! * Moving a process costs the kernel a grace period, usually 5 to 20 ms, before the process goes on; further moves
//!   right after it cost less than a millisecond. A process that waits for its command can be moved beforehand,
//!   under [limits](Scope::limit) that follow.
//!
//! Source: cgroups(7), and cgroup-v2.rst, cgroup-v1/memory.rst, cgroup-v1/pids.rst, cgroup-v1/cpuacct.rst below
//! Documentation/admin-guide of the kernel.

mod discover;
mod error;
mod files;
mod group;
mod kill;
mod names;
mod place;
mod scope;
mod tables;
mod v1;
mod v2;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use discover::System;
pub use error::ScopeError;
pub use place::{NoPlace, Place, Version};
pub use scope::{Breaches, Scope, Usage};

/// Something a tree of processes may be given a limited amount of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Memory, swap included where the kernel counts it.
    Memory,
    /// Processes and threads.
    Processes,
    /// CPU time.
    CpuTime,
}

impl Resource {
    /// Every resource.
    pub const ALL: [Self; 3] = [Self::Memory, Self::Processes, Self::CpuTime];
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::CpuTime => "CPU time",
        })
    }
}

/// Limits of one tree; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Memory in bytes, rounded down to pages. Swap doesn't extend it, unless the kernel doesn't count swap.
    pub memory_bytes: Option<u64>,
    /// Tasks: each thread counts, and each zombie until it is reaped. Whatever else is put into the scope
    /// counts too: a command in a pid namespace of its own needs one more, for the namespace's process 1.
    pub processes: Option<u64>,
    /// CPU time, user and system, of all processors together.
    pub cpu_time: Option<Duration>,
}

impl Limits {
    /// The limited resources.
    fn resources(&self) -> Vec<Resource> {
        let limited = |resource: &Resource| match resource {
            Resource::Memory => self.memory_bytes.is_some(),
            Resource::Processes => self.processes.is_some(),
            Resource::CpuTime => self.cpu_time.is_some(),
        };
        Resource::ALL.into_iter().filter(limited).collect()
    }
}

/// Where this process may make control groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroups {
    memory: Result<Place, NoPlace>,
    processes: Result<Place, NoPlace>,
    cpu_time: Result<Place, NoPlace>,
    /// Processors that can use up CPU time at once.
    cpus: u32,
}

impl Cgroups {
    /// Looks for places, by names and permissions alone: nothing is changed.
    ///
    /// That a scope can be made there is shown only by making one. The answer holds while this process stays in
    /// its groups and what is mounted stays.
    #[must_use]
    pub fn find() -> Self {
        Self::find_in(&System {
            root: Path::new("/"),
            may_write: &files::may_write,
        })
    }

    fn find_in(system: &System<'_>) -> Self {
        let found = discover::find(system);
        let [memory, processes, cpu_time] = Resource::ALL.map(|resource| found.place(resource));
        Self {
            memory,
            processes,
            cpu_time,
            cpus: discover::cpus(system),
        }
    }

    /// Where a resource can be limited.
    ///
    /// # Errors
    /// Why nowhere; of several reasons the one closest to success.
    pub const fn place(&self, resource: Resource) -> Result<&Place, &NoPlace> {
        match resource {
            Resource::Memory => self.memory.as_ref(),
            Resource::Processes => self.processes.as_ref(),
            Resource::CpuTime => self.cpu_time.as_ref(),
        }
    }

    /// Makes the control groups of one command and sets their limits.
    ///
    /// Only groups that the limits need are made: one for version 2, one for each hierarchy of version 1. With
    /// version 1 alone there is one for the pids controller too if possible, which killing takes. Without any
    /// limit the scope counts CPU time. Controllers that the place doesn't pass on yet are switched
    /// on for it and stay on. Groups are named `ringfence-…` after this process and a number.
    ///
    /// # Errors
    /// A limit has no mechanism here, or the kernel refused a step; no group is left in that case.
    pub fn scope(&self, limits: &Limits) -> Result<Scope, ScopeError> {
        let mut resources = limits.resources();
        if resources.is_empty() {
            resources.push(Resource::CpuTime);
        }
        let mut places = self.places(&resources)?;
        let killed_by_kernel = places.iter().any(|(place, _)| place.version() == Version::V2);
        if !killed_by_kernel && self.processes.is_ok() && !resources.contains(&Resource::Processes) {
            // Who can't make processes can be killed for certain.
            resources.push(Resource::Processes);
            places = self.places(&resources)?;
        }
        // Whoever got only as far as the first group must be within reach of what kills best.
        places.sort_by_key(|(place, _)| match place.version() {
            Version::V2 => 0,
            Version::V1 => 1,
        });
        Scope::make(&places, limits, self.cpus)
    }

    /// Places that cover the resources, each for one group.
    fn places(&self, resources: &[Resource]) -> Result<Vec<(&Place, Vec<Resource>)>, ScopeError> {
        let mut places: Vec<(&Place, Vec<Resource>)> = Vec::new();
        for resource in resources {
            let place = self.place(*resource).map_err(|reason| ScopeError::NoPlace {
                resource: *resource,
                reason: reason.clone(),
            })?;
            match places
                .iter_mut()
                .find(|(other, _)| other.shares_group_with(place))
            {
                // What a group passes on, every group above it passes on too.
                Some((other, resources)) => {
                    *other = other.higher(place);
                    resources.push(*resource);
                }
                None => places.push((place, vec![*resource])),
            }
        }
        Ok(places)
    }

    /// Removes empty groups that processes of this pid namespace left behind when they died, and says how many.
    ///
    /// A group with processes in it stays, and so does one of another pid namespace, whose owner can't be seen.
    pub fn sweep(&self) -> usize {
        let places = [&self.memory, &self.processes, &self.cpu_time];
        let directories = places.into_iter().flatten().map(Place::directory);
        directories.map(names::sweep).sum()
    }
}

#[cfg(test)]
mod attack;
#[cfg(test)]
#[path = "discover_tests.rs"]
mod discover_tests;
#[cfg(test)]
#[path = "limits_tests.rs"]
mod limits_tests;
#[cfg(test)]
#[path = "scope_tests.rs"]
mod scope_tests;
