//! Where control groups can be made.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::tables::{self, Kind, Membership, Mount, Writing};
use super::{NoPlace, Place, Resource, Version, v1, v2};

/// The host that is looked at.
pub(super) struct System<'a> {
    /// Where its root directory is.
    pub(super) root: &'a Path,
    /// Whether the caller may write to a file or directory.
    pub(super) may_write: &'a dyn Fn(&Path) -> Result<(), Errno>,
}

/// What was found.
pub(super) struct Found<'a> {
    system: &'a System<'a>,
    tables: Result<(Vec<Mount>, Vec<Membership>), NoPlace>,
}

pub(super) fn find<'a>(system: &'a System<'a>) -> Found<'a> {
    let tables =
        tables::mounts(system.root).and_then(|mounts| Ok((mounts, tables::memberships(system.root)?)));
    Found { system, tables }
}

/// Processors that are switched on, at least one.
pub(super) fn cpus(system: &System<'_>) -> u32 {
    let list = fs::read_to_string(system.root.join("sys/devices/system/cpu/online")).unwrap_or_default();
    // `0-3,5`
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        Some(last.checked_sub(first)?.saturating_add(1))
    };
    let counted: u32 = list.trim_end().split(',').filter_map(count).sum();
    counted.max(1)
}

impl Found<'_> {
    /// Where a resource can be limited, in the version that has its controller.
    pub(super) fn place(&self, resource: Resource) -> Result<Place, NoPlace> {
        let (mounts, memberships) = self.tables.as_ref().map_err(Clone::clone)?;
        let unified = self.unified(resource, mounts, memberships);
        unified.or_else(|reason| match self.legacy(resource, mounts, memberships) {
            // The controller is not attached to version 1.
            Err(NoPlace::NotMounted) => Err(reason),
            legacy => legacy,
        })
    }

    fn unified(
        &self,
        resource: Resource,
        mounts: &[Mount],
        memberships: &[Membership],
    ) -> Result<Place, NoPlace> {
        let own = memberships
            .iter()
            .find(|membership| membership.controllers.is_empty())
            .ok_or(NoPlace::NotMounted)?;
        let mounts = mounts.iter().filter(|mount| mount.kind == Kind::Unified);
        let (mount, below) = self.shown(Version::V2, mounts, &own.group)?;
        let point = self.real(&mount.point);
        let groups: Vec<PathBuf> = below.ancestors().map(|group| point.join(group)).collect();
        let mut reason = None;
        for (depth, directory) in groups.iter().enumerate() {
            match self.offers(resource, mount, directory) {
                Ok(()) => {
                    let between = groups[..depth].to_vec();
                    return Ok(Place::new(Version::V2, directory.clone(), between));
                }
                Err(nearer) if reason.is_none() || nearer.is_nearest_to_success() => reason = Some(nearer),
                Err(_) => {}
            }
        }
        Err(reason.unwrap_or(NoPlace::NotMounted))
    }

    /// Whether groups with the resource's controller can be made in a group of version 2.
    fn offers(&self, resource: Resource, mount: &Mount, directory: &Path) -> Result<(), NoPlace> {
        self.writable(Version::V2, mount, directory)?;
        // The kernel asks for it too when a process is moved between groups below this one.
        self.allowed(Version::V2, &directory.join(v2::PROCESSES))?;
        v2::require_domain(directory)?;
        let Some(controller) = v2::controller(resource) else {
            return Ok(());
        };
        if v2::passes_on(directory, controller) {
            return Ok(());
        }
        if !v2::has(directory, controller) {
            return Err(NoPlace::NotPassedOn {
                directory: directory.to_owned(),
            });
        }
        self.allowed(Version::V2, &directory.join(v2::SUBTREE))?;
        v2::require_unoccupied(directory)
    }

    fn legacy(
        &self,
        resource: Resource,
        mounts: &[Mount],
        memberships: &[Membership],
    ) -> Result<Place, NoPlace> {
        let controller = v1::controller(resource).as_bytes();
        let own = memberships
            .iter()
            .find(|membership| membership.controllers.iter().any(|name| name == controller))
            .ok_or(NoPlace::NotMounted)?;
        let mounts = mounts.iter().filter(|mount| match &mount.kind {
            Kind::Unified => false,
            Kind::Legacy(options) => options.iter().any(|option| option == controller),
        });
        let (mount, below) = self.shown(Version::V1, mounts, &own.group)?;
        let directory = self.real(&mount.point).join(below);
        self.writable(Version::V1, mount, &directory)?;
        Ok(Place::new(Version::V1, directory, Vec::new()))
    }

    /// The mount that shows a group, and the group's path below the mount point.
    fn shown<'m, 'g>(
        &self,
        version: Version,
        mounts: impl Iterator<Item = &'m Mount>,
        group: &'g Path,
    ) -> Result<(&'m Mount, &'g Path), NoPlace> {
        let mut reason = NoPlace::NotMounted;
        for mount in mounts {
            // Outside of this process's control-group namespace names start with `/..`, and nothing is below them.
            if let Ok(below) = group.strip_prefix(&mount.shown)
                && self.real(&mount.point).join(below).join(v2::PROCESSES).exists()
            {
                return Ok((mount, below));
            }
            reason = NoPlace::Elsewhere {
                version,
                group: group.to_owned(),
                mount: mount.point.clone(),
            };
        }
        Err(reason)
    }

    fn writable(&self, version: Version, mount: &Mount, directory: &Path) -> Result<(), NoPlace> {
        match mount.writing {
            Writing::Possible => self.allowed(version, directory),
            Writing::Impossible => Err(NoPlace::ReadOnly {
                version,
                directory: directory.to_owned(),
            }),
        }
    }

    fn allowed(&self, version: Version, path: &Path) -> Result<(), NoPlace> {
        (self.system.may_write)(path).map_err(|errno| match errno {
            Errno::ROFS => NoPlace::ReadOnly {
                version,
                directory: path.to_owned(),
            },
            errno => NoPlace::Denied {
                version,
                path: path.to_owned(),
                errno: errno.raw_os_error(),
            },
        })
    }

    /// An absolute path of the host that is looked at.
    fn real(&self, path: &Path) -> PathBuf {
        self.system.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}
