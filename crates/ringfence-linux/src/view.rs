//! From region tree to file view: which mounts, in which order, and which Landlock rules on top.
//!
//! Every region stands in an [`Area`]: what surrounds it in the view. A region that differs from its area
//! gets an operation of its own, parents first, so the deepest rule lies on top.

mod grants;
mod guards;
pub(crate) mod holds;
mod memory;
mod place;
mod wanted;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ringfence_policy::{Access, Hold, Kind, RegionTree, Verdict};
use ringfence_zygote::plan::{Guard, Operation, Rule};
use ringfence_zygote::wire::{ATTR_NODEV, ATTR_NOEXEC, ATTR_NOSUID, ATTR_RDONLY, ViewOp};

use crate::mutation::{self, Layer};
use crate::rights::Landlock;
use crate::seen::Seen;

/// Size of the memory filesystems that hold nothing but mount points.
const SKELETON_BYTES: u64 = 1 << 20;

/// Reading and nothing else.
const READ: Verdict = Verdict::READ_ONLY.with_execute(Access::Deny);

/// Looks at an object without following a link; `None` when it is absent.
pub(crate) type Observe<'a> = &'a dyn Fn(&Path) -> std::io::Result<Option<Seen>>;

/// The view of one executor.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) operations: Vec<Operation>,
    pub(crate) rules: Vec<Rule>,
    /// Directories in which the broker makes the names.
    pub(crate) guards: Vec<Guard>,
    /// Directories beneath which the command makes names itself.
    pub(crate) free: Vec<Vec<u8>>,
    /// What the operations show or hide, and where that is missing; when one of these is replaced, the view is stale.
    pub(crate) watched: Vec<Watched>,
    /// How each region of the tree stands, in the tree's order.
    pub(crate) placements: Vec<Placement>,
}

/// An object of the host that the view shows or hides, or the place for one.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) path: PathBuf,
    /// Nothing where the name was free.
    pub(crate) seen: Option<Seen>,
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
    /// What is there; as far as it was not looked at for the view, what was there when the profile was made.
    pub(crate) kind: Kind,
    /// The object does not exist on the host.
    pub(crate) absent: bool,
    /// Something was taken away beyond what the policy denies.
    pub(crate) narrowed: Option<String>,
    /// Landlock withholds reading here although the object is visible.
    pub(crate) read_by_landlock: bool,
    /// The view holds a copy of the file.
    pub(crate) copied: bool,
    /// It is a mount of its own, and so stays where it is.
    pub(crate) mounted: bool,
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
    /// Sockets and named pipes of the host, to be hidden.
    pub(crate) sockets: &'a [PathBuf],
    /// Links that lead nowhere, to be kept in their places.
    pub(crate) placeholders: BTreeSet<&'a Path>,
    /// Names that the broker does not make.
    pub(crate) closed: BTreeMap<&'a Path, &'a Hold>,
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
        free: Vec::new(),
        free_beneath: Vec::new(),
        guarded: extras
            .closed
            .keys()
            .flat_map(|name| name.ancestors().skip(1))
            .collect(),
    };
    for region in tree.regions() {
        if extras.placeholders.contains(region.path) {
            builder.keep(&region);
        } else {
            builder.place(tree, &region)?;
        }
    }
    builder.finish(tree, extras)
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
    /// Directories beneath which the command makes names itself.
    free: Vec<Vec<u8>>,
    /// Whether each placement lies in one, by its position.
    free_beneath: Vec<bool>,
    /// Every directory above a name that the broker does not make.
    guarded: BTreeSet<&'a Path>,
}

impl Builder<'_> {
    fn finish(mut self, tree: &RegionTree, extras: &Extras<'_>) -> Result<View, ViewError> {
        self.links(tree);
        self.hold_links()?;
        let guards = self.guards(tree, &extras.closed)?;
        self.grant_copies();
        self.mask_sockets(extras.sockets);
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
            free,
            watched,
            placements,
            ..
        } = self;
        Ok(View {
            operations: operations.into_iter().filter_map(kept).collect(),
            rules: rules
                .into_iter()
                .filter(|rule| mutation::keeps(Layer::Landlock, || format!("rule {}", name(&rule.path))))
                .collect(),
            guards,
            free,
            watched,
            placements,
        })
    }

    fn mask_sockets(&mut self, sockets: &[PathBuf]) {
        for socket in sockets {
            let area = self.enclosing(socket).map(|at| self.placements[at].area);
            if !matches!(area, Some(Area::Bound { .. })) {
                continue;
            }
            // What this user can't look at, the command can't connect to.
            let seen = (self.observe)(socket).ok().flatten();
            if seen.is_some_and(|seen| seen.kind == Kind::File) {
                self.operations
                    .push(Operation::at(ViewOp::MaskSocket, bytes(socket)));
                let (path, pace) = (socket.clone(), Pace::EverySpawn);
                self.watched.push(Watched {
                    path,
                    seen,
                    pace,
                    by: By::Identity,
                });
            }
        }
    }

    /// The nearest region strictly above a path.
    fn enclosing(&self, path: &Path) -> Option<usize> {
        path.ancestors()
            .skip(1)
            .find_map(|ancestor| self.index.get(ancestor))
            .copied()
    }

    fn look(&self, path: &Path) -> Result<Option<Seen>, ViewError> {
        (self.observe)(path)
            .map_err(|error| ViewError::Unreadable(path.to_owned(), error.raw_os_error().unwrap_or_default()))
    }
}

/// The operation with its attributes, each of which is a rule, as it is.
fn kept(mut operation: Operation) -> Option<Operation> {
    let kind = operation.kind.name();
    if !mutation::keeps(Layer::View, || format!("{kind} {}", name(&operation.target))) {
        return None;
    }
    for (attribute, is) in [
        (ATTR_RDONLY, "read-only"),
        (ATTR_NOSUID, "nosuid"),
        (ATTR_NODEV, "nodev"),
        (ATTR_NOEXEC, "noexec"),
    ] {
        let rule = || format!("{is} {}", name(&operation.target));
        if operation.attributes & attribute != 0 && !mutation::keeps(Layer::View, rule) {
            operation.attributes &= !attribute;
        }
    }
    Some(operation)
}

fn name(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
