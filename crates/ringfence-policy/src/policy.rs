//! The policy: what a backend compiles, and the list of what it must bring about.

use std::path::{Path, PathBuf};

use crate::access::{Access, Axis, Isolation, Verdict};
use crate::config::{NestedNamespaces, NewRepositories};
use crate::guarantee::Guarantees;
use crate::guard::{Protection, ResolvedSubject};
use crate::limit::Limits;
use crate::obligation::{Clause, Obligation};
use crate::profile::Profile;
use crate::rule::{Rule, Source};
use crate::tree::{Region, RegionTree, TreeError};

/// A profile plus the rules its executor adds; the whole input of a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Who may do what to which file.
    pub tree: RegionTree,
    /// Whether the network is open; anything but allow is closed.
    pub network: Access,
    /// Whether the command is confined at all.
    pub isolation: Isolation,
    /// Canonical path of the workspace.
    pub workspace: PathBuf,
    /// Boundaries that guards with patterns are part of; what they match is among the rules.
    pub patterns: Guarantees,
    /// What happens to repositories that commands make.
    pub new_repositories: NewRepositories,
    /// Whether commands may make namespaces of their own.
    pub nested_namespaces: NestedNamespaces,
    /// How much each command may use.
    pub limits: Limits,
    /// Guarantees without which the executor must not be built (PRO-67).
    pub required: Guarantees,
}

impl Policy {
    /// Joins a profile and the executor's own rules: runtime bundles, devices, HOME, the owned root.
    ///
    /// An unconfined profile becomes one rule that allows everything, and needs no additions (POL-4).
    ///
    /// # Errors
    /// An addition whose path is relative or not lexically clean.
    pub fn compile(profile: &Profile, additions: Vec<Rule>) -> Result<Self, TreeError> {
        let tree = match profile.isolation() {
            Isolation::Sandboxed => profile.tree().with(additions)?,
            Isolation::Unconfined => {
                RegionTree::from_clean(vec![Rule::tree("/", Verdict::READ_WRITE, Source::Host)])
            }
        };
        Ok(Self {
            tree,
            network: profile.network(),
            isolation: profile.isolation(),
            workspace: profile.workspace().path.clone(),
            patterns: patterns(profile),
            new_repositories: profile.new_repositories(),
            nested_namespaces: profile.nested_namespaces(),
            limits: profile.limits(),
            required: profile.required(),
        })
    }

    /// Everything the backend has to answer for, in an order that depends on the policy only.
    pub fn obligations(&self) -> Vec<Obligation> {
        let mut obligations = self.file_obligations();
        obligations.extend(
            self.patterns
                .iter()
                .map(|guarantee| Obligation::of(guarantee, Clause::Patterns)),
        );
        if self.new_repositories == NewRepositories::Refuse {
            obligations.push(Obligation::of(
                Guarantees::WRITE_BOUNDARY,
                Clause::NewRepositories,
            ));
        }
        if self.isolation == Isolation::Sandboxed {
            obligations
                .extend(PROCESS_CLAUSES.map(|clause| Obligation::of(Guarantees::PROCESS_BOUNDARY, clause)));
        }
        obligations.push(Obligation::of(Guarantees::ENV_SCRUB, Clause::Environment));
        if self.network != Access::Allow {
            for guarantee in [Guarantees::NETWORK_BOUNDARY, Guarantees::ADDRESS_NETWORK] {
                obligations.push(Obligation::of(guarantee, Clause::Network));
            }
        }
        let limits = self.limits.set().map(Clause::Limit);
        obligations.extend(limits.map(|clause| Obligation::of(Guarantees::RESOURCE_LIMITS, clause)));
        obligations
    }

    fn file_obligations(&self) -> Vec<Obligation> {
        let root = Path::new("/");
        let mut regions = self.tree.regions().peekable();
        // No rule at the root means that it is denied by default, which must be enforced all the same.
        let undeclared = regions.peek().is_none_or(|first| first.path != root);
        let denied = undeclared.then(|| Axis::ALL.map(|axis| Obligation::file(axis, root)));
        denied
            .into_iter()
            .flatten()
            .chain(regions.flat_map(|region| self.boundaries(&region)))
            .collect()
    }

    /// The axes a region closes in a way its surroundings do not.
    fn boundaries(&self, region: &Region<'_>) -> Vec<Obligation> {
        let outside = (region.path != Path::new("/")).then(|| self.tree.surroundings(region.path));
        let closes = |axis: &Axis| {
            let (object, subtree) = (region.object.get(*axis), region.subtree.get(*axis));
            let outside = outside.map(|verdict| verdict.get(*axis));
            let subtree_closed = subtree != Access::Allow && outside != Some(subtree);
            let object_closed = object != Access::Allow && (outside != Some(object) || object != subtree);
            subtree_closed || object_closed
        };
        Axis::ALL
            .into_iter()
            .filter(closes)
            .map(|axis| Obligation::file(axis, region.path))
            .collect()
    }
}

fn patterns(profile: &Profile) -> Guarantees {
    let guards = profile.all_guards().iter();
    let patterns = guards.filter(|guard| matches!(guard.subject, ResolvedSubject::Pattern(_)));
    patterns
        .map(|guard| match guard.protection {
            Protection::Protect => Guarantees::WRITE_BOUNDARY,
            Protection::Secret => Guarantees::WRITE_BOUNDARY | Guarantees::READ_BOUNDARY,
        })
        .collect()
}

/// What isolating a process consists of; each counts for the process boundary.
const PROCESS_CLAUSES: [Clause; 8] = [
    Clause::ProcessIsolation,
    Clause::Privilege,
    Clause::Descriptors,
    Clause::Terminal,
    Clause::HostSockets,
    Clause::AbstractSockets,
    Clause::KernelSurface,
    Clause::Lifetime,
];

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
