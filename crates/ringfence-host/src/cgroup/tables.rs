//! The kernel's tables: which hierarchies are mounted, and which groups this process is in.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::{NoPlace, files};
use crate::mountinfo;

/// A mounted control-group file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) point: PathBuf,
    /// The group that is shown at the mount point.
    pub(super) shown: PathBuf,
    pub(super) kind: Kind,
    pub(super) writing: Writing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Version 2.
    Unified,
    /// Version 1, with the file system's options, the names of its controllers among them.
    Legacy(Vec<Vec<u8>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    Possible,
    /// Mounted read-only.
    Impossible,
}

/// A group of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Membership {
    /// None of them for version 2.
    pub(super) controllers: Vec<Vec<u8>>,
    /// As seen in this process's control-group namespace; `/..` leads out of it.
    pub(super) group: PathBuf,
}

/// The mounted control-group file systems, the topmost of several at one place first; see
/// proc_pid_mountinfo(5).
pub(super) fn mounts(root: &Path) -> Result<Vec<Mount>, NoPlace> {
    let text = read(&root.join("proc/self/mountinfo"))?;
    Ok(text
        .split(|byte| *byte == b'\n')
        .rev()
        .filter_map(mount)
        .collect())
}

/// The groups of this process; see cgroups(7).
pub(super) fn memberships(root: &Path) -> Result<Vec<Membership>, NoPlace> {
    let text = read(&root.join("proc/self/cgroup"))?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(membership).collect())
}

fn read(file: &Path) -> Result<Vec<u8>, NoPlace> {
    fs::read(file).map_err(|error| NoPlace::Unreadable {
        file: file.to_owned(),
        errno: files::errno(&error),
    })
}

/// `ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS [OPTIONAL]… - TYPE SOURCE OPTIONS`
fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ').skip(3);
    let (shown, point, options) = (fields.next()?, fields.next()?, fields.next()?);
    let mut system = fields.skip_while(|field| *field != b"-").skip(1);
    let (name, system_options) = (system.next()?, words(system.nth(1)?));
    let read_only = |options: &[Vec<u8>]| options.iter().any(|option| option == b"ro");
    let writing = if read_only(&words(options)) || read_only(&system_options) {
        Writing::Impossible
    } else {
        Writing::Possible
    };
    let kind = match name {
        b"cgroup2" => Kind::Unified,
        b"cgroup" => Kind::Legacy(system_options),
        _ => return None,
    };
    Some(Mount {
        point: mountinfo::path(point),
        shown: mountinfo::path(shown),
        kind,
        writing,
    })
}

/// `HIERARCHY:CONTROLLER,…:GROUP`
fn membership(line: &[u8]) -> Option<Membership> {
    let mut fields = line.splitn(3, |byte| *byte == b':').skip(1);
    let (controllers, group) = (fields.next()?, fields.next()?);
    Some(Membership {
        controllers: words(controllers),
        group: path(group.to_vec()),
    })
}

fn words(list: &[u8]) -> Vec<Vec<u8>> {
    let words = list.split(|byte| *byte == b',');
    words
        .filter(|word| !word.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

fn path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}
