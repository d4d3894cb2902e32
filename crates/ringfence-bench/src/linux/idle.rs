//! What live processes cost while nothing happens: memory and wake-ups.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use ringfence::blocking::{Executor, Process};

use crate::candidates::Failure;

/// So many live processes beside the first one, and how long they are watched.
const FURTHER: usize = 99;
const WATCHED: Duration = Duration::from_secs(3);
/// What the command of each is called.
const COMMAND: &str = "sleep";

/// What was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    /// Context switches of everything of ours: the threads of this process but the one that watches, the zygote, and
    /// process 1 of every spawn.
    wakeups: f64,
    /// Memory of an executor with one live process: the zygote, the spares it keeps ready, and process 1 of the spawn.
    first_kib: f64,
    /// What each further process adds to that.
    further_kib: f64,
    /// What each adds to the memory of this process.
    host_kib: f64,
}

/// Starts processes that do nothing, and looks. Only root may look at the memory of their process 1.
pub(crate) fn measure(executor: &Executor) -> Result<Idle, Failure> {
    let start = || -> Result<Process, Failure> {
        let command = executor.command(COMMAND).arg("1000").kill_on_drop(true);
        Ok(command.spawn()?)
    };
    // Those that have ended have spares made for those that follow.
    for _ in 0..2 {
        start()?.shutdown(Duration::ZERO)?;
    }
    let mut live = vec![start()?];
    settle();
    let (first, before) = (Tree::read()?.memory()?, resident()?);
    for _ in 0..FURTHER {
        live.push(start()?);
    }
    settle();
    let (tree, after) = (Tree::read()?, resident()?);
    let further = tree.memory()?.saturating_sub(first);

    let began = tree.switches()?;
    std::thread::sleep(WATCHED);
    let wakeups = tree.switches()?.saturating_sub(began);
    Ok(Idle {
        wakeups: share(wakeups, 1),
        first_kib: share(first, 1),
        further_kib: share(further, FURTHER),
        host_kib: share(after.saturating_sub(before), FURTHER),
    })
}

impl Idle {
    /// With the names they are printed by.
    pub(crate) fn facts(&self) -> [(&'static str, f64); 4] {
        [
            ("idle_wakeups", self.wakeups),
            ("idle_first_kib", self.first_kib),
            ("idle_further_kib", self.further_kib),
            ("idle_host_kib", self.host_kib),
        ]
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures to be printed")]
fn share(whole: u64, parts: usize) -> f64 {
    (whole as f64 / parts as f64 * 10.0).round() / 10.0
}

fn settle() {
    std::thread::sleep(Duration::from_secs(1));
}

/// The zygote of the commands and everything below it, but for the commands.
struct Tree {
    ours: Vec<u32>,
}

impl Tree {
    fn read() -> Result<Self, Failure> {
        // Parent and name of all processes.
        let mut all: BTreeMap<u32, (u32, String)> = BTreeMap::new();
        for entry in fs::read_dir("/proc")? {
            let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // It may be gone.
            let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else {
                continue;
            };
            let parent = number(&status, "PPid:")
                .ok_or("a process without a parent")?
                .try_into()?;
            all.insert(
                pid,
                (parent, field(&status, "Name:").unwrap_or_default().to_owned()),
            );
        }
        // Upwards, the process itself first.
        let line = |pid: u32| std::iter::successors(Some(pid), |pid| Some(all.get(pid)?.0));
        let zygote_of = |pid: u32| {
            let below = |pid: &u32| {
                all.get(pid)
                    .is_some_and(|(parent, _)| *parent == std::process::id())
            };
            line(pid).find(below)
        };
        let is_command = |pid: u32| all.get(&pid).is_some_and(|(_, name)| name == COMMAND);
        let zygote = all
            .keys()
            .find_map(|pid| zygote_of(*pid).filter(|_| is_command(*pid)));
        let zygote = zygote.ok_or("no command is running")?;
        let pids = all.keys().copied();
        let ours = pids
            .filter(|pid| zygote_of(*pid) == Some(zygote) && !is_command(*pid))
            .collect();
        Ok(Self { ours })
    }

    /// The memory in KiB that they alone have, and their share of what others have too.
    fn memory(&self) -> Result<u64, Failure> {
        let share = |pid: &u32| -> Result<u64, Failure> {
            let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
            Ok(number(&rollup, "Pss:").ok_or("no Pss")?)
        };
        self.ours.iter().map(share).sum()
    }

    /// How often they and our other threads were switched to or from.
    fn switches(&self) -> Result<u64, Failure> {
        let this = rustix::thread::gettid().as_raw_nonzero().to_string();
        let mut files: Vec<_> = self
            .ours
            .iter()
            .map(|pid| format!("/proc/{pid}/status").into())
            .collect();
        for task in fs::read_dir("/proc/self/task")? {
            let task = task?;
            if task.file_name() != *this {
                files.push(task.path().join("status"));
            }
        }
        let mut sum = 0;
        for file in files {
            let status = fs::read_to_string(file)?;
            for name in ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"] {
                sum += number(&status, name).ok_or("no number of context switches")?;
            }
        }
        Ok(sum)
    }
}

/// The memory in KiB that this process has.
fn resident() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    Ok(number(&status, "VmRSS:").ok_or("no VmRSS")?)
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}

fn number(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.split_whitespace().next()?.parse().ok()
}
