//! Leaves out one rule at a time, of the filter, of the view, of Landlock, of the broker: each time the suite must find
//! a difference.
//!
//! Where another layer refuses the same, that layer is off meanwhile (*layer alone*); what differs then with all rules
//! in place does not count. Rules whose loss nothing could show are listed with the reason, and the list is exact.
//!
//! Needs the feature `mutation`; `.ci/run` runs it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use ringfence_conformance::{Options, covering};
use ringfence_linux::mutation::{self, Layer};

/// The case with closed places in a writable workspace.
const INSIDE: usize = 0;
/// The case with places of different rights beside each other.
const BESIDE: usize = 1;

/// Rules whose loss nobody could notice: their names (of the view: how they begin), and why.
const SILENT: &[(Layer, &str, &str)] = &[
    (Layer::Filter, "acct", CAPABILITY),
    (Layer::Filter, "delete_module", CAPABILITY),
    (Layer::Filter, "finit_module", CAPABILITY),
    (Layer::Filter, "fsmount", CAPABILITY),
    (Layer::Filter, "fsopen", CAPABILITY),
    (Layer::Filter, "fspick", CAPABILITY),
    (Layer::Filter, "init_module", CAPABILITY),
    (Layer::Filter, "kexec_file_load", CAPABILITY),
    (Layer::Filter, "kexec_load", CAPABILITY),
    (Layer::Filter, "move_mount", CAPABILITY),
    (Layer::Filter, "pivot_root", CAPABILITY),
    (Layer::Filter, "reboot", CAPABILITY),
    (Layer::Filter, "swapoff", CAPABILITY),
    (
        Layer::View,
        "nodev ",
        "there is no device node in the trees, and only root outside can make one",
    ),
    (
        Layer::View,
        "nosuid ",
        "no_new_privs keeps a program from gaining anything",
    ),
    (
        Layer::View,
        "noexec /dev",
        "devices can't be executed, and nothing else can be made there",
    ),
    (
        Layer::View,
        "read-only */p",
        "nothing is tried in the directory of the probe itself",
    ),
    (
        Layer::View,
        "seal /dev",
        "it is memory of the command's own: nothing of the host changes",
    ),
    (Layer::View, "tmpfs /dev/shm", NOTHING_INSTEAD),
    (Layer::View, "tmpfs /run", NOTHING_INSTEAD),
    (Layer::View, "tmpfs /tmp", NOTHING_INSTEAD),
    (Layer::View, "tmpfs /var/tmp", NOTHING_INSTEAD),
    (Layer::Landlock, "right 0x40", CAPABILITY),
    (Layer::Landlock, "right 0x800", CAPABILITY),
    (
        Layer::Landlock,
        "right 0x2000",
        "the kernel withholds it unless it is handled and granted",
    ),
    (
        Layer::Landlock,
        "right 0x8000",
        "the devices that are shown take no request that reaches the host",
    ),
    (
        Layer::Landlock,
        "scope 0x2",
        "the pid namespace leaves nobody to be signalled",
    ),
];

/// Rules that can be noticed only on some hosts, and why.
const DEPENDS: &[(Layer, &str, &str)] = &[
    (Layer::Filter, "ioperm", "kernels can be built without it"),
    (Layer::Filter, "iopl", "kernels can be built without it"),
    (Layer::Filter, "lookup_dcookie", "kernels have lost it"),
    (
        Layer::Filter,
        "syslog",
        "kernel.dmesg_restrict asks for a capability",
    ),
    (Layer::Filter, "uselib", "kernels have lost it"),
];

const CAPABILITY: &str = "the kernel asks for a capability before anything else, and no command has any";
const NOTHING_INSTEAD: &str = "without it there is an empty read-only directory";

#[test]
fn the_loss_of_any_rule_is_noticed() {
    let ground = tempfile::tempdir_in(outside_of_private_directories()).unwrap();
    let options = Options {
        directory: ground.path().to_owned(),
        ..Options::default()
    };
    let landlock = [(Layer::Landlock, "right *"), (Layer::Landlock, "scope *")];
    let attributes = [(Layer::View, "read-only *"), (Layer::View, "noexec *")];
    let mut silent = BTreeSet::new();
    silent.extend(unnoticed(&options, BESIDE, &[], 10, |layer, _| {
        layer == Layer::Filter
    }));
    for case in [INSIDE, BESIDE] {
        silent.extend(unnoticed(&options, case, &landlock, 10, |layer, name| {
            layer == Layer::View && closes(name)
        }));
    }
    silent.extend(unnoticed(&options, BESIDE, &attributes, 10, |layer, name| {
        layer == Layer::Landlock && !["rule ", "withheld "].iter().any(|other| name.starts_with(other))
    }));
    let calls = [(Layer::Broker, "call *")];
    silent.extend(unnoticed(&options, INSIDE, &calls, 5, |layer, name| {
        layer == Layer::Landlock && name.starts_with("withheld ")
    }));
    silent.extend(unnoticed(&options, INSIDE, &[], 1, |layer, name| {
        layer == Layer::Broker && name.starts_with("name ")
    }));
    let is = |rule: &(Layer, String), (layer, beginning, _): &(Layer, &str, &str)| {
        let name = match beginning.split_once('*') {
            None if rule.0 == Layer::View => rule.1.starts_with(beginning),
            None => rule.1 == *beginning,
            Some((before, after)) => rule.1.starts_with(before) && rule.1.ends_with(after),
        };
        rule.0 == *layer && name
    };
    let listed = |rule: &(Layer, String)| SILENT.iter().position(|entry| is(rule, entry));
    let depends = |rule: &(Layer, String)| DEPENDS.iter().any(|entry| is(rule, entry));
    let unlisted: Vec<_> = silent
        .iter()
        .filter(|rule| listed(rule).is_none() && !depends(rule))
        .collect();
    assert!(unlisted.is_empty(), "nobody notices the loss of {unlisted:#?}");
    let used: BTreeSet<_> = silent.iter().filter_map(listed).collect();
    let idle: Vec<_> = (0..SILENT.len())
        .filter(|at| !used.contains(at))
        .map(|at| SILENT[at])
        .collect();
    assert!(
        idle.is_empty(),
        "the loss of these is noticed after all: {idle:#?}"
    );
}

/// The rules of a case, at least so many that are asked for, whose loss makes no difference while others are left out.
fn unnoticed(
    options: &Options,
    case: usize,
    alone: &[(Layer, &str)],
    least: usize,
    wanted: fn(Layer, &str) -> bool,
) -> BTreeSet<(Layer, String)> {
    let alone: Vec<_> = alone
        .iter()
        .map(|(layer, name)| (*layer, (*name).to_owned()))
        .collect();
    mutation::omit(alone.clone());
    mutation::asked();
    let usual = differences(options, case).unwrap();
    if alone.is_empty() {
        assert_eq!(usual, BTreeSet::new(), "with all rules in place");
    }
    let names = mutation::asked()
        .into_iter()
        .map(|(layer, name)| (layer, pattern(&name)));
    let rules: BTreeSet<_> = names.filter(|(layer, name)| wanted(*layer, name)).collect();
    assert!(rules.len() >= least, "{rules:?}");
    let loss_is_silent = |rule: &(Layer, String)| {
        mutation::omit(alone.iter().chain([rule]).cloned().collect());
        let now = differences(options, case);
        now.is_ok_and(|now| now.is_subset(&usual))
    };
    let silent = rules.into_iter().filter(loss_is_silent).collect();
    mutation::omit(Vec::new());
    silent
}

/// What differs, or why nothing could be tried, which is noticed as well.
fn differences(options: &Options, case: usize) -> Result<BTreeSet<(String, Vec<String>)>, String> {
    let summary = covering(options, case)
        .map_err(|error| error.to_string())?
        .unwrap();
    if !summary.refused.is_empty() {
        return Err(format!("{:?}", summary.refused));
    }
    let found = summary.disagreements.into_iter();
    Ok(found.map(|found| (found.operation, found.paths)).collect())
}

/// Rules that take something away. The others only show something: without them less is possible.
fn closes(name: &str) -> bool {
    let kind = name.split(" /").next().unwrap_or(name);
    let takes_away = [
        "mask file",
        "tmpfs",
        "pin",
        "seal",
        "read-only",
        "noexec",
        "nodev",
        "nosuid",
    ];
    takes_away.contains(&kind) || kind == "bind" && name.contains("/t/")
}

/// The name of a rule without the names that are others in every run.
fn pattern(name: &str) -> String {
    let parts: Vec<&str> = name
        .split('/')
        .map(|part| {
            if part.starts_with("rf-") || part.starts_with(".tmp") {
                "*"
            } else {
                part
            }
        })
        .collect();
    parts.join("/")
}

/// Landlock grants everything in directories of which commands have their own: there it could not be alone.
fn outside_of_private_directories() -> PathBuf {
    let private = ["/tmp", "/var/tmp", "/run", "/dev/shm"];
    let candidates = [env!("CARGO_TARGET_TMPDIR"), "/var/lib", "/opt", "/home"];
    let is_usable = |path: &&PathBuf| {
        !private.iter().any(|private| path.starts_with(private)) && tempfile::tempdir_in(path).is_ok()
    };
    let candidates = candidates.map(PathBuf::from);
    candidates.iter().find(is_usable).unwrap().clone()
}
