//! Limits: which mechanism keeps each, and the part of a launch that sets it up.

use std::os::fd::{AsRawFd, OwnedFd};

use ringfence_backend::{LaunchError, SetupFailed, Unavailable};
use ringfence_host::cgroup::{self, Cgroups, Resource, Scope, ScopeError};
use ringfence_policy::{Discharge, Limit, Limits, Mechanism};
use ringfence_zygote::wire::Step;
use rustix::io::Errno;
use rustix::process::Pid;

/// Process 1 of a spawn.
pub(crate) const INIT: u64 = 1;
/// What of a whole executor is not a command's: the zygote, and two processes of each of three spawns that wait or are
/// being made, process 1 of the running one among them.
const EXECUTOR: u64 = 7;

/// Resource numbers of getrlimit(2).
const RLIMIT_FSIZE: u32 = 1;
const RLIMIT_NPROC: u32 = 6;
const RLIMIT_NOFILE: u32 = 7;

/// How a limit is kept on this host.
pub(crate) fn discharge(limit: Limit, cgroups: &Cgroups) -> Discharge {
    use Mechanism as M;
    match limit {
        Limit::Memory => by_group(cgroups, Resource::Memory),
        Limit::CpuTime => by_group(cgroups, Resource::CpuTime),
        Limit::Processes if cgroups.place(Resource::Processes).is_err() && !is_root() => {
            Discharge::enforced([M::Rlimit, M::UserNamespace])
        }
        Limit::Processes => by_group(cgroups, Resource::Processes),
        Limit::OpenFiles | Limit::FileSize => Discharge::enforced([M::Rlimit]),
        Limit::PrivateSize => Discharge::enforced([M::MountView]),
        Limit::WallTime | Limit::Output => Discharge::enforced([M::Supervisor]),
        _ => Discharge::Unenforced {
            why: "this backend does not know the limit".to_owned(),
        },
    }
}

fn by_group(cgroups: &Cgroups, resource: Resource) -> Discharge {
    match cgroups.place(resource) {
        Ok(_) => Discharge::enforced([Mechanism::Cgroup]),
        Err(reason) => Discharge::Unenforced {
            why: reason.to_string(),
        },
    }
}

/// The kernel does not count the processes of user id 0.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The control group for a command, if one of its limits needs it.
pub(crate) fn scope(limits: &Limits, cgroups: &Cgroups) -> Result<Option<Scope>, LaunchError> {
    let in_group = is_root() || cgroups.place(Resource::Processes).is_ok();
    let processes = limits.processes.filter(|_| in_group);
    let wanted = cgroup::Limits {
        memory_bytes: limits.memory_bytes,
        processes: processes.map(|processes| processes.saturating_add(INIT)),
        cpu_time: limits.cpu_time,
    };
    if wanted == cgroup::Limits::default() {
        return Ok(None);
    }
    cgroups
        .scope(&wanted)
        .map(Some)
        .map_err(|error| refused(limits, &error))
}

fn refused(limits: &Limits, error: &ScopeError) -> LaunchError {
    let in_groups = [Limit::Memory, Limit::Processes, Limit::CpuTime];
    let asked = in_groups.into_iter().filter(|limit| limits.get(*limit).is_some());
    LaunchError::Unavailable(Unavailable::limits(asked, &error.to_string()))
}

/// Moves the processes of a waiting spawn into the group, so that whatever the command starts is in it.
///
/// The command's process may not be there yet. Process 1 goes first: what it starts from then on is born in the group,
/// and what it has started by then is among its children (cgroups(7)).
pub(crate) fn enter(scope: &Scope, init: &OwnedFd) -> Result<(), SetupFailed> {
    let failed = |errno| crate::zygote::failed(Step::Spare, errno);
    let add = |process| {
        scope.add(process).map_err(|error| {
            let errno = error.errno().map_or(Errno::IO, Errno::from_raw_os_error);
            failed(errno)
        })
    };
    let init = process_id(init).ok_or_else(|| failed(Errno::SRCH))?;
    add(init)?;
    children_of(init)
        .map_err(|_| failed(Errno::SRCH))?
        .into_iter()
        .try_for_each(add)
}

/// The id that the process of a pidfd has here (pidfd_open(2)).
fn process_id(pidfd: &OwnedFd) -> Option<Pid> {
    let information = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd())).ok()?;
    let id = information.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    Pid::from_raw(id.trim().parse().ok()?)
}

/// See proc_pid_task_tid_children(5).
fn children_of(process: Pid) -> std::io::Result<Vec<Pid>> {
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", process.as_raw_pid()))?;
    let ids = children.split_whitespace().filter_map(|id| id.parse().ok());
    Ok(ids.filter_map(Pid::from_raw).collect())
}

/// The limits that a command's process sets on itself before it executes the program.
pub(crate) fn of_process(limits: &Limits, cgroups: &Cgroups) -> Vec<(u32, u64)> {
    let counted = cgroups.place(Resource::Processes).is_err() && !is_root();
    let processes = limits.processes.filter(|_| counted);
    let all = [
        (RLIMIT_FSIZE, limits.file_bytes),
        (
            RLIMIT_NPROC,
            processes.map(|processes| processes.saturating_add(EXECUTOR)),
        ),
        (RLIMIT_NOFILE, limits.open_files),
    ];
    all.into_iter()
        .filter_map(|(resource, value)| Some((resource, value?)))
        .collect()
}
