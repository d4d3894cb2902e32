//! How one region comes into the view: shown, hidden, or left as what surrounds it.

use std::path::Path;

use ringfence_policy::{Access, Axes, Kind, Region, RegionTree, Source};
use ringfence_zygote::plan::Operation;
use ringfence_zygote::wire::{ATTR_NODEV, ATTR_NOEXEC, ATTR_NOSUID, ATTR_RDONLY, ViewOp};

use super::holds::hold;
use super::wanted::Wanted;
use super::{Area, Builder, By, Pace, Placement, SKELETON_BYTES, ViewError, Watched, bytes};
use crate::seen::Seen;

const PRIVATE_MODE: u32 = 0o1777;

/// A file of the system up to this size is copied into the view instead of mounted.
const LARGEST_COPY_BYTES: u64 = 64 * 1024;

impl Builder<'_> {
    pub(super) fn place(&mut self, tree: &RegionTree, region: &Region<'_>) -> Result<(), ViewError> {
        let path = region.path;
        let parent = self.enclosing(path);
        let outside = parent.map_or(Area::Skeleton, |at| self.placements[at].area);
        let mut placement = Placement {
            path: path.to_owned(),
            area: outside,
            kind: region.kind,
            absent: false,
            narrowed: None,
            read_by_landlock: false,
            copied: false,
            mounted: false,
        };
        match self.wanted(region, &mut placement)? {
            Wanted::Private if matches!(outside, Area::Bound { .. }) && !self.is_directory(path)? => {
                placement.absent = true;
            }
            Wanted::Private => {
                self.memory(
                    path,
                    outside,
                    Self::memory_filesystem(path, self.private_bytes, PRIVATE_MODE),
                );
                placement.area = Area::Private;
            }
            Wanted::Dev => {
                let mut dev = Self::memory_filesystem(path, SKELETON_BYTES, 0o755);
                dev.attributes = ATTR_NOSUID | ATTR_NOEXEC;
                self.memory(path, outside, dev);
                self.seals.push(path.to_owned());
                placement.area = Area::Skeleton;
            }
            Wanted::Pts => {
                self.mount_point(path, outside, Kind::Directory);
                self.operations.push(Operation::at(ViewOp::Devpts, bytes(path)));
                placement.area = Area::Private;
            }
            Wanted::Proc => {
                self.mount_point(path, outside, Kind::Directory);
                placement.area = Area::Skeleton;
            }
            Wanted::Hidden => self.hide(tree, region, parent, outside, &mut placement)?,
            Wanted::Bound { writable, executable } => {
                self.bind(
                    region,
                    parent,
                    outside,
                    Area::Bound { writable, executable },
                    &mut placement,
                )?;
            }
        }
        if region.object.write != Access::Allow {
            self.held_links.extend(region.rules.iter().flat_map(|rule| {
                let hold = hold(region);
                rule.links
                    .iter()
                    .map(move |link| (link.path.clone(), hold.clone()))
            }));
        }
        self.grant(region, parent, &placement);
        self.index.insert(path.to_owned(), self.placements.len());
        self.placements.push(placement);
        Ok(())
    }

    /// Keeps a placeholder where it is; whatever is written to it leads nowhere.
    pub(super) fn keep(&mut self, region: &Region<'_>) {
        let path = region.path.to_owned();
        self.held_links.push((path.clone(), hold(region)));
        let parent = self.enclosing(&path);
        let inherited = parent.map_or(0, |at| self.inherited_rights[at]);
        self.inherited_rights.push(inherited);
        self.free_beneath
            .push(parent.is_some_and(|at| self.free_beneath[at]));
        self.index.insert(path.clone(), self.placements.len());
        self.placements.push(Placement {
            path,
            area: Area::Skeleton,
            kind: region.kind,
            absent: false,
            narrowed: None,
            read_by_landlock: false,
            copied: false,
            mounted: false,
        });
    }

    /// Nothing of the host shows at the region's path.
    fn hide(
        &mut self,
        tree: &RegionTree,
        region: &Region<'_>,
        parent: Option<usize>,
        outside: Area,
        placement: &mut Placement,
    ) -> Result<(), ViewError> {
        let path = region.path;
        match outside {
            Area::Skeleton => return Ok(()),
            Area::Private => {}
            Area::Bound { .. } => {
                let found = self.look(path)?;
                self.watch(region, found, By::Identity);
                let Some(seen) = found else {
                    placement.absent = true;
                    return Ok(());
                };
                placement.kind = seen.kind;
                self.pin_between(parent, outside, path, &hold(region));
                if seen.kind == Kind::File {
                    self.operations.push(Operation::at(ViewOp::MaskFile, bytes(path)));
                    placement.area = Area::Skeleton;
                    return Ok(());
                }
            }
        }
        // The directory itself may be entered only where something below it is open again.
        let opened_below = tree
            .beneath(path)
            .any(|other| other.subtree.allows_any() || other.object.allows_any());
        let mode = if opened_below { 0o111 } else { 0 };
        self.memory(path, outside, Self::memory_filesystem(path, SKELETON_BYTES, mode));
        self.seals.push(path.to_owned());
        placement.area = Area::Skeleton;
        Ok(())
    }

    fn bind(
        &mut self,
        region: &Region<'_>,
        parent: Option<usize>,
        outside: Area,
        inside: Area,
        placement: &mut Placement,
    ) -> Result<(), ViewError> {
        let path = region.path;
        if outside == inside && !self.may_need_rule(region, parent) {
            return self.stay(region, parent, outside);
        }
        let found = self.look(path)?;
        // A link is not what the profile names: where it leads, other rules hold.
        let Some(seen) = found.filter(|seen| region.kind != Kind::Absent || !seen.is_link) else {
            // What does not exist can't be shown; in a writable area it could be created, though.
            placement.absent = true;
            self.watch(region, found, By::Identity);
            return Ok(());
        };
        if seen.kind != region.kind && region.kind != Kind::Absent {
            return Err(ViewError::Changed(path.to_owned()));
        }
        placement.kind = seen.kind;
        if outside == inside {
            self.watch(region, found, By::Identity);
            return self.stay(region, parent, outside);
        }
        let Area::Bound { writable, executable } = inside else {
            return Ok(());
        };
        if !writable {
            self.pin_between(parent, outside, path, &hold(region));
        }
        let mut operation = Operation::at(ViewOp::Bind, bytes(path));
        operation.source = bytes(path);
        (operation.device, operation.inode) = (seen.device, seen.inode);
        if is_small_system_file(region, &seen) && !matches!(outside, Area::Bound { .. }) {
            if let Some(parent) = path.parent() {
                self.directories(parent);
            }
            self.operations.push(Operation {
                kind: ViewOp::Copy,
                size: seen.size,
                mode: 0o444,
                ..operation
            });
            self.made.insert(path.to_owned());
            self.watch(region, found, By::Content);
            placement.copied = true;
            return Ok(());
        }
        self.mount_point(path, outside, seen.kind);
        let device = region.rules.iter().any(|rule| rule.source == Source::Device);
        operation.attributes = ATTR_NOSUID
            | if device { 0 } else { ATTR_NODEV }
            | if writable { 0 } else { ATTR_RDONLY }
            | if executable { 0 } else { ATTR_NOEXEC };
        self.operations.push(operation);
        self.watch(region, found, By::Identity);
        placement.area = inside;
        placement.mounted = true;
        Ok(())
    }

    /// Makes a directory that is only to stay where it is a mount of its own.
    fn stay(&mut self, region: &Region<'_>, parent: Option<usize>, outside: Area) -> Result<(), ViewError> {
        let path = region.path;
        let Some(rule) = region.rules.iter().find(|rule| rule.axes == Axes::default()) else {
            return Ok(());
        };
        let writable = matches!(outside, Area::Bound { writable: true, .. });
        let found = if writable { self.look(path)? } else { None };
        if found.is_some() {
            self.pin_between(parent, outside, path, &rule.hold);
            if self.pinned.insert(path.to_owned()) {
                self.operations.push(Operation::at(ViewOp::Pin, bytes(path)));
            }
            self.watch(region, found, By::Identity);
        }
        Ok(())
    }

    fn watch(&mut self, region: &Region<'_>, seen: Option<Seen>, by: By) {
        let pace = region.rules.iter().map(|rule| match rule.source {
            Source::Runtime { .. } | Source::Device | Source::System => Pace::Soon,
            Source::Home | Source::Temporary | Source::Owned | Source::Private => Pace::Never,
            _ => Pace::EverySpawn,
        });
        let pace = pace.min().unwrap_or(Pace::EverySpawn);
        self.watched.push(Watched {
            path: region.path.to_owned(),
            seen,
            pace,
            by,
        });
    }

    fn is_directory(&self, path: &Path) -> Result<bool, ViewError> {
        Ok(self.look(path)?.is_some_and(|seen| seen.kind == Kind::Directory))
    }
}

fn is_small_system_file(region: &Region<'_>, seen: &Seen) -> bool {
    let system = region
        .rules
        .iter()
        .all(|rule| matches!(rule.source, Source::Runtime { .. }));
    let read_only = region.object.execute != Access::Allow;
    system && read_only && seen.kind == Kind::File && seen.size <= LARGEST_COPY_BYTES && seen.is_regular
}
