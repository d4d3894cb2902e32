//! The profile: a checked, immutable statement of what commands may do.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use crate::access::{ABI_VERSION, Access, Home, Isolation, Verdict};
use crate::config::ProfileConfig;
use crate::fingerprint::Fingerprint;
use crate::guarantee::Guarantees;
use crate::path::{Resolve, Resolved};
use crate::problem::{Field, InvalidProfile, Reason};
use crate::terms::{ResolvedRoot, Settings, Terms, sorted};
use crate::tree::RegionTree;
use crate::validate::validate;

/// What commands may do; immutable, self-contained, cheap to clone, equal by fingerprint (PRO-7).
///
/// It can only come out of [`Profile::new`] or [`Profile::restrict`], so an unconstructed one does not exist
/// (PRO-8): there is no default, and nothing deserialises into it.
#[derive(Clone, Debug)]
pub struct Profile(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    terms: Terms,
    tree: RegionTree,
    fingerprint: Fingerprint,
}

impl Profile {
    /// Checks a configuration against the host and keeps a canonical copy of it.
    ///
    /// Never asks what a backend can enforce; that shows when an executor is built (PRO-22).
    ///
    /// # Errors
    /// All problems at once, each with its field: paths that cannot be resolved or are not what they should
    /// be, contradictory roots, and an unconfined profile that is not acknowledged or denies something.
    pub fn new(config: &ProfileConfig, resolver: &dyn Resolve) -> Result<Self, InvalidProfile> {
        validate(config, resolver).map(Self::seal)
    }

    /// The profile that allows what both allow (PRO-50..57).
    ///
    /// For every path, axis and other question the answer is the stricter of the two answers. Pure: works on
    /// the canonical paths both profiles hold and looks at nothing, so identities are those `self` observed.
    ///
    /// # Errors
    /// The workspaces differ.
    pub fn restrict(&self, ceiling: &Self) -> Result<Self, InvalidProfile> {
        let (ours, theirs) = (self.terms(), ceiling.terms());
        if ours.workspace.path != theirs.workspace.path {
            let reason = Reason::OtherWorkspace {
                ours: ours.workspace.path.clone(),
                theirs: theirs.workspace.path.clone(),
            };
            return Err(InvalidProfile {
                problems: vec![Field::Workspace.because(reason)],
            });
        }
        Ok(Self::seal(Terms {
            workspace: ours.workspace.clone(),
            workspace_as_given: ours.workspace_as_given.clone(),
            workspace_access: ours.workspace_access.meet(theirs.workspace_access),
            host_access: ours.host_access.meet(theirs.host_access),
            network: ours.network.min(theirs.network),
            command: ours.command.min(theirs.command),
            home: ours.home.min(theirs.home),
            isolation: ours.isolation.min(theirs.isolation),
            acknowledgement: ours.acknowledgement.min(theirs.acknowledgement),
            roots: self.common_roots(ceiling),
            require: ours.require | theirs.require,
        }))
    }

    /// A snapshot of everything the profile says (PRO-9).
    pub fn settings(&self) -> Settings {
        self.terms().settings(self.fingerprint())
    }

    /// The name of everything the profile says (PRO-40..43).
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    /// The version of the numeric vocabulary, [`ABI_VERSION`].
    pub fn access_version(&self) -> u32 {
        ABI_VERSION
    }

    /// The guarantees without which no executor may be built: those the accesses need (PRO-60..66), and those
    /// the configuration insists on.
    pub fn required(&self) -> Guarantees {
        self.terms().required()
    }

    /// The rules of the profile itself: host, workspace and additional roots, nothing an executor adds.
    pub fn tree(&self) -> &RegionTree {
        &self.0.tree
    }

    /// The workspace as it was found.
    pub fn workspace(&self) -> &Resolved {
        &self.terms().workspace
    }

    /// The workspace by the name the caller used, perhaps through links; not part of the fingerprint.
    pub fn workspace_as_given(&self) -> &Path {
        &self.terms().workspace_as_given
    }

    /// What may be done in the workspace.
    pub fn workspace_access(&self) -> Verdict {
        self.terms().workspace_access
    }

    /// What may be done wherever no root applies; the access of `/` where that is a root or the workspace (PRO-23).
    pub fn host_access(&self) -> Verdict {
        self.terms().host_access
    }

    /// The additional roots as they were found, sorted by path bytes (PRO-18).
    pub fn roots(&self) -> &[ResolvedRoot] {
        &self.terms().roots
    }

    /// Whether the command may use the network.
    pub fn network(&self) -> Access {
        self.terms().network
    }

    /// Whether a command may be started.
    pub fn command(&self) -> Access {
        self.terms().command
    }

    /// Which home directory the command is told about.
    pub fn home(&self) -> Home {
        self.terms().home
    }

    /// Whether the operating system confines the command.
    pub fn isolation(&self) -> Isolation {
        self.terms().isolation
    }

    fn terms(&self) -> &Terms {
        &self.0.terms
    }

    fn seal(terms: Terms) -> Self {
        let tree = RegionTree::from_clean(terms.rules());
        let fingerprint = Fingerprint::of(&terms);
        Self(Arc::new(Inner {
            terms,
            tree,
            fingerprint,
        }))
    }

    /// Every root of either side, with the stricter of what the two say at its path.
    ///
    /// None is left out for saying nothing new: what it is equal to may be the host and not the workspace it
    /// is nested in, and then the workspace would open it (PRO-54).
    fn common_roots(&self, ceiling: &Self) -> Vec<ResolvedRoot> {
        let mut roots: BTreeMap<&Path, ResolvedRoot> = BTreeMap::new();
        for root in self.roots().iter().chain(ceiling.roots()) {
            let path = root.at.path.as_path();
            let access = self.tree().verdict(path).meet(ceiling.tree().verdict(path));
            roots
                .entry(path)
                .and_modify(|known| known.kind = known.kind.join(root.kind))
                .or_insert_with(|| ResolvedRoot {
                    access,
                    ..root.clone()
                });
        }
        sorted(roots.into_values())
    }
}

impl PartialEq for Profile {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}

impl Eq for Profile {}

impl Hash for Profile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint().hash(state);
    }
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "restrict_tests.rs"]
mod restrict_tests;
