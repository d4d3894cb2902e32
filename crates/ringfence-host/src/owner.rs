//! Whose something is that outlives its process: told by a name, and whether that process is dead.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process};

/// A process, as no other process is ever told; written as `NAMESPACE-PID-START`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Inode of the pid namespace that the number is from.
    pub(crate) namespace: u64,
    pub(crate) pid: i32,
    /// In clock ticks since the system started: two processes with one pid differ in it.
    pub(crate) start: u64,
}

impl Owner {
    /// This process.
    ///
    /// # Errors
    /// `/proc` is not mounted, or not as it should be (`InvalidData`).
    pub fn this_process() -> io::Result<Self> {
        let pid = getpid();
        Ok(Self {
            namespace: fs::metadata("/proc/self/ns/pid")?.ino(),
            pid: pid.as_raw_nonzero().get(),
            start: Seen::look(pid)?.start,
        })
    }

    /// Reads what [`Owner`] is written as.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split('-');
        let owner = Self {
            namespace: fields.next()?.parse().ok()?,
            pid: fields.next()?.parse().ok()?,
            start: fields.next()?.parse().ok()?,
        };
        fields.next().is_none().then_some(owner)
    }

    /// Certainly dead: nobody has the pid, or somebody who started at another time, or one that only has not been waited
    /// for. Of a process of another pid namespace that can't be seen.
    #[must_use]
    pub fn is_dead(self) -> bool {
        let is_near = Self::this_process().is_ok_and(|this| this.namespace == self.namespace);
        let Some(pid) = Pid::from_raw(self.pid).filter(|_| is_near) else {
            return false;
        };
        match test_kill_process(pid) {
            Err(Errno::SRCH) => true,
            _ => Seen::look(pid).is_ok_and(|seen| seen.start != self.start || seen.is_over),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            namespace,
            pid,
            start,
        } = self;
        write!(f, "{namespace}-{pid}-{start}")
    }
}

/// What the kernel says about a process.
struct Seen {
    start: u64,
    /// Its last thread has ended.
    is_over: bool,
}

impl Seen {
    /// The 3rd, 20th and 22nd field of its line, see proc_pid_stat(5).
    fn look(pid: Pid) -> io::Result<Self> {
        let line = fs::read(format!("/proc/{pid}/stat"))?;
        let line = String::from_utf8_lossy(&line);
        // The second field, the name, may hold blanks and brackets.
        let fields: Vec<&str> = line.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let number = |at: usize| fields.get(at)?.parse().ok();
        let is_ended = matches!(fields.first(), Some(&("Z" | "X")));
        let seen = number(19).map(|start| Self {
            start,
            // The first thread can end before others do.
            is_over: is_ended && number(17).is_none_or(|threads| threads <= 1),
        });
        seen.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn whoever_is_not_waited_for_is_dead() {
        let ours = Owner::this_process().unwrap();
        assert!(!ours.is_dead());
        assert_eq!(Owner::parse(&ours.to_string()), Some(ours));
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id().cast_signed();
        let start = Seen::look(Pid::from_raw(pid).unwrap()).unwrap().start;
        let owner = Owner { pid, start, ..ours };
        assert!(!owner.is_dead());
        let other = Owner {
            start: start + 1,
            ..owner
        };
        assert!(other.is_dead(), "its number is another's now");
        child.kill().unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while !owner.is_dead() {
            assert!(std::time::Instant::now() < until, "it is taken for alive");
        }
        let elsewhere = Owner {
            namespace: ours.namespace + 1,
            ..owner
        };
        assert!(!elsewhere.is_dead());
        child.wait().unwrap();
        assert!(owner.is_dead() && !elsewhere.is_dead());
    }
}
