//! From region tree to file view: which mounts, in which order, and which Landlock rules on top.
//!
//! Every region stands in an [`Area`]: what surrounds it in the view. A region that differs from its area
//! gets an operation of its own, parents first, so the deepest rule lies on top.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ringfence_policy::{Access, Axes, Hold, Kind, Reach, Region, RegionTree, Source, Verdict};
use ringfence_zygote::plan::{Operation, Rule};
use ringfence_zygote::wire::{ATTR_NODEV, ATTR_NOEXEC, ATTR_NOSUID, ATTR_RDONLY, ViewOp};

use crate::rights::Landlock;
use crate::seen::Seen;
use crate::surroundings::{DEV, DEVICE_LINKS, PROC, PTS};

/// Size of the memory filesystems that hold nothing but mount points.
const SKELETON_BYTES: u64 = 1 << 20;
const PRIVATE_MODE: u32 = 0o1777;

/// Reading and nothing else.
const READ: Verdict = Verdict::READ_ONLY.with_execute(Access::Deny);

/// A file of the system up to this size is copied into the view instead of mounted.
const LARGEST_COPY_BYTES: u64 = 64 * 1024;

/// Looks at an object without following a link; `None` when it is absent.
pub(crate) type Observe<'a> = &'a dyn Fn(&Path) -> std::io::Result<Option<Seen>>;

/// The view of one executor.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) operations: Vec<Operation>,
    pub(crate) rules: Vec<Rule>,
    /// What the operations show or hide; when one of these is replaced, the view is stale.
    pub(crate) watched: Vec<Watched>,
    /// How each region of the tree stands, in the tree's order.
    pub(crate) placements: Vec<Placement>,
}

/// An object of the host that the view shows or hides.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) path: PathBuf,
    pub(crate) seen: Seen,
    pub(crate) pace: Pace,
    pub(crate) by: By,
}

/// What makes a watched object another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// That another object stands at its path.
    Identity,
    /// Also that its content may have changed: the view holds a copy.
    Content,
}

/// How soon a replaced object must be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pace {
    /// Before the next spawn: the user's own files.
    EverySpawn,
    /// Within a second: the system's files, which change when packages are installed.
    Soon,
    /// Never: the set's own directories.
    Never,
}

/// How one region stands in the view.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    pub(crate) path: PathBuf,
    pub(crate) area: Area,
    /// The object does not exist on the host.
    pub(crate) absent: bool,
    /// Something was taken away beyond what the policy denies.
    pub(crate) narrowed: Option<String>,
    /// Landlock withholds reading here although the object is visible.
    pub(crate) read_by_landlock: bool,
    /// The view holds a copy of the file.
    pub(crate) copied: bool,
}

/// What a path lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// A read-only memory filesystem of ours that holds only mount points: nothing of the host is visible.
    Skeleton,
    /// A writable memory filesystem of ours.
    Private,
    /// A part of the host.
    Bound { writable: bool, executable: bool },
}

/// Why a tree has no view.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ViewError {
    /// The object is of another kind than when the profile was made, or a link.
    Changed(PathBuf),
    /// It could not be looked at.
    Unreadable(PathBuf, i32),
    /// The combination of rules can't be enforced.
    Unenforceable(PathBuf, String),
}

/// What is in the shown places and needs an operation of its own.
#[derive(Debug, Default)]
pub(crate) struct Extras<'a> {
    /// Sockets of the host, to be hidden.
    pub(crate) sockets: &'a [PathBuf],
    /// Links that lead nowhere, to be kept in their places.
    pub(crate) placeholders: BTreeSet<&'a Path>,
}

/// Derives the view.
pub(crate) fn build(
    tree: &RegionTree,
    landlock: Landlock,
    extras: &Extras<'_>,
    private_bytes: u64,
    observe: Observe<'_>,
) -> Result<View, ViewError> {
    let mut builder = Builder {
        landlock,
        private_bytes,
        observe,
        operations: Vec::new(),
        rules: Vec::new(),
        watched: Vec::new(),
        placements: Vec::new(),
        index: HashMap::new(),
        made: BTreeSet::new(),
        pinned: BTreeSet::new(),
        held_links: Vec::new(),
        seals: Vec::new(),
        inherited_rights: Vec::new(),
        copies: Vec::new(),
    };
    for region in tree.regions() {
        if extras.placeholders.contains(region.path) {
            builder.keep(&region);
        } else {
            builder.place(tree, &region)?;
        }
    }
    builder.finish(tree, extras.sockets)
}

struct Builder<'a> {
    landlock: Landlock,
    private_bytes: u64,
    observe: Observe<'a>,
    operations: Vec<Operation>,
    rules: Vec<Rule>,
    watched: Vec<Watched>,
    placements: Vec<Placement>,
    /// Region path to its position in `placements`.
    index: HashMap<PathBuf, usize>,
    /// What is there to put something into: mount points, and what was made in memory filesystems.
    made: BTreeSet<PathBuf>,
    /// Directories and links bound onto themselves.
    pinned: BTreeSet<PathBuf>,
    /// Links to bind onto themselves once everything is in place.
    held_links: Vec<(PathBuf, Hold)>,
    /// Memory filesystems to make read-only once everything in them is in place.
    seals: Vec<PathBuf>,
    /// Landlock rights in force at each placement, by its position.
    inherited_rights: Vec<u64>,
    /// Directory, path and rights of each copied file.
    copies: Vec<(PathBuf, Vec<u8>, u64)>,
}

/// What a region wants to be in the view.
enum Wanted {
    Hidden,
    Private,
    Dev,
    Pts,
    /// The zygote mounts it; only rules are needed.
    Proc,
    Bound {
        writable: bool,
        executable: bool,
    },
}

impl Builder<'_> {
    fn place(&mut self, tree: &RegionTree, region: &Region<'_>) -> Result<(), ViewError> {
        let path = region.path;
        let parent = self.enclosing(path);
        let outside = parent.map_or(Area::Skeleton, |at| self.placements[at].area);
        let mut placement = Placement {
            path: path.to_owned(),
            area: outside,
            absent: false,
            narrowed: None,
            read_by_landlock: false,
            copied: false,
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
    fn keep(&mut self, region: &Region<'_>) {
        let path = region.path.to_owned();
        self.held_links.push((path.clone(), hold(region)));
        let parent = self.enclosing(&path);
        let inherited = parent.map_or(0, |at| self.inherited_rights[at]);
        self.inherited_rights.push(inherited);
        self.index.insert(path.clone(), self.placements.len());
        self.placements.push(Placement {
            path,
            area: Area::Skeleton,
            absent: false,
            narrowed: None,
            read_by_landlock: false,
            copied: false,
        });
    }

    fn wanted(&self, region: &Region<'_>, placement: &mut Placement) -> Result<Wanted, ViewError> {
        let only = |source: &Source| region.rules.iter().all(|rule| rule.source == *source);
        if only(&Source::Private) {
            return Ok(Wanted::Private);
        }
        if only(&Source::System) {
            match region.path.to_str() {
                Some(DEV) => return Ok(Wanted::Dev),
                Some(PTS) => return Ok(Wanted::Pts),
                Some(PROC) => return Ok(Wanted::Proc),
                _ => {}
            }
        }
        let verdict = whole(region)?;
        if !verdict.allows_any() {
            return Ok(Wanted::Hidden);
        }
        let writable = verdict.write == Access::Allow;
        if verdict.read != Access::Allow {
            // A rule of Landlock reaches through whatever is mounted beneath its object.
            let inherited = self
                .enclosing(region.path)
                .map_or(0, |at| self.inherited_rights[at]);
            if inherited & self.landlock.rights(READ, Kind::Directory) != 0 || self.landlock.abi.is_none() {
                placement.narrowed =
                    Some("writing and executing are withheld together with reading".to_owned());
                return Ok(Wanted::Hidden);
            }
            placement.read_by_landlock = true;
        }
        Ok(Wanted::Bound {
            writable,
            executable: verdict.execute == Access::Allow,
        })
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
                let Some(seen) = self.look(path)? else {
                    placement.absent = true;
                    return Ok(());
                };
                self.watch(region, seen, By::Identity);
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
        if outside == inside {
            return self.stay(region, parent, outside);
        }
        let Some(seen) = self.look(path)? else {
            // What does not exist can't be shown; in a writable area it could be created, though.
            placement.absent = true;
            return Ok(());
        };
        if seen.kind != region.kind && region.kind != Kind::Absent {
            return Err(ViewError::Changed(path.to_owned()));
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
            self.watch(region, seen, By::Content);
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
        self.watch(region, seen, By::Identity);
        placement.area = inside;
        Ok(())
    }

    /// Makes a directory that is only to stay where it is a mount of its own.
    fn stay(&mut self, region: &Region<'_>, parent: Option<usize>, outside: Area) -> Result<(), ViewError> {
        let path = region.path;
        let Some(rule) = region.rules.iter().find(|rule| rule.axes == Axes::default()) else {
            return Ok(());
        };
        let writable = matches!(outside, Area::Bound { writable: true, .. });
        if writable && let Some(seen) = self.look(path)? {
            self.pin_between(parent, outside, path, &rule.hold);
            if self.pinned.insert(path.to_owned()) {
                self.operations.push(Operation::at(ViewOp::Pin, bytes(path)));
            }
            self.watch(region, seen, By::Identity);
        }
        Ok(())
    }

    fn watch(&mut self, region: &Region<'_>, seen: Seen, by: By) {
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

    /// Makes the directories between a writable region and a stricter one below it mounts of their own: a mount point
    /// can't be renamed, so nobody can move the protected path away and put another in its place.
    fn pin_between(&mut self, parent: Option<usize>, outside: Area, path: &Path, hold: &Hold) {
        let (Some(parent), Area::Bound { writable: true, .. }) = (parent, outside) else {
            return;
        };
        let top = self.placements[parent].path.clone();
        let held = |directory: &&Path| match hold {
            Hold::Name => true,
            Hold::From(first) => directory.starts_with(first),
            Hold::Object => false,
        };
        let above = path.ancestors().skip(1).take_while(|directory| *directory != top);
        let mut between: Vec<&Path> = above.filter(held).collect();
        between.reverse();
        for directory in between {
            if self.pinned.insert(directory.to_owned()) {
                self.operations.push(Operation::at(ViewOp::Pin, bytes(directory)));
            }
        }
    }

    /// Makes sure that something can be mounted at `path`.
    fn mount_point(&mut self, path: &Path, area: Area, kind: Kind) {
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

    fn directories(&mut self, path: &Path) {
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

    fn memory(&mut self, path: &Path, outside: Area, operation: Operation) {
        self.mount_point(path, outside, Kind::Directory);
        self.made.insert(path.to_owned());
        self.operations.push(operation);
    }

    fn memory_filesystem(path: &Path, size: u64, mode: u32) -> Operation {
        let attributes = ATTR_NOSUID | ATTR_NODEV;
        Operation {
            attributes,
            size,
            mode,
            ..Operation::at(ViewOp::Tmpfs, bytes(path))
        }
    }

    /// A Landlock rule where the region grants more than what surrounds it does.
    fn grant(&mut self, region: &Region<'_>, parent: Option<usize>, placement: &Placement) {
        let inherited = parent.map_or(0, |at| self.inherited_rights[at]);
        let private = region
            .rules
            .iter()
            .any(|rule| matches!(rule.source, Source::Private | Source::Home | Source::Temporary));
        let verdict = if region.kind == Kind::Directory {
            region.subtree
        } else {
            region.object
        };
        let mut rights = self.landlock.rights(verdict, region.kind);
        if region.path.starts_with(DEV) {
            rights |= self.landlock.device_rights(region.kind);
        }
        if private {
            rights |= self.landlock.socket_rights(region.kind);
        }
        let shown = !placement.absent && placement.narrowed.is_none();
        // Where nothing of the region shows there is no rule to inherit from.
        self.inherited_rights
            .push(inherited | if shown { rights } else { 0 });
        // `/proc` is another filesystem in every spawn: its rule is made there.
        let copied_rights = if placement.copied { rights } else { 0 };
        if copied_rights != 0
            && let Some(parent) = region.path.parent()
        {
            self.copies
                .push((parent.to_owned(), bytes(region.path), copied_rights));
            return;
        }
        let exists = shown && region.path != Path::new(PROC);
        if exists && region.kind != Kind::Absent && rights & !inherited != 0 {
            self.rules.push(Rule {
                path: bytes(region.path),
                access: rights,
            });
        }
    }

    /// Makes the links that lead to closed places mount points too: then nobody can replace them.
    fn hold_links(&mut self) -> Result<(), ViewError> {
        for (path, hold) in std::mem::take(&mut self.held_links) {
            let Some(parent) = self.enclosing(&path) else {
                continue;
            };
            let area = self.placements[parent].area;
            if !matches!(area, Area::Bound { writable: true, .. }) || !self.pinned.insert(path.clone()) {
                continue;
            }
            let Some(seen) = self.look(&path)? else {
                return Err(ViewError::Changed(path));
            };
            self.pin_between(Some(parent), area, &path, &hold);
            self.operations.push(Operation::at(ViewOp::Pin, bytes(&path)));
            let (pace, by) = (Pace::EverySpawn, By::Identity);
            self.watched.push(Watched { path, seen, pace, by });
        }
        Ok(())
    }

    fn finish(mut self, tree: &RegionTree, masked: &[PathBuf]) -> Result<View, ViewError> {
        self.links(tree);
        self.hold_links()?;
        self.grant_copies();
        for socket in masked {
            let area = self.enclosing(socket).map(|at| self.placements[at].area);
            if !matches!(area, Some(Area::Bound { .. })) {
                continue;
            }
            // What this user can't look at, the command can't connect to.
            if let Ok(Some(seen)) = (self.observe)(socket)
                && seen.kind == Kind::File
            {
                self.operations
                    .push(Operation::at(ViewOp::MaskFile, bytes(socket)));
                let (path, pace) = (socket.clone(), Pace::EverySpawn);
                self.watched.push(Watched {
                    path,
                    seen,
                    pace,
                    by: By::Identity,
                });
            }
        }
        for path in self.seals.iter().rev() {
            self.operations.push(Operation::at(ViewOp::Seal, bytes(path)));
        }
        if !matches!(self.placements.first(), Some(first) if first.path == Path::new("/") && matches!(first.area, Area::Bound { .. }))
        {
            self.operations.push(Operation::at(ViewOp::Seal, b"/".to_vec()));
        }
        let Self {
            operations,
            rules,
            watched,
            placements,
            ..
        } = self;
        Ok(View {
            operations,
            rules,
            watched,
            placements,
        })
    }

    /// One rule per directory that holds copies: nothing else of the host is in it, so what the rule grants
    /// beneath it is the copies and what is granted anyway. Where reading is withheld by Landlock alone, a rule
    /// above could open it again, so each copy gets its own.
    fn grant_copies(&mut self) {
        let each = self.placements.iter().any(|placement| placement.read_by_landlock);
        let mut by_directory: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for (directory, path, rights) in std::mem::take(&mut self.copies) {
            *by_directory
                .entry(if each { path } else { bytes(&directory) })
                .or_default() |= rights;
        }
        self.rules.extend(
            by_directory
                .into_iter()
                .map(|(path, access)| Rule { path, access }),
        );
    }

    /// Symbolic links on the way to what the policy names, where the host's own are not visible (S-04, S-05).
    fn links(&mut self, tree: &RegionTree) {
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

    /// The nearest region strictly above a path.
    fn enclosing(&self, path: &Path) -> Option<usize> {
        path.ancestors()
            .skip(1)
            .find_map(|ancestor| self.index.get(ancestor))
            .copied()
    }

    fn is_directory(&self, path: &Path) -> Result<bool, ViewError> {
        Ok(self.look(path)?.is_some_and(|seen| seen.kind == Kind::Directory))
    }

    fn look(&self, path: &Path) -> Result<Option<Seen>, ViewError> {
        (self.observe)(path)
            .map_err(|error| ViewError::Unreadable(path.to_owned(), error.raw_os_error().unwrap_or_default()))
    }
}

/// The one verdict of a region whose object and descendants agree; a file has no descendants.
fn whole(region: &Region<'_>) -> Result<Verdict, ViewError> {
    if region.kind != Kind::Directory {
        return Ok(region.object);
    }
    let exact = region.rules.iter().any(|rule| rule.reach == Reach::Exact);
    if exact && region.object != region.subtree {
        let why = "a directory can't have other access than what it contains".to_owned();
        return Err(ViewError::Unenforceable(region.path.to_owned(), why));
    }
    Ok(region.subtree)
}

/// What of the way to a closed place must stay where it is: as much as any of its rules asks for.
fn hold(region: &Region<'_>) -> Hold {
    let closing = region
        .rules
        .iter()
        .filter(|rule| rule.axes.write.is_some_and(|access| access != Access::Allow));
    closing.map(|rule| rule.hold.clone()).min().unwrap_or_default()
}

fn is_small_system_file(region: &Region<'_>, seen: &Seen) -> bool {
    let system = region
        .rules
        .iter()
        .all(|rule| matches!(rule.source, Source::Runtime { .. }));
    let read_only = region.object.execute != Access::Allow;
    system && read_only && seen.kind == Kind::File && seen.size <= LARGEST_COPY_BYTES && seen.is_regular
}

pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
