//! Names of our groups, which say whose they are.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{ScopeError, files};
use crate::Owner;

const PREFIX: &str = "ringfence";

/// A name that no other group has or had: `ringfence-NAMESPACE-PID-START-NUMBER`.
pub(super) fn new() -> Result<String, ScopeError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let owner = Owner::this_process().map_err(|error| files::unreadable(Path::new("/proc/self"), &error))?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Ok(format!("{PREFIX}-{owner}-{number}"))
}

/// Removes the empty groups in a directory whose owners are dead, and says how many.
pub(super) fn sweep(directory: &Path) -> usize {
    let Ok(entries) = fs::read_dir(directory) else {
        return 0;
    };
    let abandoned = entries.flatten().filter(|entry| {
        let owner = entry.file_name().to_str().and_then(owner);
        owner.is_some_and(Owner::is_dead)
    });
    abandoned
        .filter(|entry| fs::remove_dir(entry.path()).is_ok())
        .count()
}

/// The owner in the name of a group.
fn owner(name: &str) -> Option<Owner> {
    let (owner, number) = name.strip_prefix(PREFIX)?.strip_prefix('-')?.rsplit_once('-')?;
    number.parse::<u64>().ok()?;
    Owner::parse(owner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use std::process::Command;

    #[test]
    fn names_are_never_used_twice_and_say_whose_they_are() {
        let (first, second) = (new().unwrap(), new().unwrap());
        assert_ne!(first, second);
        let ours = Owner::this_process().unwrap();
        assert_eq!(owner(&first), Some(ours));
        assert!(!ours.is_dead());
        for strange in [
            "",
            "ringfence",
            "ringfence-1-2-3",
            "ringfence-1-2-3-4-5",
            "ringfence-1-2-3-x",
            "x-1-2-3-4",
        ] {
            assert_eq!(owner(strange), None, "{strange}");
        }
    }

    #[test]
    fn lif_19_only_empty_groups_of_dead_processes_are_swept() {
        let tree = Tree::new();
        let ours = Owner::this_process().unwrap();
        let mut child = Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let (namespace, pid, start) = (ours.namespace, ours.pid, ours.start);
        let other = namespace + 1;
        let gone = [
            format!("ringfence-{namespace}-{dead}-1-0"),
            format!("ringfence-{namespace}-{pid}-{}-0", start + 1),
        ];
        let kept = [
            format!("ringfence-{namespace}-{pid}-{start}-0"),
            format!("ringfence-{other}-{dead}-1-0"),
            format!("ringfence-{namespace}-{dead}-1-1"),
            "ringfence-somebody".to_owned(),
        ];
        for name in gone.iter().chain(&kept) {
            tree.dir(name);
        }
        tree.dir(format!("{}/below", kept[2]));
        assert_eq!(sweep(&tree.root), gone.len());
        assert!(gone.iter().all(|name| !tree.path(name).exists()));
        assert!(kept.iter().all(|name| tree.path(name).exists()));
        assert_eq!(sweep(&tree.path("missing")), 0);
    }
}
