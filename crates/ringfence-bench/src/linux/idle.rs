//! What live processes and idle executors cost while nothing happens: memory and wake-ups.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use ringfence::blocking::{Executor, ExecutorSet, Process};

use crate::candidates::Failure;

/// So many live processes beside the first one, and how long they are watched.
const FURTHER: usize = 99;
const WATCHED: Duration = Duration::from_secs(3);
/// So many executors.
const EXECUTORS: usize = 20;
/// What the command of each is called.
const COMMAND: &str = "sleep";

/// What processes cost that do nothing. Only root may look at the memory of their process 1.
///
/// The wake-ups are the context switches of everything of ours: the threads of this process but the one that watches,
/// zygotes, spares, and process 1 of every spawn. The memory is that of the zygote, the spares it keeps ready, and
/// process 1 of the only spawn; what each further spawn adds to that; and what each adds to this process.
pub(crate) fn processes(set: &ExecutorSet) -> Result<Vec<(&'static str, f64)>, Failure> {
    let before = Ours::read()?.memory()?;
    let executor = set.executor("idle")?;
    use_it(&executor)?;
    let mut live = vec![start(&executor)?];
    settle();
    let first = Ours::read()?.memory()?.saturating_sub(before);
    let alone = resident()?;
    for _ in 0..FURTHER {
        live.push(start(&executor)?);
    }
    settle();
    let (ours, after) = (Ours::read()?, resident()?);
    let further = ours.memory()?.saturating_sub(before + first);

    let began = ours.switches()?;
    std::thread::sleep(WATCHED);
    let wakeups = ours.switches()?.saturating_sub(began);
    let host = share(after.saturating_sub(alone), FURTHER);
    Ok(vec![
        ("idle_wakeups", share(wakeups, 1)),
        ("idle_first_kib", share(first, 1)),
        ("idle_further_kib", share(further, FURTHER)),
        ("idle_host_kib", host),
        ("bytes_per_spawn", 1024.0 * (share(first, 1) + host)),
    ])
}

/// What executors cost that do nothing and are ready for the next command.
pub(crate) fn executors(set: &ExecutorSet) -> Result<Vec<(&'static str, f64)>, Failure> {
    let (before, started) = (Ours::read()?.memory()?, resident()?);
    let mut idle = Vec::new();
    for number in 0..EXECUTORS {
        let executor = set.executor(&format!("idle {number}"))?;
        use_it(&executor)?;
        idle.push(executor);
    }
    settle();
    let more = Ours::read()?.memory()?.saturating_sub(before) + resident()?.saturating_sub(started);
    Ok(vec![("bytes_per_executor", 1024.0 * share(more, EXECUTORS))])
}

fn start(executor: &Executor) -> Result<Process, Failure> {
    let command = executor.command(COMMAND).arg("1000").kill_on_drop(true);
    Ok(command.spawn()?)
}

/// Until spares are kept ready.
fn use_it(executor: &Executor) -> Result<(), Failure> {
    for _ in 0..3 {
        start(executor)?.shutdown(Duration::ZERO)?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "figures to be printed")]
fn share(whole: u64, parts: usize) -> f64 {
    (whole as f64 / parts as f64 * 10.0).round() / 10.0
}

fn settle() {
    std::thread::sleep(Duration::from_secs(1));
}

/// What this process has started and what that has, but for the commands.
struct Ours(Vec<u32>);

impl Ours {
    fn read() -> Result<Self, Failure> {
        // Parent and name of all processes.
        let mut all: BTreeMap<u32, (u32, String)> = BTreeMap::new();
        for entry in fs::read_dir("/proc")? {
            let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let Some(status) = read(format!("/proc/{pid}/status"))? else {
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
        let parent = |pid: &u32| Some(all.get(pid)?.0);
        let is_below =
            |pid: u32| std::iter::successors(parent(&pid), parent).any(|above| above == std::process::id());
        let ours = all
            .iter()
            .filter(|(pid, (_, name))| name != COMMAND && is_below(**pid));
        Ok(Self(ours.map(|(pid, _)| *pid).collect()))
    }

    /// The memory in KiB that they alone have, and their share of what others have too.
    fn memory(&self) -> Result<u64, Failure> {
        let share = |pid: &u32| -> Result<u64, Failure> {
            let Some(rollup) = read(format!("/proc/{pid}/smaps_rollup"))? else {
                return Ok(0);
            };
            // One that is ending has none left.
            Ok(number(&rollup, "Pss:").unwrap_or_default())
        };
        self.0.iter().map(share).sum()
    }

    /// How often they and our other threads were switched to or from.
    fn switches(&self) -> Result<u64, Failure> {
        let this = rustix::thread::gettid().as_raw_nonzero().to_string();
        let mut files: Vec<_> = self
            .0
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
            let Some(status) = read(file)? else { continue };
            for name in ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"] {
                sum += number(&status, name).ok_or("no number of context switches")?;
            }
        }
        Ok(sum)
    }
}

/// A file about a process, unless that is gone.
fn read(file: impl AsRef<Path>) -> Result<Option<String>, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.raw_os_error(), Some(ENOENT | ESRCH)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

const ENOENT: i32 = 2;
const ESRCH: i32 = 3;

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
