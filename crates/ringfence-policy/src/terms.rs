//! The checked content of a profile, and the plain copy of it for other layers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::access::{ABI_VERSION, Access, Home, Isolation, Verdict};
use crate::config::{Acknowledgement, NestedNamespaces, NewRepositories, Root, RootKind};
use crate::device::Device;
use crate::environment::EnvironmentRules;
use crate::fingerprint::Fingerprint;
use crate::guarantee::Guarantees;
use crate::guard::{Guard, Origin, Protection, ResolvedGuard, ResolvedSubject, Subject};
use crate::limit::Limits;
use crate::path::{Resolved, bytes};
use crate::preset::{Preset, StandIn};
use crate::rule::{Reach, Rule, Source};
use crate::text;

/// An additional root as it was found on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRoot {
    /// Canonical path and what was there.
    pub at: Resolved,
    /// What may be done there and beneath.
    pub access: Verdict,
    /// What had to be there.
    pub kind: RootKind,
}

/// A plain copy of what a profile says, for other layers; changing it changes no profile (PRO-9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Version of the numeric vocabulary.
    pub version: u32,
    /// Canonical path of the workspace.
    #[serde(serialize_with = "text::path")]
    pub workspace: PathBuf,
    /// What may be done in the workspace.
    pub workspace_access: Verdict,
    /// What may be done wherever no root applies.
    pub host_access: Verdict,
    /// Whether the command may use the network.
    pub network: Access,
    /// Whether a command may be started.
    pub command: Access,
    /// Which home directory the command is told about.
    pub home: Home,
    /// Whether the operating system confines the command.
    pub isolation: Isolation,
    /// What the caller has explicitly accepted.
    pub acknowledgement: Acknowledgement,
    /// Additional roots with canonical paths, sorted by path bytes.
    pub roots: Vec<Root>,
    /// The guards the configuration lists, with canonical paths, sorted.
    pub guards: Vec<Guard>,
    /// The presets that apply, each with the paths at and beneath which it does not.
    #[serde(serialize_with = "text::path_sets")]
    pub presets: BTreeMap<Preset, BTreeSet<PathBuf>>,
    /// What happens to repositories that commands make.
    pub new_repositories: NewRepositories,
    /// Whether commands may make namespaces of their own.
    pub nested_namespaces: NestedNamespaces,
    /// Device nodes that are open besides the usual ones, sorted.
    pub devices: Vec<Device>,
    /// Which variables commands inherit or have set.
    pub environment: EnvironmentRules,
    /// How much each command may use.
    pub limits: Limits,
    /// Guarantees the configuration insists on.
    pub require: Guarantees,
    /// Guarantees without which no executor may be built.
    pub required: Guarantees,
    /// The name of all of the above.
    pub fingerprint: Fingerprint,
}

/// The checked content of a profile; paths are canonical, roots sorted and distinct.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) workspace: Resolved,
    /// The name the caller used for it, perhaps through links; says nothing about authority.
    pub(crate) workspace_as_given: PathBuf,
    pub(crate) workspace_access: Verdict,
    pub(crate) host_access: Verdict,
    pub(crate) network: Access,
    pub(crate) command: Access,
    pub(crate) home: Home,
    pub(crate) isolation: Isolation,
    pub(crate) acknowledgement: Acknowledgement,
    pub(crate) roots: Vec<ResolvedRoot>,
    /// Those of the configuration and of the presets, as they are applied.
    pub(crate) guards: Vec<ResolvedGuard>,
    /// The presets that apply, each with the paths at and beneath which it does not.
    pub(crate) presets: BTreeMap<Preset, BTreeSet<PathBuf>>,
    pub(crate) new_repositories: NewRepositories,
    pub(crate) nested_namespaces: NestedNamespaces,
    pub(crate) devices: BTreeSet<Device>,
    pub(crate) environment: EnvironmentRules,
    pub(crate) limits: Limits,
    pub(crate) require: Guarantees,
}

impl Terms {
    pub(crate) fn settings(&self, fingerprint: Fingerprint) -> Settings {
        let root = |root: &ResolvedRoot| Root {
            path: root.at.path.clone(),
            access: root.access,
            kind: root.kind,
        };
        Settings {
            version: ABI_VERSION,
            workspace: self.workspace.path.clone(),
            workspace_access: self.workspace_access,
            host_access: self.host_access,
            network: self.network,
            command: self.command,
            home: self.home,
            isolation: self.isolation,
            acknowledgement: self.acknowledgement,
            roots: self.roots.iter().map(root).collect(),
            guards: self.written_guards().map(written).collect(),
            presets: self.presets.clone(),
            new_repositories: self.new_repositories,
            nested_namespaces: self.nested_namespaces,
            devices: self.devices.iter().cloned().collect(),
            environment: self.environment.clone(),
            limits: self.limits,
            require: self.require,
            required: self.required(),
            fingerprint,
        }
    }

    /// The guards of the configuration itself.
    pub(crate) fn written_guards(&self) -> impl Iterator<Item = &ResolvedGuard> {
        self.guards.iter().filter(|guard| guard.origin == Origin::Profile)
    }

    /// Whether a preset leaves a path alone.
    pub(crate) fn is_unguarded(&self, path: &Path, origin: Origin) -> bool {
        let Origin::Preset { preset, .. } = origin else {
            return false;
        };
        let exempt = self.presets.get(&preset);
        exempt.is_none_or(|paths| paths.iter().any(|exempt| path.starts_with(exempt)))
    }

    /// What is insisted on, and what the accesses need; gated is not allow (PRO-60..66).
    pub(crate) fn required(&self) -> Guarantees {
        let mut required = self.require | Guarantees::ENV_SCRUB;
        if self.isolation == Isolation::Unconfined {
            return required;
        }
        // A limit that is written is meant.
        if self.limits.set().next().is_some() {
            required |= Guarantees::RESOURCE_LIMITS;
        }
        let roots = self.roots.iter().map(|root| root.access);
        let strictest = roots
            .chain([self.host_access])
            .fold(self.workspace_access, Verdict::meet);
        if strictest.read.min(strictest.execute) != Access::Allow {
            required |= Guarantees::READ_BOUNDARY;
        }
        if strictest.write != Access::Allow {
            required |= Guarantees::WRITE_BOUNDARY;
        }
        for guard in &self.guards {
            required |= Guarantees::WRITE_BOUNDARY;
            if guard.protection == Protection::Secret {
                required |= Guarantees::READ_BOUNDARY;
            }
        }
        if self.network != Access::Allow {
            required |= Guarantees::NETWORK_BOUNDARY;
        }
        required
    }

    /// The rules of the profile: one for each place with its own access, and those of guards with one name.
    pub(crate) fn rules(&self) -> Vec<Rule> {
        let roots = self.roots.iter().enumerate();
        let mut rules: Vec<_> = roots
            .map(|(index, root)| {
                let stand_in = if root.kind == RootKind::Absent {
                    StandIn::Link
                } else {
                    StandIn::Nothing
                };
                let rule = Rule::new(root.at.clone(), Reach::Tree, root.access, Source::Root(index));
                rule.with_stand_in(stand_in)
            })
            .collect();
        rules.push(Rule::new(
            self.workspace.clone(),
            Reach::Tree,
            self.workspace_access,
            Source::Workspace,
        ));
        if !rules.iter().any(|rule| rule.path == Path::new("/")) {
            rules.push(Rule::tree("/", self.host_access, Source::Host));
        }
        let mut written = 0;
        for guard in &self.guards {
            let source = guard.source(&mut written);
            if let ResolvedSubject::Name(at) = &guard.subject {
                let rule = Rule::new(at.clone(), Reach::Tree, guard.protection.axes(), source);
                rules.push(rule.with_stand_in(StandIn::Link));
            }
        }
        rules
    }
}

fn written(guard: &ResolvedGuard) -> Guard {
    let subject = match &guard.subject {
        ResolvedSubject::Name(at) => Subject::Path(at.path.clone()),
        ResolvedSubject::Pattern(pattern) => Subject::Pattern(pattern.clone()),
    };
    Guard {
        subject,
        protection: guard.protection,
    }
}

/// Roots in the order profiles keep them in: by the bytes of their paths (PRO-18).
pub(crate) fn sorted(roots: impl Iterator<Item = ResolvedRoot>) -> Vec<ResolvedRoot> {
    let mut roots: Vec<_> = roots.collect();
    roots.sort_by(|a, b| bytes(&a.at.path).cmp(bytes(&b.at.path)));
    roots
}
