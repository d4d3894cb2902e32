//! What is made in memory filesystems of ours: mount points, the directories above them, links.

use std::path::{Path, PathBuf};

use ringfence_policy::{Kind, RegionTree};
use ringfence_zygote::plan::Operation;
use ringfence_zygote::wire::{ATTR_NODEV, ATTR_NOSUID, ViewOp};

use super::{Area, Builder, bytes};
use crate::surroundings::DEVICE_LINKS;

impl Builder<'_> {
    pub(super) fn memory(&mut self, path: &Path, outside: Area, operation: Operation) {
        self.mount_point(path, outside, Kind::Directory);
        self.made.insert(path.to_owned());
        self.operations.push(operation);
    }

    pub(super) fn memory_filesystem(path: &Path, size: u64, mode: u32) -> Operation {
        let attributes = ATTR_NOSUID | ATTR_NODEV;
        Operation {
            attributes,
            size,
            mode,
            ..Operation::at(ViewOp::Tmpfs, bytes(path))
        }
    }

    /// Makes sure that something can be mounted at `path`.
    pub(super) fn mount_point(&mut self, path: &Path, area: Area, kind: Kind) {
        if matches!(area, Area::Bound { .. }) || path == Path::new("/") {
            return;
        }
        if let Some(parent) = path.parent() {
            self.directories(parent);
        }
        if self.made.insert(path.to_owned()) {
            let kind = if kind == Kind::Directory {
                ViewOp::Directory
            } else {
                ViewOp::File
            };
            self.operations.push(Operation {
                mode: 0o755,
                ..Operation::at(kind, bytes(path))
            });
        }
    }

    pub(super) fn directories(&mut self, path: &Path) {
        let mut missing: Vec<&Path> = path
            .ancestors()
            .take_while(|dir| !self.made.contains(*dir) && *dir != Path::new("/"))
            .collect();
        missing.reverse();
        for directory in missing {
            self.made.insert(directory.to_owned());
            self.operations.push(Operation {
                mode: 0o755,
                ..Operation::at(ViewOp::Directory, bytes(directory))
            });
        }
    }

    /// Symbolic links on the way to what the policy names, where the host's own are not visible (S-04, S-05).
    pub(super) fn links(&mut self, tree: &RegionTree) {
        let device = DEVICE_LINKS.map(|(path, target)| (PathBuf::from(path), PathBuf::from(target)));
        let passed = tree.rules().iter().flat_map(|rule| &rule.links);
        let passed = passed.map(|link| (link.path.clone(), link.target.clone()));
        let mut all: Vec<(PathBuf, PathBuf)> = passed.chain(device).collect();
        all.sort();
        all.dedup_by(|a, b| a.0 == b.0);
        for (path, target) in all {
            let area = self
                .enclosing(&path)
                .map_or(Area::Skeleton, |at| self.placements[at].area);
            if matches!(area, Area::Bound { .. })
                || self.made.contains(&path)
                || self.index.contains_key(&path)
            {
                continue;
            }
            if let Some(parent) = path.parent() {
                self.directories(parent);
            }
            self.made.insert(path.clone());
            self.operations.push(Operation {
                source: bytes(&target),
                ..Operation::at(ViewOp::Link, bytes(&path))
            });
        }
    }
}
