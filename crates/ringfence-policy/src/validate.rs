//! From a configuration to checked terms, collecting every problem on the way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::access::{Access, Axis, Isolation};
use crate::config::{Acknowledgement, ProfileConfig, Root, RootKind};
use crate::path::{Kind, Resolve, Resolved, canonical};
use crate::problem::{Field, InvalidProfile, Problem, Reason};
use crate::terms::{ResolvedRoot, Terms, sorted};

/// Checks in the order workspace, roots as listed, consistency of an unconfined profile (PRO-10).
pub(crate) fn validate(config: &ProfileConfig, resolver: &dyn Resolve) -> Result<Terms, InvalidProfile> {
    let mut problems = Vec::new();
    let workspace = match found(resolver, &config.workspace, RootKind::Directory) {
        Ok(workspace) => Some(workspace),
        Err(reason) => {
            problems.push(Field::Workspace.because(reason));
            None
        }
    };
    let roots = roots(&config.roots, workspace.as_ref(), resolver, &mut problems);
    problems.extend(contradictions(config));
    match workspace {
        Some(workspace) if problems.is_empty() => Ok(terms(config, workspace, roots)),
        _ => Err(InvalidProfile { problems }),
    }
}

fn terms(config: &ProfileConfig, workspace: Resolved, roots: Vec<ResolvedRoot>) -> Terms {
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
        require: config.require,
    }
}

fn roots(
    written: &[Root],
    workspace: Option<&Resolved>,
    resolver: &dyn Resolve,
    problems: &mut Vec<Problem>,
) -> Vec<ResolvedRoot> {
    let mut kept: BTreeMap<PathBuf, (usize, ResolvedRoot)> = BTreeMap::new();
    for (index, root) in written.iter().enumerate() {
        let checked = found(resolver, &root.path, root.kind).and_then(|at| {
            let path = at.path.clone();
            if workspace.is_some_and(|workspace| workspace.path == path) {
                return Err(Reason::SameAsWorkspace { path });
            }
            match kept.get(&path) {
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
            Ok(Some(root)) => drop(kept.insert(root.at.path.clone(), (index, root))),
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
