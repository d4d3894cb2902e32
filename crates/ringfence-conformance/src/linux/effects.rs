//! What the host sees of the attempts: those that were refused leave no trace, those that worked did so on the host.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::attempts::{Lasting, Planned};
use super::oracle::{Expect, Seen};
use super::probe::Tried;
use super::tree::CONTENT;

/// Everything beneath a directory.
pub(crate) type Snapshot = BTreeMap<PathBuf, Object>;

/// What an attempt could change of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    kind: &'static str,
    content: Vec<u8>,
    mode: u32,
    owner: (u32, u32),
    /// Whether it has other names, which share what happens to it.
    shared: bool,
    /// Of files; a directory's says that something in it came and went.
    changed: Option<(i64, i64)>,
}

/// Looks at everything beneath a directory, itself left out.
pub(crate) fn snapshot(top: &Path) -> io::Result<Snapshot> {
    let mut found = BTreeMap::new();
    let mut open = vec![top.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            let seen = path.symlink_metadata()?;
            let kind = seen.file_type();
            let (name, content) = if kind.is_dir() {
                open.push(path.clone());
                ("directory", Vec::new())
            } else if kind.is_symlink() {
                (
                    "link",
                    fs::read_link(&path)?.into_os_string().into_encoded_bytes(),
                )
            } else if kind.is_file() {
                ("file", fs::read(&path)?)
            } else if kind.is_socket() {
                ("socket", Vec::new())
            } else {
                ("special", Vec::new())
            };
            let object = Object {
                kind: name,
                content,
                mode: seen.mode(),
                owner: (seen.uid(), seen.gid()),
                shared: kind.is_file() && seen.nlink() > 1,
                changed: kind.is_file().then_some((seen.mtime(), seen.mtime_nsec())),
            };
            found.insert(path, object);
        }
    }
    Ok(found)
}

/// What differs between the tree as it should be and as it is.
pub(crate) fn differences(
    before: &Snapshot,
    after: &Snapshot,
    plan: &[Planned],
    tried: &[Tried],
    expected: &[Expect],
    seen: &HashMap<PathBuf, Seen>,
) -> Vec<(PathBuf, String)> {
    let mut should = before.clone();
    let mut touched: BTreeSet<PathBuf> = BTreeSet::new();
    // Without links on the way.
    let real = |path: &PathBuf| {
        seen.get(path)
            .map_or_else(|| path.clone(), |seen| seen.name.clone())
    };
    // Both may have happened: to the host or to what hides it.
    let mut open: BTreeSet<PathBuf> = BTreeSet::new();
    for ((planned, tried), expected) in plan.iter().zip(tried).zip(expected) {
        if !tried.worked() || matches!(expected, Expect::Hidden(_)) {
            continue;
        }
        touched.extend(planned.paths.iter().map(real));
        let Some(path) = planned.paths.first() else {
            continue;
        };
        let path = real(path);
        if planned.lasting != Lasting::Nothing && matches!(expected, Expect::Either(_)) {
            open.insert(path.clone());
        }
        last(&mut should, planned.lasting, path);
    }
    let mut names: BTreeSet<&PathBuf> = should.keys().collect();
    names.extend(after.keys());
    let differs = |path: &&PathBuf| {
        let (mut should, mut is) = (should.get(*path).cloned(), after.get(*path).cloned());
        if path.ancestors().any(|above| touched.contains(above)) {
            for object in [&mut should, &mut is].into_iter().flatten() {
                object.changed = None;
            }
        }
        should != is
    };
    names
        .into_iter()
        .filter(differs)
        .filter(|path| !open.contains(*path) && !before.get(*path).is_some_and(|object| object.shared))
        .map(|path| (path.clone(), describe(should.get(path), after.get(path))))
        .collect()
}

/// What an attempt that worked leaves.
fn last(tree: &mut Snapshot, lasting: Lasting, path: PathBuf) {
    let made = |kind, content: &[u8], mode| Object {
        kind,
        content: content.to_vec(),
        mode,
        owner: (
            rustix::process::geteuid().as_raw(),
            rustix::process::getegid().as_raw(),
        ),
        shared: false,
        changed: None,
    };
    match lasting {
        Lasting::Nothing => {}
        Lasting::File => drop(tree.insert(path, made("file", CONTENT, 0o100_644))),
        Lasting::Directory => drop(tree.insert(path, made("directory", b"", 0o040_755))),
        Lasting::Content => {
            if let Some(object) = tree.get_mut(&path) {
                object.content = CONTENT.to_vec();
            }
        }
        Lasting::Byte => {
            if let Some(object) = tree.get_mut(&path) {
                object.content.push(b'+');
            }
        }
    }
}

fn describe(should: Option<&Object>, is: Option<&Object>) -> String {
    match (should, is) {
        (None, Some(is)) => format!("on the host there is a {} that should not be there", is.kind),
        (Some(should), None) => format!("on the host the {} is missing", should.kind),
        (Some(should), Some(is)) => format!(
            "on the host it is a {} of {} bytes, mode {:o}, changed {:?}, instead of a {} of {} bytes, mode {:o}, changed {:?}",
            is.kind,
            is.content.len(),
            is.mode,
            is.changed,
            should.kind,
            should.content.len(),
            should.mode,
            should.changed,
        ),
        (None, None) => String::new(),
    }
}
