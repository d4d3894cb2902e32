//! Control files of version 1.

use std::path::Path;
use std::time::Duration;

use super::files::{self, Presence};
use super::{Resource, ScopeError};

/// Where CPU time is counted.
pub(super) const CPU: &str = "cpuacct.usage";
/// Memory and swap together; missing where the kernel does not count swap.
const MEMORY_AND_SWAP: &str = "memory.memsw.limit_in_bytes";
const OUT_OF_MEMORY: &str = "memory.oom_control";
const UNLIMITED: &str = "-1";

pub(super) const fn controller(resource: Resource) -> &'static str {
    match resource {
        Resource::Memory => "memory",
        Resource::Processes => "pids",
        Resource::CpuTime => "cpuacct",
    }
}

/// Gives a new group the processors and memory nodes of its parent, without which it takes no process.
///
/// Nothing to do unless the hierarchy has the cpuset controller besides.
pub(super) fn adopt_cpuset(group: &Path, parent: &Path) -> Result<(), ScopeError> {
    for name in ["cpuset.cpus", "cpuset.mems"] {
        let file = group.join(name);
        if file.exists() && files::read(&file)?.trim_end().is_empty() {
            files::write(&file, files::read(&parent.join(name))?.trim_end())?;
        }
    }
    Ok(())
}

/// Limits memory together with swap; at the limit a process is killed.
pub(super) fn limit_memory(group: &Path, bytes: Option<u64>) -> Result<(), ScopeError> {
    let both = group.join(MEMORY_AND_SWAP);
    // Never below the other limit, on the way either.
    let counted = files::write_if_there(&both, UNLIMITED)?;
    files::limit(group.join("memory.limit_in_bytes"), bytes, UNLIMITED)?;
    match (counted, bytes) {
        (Presence::There, Some(_)) => files::limit(both, bytes, UNLIMITED)?,
        // The next best: what is over the limit is not swapped out.
        (Presence::Absent, Some(_)) => {
            files::write_if_there(&group.join("memory.swappiness"), "0")?;
        }
        (_, None) => {}
    }
    // Inherited, and would stop the processes for good instead.
    let control = group.join(OUT_OF_MEMORY);
    match files::field(&control, "oom_kill_disable") {
        Some(1) => files::write(&control, "0"),
        _ => Ok(()),
    }
}

/// Highest use of memory in bytes.
pub(super) fn peak_memory(group: &Path) -> Option<u64> {
    files::number(&group.join("memory.max_usage_in_bytes"))
}

/// Processes that were killed since the group reached its limit, from Linux 4.13.
pub(super) fn memory_kills(group: &Path) -> Option<u64> {
    let killed = files::field(&group.join(OUT_OF_MEMORY), "oom_kill")?;
    // A shortage further up kills here too. `memory.failcnt` doesn't tell: Linux 6.18 leaves it at zero.
    let reached = [
        ("memory.max_usage_in_bytes", "memory.limit_in_bytes"),
        ("memory.memsw.max_usage_in_bytes", MEMORY_AND_SWAP),
    ]
    .iter()
    .any(|(highest, limit)| came_close(group, highest, limit).unwrap_or(false));
    Some(if reached { killed } else { 0 })
}

/// Whether the use of memory came as close to its limit as it does when the next page is refused.
fn came_close(group: &Path, highest: &str, limit: &str) -> Option<bool> {
    const CLOSE: u64 = 1024 * 1024;
    let (highest, limit) = (
        files::number(&group.join(highest))?,
        files::number(&group.join(limit))?,
    );
    Some(highest.saturating_add(CLOSE) >= limit)
}

pub(super) fn cpu_time(text: &str) -> Option<Duration> {
    text.trim_end().parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::Tree;

    #[test]
    fn a_new_group_gets_the_processors_of_its_parent() {
        let tree = Tree::new();
        for (file, text) in [
            ("cpuset.cpus", "0-3\n"),
            ("cpuset.mems", "0\n"),
            ("new/cpuset.cpus", "\n"),
            ("new/cpuset.mems", "1\n"),
        ] {
            fs::write(tree.file(file), text).unwrap();
        }
        adopt_cpuset(&tree.path("new"), &tree.root).unwrap();
        assert_eq!(fs::read_to_string(tree.path("new/cpuset.cpus")).unwrap(), "0-3");
        assert_eq!(fs::read_to_string(tree.path("new/cpuset.mems")).unwrap(), "1\n");
        adopt_cpuset(&tree.dir("without"), &tree.root).unwrap();
    }

    #[test]
    fn a_kill_far_below_the_limit_is_no_breach() {
        let tree = Tree::new();
        let file = |name: &str, text: &str| fs::write(tree.path(name), text).unwrap();
        file(OUT_OF_MEMORY, "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        file("memory.limit_in_bytes", "134217728\n");
        for (highest, kills) in [("4096\n", 0), ("134213632\n", 2)] {
            file("memory.max_usage_in_bytes", highest);
            assert_eq!(memory_kills(&tree.root), Some(kills), "{highest}");
        }
    }
}
