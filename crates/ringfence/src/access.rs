//! What a command may write, for whoever has to know afterwards what it may have changed.

use std::path::PathBuf;

use ringfence_policy::{Access, Axis, Profile, RootKind, Verdict};

/// The write access that a preparation reserved, frozen when it was made (PRE-19 to PRE-24).
///
/// A later change of the executor, of its grants or of the host does not change it. Private directories (home,
/// temporary files, caches) do not count. The numbers are stable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EffectiveAccess {
    /// Nothing of the workspace or the host can have changed.
    ReadOnly = 1,
    /// Only these can have changed.
    ScopedWrite {
        /// Canonical paths of single files, sorted.
        paths: Vec<PathBuf>,
        /// Canonical paths of directories with everything beneath, sorted.
        trees: Vec<PathBuf>,
    } = 2,
    /// Anything in the workspace, or beyond, can have changed.
    BroadWrite = 3,
}

impl EffectiveAccess {
    pub(crate) fn of(profile: &Profile) -> Self {
        let writes = |verdict: Verdict| verdict.get(Axis::Write);
        let (workspace, host) = (writes(profile.workspace_access()), writes(profile.host_access()));
        if workspace == Access::Allow || host == Access::Allow {
            return Self::BroadWrite;
        }
        let (mut paths, mut trees) = (Vec::new(), Vec::new());
        let mut gated = workspace == Access::Gated || host == Access::Gated;
        for root in profile.roots() {
            match (writes(root.access), root.kind) {
                (Access::Allow, RootKind::File) => paths.push(root.at.path.clone()),
                (Access::Allow, _) => trees.push(root.at.path.clone()),
                (Access::Gated, _) => gated = true,
                (Access::Deny, _) => {}
            }
        }
        if paths.is_empty() && trees.is_empty() && !gated {
            return Self::ReadOnly;
        }
        paths.sort();
        trees.sort();
        Self::ScopedWrite { paths, trees }
    }
}
