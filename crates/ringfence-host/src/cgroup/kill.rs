//! Killing a group without `cgroup.kill`.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::{ScopeError, files, v2};

/// Kills the processes of a group in rounds until it is empty: a round can miss a process that is being born.
pub(super) fn one_by_one(group: &Path, patience: Duration) -> Result<(), ScopeError> {
    const PAUSE: Duration = Duration::from_millis(1);
    let file = group.join(v2::PROCESSES);
    let began = Instant::now();
    loop {
        let listed = pids(&file)?;
        if listed.is_empty() {
            return Ok(());
        }
        for some in listed.chunks(MOST_HELD) {
            kill(some, &file)?;
        }
        if began.elapsed() > patience {
            return Err(ScopeError::Alive {
                directory: group.to_owned(),
                patience,
            });
        }
        thread::sleep(PAUSE);
    }
}

/// Of the descriptors that the caller may have open, leave most.
const MOST_HELD: usize = 64;

fn kill(listed: &[Option<Pid>], file: &Path) -> Result<(), ScopeError> {
    let held: HashMap<Pid, OwnedFd> = listed.iter().flatten().filter_map(hold).collect();
    // A number can have gone to a stranger before it was held. If it is still listed it had not, or what is held
    // is a dead process, which no signal reaches.
    for process in pids(file)?.iter().flatten().filter_map(|pid| held.get(pid)) {
        // It may die first.
        let _ = pidfd_send_signal(process, Signal::KILL);
    }
    Ok(())
}

fn hold(pid: &Pid) -> Option<(Pid, OwnedFd)> {
    Some((*pid, pidfd_open(*pid, PidfdFlags::empty()).ok()?))
}

/// The processes of a group; `None` is one that this pid namespace doesn't show.
fn pids(file: &Path) -> Result<Vec<Option<Pid>>, ScopeError> {
    match files::read(file) {
        Ok(text) => Ok(text
            .lines()
            .map(|line| Pid::from_raw(line.parse().ok()?))
            .collect()),
        // Nobody is in a group that does not exist.
        Err(error) if error.errno().is_some_and(is_gone) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn is_gone(errno: i32) -> bool {
    [Errno::NOENT, Errno::NODEV]
        .iter()
        .any(|gone| gone.raw_os_error() == errno)
}
