//! What of the way to a closed place is kept where it is: a mount point can't be renamed.

use std::path::Path;

use ringfence_policy::{Access, Hold, Region};
use ringfence_zygote::plan::Operation;
use ringfence_zygote::wire::ViewOp;

use super::{Area, Builder, By, Pace, ViewError, Watched, bytes};

impl Builder<'_> {
    /// Makes the directories between a writable region and a stricter one below it mounts of their own: a mount point
    /// can't be renamed, so nobody can move the protected path away and put another in its place.
    ///
    /// A writable region in another one may be a mount itself, and yet be moved with what is above it, so this begins at
    /// the outermost of them.
    pub(super) fn pin_between(&mut self, parent: Option<usize>, outside: Area, path: &Path, hold: &Hold) {
        let (Some(parent), Area::Bound { writable: true, .. }) = (parent, outside) else {
            return;
        };
        let top = &self.placements[self.outermost(parent)].path;
        let is_mounted = |directory: &Path| {
            let placement = self.index.get(directory).map(|at| &self.placements[*at]);
            placement.is_some_and(|placement| placement.mounted)
        };
        let held = |directory: &&Path| match hold {
            Hold::Name => true,
            Hold::From(first) => directory.starts_with(first),
            Hold::Object => false,
        };
        let above = path.ancestors().skip(1).take_while(|directory| directory != top);
        let mut between: Vec<&Path> = above
            .filter(held)
            .filter(|directory| !is_mounted(directory))
            .collect();
        between.reverse();
        for directory in between {
            if self.pinned.insert(directory.to_owned()) {
                self.operations.push(Operation::at(ViewOp::Pin, bytes(directory)));
            }
        }
    }

    /// The placement itself, or the outermost around it from which everything down to it can be written.
    pub(super) fn outermost(&self, placement: usize) -> usize {
        let mut at = placement;
        while let Some(around) = self.enclosing(&self.placements[at].path)
            && matches!(self.placements[around].area, Area::Bound { writable: true, .. })
        {
            at = around;
        }
        at
    }

    /// Makes the links that lead to closed places mount points too: then nobody can replace them.
    pub(super) fn hold_links(&mut self) -> Result<(), ViewError> {
        for (path, hold) in std::mem::take(&mut self.held_links) {
            let Some(parent) = self.enclosing(&path) else {
                continue;
            };
            let area = self.placements[parent].area;
            if !matches!(area, Area::Bound { writable: true, .. }) || !self.pinned.insert(path.clone()) {
                continue;
            }
            let seen = self.look(&path)?;
            if seen.is_none() {
                return Err(ViewError::Changed(path));
            }
            self.pin_between(Some(parent), area, &path, &hold);
            self.operations.push(Operation::at(ViewOp::Pin, bytes(&path)));
            let (pace, by) = (Pace::EverySpawn, By::Identity);
            self.watched.push(Watched { path, seen, pace, by });
        }
        Ok(())
    }
}

/// What of the way to a closed place must stay where it is: as much as any of its rules asks for.
pub(crate) fn hold(region: &Region<'_>) -> Hold {
    let closing = region
        .rules
        .iter()
        .filter(|rule| rule.axes.write.is_some_and(|access| access != Access::Allow));
    closing.map(|rule| rule.hold.clone()).min().unwrap_or_default()
}
