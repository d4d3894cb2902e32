//! Guards: those that are written, and those the presets bring.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::config::ProfileConfig;
use crate::guard::{Guard, Origin, Protection, ResolvedGuard, ResolvedSubject, Subject, sorted_guards};
use crate::path::{Resolve, canonical, is_clean};
use crate::preset::Places;
use crate::problem::{Field, Problem, Reason};
use crate::terms::ResolvedRoot;

/// Every guard of a profile.
pub(super) struct Guards {
    pub(super) all: Vec<ResolvedGuard>,
    /// Where presets do not apply.
    pub(super) exempt: BTreeSet<PathBuf>,
}

/// Resolves the guards that are written and, for the workspace and roots, `places`, those of the presets.
pub(super) fn guards(
    config: &ProfileConfig,
    places: &Places<'_>,
    resolver: &dyn Resolve,
    problems: &mut Vec<Problem>,
) -> Guards {
    let mut all = Vec::new();
    for (index, Guard { subject, protection }) in config.guards.iter().enumerate() {
        match resolved(subject.clone(), *protection, Origin::Profile, resolver) {
            Ok(guard) => all.push(guard),
            Err(reason) => problems.push(Field::Guard(index).because(reason)),
        }
    }
    let mut exempt = Vec::new();
    for (index, path) in config.unguarded.iter().enumerate() {
        match canonical(resolver, path) {
            Ok(at) => exempt.push(at.path),
            Err(error) => problems.push(Field::Unguarded(index).because(error)),
        }
    }
    let exempt = tops(exempt);
    let mut homes = [resolver.homes(), config.homes.clone()].concat();
    homes.retain(|home| is_clean(home) && home != Path::new("/"));
    homes.sort();
    homes.dedup();
    for preset in &config.presets {
        for row in preset.rows() {
            let origin = Origin::Preset {
                preset: *preset,
                reason: row.reason,
            };
            let guards = row.subjects(places, &homes).into_iter();
            // A name that can't be looked at belongs to a place that commands can't look at either.
            let found = guards.filter_map(|subject| resolved(subject, row.protection, origin, resolver).ok());
            all.extend(found.filter(|guard| !is_exempt(guard, &exempt)));
        }
    }
    Guards {
        all: sorted_guards(all.into_iter()),
        exempt,
    }
}

/// A guard of one name that is left alone; what patterns match is judged match by match.
fn is_exempt(guard: &ResolvedGuard, exempt: &BTreeSet<PathBuf>) -> bool {
    let named = matches!(guard.subject, ResolvedSubject::Name(_));
    named && exempt.iter().any(|path| guard.base().starts_with(path))
}

fn resolved(
    subject: Subject,
    protection: Protection,
    origin: Origin,
    resolver: &dyn Resolve,
) -> Result<ResolvedGuard, Reason> {
    let subject = match subject {
        Subject::Path(path) => ResolvedSubject::Name(canonical(resolver, &path)?),
        Subject::Pattern(pattern) => {
            let base = canonical(resolver, pattern.base())?.path;
            ResolvedSubject::Pattern(pattern.beneath(base))
        }
    };
    Ok(ResolvedGuard {
        subject,
        protection,
        origin,
    })
}

impl Guards {
    /// Roots that open just what a preset closes: what is meant has to be said (`unguarded`).
    pub(super) fn opened<'a>(
        &'a self,
        config: &'a ProfileConfig,
        roots: &'a [ResolvedRoot],
    ) -> impl Iterator<Item = Problem> + 'a {
        let places: HashMap<&OsStr, &ResolvedRoot> = roots
            .iter()
            .map(|root| (root.at.path.as_os_str(), root))
            .collect();
        let opens = move |guard: &ResolvedGuard| {
            let (Origin::Preset { preset, .. }, ResolvedSubject::Name(at)) = (guard.origin, &guard.subject)
            else {
                return None;
            };
            let root = places.get(at.path.as_os_str())?;
            if guard.protection.holds_for(root.access) {
                return None;
            }
            let index = config.roots.iter().position(|written| {
                written.access == root.access && written.path.file_name() == root.at.path.file_name()
            });
            let path = at.path.clone();
            Some(Field::Root(index.unwrap_or_default()).because(Reason::Guarded { path, preset }))
        };
        self.all.iter().filter_map(opens)
    }
}

/// Paths without those beneath others.
pub(crate) fn tops(paths: impl IntoIterator<Item = PathBuf>) -> BTreeSet<PathBuf> {
    let all: BTreeSet<PathBuf> = paths.into_iter().collect();
    let beneath = |path: &PathBuf| path.ancestors().skip(1).any(|above| all.contains(above));
    all.iter().filter(|path| !beneath(path)).cloned().collect()
}
