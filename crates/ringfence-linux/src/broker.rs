//! Which closed names the broker can keep a command from making: those whose directory, and all above it that a command
//! could move, stay where they are, and where two names are the same only if their bytes are.

use std::cell::OnceCell;
use std::path::Path;

use ringfence_host::folding;
use ringfence_policy::{Access, Axis, Hold, RegionTree, Rule, Source};

use crate::kernel_mounts::{self, Mount};

/// The broker's side of one policy.
pub(crate) struct Broker<'a> {
    tree: &'a RegionTree,
    /// Whether this host has one.
    exists: bool,
    mounts: OnceCell<Vec<Mount>>,
}

impl<'a> Broker<'a> {
    pub(crate) const fn new(tree: &'a RegionTree, exists: bool) -> Self {
        Self {
            tree,
            exists,
            mounts: OnceCell::new(),
        }
    }

    /// Whether it can refuse a name that does not exist.
    pub(crate) fn can_refuse(&self, name: &Path, hold: &Hold) -> bool {
        let Some(directory) = name.parent().filter(|_| self.exists) else {
            return false;
        };
        self.stays(directory, hold) && !folding::may_fold(directory) && !self.has_other_name(directory)
    }

    /// Whether everything from the outermost writable directory down to this one is held in its place.
    fn stays(&self, directory: &Path, hold: &Hold) -> bool {
        let writable = |above: &&Path| {
            let decision = self.tree.decide(above, Axis::Write);
            let private = decision.rule.is_some_and(|rule| rule.source == Source::Private);
            decision.access == Access::Allow && !private
        };
        let mut above = directory.ancestors();
        let inside: Vec<&Path> = above.by_ref().take_while(writable).collect();
        // What is closed in between may be movable by rules of its own.
        if above.any(|above| writable(&above)) {
            return false;
        }
        // The outermost is a mount itself.
        let mut movable = inside.iter().rev().skip(1);
        match hold {
            Hold::Name => true,
            Hold::From(first) => movable.all(|above| above.starts_with(first)),
            Hold::Object => movable.next().is_none(),
        }
    }

    /// Whether the filesystem around a directory is mounted, writable, in another place as well, where the same directory
    /// may be.
    fn has_other_name(&self, directory: &Path) -> bool {
        let mounts = self.mounts.get_or_init(kernel_mounts::list);
        let around = |path: &Path| {
            let above = mounts.iter().filter(|mount| path.starts_with(&mount.path));
            // Later ones lie on top.
            above.rev().max_by_key(|mount| mount.path.as_os_str().len())
        };
        let Some(own) = around(directory) else {
            return true;
        };
        let others = || {
            let others = mounts.iter().filter(|mount| mount.device == own.device);
            others.filter(|mount| mount.path != own.path)
        };
        if others().next().is_none() {
            return false;
        }
        let is_other = |path: &Path| {
            around(path).is_some_and(|mount| mount.device == own.device && mount.path != own.path)
        };
        let is_own = |rule: &&Rule| {
            matches!(
                rule.source,
                Source::Private | Source::Home | Source::Temporary | Source::Owned
            )
        };
        let mut writable = self.tree.regions().filter(|region| {
            region.subtree.write == Access::Allow && !region.rules.iter().all(|rule| is_own(&rule))
        });
        writable.any(|region| is_other(region.path))
            || others().any(|mount| self.tree.verdict(&mount.path).write == Access::Allow)
    }
}
