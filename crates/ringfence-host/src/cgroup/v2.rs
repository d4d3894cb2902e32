//! Control files of version 2.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::{self, Presence};
use super::{NoPlace, Resource, ScopeError};

/// Takes the process to be moved, and lists those in the group; version 1 has it under the same name.
pub(super) const PROCESSES: &str = "cgroup.procs";
/// Lists the controllers passed on to the group's children.
pub(super) const SUBTREE: &str = "cgroup.subtree_control";
/// Where CPU time is counted, with or without a controller.
pub(super) const CPU: &str = "cpu.stat";

/// In bytes.
pub(super) const MEMORY_LIMIT: &str = "memory.max";
/// In bytes, besides memory.
pub(super) const SWAP_LIMIT: &str = "memory.swap.max";

/// The controller that limits a resource; CPU time is counted without one.
pub(super) const fn controller(resource: Resource) -> Option<&'static str> {
    match resource {
        Resource::Memory => Some("memory"),
        Resource::Processes => Some("pids"),
        Resource::CpuTime => None,
    }
}

pub(super) fn has(group: &Path, controller: &str) -> bool {
    files::lists(&group.join("cgroup.controllers"), controller)
}

pub(super) fn passes_on(group: &Path, controller: &str) -> bool {
    files::lists(&group.join(SUBTREE), controller)
}

pub(super) fn pass_on(group: &Path, controller: &str) -> Result<(), ScopeError> {
    if passes_on(group, controller) {
        return Ok(());
    }
    files::write(&group.join(SUBTREE), &format!("+{controller}"))
}

/// Refuses threaded groups, whose children have neither memory nor processes of their own.
pub(super) fn require_domain(group: &Path) -> Result<(), NoPlace> {
    // The root has no type.
    match fs::read_to_string(group.join("cgroup.type")) {
        Ok(kind) if kind.trim_end() != "domain" => Err(NoPlace::Threaded {
            directory: group.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Refuses groups with processes, which can't pass controllers on.
pub(super) fn require_unoccupied(group: &Path) -> Result<(), NoPlace> {
    // The root may do both.
    let root = !group.join("cgroup.type").exists();
    let empty = || fs::read(group.join(PROCESSES)).is_ok_and(|processes| processes.is_empty());
    if root || empty() {
        return Ok(());
    }
    Err(NoPlace::Occupied {
        directory: group.to_owned(),
    })
}

/// Limits memory together with swap; at the limit the whole tree is killed.
///
/// `swap` is the swap that may be used besides; `None` is no limit.
pub(super) fn limit_memory(group: &Path, bytes: Option<u64>, swap: Option<u64>) -> Result<(), ScopeError> {
    files::limit(group.join(MEMORY_LIMIT), bytes, "max")?;
    // The file is missing where the kernel does not count swap.
    let swap = swap.map_or_else(|| "max".to_owned(), |bytes| bytes.to_string());
    files::write_if_there(&group.join(SWAP_LIMIT), &swap)?;
    let whole_tree = if bytes.is_some() { "1" } else { "0" };
    files::write_if_there(&group.join("memory.oom.group"), whole_tree).map(drop)
}

/// The lowest limit that holds in some groups.
pub(super) fn lowest(groups: &[PathBuf], file: &str) -> Option<u64> {
    let limit = |group: &PathBuf| fs::read_to_string(group.join(file)).ok()?.trim_end().parse().ok();
    groups.iter().filter_map(limit).min()
}

/// What a group counts and can limit.
pub(super) fn resources(group: &Path) -> Vec<Resource> {
    let counted = |resource: &Resource| controller(*resource).is_none_or(|name| has(group, name));
    Resource::ALL.into_iter().filter(counted).collect()
}

/// Highest use of memory in bytes, from Linux 5.19.
pub(super) fn peak_memory(group: &Path) -> Option<u64> {
    files::number(&group.join("memory.peak"))
}

/// Processes that were killed since the group reached its limit.
pub(super) fn memory_kills(group: &Path) -> Option<u64> {
    let events = fs::read_to_string(group.join("memory.events")).ok()?;
    // A shortage further up kills here too, but only the group whose limit was reached counts an `oom`.
    match files::field_of(&events, "oom")? {
        0 => Some(0),
        _ => files::field_of(&events, "oom_kill"),
    }
}

pub(super) fn cpu_time(text: &str) -> Option<Duration> {
    files::field_of(text, "usage_usec").map(Duration::from_micros)
}

/// Kills every process of the group and of those below it; says whether the kernel has the file, from Linux 5.14.
pub(super) fn kill(group: &Path) -> Result<Presence, ScopeError> {
    files::write_if_there(&group.join("cgroup.kill"), "1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn the_lowest_limit_of_several_groups_counts() {
        let tree = Tree::new();
        let groups = ["a", "b", "c", "d"].map(|name| tree.dir(name));
        for (group, limit) in groups.iter().zip(["max\n", "300\n", "200\n"]) {
            fs::write(group.join(MEMORY_LIMIT), limit).unwrap();
        }
        assert_eq!(lowest(&groups, MEMORY_LIMIT), Some(200));
        assert_eq!(lowest(&groups[..1], MEMORY_LIMIT), None);
        assert_eq!(lowest(&[], MEMORY_LIMIT), None);
    }

    #[test]
    fn a_kill_that_a_shortage_farther_up_caused_is_no_breach() {
        let tree = Tree::new();
        for (events, kills) in [
            ("max 0\noom 0\noom_kill 2\n", Some(0)),
            ("max 9\noom 1\noom_kill 2\n", Some(2)),
            ("max 9\n", None),
        ] {
            fs::write(tree.path("memory.events"), events).unwrap();
            assert_eq!(memory_kills(&tree.root), kills, "{events}");
        }
    }
}
