//! What every confined command finds around its own files: `/dev`, `/proc`, private temporary directories.

use std::path::{Path, PathBuf};

use ringfence_host::Host;
use ringfence_policy::{
    Access, Axes, Axis, Kind, Reach, Region, RegionTree, Resolve, Resolved, Rule, Source, Verdict,
};

use crate::policy::HostFacts;

/// Memory filesystems private to the executor, shared by its commands. A profile that names one of these
/// paths itself gets the host's directory instead.
pub(crate) const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/dev/shm"];

/// Links every `/dev` has.
pub(crate) const DEVICE_LINKS: [(&str, &str); 5] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/ptmx", "pts/ptmx"),
];

/// Files of the host's `/proc` that say nothing of its processes, for commands that can't have one of their own. Those in
/// `/proc/sys` are other objects each time the kernel has forgotten them.
const OF_THE_MACHINE: [&str; 7] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
];

pub(crate) const DEV: &str = "/dev";
pub(crate) const PTS: &str = "/dev/pts";
pub(crate) const PROC: &str = "/proc";

const READ: Verdict = Verdict {
    read: Access::Allow,
    execute: Access::Deny,
    write: Access::Deny,
};
const READ_AND_WRITE: Verdict = Verdict {
    read: Access::Allow,
    execute: Access::Deny,
    write: Access::Allow,
};

/// Rules for what lies in a private directory and is spoken of on some axes only: what is said of the private
/// directory is not said of the host's object there, which stays closed on the others.
pub(crate) fn closed_in_private(tree: &RegionTree) -> Vec<Rule> {
    let is_private = |rule: Option<&Rule>| rule.is_some_and(|rule| rule.source == Source::Private);
    let of_host = |region: &Region<'_>| region.rules.iter().all(|rule| rule.source != Source::Private);
    let closed = |region: Region<'_>| {
        let close = |axis| is_private(tree.decide(region.path, axis).rule).then_some(Access::Deny);
        let axes = Axes {
            read: close(Axis::Read),
            execute: close(Axis::Execute),
            write: close(Axis::Write),
        };
        let at = Resolved {
            path: region.path.to_owned(),
            kind: region.kind,
            identity: region.identity,
            links: Vec::new(),
        };
        (axes != Axes::default()).then(|| Rule::new(at, Reach::Tree, axes, Source::Private))
    };
    let private = PRIVATE.iter().flat_map(|path| tree.beneath(Path::new(path)));
    private.filter(of_host).filter_map(closed).collect()
}

/// The rules this backend adds to a policy's tree.
pub(crate) fn rules(tree: &RegionTree, facts: &HostFacts, privileged_caller: bool) -> Vec<Rule> {
    let proc = match (facts.proc, privileged_caller) {
        (false, _) => Verdict::DENY,
        // A caller with user id 0 owns /proc/sys and could rewrite the host's kernel settings there.
        (true, true) => READ,
        (true, false) => READ_AND_WRITE,
    };
    let mut rules = vec![
        Rule::tree(DEV, READ, Source::System),
        Rule::tree(PTS, READ_AND_WRITE, Source::System),
        Rule::tree(PROC, proc, Source::System),
        // Kernel objects and control groups are never writable, whatever the profile says of the host.
        Rule::tree(
            "/sys",
            Axes {
                write: Some(Access::Deny),
                ..Axes::default()
            },
            Source::System,
        ),
    ];
    if !facts.proc {
        let there = OF_THE_MACHINE
            .iter()
            .filter_map(|path| Host.resolve(Path::new(path)).ok());
        let files = there.filter(|at| at.kind == Kind::File);
        rules.extend(files.map(|at| Rule::new(at, Reach::Exact, READ, Source::System)));
    }
    for device in &facts.devices {
        let mut rule = Rule::exact(&device.path, READ_AND_WRITE, Source::Device);
        rule.identity = Some(device.identity);
        rule.kind = Kind::File;
        rules.push(rule);
    }
    let named = |path: &Path| tree.rules().iter().any(|rule| rule.path == path);
    let private = PRIVATE.iter().map(PathBuf::from).filter(|path| !named(path));
    rules.extend(private.map(|path| Rule::tree(path, Verdict::READ_WRITE, Source::Private)));
    debug_assert!(
        rules
            .iter()
            .all(|rule| rule.reach == Reach::Tree || rule.kind == Kind::File)
    );
    rules
}

/// Whether a rule is about none of the places that have rules of their own here.
pub(crate) fn is_elsewhere(rule: &Rule) -> bool {
    ![DEV, PROC].iter().any(|own| rule.path.starts_with(own))
}
