//! Directories with closed names that do not exist: the broker makes all other names in them.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ringfence_policy::{Access, Axis, Hold, Kind, RegionTree};
use ringfence_zygote::plan::Guard;

use super::{Area, Builder, By, Pace, ViewError, Watched, bytes};
use crate::mutation::{self, Layer};

/// Directories in which the command makes names itself: each costs every spawn a rule. In others the broker does.
const MOST_FREE: usize = 128;

impl Builder<'_> {
    /// The directories that are guarded: those from the outermost writable region down to each closed name, and what is
    /// private around them. Each is a mount of its own.
    pub(super) fn guards(
        &mut self,
        tree: &RegionTree,
        closed: &BTreeMap<&Path, &Hold>,
    ) -> Result<Vec<Guard>, ViewError> {
        let mut shown = BTreeSet::new();
        for (name, hold) in closed {
            let Some(parent) = self.enclosing(name) else {
                continue;
            };
            self.pin_between(Some(parent), self.placements[parent].area, name, hold);
            let top = self.placements[self.outermost(parent)].path.clone();
            let above = name.ancestors().skip(1);
            shown.extend(above.take_while(|above| above.starts_with(&top)));
        }
        for directory in &shown {
            let seen = self.look(directory)?;
            if seen.is_none_or(|seen| seen.kind != Kind::Directory) {
                return Err(ViewError::Changed((*directory).to_owned()));
            }
            self.watched.push(Watched {
                path: (*directory).to_owned(),
                seen,
                pace: Pace::EverySpawn,
                by: By::Identity,
            });
        }
        let mut guards = Vec::new();
        for directory in &shown {
            let room = MOST_FREE.saturating_sub(self.free.len());
            self.free.extend(free(tree, directory, &shown).take(room));
            let names = closed.keys().filter(|name| name.parent() == Some(directory));
            let names =
                names.filter(|name| mutation::keeps(Layer::Broker, || format!("name {}", name.display())));
            guards.push(Guard {
                path: bytes(directory),
                names: names
                    .filter_map(|name| Some(name.file_name()?.as_bytes().to_vec()))
                    .collect(),
            });
        }
        guards.extend(self.private_around().map(|path| Guard {
            path: bytes(path),
            ..Guard::default()
        }));
        Ok(guards)
    }

    /// Memory of the command's own, in which guarded directories of the host are shown.
    fn private_around(&self) -> impl Iterator<Item = &Path> {
        let is_private = |path: &Path| {
            let placement = self.index.get(path).map(|at| &self.placements[*at]);
            placement.is_some_and(|placement| placement.area == Area::Private)
        };
        self.guarded.iter().copied().filter(move |path| is_private(path))
    }
}

/// The directories in a guarded one beneath which no name is closed. What can't be listed has none.
fn free<'a>(
    tree: &'a RegionTree,
    directory: &Path,
    guarded: &'a BTreeSet<&Path>,
) -> impl Iterator<Item = Vec<u8>> + 'a {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let paths = directories.map(|entry| entry.path());
    let free = paths.filter(move |path| {
        !guarded.contains(path.as_path()) && tree.decide(path, Axis::Write).access == Access::Allow
    });
    free.map(|path| bytes(&path))
}
