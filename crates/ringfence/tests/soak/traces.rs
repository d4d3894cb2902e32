//! What can be left of commands and sets.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions, geteuid, set_child_subreaper, waitpid};

use crate::ground::Ground;

/// The kernel ends processes, and threads what they have been told to, in its own time.
const PATIENCE: Duration = Duration::from_secs(10);
const PACE: Duration = Duration::from_millis(20);

/// Everything that this process and what it started have, and that others have nothing to do with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Traces {
    files: BTreeSet<PathBuf>,
    /// Those that show anything of the ground.
    mounts: Vec<String>,
    groups: Vec<PathBuf>,
    /// How many lead to each kind of object, or to each file.
    descriptors: BTreeMap<String, usize>,
    threads: Vec<String>,
    /// The children of this process, zombies included.
    processes: BTreeSet<Process>,
}

/// Its id, what it was started as, and in which state it is.
type Process = (i32, String, char);

impl Traces {
    fn now(ground: &Ground, killed: Option<u32>) -> Self {
        let shows = |line: &&str| line.contains(ground.directory().to_str().unwrap());
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut groups = Vec::new();
        let owners = [Some(std::process::id()), killed];
        groups_of(&owners, Path::new("/sys/fs/cgroup"), &mut groups);
        Self {
            files: ground.names(),
            mounts: mounts.lines().filter(shows).map(str::to_owned).collect(),
            groups,
            descriptors: descriptors(),
            threads: threads(),
            processes: children(),
        }
    }

    /// When nothing changes any more.
    pub(crate) fn settled(ground: &Ground) -> Self {
        let until = Instant::now() + PATIENCE;
        let mut last = Self::now(ground, None);
        loop {
            sleep(5 * PACE);
            let now = Self::now(ground, None);
            if now == last {
                return now;
            }
            assert!(Instant::now() < until, "it goes on: {last:#?}, {now:#?}");
            last = now;
        }
    }

    /// Nothing else is there, soon.
    pub(crate) fn are_all(&self, ground: &Ground, killed: Option<u32>, when: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            // Only a host that was killed can't wait for its own.
            if killed.is_some() {
                self.bury_the_others();
            }
            let now = Self::now(ground, killed);
            if now == *self {
                return;
            }
            assert!(Instant::now() < until, "{when}: {}", self.against(&now));
            sleep(PACE);
        }
    }

    /// No other process is there, soon.
    pub(crate) fn have_all_processes(&self, when: &str) {
        let until = Instant::now() + PATIENCE;
        while self.processes != children() {
            assert!(Instant::now() < until, "{when}: {:#?}", children());
            sleep(PACE);
            self.bury_the_others();
        }
    }

    /// Waits for adopted processes, if there are any.
    fn bury_the_others(&self) {
        for (id, _, _) in children().difference(&self.processes) {
            let _ = waitpid(Pid::from_raw(*id), WaitOptions::NOHANG);
        }
    }

    /// What differs.
    fn against(&self, now: &Self) -> String {
        let lines =
            |traces: &Self| -> Vec<String> { format!("{traces:#?}").lines().map(str::to_owned).collect() };
        let (before, now) = (lines(self), lines(now));
        let only = |these: &[String], those: &[String]| -> Vec<String> {
            these
                .iter()
                .filter(|line| !those.contains(line))
                .cloned()
                .collect()
        };
        format!(
            "before {:#?}, now {:#?}",
            only(&before, &now),
            only(&now, &before)
        )
    }
}

/// Whoever loses a parent below this process becomes its child.
pub(crate) fn adopt_orphans() {
    set_child_subreaper(Pid::from_raw(1)).unwrap();
}

/// The file of locks is gone, unless another process has some. One that was killed is only missed by the next set.
pub(crate) fn no_locks_are_left(open_next_set: impl Fn()) {
    let file = format!("/tmp/.ringfence-{}.locks", geteuid().as_raw());
    let until = Instant::now() + PATIENCE;
    loop {
        open_next_set();
        let Ok(seen) = fs::symlink_metadata(&file) else {
            return;
        };
        let object = format!(":{} ", seen.ino());
        let table = fs::read_to_string("/proc/locks").unwrap();
        let ours = format!(" {} ", std::process::id());
        let holders: Vec<&str> = table.lines().filter(|line| line.contains(&object)).collect();
        if !holders.is_empty() && !holders.iter().any(|line| line.contains(&ours)) {
            return;
        }
        assert!(Instant::now() < until, "{file}: {holders:?}");
        sleep(PACE);
    }
}

/// The control groups in a directory that these processes have made.
fn groups_of(owners: &[Option<u32>], directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_of = |owner: &u32| name.split('-').nth(2) == Some(owner.to_string().as_str());
        if name.starts_with("ringfence-") && owners.iter().flatten().any(is_of) {
            found.push(entry.path());
        }
        groups_of(owners, &entry.path(), found);
    }
}

fn descriptors() -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    for target in open.filter_map(|descriptor| fs::read_link(descriptor.path()).ok()) {
        let target = target.to_string_lossy().into_owned();
        let kind = target.split(":[").next().unwrap_or_default();
        *counts.entry(kind.to_owned()).or_default() += 1;
    }
    counts
}

/// Those of the library; the harness has others.
fn threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("ringfence")).collect();
    names.sort();
    names
}

/// Whatever is left has one of them above it.
fn children() -> BTreeSet<Process> {
    let own = std::process::id().cast_signed();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let processes = entries.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?));
    let children = processes.filter(|(_, parent)| *parent == own);
    children.map(|(process, _)| process).collect()
}

/// A process and its parent, unless it is gone (proc_pid_stat(5)).
fn process(id: i32) -> Option<(Process, i32)> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (name, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // Whether it runs or waits says nothing.
    let state = if state == 'Z' { 'Z' } else { '-' };
    Some(((id, name.to_owned(), state), parent))
}
