//! What this host offers, found out by running the real set-up once.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use ringfence_backend::{Capabilities, Containment, Event, Fact, FactState, SetupFailed, Watch};
use ringfence_host::cgroup::Cgroups;
use ringfence_host::{observe, runtime};
use ringfence_os::{landlock, mount, seccomp};
use ringfence_policy::{Kind, NestedNamespaces, Report};
use ringfence_zygote::command::{self, Command};
use ringfence_zygote::plan::{Guard, Operation, Plan, Rule};
use ringfence_zygote::wire::{self, Step, ViewOp};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::ahead::Ahead;
use crate::filter::{self, Architecture};
use crate::kernel_mounts::{self, Mount};
use crate::launch;
use crate::policy::HostFacts;
use crate::process::Process;
use crate::rights::{ABI_SCOPES, ABI_UNIX_PATHS, Landlock};
use crate::zygote::Zygote;

/// A directory every Linux system has; the probe shows it read-only.
const EVERYWHERE: &str = "/usr";
/// Another one; the probe mounts over it in its own namespace.
const BASE: &str = "/etc";
const NULL: &str = "/dev/null";
/// A program nowhere exists: reaching "no such program" means that every step before it worked.
const NOWHERE: &str = "/ringfence-probe";
/// What the kernel says to whoever may not mount a `/proc`.
const PERM: i32 = Errno::PERM.raw_os_error();
const PATIENCE_SECONDS: i64 = 10;

/// What can be asked for without trying it.
pub(crate) fn look() -> HostFacts {
    let rights = Landlock {
        abi: landlock::abi(),
        errata: landlock::errata().unwrap_or_default(),
    };
    HostFacts {
        landlock: rights,
        proc: true,
        broker: rights.abi.is_some() && seccomp::has_listeners(),
        devices: runtime::devices(),
        cgroups: Cgroups::find(),
    }
}

/// Whether this process is in a container, or the like, in which something may be missing that can be done without.
pub(crate) fn is_contained() -> bool {
    is_filtered() || has_covered_proc()
}

/// Whether something is mounted in `/proc`, but for where nothing else can be.
fn has_covered_proc() -> bool {
    const MOUNT_POINTS: [&str; 2] = ["/proc/sys/fs/binfmt_misc", "/proc/fs/nfsd"];
    let is_covering = |mount: &Mount| {
        let path = &mount.path;
        path.starts_with("/proc")
            && path != Path::new("/proc")
            && !MOUNT_POINTS.iter().any(|own| path == Path::new(own))
    };
    kernel_mounts::list().iter().any(is_covering)
}

/// Whether a filter of somebody else's is on this process already.
fn is_filtered() -> bool {
    let status = std::fs::read("/proc/self/status").unwrap_or_default();
    status.split(|byte| *byte == b'\n').any(|line| {
        line.strip_prefix(b"Seccomp:")
            .is_some_and(|mode| !mode.ends_with(b"0"))
    })
}

/// Runs the whole set-up on almost nothing; tells whether it has a user namespace of its own. Goes on without what can be
/// done without.
pub(crate) fn rehearse(facts: &mut HostFacts) -> Result<bool, SetupFailed> {
    loop {
        let failed = match run(facts) {
            Err(failed) => failed,
            ran => return ran,
        };
        let is = |steps: &[Step]| steps.iter().any(|step| failed.step == step.name());
        if facts.broker && is(&[Step::Broker]) {
            // There is one listener in a tree of processes (seccomp(2)).
            facts.broker = false;
        } else if facts.proc && is(&[Step::ExecutorProc, Step::SpawnProc]) && failed.errno == PERM {
            // It finds directories of the command's by their names in /proc.
            (facts.proc, facts.broker) = (false, false);
        } else {
            return Err(failed);
        }
    }
}

fn run(facts: &HostFacts) -> Result<bool, SetupFailed> {
    let zygote = Arc::new(Zygote::start(&plan(facts)?, &Ahead::default())?);
    let user_namespace = zygote.user_namespace;
    let null = || {
        File::options()
            .read(true)
            .write(true)
            .open(NULL)
            .map(OwnedFd::from)
    };
    let null = || null().map_err(|_| crate::zygote::failed(Step::Session, Errno::NOENT));
    let (command, streams) = (nowhere()?, [null()?, null()?, null()?]);
    let spare = zygote.take_spare()?;
    launch::send(&spare, &command, &streams)?;
    let process = Process::new(spare, zygote, Arc::new(Report::new(Vec::new())), None);
    loop {
        match process.next_event() {
            Some(Event::SetupFailed(failed)) if failed.step == Step::Exec.name() => {
                return Ok(user_namespace);
            }
            Some(Event::SetupFailed(failed)) => return Err(failed),
            Some(Event::Exited(_) | Event::Empty | Event::Changed { .. }) => {
                return Err(crate::zygote::failed(Step::Exec, Errno::PROTO));
            }
            Some(Event::Started) => {}
            None => {
                let descriptors = process.descriptors(Watch::StartAndEnd);
                let mut fds: Vec<PollFd<'_>> = descriptors
                    .iter()
                    .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
                    .collect();
                let patience = Timespec {
                    tv_sec: PATIENCE_SECONDS,
                    tv_nsec: 0,
                };
                if matches!(poll(&mut fds, Some(&patience)), Ok(0)) {
                    return Err(crate::zygote::failed(Step::Exec, Errno::TIMEDOUT));
                }
            }
        }
    }
}

fn nowhere() -> Result<Vec<u8>, SetupFailed> {
    let program = [NOWHERE.as_bytes().to_vec()];
    let command = Command {
        directory: b"/",
        identity: (0, 0),
        programs: &program,
        arguments: &program,
        environment: &[],
        limits: &[],
        terminal: 0,
    };
    command::encode(&command).map_err(|_| crate::zygote::failed(Step::Command, Errno::INVAL))
}

/// Every kind of mount and every layer a real policy uses, on almost nothing.
pub(crate) fn plan(facts: &HostFacts) -> Result<Plan, SetupFailed> {
    let path = |text: &str| text.as_bytes().to_vec();
    let directory = |at: &str| Operation {
        mode: 0o755,
        ..Operation::at(ViewOp::Directory, path(at))
    };
    let memory = |at: &str| Operation {
        mode: 0o755,
        size: 1 << 20,
        ..Operation::at(ViewOp::Tmpfs, path(at))
    };
    let attributes = wire::ATTR_RDONLY | wire::ATTR_NOSUID | wire::ATTR_NODEV;
    let bind = |at: &str, attributes| {
        let identity = observe(at.as_ref()).ok().flatten().map(|(_, identity)| identity);
        let identity = identity.ok_or_else(|| crate::zygote::failed(Step::Source, Errno::NOENT))?;
        let (device, inode, source) = (identity.device, identity.inode, path(at));
        Ok::<_, SetupFailed>(Operation {
            source,
            device,
            inode,
            attributes,
            ..Operation::at(ViewOp::Bind, path(at))
        })
    };
    let root = rustix::process::geteuid();
    let mut flags = wire::USER_NAMESPACE | wire::NETWORK_NAMESPACE | wire::CGROUP_NAMESPACE;
    flags |= if root.is_root() { wire::READ_ONLY_PROC } else { 0 };
    flags |= if facts.proc { 0 } else { wire::NO_PROC };
    let read = facts
        .landlock
        .rights(ringfence_policy::Verdict::READ_ONLY, Kind::Directory);
    Ok(Plan {
        flags,
        uid: root.as_raw(),
        gid: rustix::process::getegid().as_raw(),
        fault: None,
        handled: facts.landlock.handled(),
        scopes: facts.landlock.scopes(),
        proc_access: read,
        base: path(BASE),
        filter: filter::assemble(Architecture::NATIVE, NestedNamespaces::Refuse),
        operations: vec![
            directory("/proc"),
            directory("/dev"),
            memory("/dev"),
            Operation::at(ViewOp::File, path(NULL)),
            bind(NULL, wire::ATTR_NOSUID)?,
            directory("/dev/pts"),
            Operation::at(ViewOp::Devpts, path("/dev/pts")),
            directory(EVERYWHERE),
            bind(EVERYWHERE, attributes)?,
            Operation::at(ViewOp::Seal, path("/")),
        ],
        rules: vec![Rule {
            path: path("/dev"),
            access: read,
        }],
        asking: filter::asking(Architecture::NATIVE),
        making: facts.landlock.withheld(),
        guards: if facts.broker {
            vec![Guard {
                path: path("/dev"),
                ..Guard::default()
            }]
        } else {
            Vec::new()
        },
        free: Vec::new(),
    })
}

/// How to get what a failed step lacks; empty where the errno tells of something else.
pub(crate) fn advice(failed: &SetupFailed) -> &'static str {
    let step = |steps: &[Step]| steps.iter().any(|step| failed.step == step.name());
    let errno = |errnos: &[Errno]| errnos.iter().any(|errno| failed.errno == errno.raw_os_error());
    let refused = errno(&[Errno::PERM, Errno::ACCESS]);
    let unknown = errno(&[Errno::NOSYS]);
    let missing = unknown || errno(&[Errno::INVAL]);
    if step(&[Step::Unshare, Step::IdMap, Step::Loopback, Step::Root])
        && (refused || errno(&[Errno::NOSPC, Errno::USERS]))
    {
        "ringfence needs unprivileged user namespaces: set user.max_user_namespaces above 0 and \
         kernel.unprivileged_userns_clone to 1 where it exists; where AppArmor restricts them, install a profile \
         that allows `userns` for this program; in a container, allow unshare(2) and mount(2)"
    } else if step(&[Step::Filter]) && missing {
        "the kernel needs CONFIG_SECCOMP_FILTER"
    } else if step(&[Step::Start]) && unknown {
        "the kernel needs close_range(2): Linux 5.9 or newer"
    } else if step(&[Step::Source, Step::Target]) && unknown {
        "the kernel needs open_tree(2) and openat2(2): Linux 5.6 or newer"
    } else if step(&[Step::View, Step::ExecutorProc]) && unknown {
        "the kernel needs mount_setattr(2), Linux 5.12 or newer, or to tell the ids of mounts, Linux 5.8 or newer"
    } else if step(&[Step::Start]) && refused {
        "the embedded helper program could not be executed from memory nor from a file: allow memfds to be \
         executed (vm.memfd_noexec=0 or 1), or a temporary directory that is not mounted noexec"
    } else {
        ""
    }
}

/// The facts in words; `user_namespace` is `None` when nothing has been tried yet.
pub(crate) fn capabilities(facts: &HostFacts, user_namespace: Option<bool>) -> Capabilities {
    // Before anything has been tried, only what can be asked for is known.
    let tried = |text: &str| {
        if user_namespace.is_some() {
            text.to_owned()
        } else {
            "not tried yet".to_owned()
        }
    };
    let present = |name, text: String| Fact {
        name,
        state: FactState::Present(text),
        advice: String::new(),
    };
    let absent = |name, why: &str, advice: &str| Fact {
        name,
        state: FactState::Absent(why.to_owned()),
        advice: advice.to_owned(),
    };
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let user = match user_namespace {
        Some(true) => present("user namespaces", "used".to_owned()),
        Some(false) => absent(
            "user namespaces",
            "not available; the caller's own capabilities are used instead",
            "",
        ),
        None => present("user namespaces", tried("used")),
    };
    let landlock = match facts.landlock.abi {
        Some(abi) => present("Landlock", format!("ABI {abi}")),
        None if landlock::is_switched_off() => absent(
            "Landlock",
            "switched off; the mount view is the only layer over files",
            "add landlock to the lsm= list of the kernel's command line",
        ),
        None => absent(
            "Landlock",
            "not in this kernel; the mount view is the only layer over files",
            "Linux 5.13, built with CONFIG_SECURITY_LANDLOCK",
        ),
    };
    let attributes = if mount::has_tree_attributes() {
        present("attributes of mounts", "set for whole trees".to_owned())
    } else {
        absent(
            "attributes of mounts",
            "set for one mount after the other; what can't be reached to do so is hidden",
            "mount_setattr(2): Linux 5.12",
        )
    };
    let proc = if facts.proc {
        present("/proc", tried("of the command's own processes"))
    } else {
        absent(
            "/proc",
            "the host's is covered in part, as in a container, so there can be no other; a few files about the machine \
             stand for it, and programs that look at themselves may fail",
            "a container whose own /proc is whole",
        )
    };
    let broker = if facts.broker {
        present("broker", tried("keeps names that do not exist from being made"))
    } else {
        absent(
            "broker",
            "what is closed and does not exist is occupied on the host while an executor lives",
            "Linux 5.19 with Landlock, and nobody around who listens to a system-call filter",
        )
    };
    let since = |name, abi: u32, loss: &str, kernel: &str| match facts.landlock.abi {
        Some(has) if has >= abi => present(name, format!("Landlock ABI {abi}")),
        Some(_) => absent(name, loss, kernel),
        None => absent(name, "there is no Landlock", kernel),
    };
    Capabilities {
        tier: "namespaces",
        facts: vec![
            present("kernel", release),
            present(
                "helper program",
                crate::image::form().map_or_else(|| tried(""), |form| form.description().to_owned()),
            ),
            user,
            present(
                "mount, pid, network, IPC, UTS and cgroup namespaces",
                tried("set up and entered"),
            ),
            attributes,
            proc,
            broker,
            present("system-call filter", tried("installed")),
            landlock,
            since(
                "scoped signals and abstract sockets",
                ABI_SCOPES,
                "Landlock is older than ABI 6",
                "Linux 6.12",
            ),
            since(
                "Unix sockets by path",
                ABI_UNIX_PATHS,
                "sockets that host processes make in visible directories during a run are reachable",
                "Linux 7.1 (Landlock ABI 9)",
            ),
        ],
    }
}
