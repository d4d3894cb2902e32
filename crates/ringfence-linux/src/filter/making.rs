//! The system calls that make names in directories: process 1 of a spawn makes those that Landlock keeps the command from
//! making.

use super::table::Entry;
use super::{Action, Check};

static ASK: Check = Check::Always(Action::Ask);
static ALLOW: Check = Check::Always(Action::Allow);

/// The flags are in a register, so nobody is asked about opening what exists.
const fn if_it_creates(flags: u8) -> Check {
    const O_CREAT: u32 = 0o100;
    Check::AnyBit {
        argument: flags,
        mask: O_CREAT,
        then: &ASK,
        otherwise: &ALLOW,
    }
}

static OPEN: Check = if_it_creates(1);
static OPENAT: Check = if_it_creates(2);

/// A parent for whoever loses its own, and a child for one's own parent: who descends from whom tells less then.
static ADOPTION: Check = {
    const PR_SET_CHILD_SUBREAPER: u32 = 36;
    Check::OneOf {
        argument: 0,
        mask: u32::MAX,
        values: &[PR_SET_CHILD_SUBREAPER],
        then: &ASK,
        otherwise: &ALLOW,
    }
};
static CHILD: Check = {
    const CLONE_PARENT: u32 = 0x8000;
    Check::AnyBit {
        argument: 0,
        mask: CLONE_PARENT | CLONE_NEWPID,
        then: &ASK,
        otherwise: &ALLOW,
    }
};
/// Process 1 of a pid namespace is such a parent.
static PROCESSES: Check = Check::AnyBit {
    argument: 0,
    mask: CLONE_NEWPID,
    then: &ASK,
    otherwise: &ALLOW,
};
const CLONE_NEWPID: u32 = 0x2000_0000;

const fn entry(
    name: &'static str,
    x86_64: Option<u32>,
    aarch64: Option<u32>,
    check: &'static Check,
) -> Entry {
    Entry {
        name,
        x86_64,
        aarch64,
        check,
        reason: "it makes a name, or is about who does",
    }
}

/// Landlock's `MAKE_*` are about these. Requests to filesystems that make names (`ioctl(2)`) are refused to everybody.
pub(super) const ENTRIES: &[Entry] = &[
    entry("open", Some(2), None, &OPEN),
    entry("creat", Some(85), None, &ASK),
    entry("openat", Some(257), Some(56), &OPENAT),
    // Its flags are in memory.
    entry("openat2", Some(437), Some(437), &ASK),
    entry("mkdir", Some(83), None, &ASK),
    entry("mkdirat", Some(258), Some(34), &ASK),
    entry("mknod", Some(133), None, &ASK),
    entry("mknodat", Some(259), Some(33), &ASK),
    entry("symlink", Some(88), None, &ASK),
    entry("symlinkat", Some(266), Some(36), &ASK),
    entry("link", Some(86), None, &ASK),
    entry("linkat", Some(265), Some(37), &ASK),
    entry("rename", Some(82), None, &ASK),
    entry("renameat", Some(264), Some(38), &ASK),
    entry("renameat2", Some(316), Some(276), &ASK),
    entry("bind", Some(49), Some(200), &ASK),
    // Who makes a file for somebody else must know it.
    entry("umask", Some(95), Some(166), &ASK),
    // It makes names for nobody who has confined itself further.
    entry("landlock_restrict_self", Some(446), Some(446), &ASK),
    entry("prctl", Some(157), Some(167), &ADOPTION),
    entry("clone", Some(56), Some(220), &CHILD),
    entry("unshare", Some(272), Some(97), &PROCESSES),
];
