//! Names of our groups, which say whose they are.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::{ScopeError, files};

const PREFIX: &str = "ringfence";

/// A process that made groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    /// Inode of the pid namespace that the number is from.
    namespace: u64,
    pid: i32,
    /// In clock ticks since the system started: two processes with one pid differ in it.
    start: u64,
}

/// A name that no other group has or had: `ringfence-NAMESPACE-PID-START-NUMBER`.
pub(super) fn new() -> Result<String, ScopeError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let owner = Owner::this_process()?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let Owner {
        namespace,
        pid,
        start,
    } = owner;
    Ok(format!("{PREFIX}-{namespace}-{pid}-{start}-{number}"))
}

/// Removes the empty groups in a directory whose owners are dead, and says how many.
pub(super) fn sweep(directory: &Path) -> usize {
    let (Ok(ours), Ok(entries)) = (Owner::this_process(), fs::read_dir(directory)) else {
        return 0;
    };
    let abandoned = entries.flatten().filter(|entry| {
        let owner = entry.file_name().to_str().and_then(Owner::of);
        owner.is_some_and(|owner| owner.namespace == ours.namespace && owner.is_dead())
    });
    abandoned
        .filter(|entry| fs::remove_dir(entry.path()).is_ok())
        .count()
}

impl Owner {
    fn this_process() -> Result<Self, ScopeError> {
        let namespace = Path::new("/proc/self/ns/pid");
        let seen = fs::metadata(namespace).map_err(|error| files::unreadable(namespace, &error))?;
        let pid = rustix::process::getpid();
        Ok(Self {
            namespace: seen.ino(),
            pid: pid.as_raw_nonzero().get(),
            start: start(pid)?,
        })
    }

    fn of(name: &str) -> Option<Self> {
        let mut fields = name.strip_prefix(PREFIX)?.strip_prefix('-')?.split('-');
        let owner = Self {
            namespace: fields.next()?.parse().ok()?,
            pid: fields.next()?.parse().ok()?,
            start: fields.next()?.parse().ok()?,
        };
        let _number: u64 = fields.next()?.parse().ok()?;
        fields.next().is_none().then_some(owner)
    }

    /// Certainly dead: nobody has the pid, or somebody who started at another time.
    fn is_dead(self) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return false;
        };
        match test_kill_process(pid) {
            Err(Errno::SRCH) => true,
            _ => start(pid).is_ok_and(|start| start != self.start),
        }
    }
}

/// When a process started; the 22nd field of its line, see proc_pid_stat(5).
fn start(pid: Pid) -> Result<u64, ScopeError> {
    let file = PathBuf::from(format!("/proc/{pid}/stat"));
    // The second field, the name, may hold blanks and brackets.
    let text = files::read_lossy(&file)?;
    let field = text.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(19));
    field
        .and_then(|field| field.parse().ok())
        .ok_or_else(|| ScopeError::Read {
            file,
            errno: Errno::INVAL.raw_os_error(),
        })
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
        assert_eq!(Owner::of(&first), Some(ours));
        assert!(!ours.is_dead());
        for strange in [
            "",
            "ringfence",
            "ringfence-1-2-3",
            "ringfence-1-2-3-4-5",
            "ringfence-1-2-3-x",
            "x-1-2-3-4",
        ] {
            assert_eq!(Owner::of(strange), None, "{strange}");
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
