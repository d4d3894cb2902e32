//! The profile: a checked, immutable statement of what commands may do.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::{ABI_VERSION, Access, Axis, Home, Isolation, Verdict};
use crate::config::{NestedNamespaces, NewRepositories, ProfileConfig};
use crate::device::Device;
use crate::environment::EnvironmentRules;
use crate::fingerprint::Fingerprint;
use crate::guarantee::Guarantees;
use crate::guard::{Origin, ResolvedGuard, ResolvedSubject, sorted_guards};
use crate::limit::Limits;
use crate::path::{Resolve, Resolved, bytes};
use crate::preset::Preset;
use crate::problem::{Field, InvalidProfile, Reason};
use crate::rule::Rule;
use crate::terms::{ResolvedRoot, Settings, Terms, sorted};
use crate::tree::RegionTree;
use crate::validate::{tops, validate};

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
            guards: sorted_guards(ours.guards.iter().chain(&theirs.guards).cloned()),
            presets: common_presets(&ours.presets, &theirs.presets),
            new_repositories: ours.new_repositories.max(theirs.new_repositories),
            nested_namespaces: ours.nested_namespaces.min(theirs.nested_namespaces),
            devices: common_devices(&ours.devices, &theirs.devices),
            environment: ours.environment.meet(&theirs.environment),
            limits: ours.limits.meet(theirs.limits),
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

    /// The guards as they are applied, those of the presets included, sorted by path bytes.
    pub fn all_guards(&self) -> &[ResolvedGuard] {
        &self.terms().guards
    }

    /// The guards of the configuration itself, in the order by which rules name them.
    pub fn guards(&self) -> impl Iterator<Item = &ResolvedGuard> {
        self.terms().written_guards()
    }

    /// The presets that apply.
    pub fn presets(&self) -> impl Iterator<Item = Preset> + '_ {
        self.terms().presets.keys().copied()
    }

    /// Whether a preset leaves a path alone: it is at or beneath one the configuration lists, or the preset does not
    /// apply at all.
    pub fn is_unguarded(&self, path: &Path, preset: Preset) -> bool {
        self.terms()
            .is_unguarded(path, Origin::Preset { preset, reason: "" })
    }

    /// What happens to repositories that commands make.
    pub fn new_repositories(&self) -> NewRepositories {
        self.terms().new_repositories
    }

    /// Whether commands may make namespaces of their own.
    pub fn nested_namespaces(&self) -> NestedNamespaces {
        self.terms().nested_namespaces
    }

    /// Device nodes that are open besides the usual ones, sorted.
    pub fn devices(&self) -> impl Iterator<Item = &Device> {
        self.terms().devices.iter()
    }

    /// Which variables commands inherit or have set.
    pub fn environment(&self) -> &EnvironmentRules {
        &self.terms().environment
    }

    /// How much each command may use.
    pub fn limits(&self) -> Limits {
        self.terms().limits
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

    /// Decides one axis of a clean path, guards with patterns included; with the rule that decided.
    pub(crate) fn judge(&self, path: &Path, axis: Axis) -> (Access, Option<Cow<'_, Rule>>) {
        let decision = self.tree().decide(path, axis);
        let depth = decision.rule.map_or(0, |rule| bytes(&rule.path).len());
        let mut written = 0;
        for guard in self.all_guards() {
            let source = guard.source(&mut written);
            let (ResolvedSubject::Pattern(pattern), Some(access)) =
                (&guard.subject, guard.protection.axes().get(axis))
            else {
                continue;
            };
            // A rule at or below the very object that matches outranks the pattern; one above does not.
            if let Some(matched) = pattern.covers(path)
                && bytes(matched).len() > depth
                && access < decision.access
                && !self.terms().is_unguarded(matched, guard.origin)
            {
                let rule = Rule::tree(matched, guard.protection.axes(), source);
                return (access, Some(Cow::Owned(rule)));
            }
        }
        (decision.access, decision.rule.map(Cow::Borrowed))
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

    /// What the profile says at the path of a root: its own access where it has one there, and its guards besides;
    /// else whatever decides, a guard perhaps.
    fn verdict(&self, path: &Path) -> Verdict {
        if path == Path::new("/") {
            return self.host_access();
        }
        let own = self.roots().iter().find(|root| root.at.path == path);
        own.map_or_else(
            || Verdict::from_fn(|axis| self.judge(path, axis).0),
            |root| root.access,
        )
    }

    /// Every root of either side, with the stricter of what the two say at its path.
    ///
    /// None is left out for saying nothing new: what it is equal to may be the host and not the workspace it
    /// is nested in, and then the workspace would open it (PRO-54).
    fn common_roots(&self, ceiling: &Self) -> Vec<ResolvedRoot> {
        let mut roots: BTreeMap<&Path, ResolvedRoot> = BTreeMap::new();
        for root in self.roots().iter().chain(ceiling.roots()) {
            let path = root.at.path.as_path();
            let access = self.verdict(path).meet(ceiling.verdict(path));
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

/// The presets of either side; a path is left alone where both leave it alone.
fn common_presets(ours: &Presets, theirs: &Presets) -> Presets {
    let both: BTreeSet<Preset> = ours.keys().chain(theirs.keys()).copied().collect();
    let exempt = |preset| match (ours.get(&preset), theirs.get(&preset)) {
        (Some(a), Some(b)) => common_trees(a, b),
        (one, other) => one.or(other).cloned().unwrap_or_default(),
    };
    both.into_iter().map(|preset| (preset, exempt(preset))).collect()
}

type Presets = BTreeMap<Preset, BTreeSet<PathBuf>>;

/// The paths that are in a tree of either side, as the tops of trees.
fn common_trees(ours: &BTreeSet<PathBuf>, theirs: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let within = |path: &PathBuf, trees: &BTreeSet<PathBuf>| trees.iter().any(|tree| path.starts_with(tree));
    let from_ours = ours.iter().filter(|path| within(path, theirs));
    let from_theirs = theirs.iter().filter(|path| within(path, ours));
    tops(from_ours.chain(from_theirs).cloned())
}

/// Devices both sides open; one that either side can do without is optional.
fn common_devices(ours: &BTreeSet<Device>, theirs: &BTreeSet<Device>) -> BTreeSet<Device> {
    let common = ours.iter().filter_map(|ours| {
        let theirs = theirs.iter().find(|theirs| theirs.path == ours.path)?;
        Some(Device {
            path: ours.path.clone(),
            presence: ours.presence.max(theirs.presence),
        })
    });
    common.collect()
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
