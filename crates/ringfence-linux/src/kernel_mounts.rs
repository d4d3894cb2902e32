//! Filesystems that are interfaces of the kernel, wherever they are mounted.
//!
//! A caller with user id 0 owns their files: writing there changes the host, whatever directory they lie below. An
//! image tree with its own `/proc` and `/sys` is the usual way for one to lie in a workspace.

use std::path::{Path, PathBuf};

use ringfence_host::mountinfo;
use ringfence_policy::{Access, Axes, RegionTree, Rule, Source, Verdict};

/// Types, as mountinfo names them.
const KERNEL: [&str; 15] = [
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "debugfs",
    "tracefs",
    "securityfs",
    "bpf",
    "efivarfs",
    "configfs",
    "pstore",
    "binfmt_misc",
    "selinuxfs",
    "devtmpfs",
    "devpts",
];
/// Those that show other processes and the kernel's memory, to user id 0 at least: nobody sees them.
const TELLING: [&str; 4] = ["proc", "debugfs", "tracefs", "pstore"];

/// A mount of this process's namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) path: PathBuf,
    kind: String,
    /// Major and minor number of the filesystem.
    pub(crate) device: Vec<u8>,
}

/// The mounts of this process's namespace; see proc_pid_mountinfo(5).
pub(crate) fn list() -> Vec<Mount> {
    std::fs::read("/proc/self/mountinfo")
        .map(|text| parse(&text))
        .unwrap_or_default()
}

pub(crate) fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n').filter_map(mount).collect()
}

/// `ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS [OPTIONAL]… - TYPE SOURCE OPTIONS`
fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let device = fields.nth(2)?.to_vec();
    let path = mountinfo::path(fields.nth(1)?);
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    Some(Mount {
        path,
        kind: String::from_utf8_lossy(kind).into_owned(),
        device,
    })
}

/// Rules that close the kernel's filesystems below what the policy shows: nobody writes them, and those that tell of
/// others are not seen at all.
pub(crate) fn rules(tree: &RegionTree, mounts: &[Mount]) -> Vec<Rule> {
    let kernel = mounts
        .iter()
        .filter(|mount| KERNEL.contains(&mount.kind.as_str()));
    let shown = kernel.filter(|mount| tree.verdict(&mount.path).allows_any());
    shown
        .map(|mount| {
            let axes = if TELLING.contains(&mount.kind.as_str()) {
                Verdict::DENY.into()
            } else {
                Axes {
                    write: Some(Access::Deny),
                    ..Axes::default()
                }
            };
            Rule::tree(&mount.path, axes, Source::System)
        })
        .collect()
}

/// A place that the policy makes writable although it lies in one of the kernel's filesystems, and which.
pub(crate) fn written(tree: &RegionTree, mounts: &[Mount]) -> Option<(PathBuf, String)> {
    let named = |rule: &&Rule| matches!(rule.source, Source::Host | Source::Workspace | Source::Root(_));
    let mut regions = tree
        .regions()
        .filter(|region| region.rules.iter().any(|rule| named(&rule)));
    regions.find_map(|region| {
        let writable = region.subtree.write == Access::Allow || region.object.write == Access::Allow;
        let kind = innermost(mounts, region.path).filter(|kind| writable && KERNEL.contains(kind))?;
        Some((region.path.to_owned(), kind.to_owned()))
    })
}

fn innermost<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a str> {
    // Of two mounts at one place the later one is on top.
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.path));
    above
        .max_by_key(|mount| mount.path.as_os_str().len())
        .map(|mount| mount.kind.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
        22 21 0:5 / /proc rw - proc proc rw\n\
        23 21 0:6 / /w/image\\040one/sys rw master:2 propagate_from:1 - sysfs sys rw\n\
        24 21 0:7 / /w/proc rw - proc p rw\n\
        25 23 0:8 / /w/image\\040one/sys/kernel/tracing rw - tracefs none rw\nnonsense\n";

    fn tree(rules: &[(&str, Verdict)]) -> RegionTree {
        let rules = rules
            .iter()
            .map(|(path, verdict)| Rule::tree(*path, *verdict, Source::Root(0)));
        RegionTree::new(rules.collect()).unwrap()
    }

    #[test]
    fn mounts_are_read_with_their_odd_names() {
        let mounts = parse(TABLE);
        let seen: Vec<_> = mounts
            .iter()
            .map(|mount| (mount.path.to_str().unwrap(), mount.kind.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                ("/", "ext4"),
                ("/proc", "proc"),
                ("/w/image one/sys", "sysfs"),
                ("/w/proc", "proc"),
                ("/w/image one/sys/kernel/tracing", "tracefs"),
            ]
        );
    }

    #[test]
    fn what_the_kernel_shows_below_a_root_is_closed() {
        let workspace = tree(&[("/w", Verdict::READ_WRITE)]);
        let closed = workspace.with(rules(&workspace, &parse(TABLE))).unwrap();
        assert_eq!(
            closed.verdict(Path::new("/w/image one/sys/x")),
            Verdict::READ_ONLY
        );
        for telling in ["/w/proc/sys", "/w/image one/sys/kernel/tracing/trace"] {
            assert_eq!(closed.verdict(Path::new(telling)), Verdict::DENY, "{telling}");
        }
        assert_eq!(closed.verdict(Path::new("/w/other")), Verdict::READ_WRITE);
    }

    #[test]
    fn a_root_inside_one_is_found() {
        let mounts = parse(TABLE);
        assert_eq!(written(&tree(&[("/w", Verdict::READ_WRITE)]), &mounts), None);
        assert_eq!(
            written(&tree(&[("/w/image one/sys/kernel", Verdict::READ_ONLY)]), &mounts),
            None
        );
        let found = written(
            &tree(&[("/w/image one/sys/kernel", Verdict::READ_WRITE)]),
            &mounts,
        );
        assert_eq!(
            found,
            Some(("/w/image one/sys/kernel".into(), "sysfs".to_owned()))
        );
    }
}
