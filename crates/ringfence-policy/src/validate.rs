//! From a configuration to checked terms, collecting every problem on the way.

mod guards;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::Path;

use crate::access::{Access, Axis, Isolation};
use crate::config::{Acknowledgement, ProfileConfig, Root, RootKind};
use crate::device::Device;
use crate::limit::{Limit, Limits};
use crate::path::{Kind, Resolve, Resolved, canonical, is_clean};
use crate::preset::Places;
use crate::problem::{Field, InvalidProfile, Problem, Reason};
use crate::terms::{ResolvedRoot, Terms, sorted};
use guards::Guards;

pub(crate) use guards::tops;

/// Checks in the order workspace, roots, guards, unguarded paths, devices, limits, consistency of an unconfined
/// profile (PRO-10).
pub(crate) fn validate(config: &ProfileConfig, resolver: &dyn Resolve) -> Result<Terms, InvalidProfile> {
    let successive = resolver.in_succession();
    let resolver = successive.as_deref().unwrap_or(resolver);
    let mut problems = Vec::new();
    let workspace = match found(resolver, &config.workspace, RootKind::Directory) {
        Ok(workspace) => Some(workspace),
        Err(reason) => {
            problems.push(Field::Workspace.because(reason));
            None
        }
    };
    let roots = roots(&config.roots, workspace.as_ref(), resolver, &mut problems);
    let written = workspace.iter().map(|at| (&at.path, config.workspace_access));
    let places = Places::new(written.chain(roots.iter().map(|root| (&root.at.path, root.access))));
    let guards = guards::guards(config, &places, resolver, &mut problems);
    let devices = devices(&config.devices, &mut problems);
    problems.extend(guards.opened(config, &roots));
    problems.extend(zero_limits(&config.limits));
    problems.extend(contradictions(config));
    match workspace {
        Some(workspace) if problems.is_empty() => Ok(terms(config, workspace, roots, guards, devices)),
        _ => Err(InvalidProfile { problems }),
    }
}

fn terms(
    config: &ProfileConfig,
    workspace: Resolved,
    roots: Vec<ResolvedRoot>,
    guards: Guards,
    devices: BTreeSet<Device>,
) -> Terms {
    let top = Path::new("/");
    let workspace_access = (workspace.path == top).then_some(config.workspace_access);
    let root_access = roots
        .iter()
        .find(|root| root.at.path == top)
        .map(|root| root.access);
    Terms {
        workspace,
        workspace_as_given: config.workspace.clone(),
        workspace_access: config.workspace_access,
        // What is configured for `/` itself replaces the host access (PRO-23).
        host_access: workspace_access.or(root_access).unwrap_or(config.host_access),
        network: config.network,
        command: config.command,
        home: config.home,
        isolation: config.isolation,
        acknowledgement: config.acknowledgement,
        roots,
        guards: guards.all,
        presets: config
            .presets
            .iter()
            .map(|preset| (*preset, guards.exempt.clone()))
            .collect(),
        new_repositories: config.new_repositories,
        nested_namespaces: config.nested_namespaces,
        devices,
        environment: config.environment.clone(),
        limits: config.limits,
        require: config.require,
    }
}

fn devices(written: &[Device], problems: &mut Vec<Problem>) -> BTreeSet<Device> {
    let is_node = |path: &Path| is_clean(path) && path.starts_with("/dev") && path != Path::new("/dev");
    for (index, device) in written.iter().enumerate() {
        if !is_node(&device.path) {
            let path = device.path.clone();
            problems.push(Field::Device(index).because(Reason::NotADevice { path }));
        }
    }
    // Of two entries for one device the one that insists counts.
    let mut devices: Vec<Device> = written.to_vec();
    devices.sort();
    devices.dedup_by(|a, b| a.path == b.path);
    devices.into_iter().collect()
}

fn zero_limits(limits: &Limits) -> impl Iterator<Item = Problem> + '_ {
    let fatal = [
        Limit::Memory,
        Limit::Processes,
        Limit::CpuTime,
        Limit::WallTime,
        Limit::OpenFiles,
    ];
    let zero = fatal.into_iter().filter(|limit| limits.get(*limit) == Some(0));
    zero.map(|limit| Field::Limit(limit).because(Reason::Zero))
}

fn roots(
    written: &[Root],
    workspace: Option<&Resolved>,
    resolver: &dyn Resolve,
    problems: &mut Vec<Problem>,
) -> Vec<ResolvedRoot> {
    // Canonical, so that comparing the text is enough.
    let mut kept: HashMap<OsString, (usize, ResolvedRoot)> = HashMap::new();
    for (index, root) in written.iter().enumerate() {
        let checked = found(resolver, &root.path, root.kind).and_then(|at| {
            let path = at.path.clone();
            if workspace.is_some_and(|workspace| workspace.path == path) {
                return Err(Reason::SameAsWorkspace { path });
            }
            match kept.get(path.as_os_str()) {
                None => Ok(Some(ResolvedRoot {
                    at,
                    access: root.access,
                    kind: root.kind,
                })),
                Some((_, first)) if (first.access, first.kind) == (root.access, root.kind) => Ok(None),
                Some((first, _)) => Err(Reason::Contradicts { path, root: *first }),
            }
        });
        match checked {
            Ok(Some(root)) => drop(kept.insert(root.at.path.clone().into_os_string(), (index, root))),
            Ok(None) => {}
            Err(reason) => problems.push(Field::Root(index).because(reason)),
        }
    }
    sorted(kept.into_values().map(|(_, root)| root))
}

/// Resolves a path and checks that it is what the configuration says it is.
fn found(resolver: &dyn Resolve, path: &Path, kind: RootKind) -> Result<Resolved, Reason> {
    let at = canonical(resolver, path)?;
    match (kind, at.kind) {
        (RootKind::Absent, _) | (RootKind::Directory, Kind::Directory) | (RootKind::File, Kind::File) => {
            Ok(at)
        }
        (_, Kind::Absent) => Err(Reason::Missing { path: at.path }),
        (RootKind::Directory, Kind::File) => Err(Reason::NotADirectory { path: at.path }),
        (RootKind::File, Kind::Directory) => Err(Reason::NotAFile { path: at.path }),
    }
}

/// What contradicts being unconfined, or the acknowledgement of it (PRO-19..21).
fn contradictions(config: &ProfileConfig) -> Vec<Problem> {
    let acknowledgement = match (config.isolation, config.acknowledgement) {
        (Isolation::Unconfined, Acknowledgement::NotGiven) => Some(Reason::Unacknowledged),
        (Isolation::Sandboxed, Acknowledgement::Unconfined) => Some(Reason::NeedlessAcknowledgement),
        (Isolation::Sandboxed, Acknowledgement::NotGiven)
        | (Isolation::Unconfined, Acknowledgement::Unconfined) => None,
    };
    let mut problems: Vec<_> = acknowledgement
        .map(|reason| Field::Acknowledgement.because(reason))
        .into_iter()
        .collect();
    if config.isolation == Isolation::Unconfined {
        let closed = accesses(config)
            .into_iter()
            .filter(|(_, access)| *access != Access::Allow);
        problems.extend(closed.map(|(field, access)| field.because(Reason::Unenforceable { access })));
        let guards = (0..config.guards.len()).map(Field::Guard);
        let presets = (!config.presets.is_empty()).then_some(Field::Presets);
        let confined = guards
            .chain(presets)
            .map(|field| field.because(Reason::NeedsConfinement));
        problems.extend(confined);
    }
    problems
}

/// Every written access that only enforcement could make true.
fn accesses(config: &ProfileConfig) -> Vec<(Field, Access)> {
    let roots = config.roots.iter().enumerate();
    let mut accesses = Vec::new();
    accesses.extend(Axis::ALL.map(|axis| (Field::WorkspaceAccess(axis), config.workspace_access.get(axis))));
    accesses.extend(Axis::ALL.map(|axis| (Field::HostAccess(axis), config.host_access.get(axis))));
    accesses.push((Field::Network, config.network));
    accesses.extend(roots.flat_map(|(index, root)| {
        Axis::ALL.map(|axis| (Field::RootAccess(index, axis), root.access.get(axis)))
    }));
    accesses
}

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
