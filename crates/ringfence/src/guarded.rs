//! Where a profile's guards hold on this host: what their patterns match, and what of repositories they close.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringfence_backend::Guarded;
use ringfence_host::Host;
use ringfence_host::guarded::{
    Found, Object, PARTS, Repository, RepositoryKind, Scope, Search, Unsearched, is_part,
};
use ringfence_host::repository::{self, Attached};
use ringfence_policy::{
    Axes, Axis, Hold, Kind, NewRepositories, Origin, Place, Preset, Profile, Protection, Reach, RegionTree,
    Resolve, Resolved, ResolvedGuard, ResolvedSubject, Rule, Source, StandIn,
};

use crate::worktree;

/// The name of a repository in a working tree.
const REPOSITORY: &str = ".git";
/// The settings of one working tree.
const OWN_SETTINGS: &str = "config.worktree";
/// What no directory is a repository without.
const HEAD: &str = "HEAD";
/// What leads git to the other part of a repository.
const COMMON: &str = "commondir";
/// From a file `.git` to a directory, and by its `commondir` to another; no further by git itself.
const MOST_LEADS: usize = 4;

/// Looks, and remembers.
#[derive(Debug)]
pub(crate) struct GuardedPlaces {
    profile: Profile,
    /// The guards the patterns of the search belong to, in its order.
    guards: Vec<(ResolvedGuard, Source)>,
    /// Whether the preset for repositories applies.
    git: bool,
    /// The repository of the workspace, if that lies elsewhere.
    attached: Option<Attached>,
    state: Mutex<State>,
}

/// What is known about the repositories in the workspace and the roots.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) repositories: Vec<Repository>,
    /// Where others may be.
    pub(crate) unsearched: BTreeSet<Unsearched>,
    /// Where the search was cut off.
    pub(crate) beyond: Option<PathBuf>,
}

#[derive(Debug)]
struct State {
    search: Search,
    rules: Arc<[Rule]>,
}

impl GuardedPlaces {
    /// Searches the workspace and the roots of the profile, whose rules and those of the executor are in the tree;
    /// `closed` are directories that are not entered. Nothing if the search was abandoned, as [`Search::new`] says.
    pub(crate) fn new(
        profile: &Profile,
        tree: &RegionTree,
        attached: Option<Attached>,
        closed: Vec<PathBuf>,
        abandon: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let search = |scope| Search::new(scope, abandon);
        Self::search(profile, tree, attached, closed, search)
    }

    #[cfg(test)]
    pub(crate) fn limited(profile: &Profile, limit: usize) -> Option<Self> {
        let search = |scope| Search::limited(scope, limit, &|| false);
        Self::search(profile, profile.tree(), None, Vec::new(), search)
    }

    fn search(
        profile: &Profile,
        tree: &RegionTree,
        attached: Option<Attached>,
        closed: Vec<PathBuf>,
        search: impl FnOnce(Scope) -> Option<Search>,
    ) -> Option<Self> {
        let mut written = 0;
        let sourced = profile.all_guards().iter().map(|guard| {
            let source = match guard.origin {
                Origin::Preset { preset, reason } => Source::Preset { preset, reason },
                Origin::Profile => {
                    written += 1;
                    Source::Guard(written - 1)
                }
            };
            (guard.clone(), source)
        });
        let patterns = sourced.filter(|(guard, _)| matches!(guard.subject, ResolvedSubject::Pattern(_)));
        let guards: Vec<_> = patterns.collect();
        let git = profile.presets().any(|preset| preset == Preset::Git);
        let repositories = git || profile.new_repositories() == NewRepositories::Refuse;
        let is_secret = |(index, (guard, _)): (usize, &(ResolvedGuard, Source))| {
            (guard.protection == Protection::Secret).then_some(index)
        };
        let hiding = guards.iter().enumerate().filter_map(is_secret);
        // What is closed in a repository that lies elsewhere is found like any other.
        let mut places = searched(profile, &guards, repositories);
        places.extend(attached.iter().map(|attached| attached.common_directory.clone()));
        let search = search(Scope {
            places,
            closed,
            patterns: guards
                .iter()
                .filter_map(|(guard, _)| pattern(guard))
                .cloned()
                .collect(),
            hiding: hiding.collect(),
            ruled: tree.rules().iter().map(|rule| rule.path.clone()).collect(),
            repositories,
        })?;
        let places = Self {
            profile: profile.clone(),
            guards,
            git,
            attached,
            state: Mutex::new(State {
                search,
                rules: Arc::from([]),
            }),
        };
        let rules = places.rules_for(&places.lock().search);
        places.lock().rules = rules.into();
        Some(places)
    }

    /// The repositories that were there at the last look.
    pub(crate) fn repositories(&self) -> Known {
        let state = self.lock();
        let found = state.search.found().iter();
        let repositories = found.filter_map(|found| match found {
            Found::Repository(repository) => Some(repository.clone()),
            Found::Match { .. } => None,
        });
        Known {
            repositories: repositories.collect(),
            unsearched: state.search.unsearched().clone(),
            beyond: state.search.beyond().map(Path::to_owned),
        }
    }

    /// Makes looking again cheap.
    pub(crate) fn watch(&self) {
        self.lock().search.watch();
    }

    /// Whether looking again costs nothing.
    pub(crate) fn is_quiet(&self) -> bool {
        self.lock().search.is_quiet()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_again(&self, state: &mut State) {
        if state.search.look() {
            state.rules = self.rules_for(&state.search).into();
        }
    }

    fn rules_for(&self, search: &Search) -> Vec<Rule> {
        let mut rules: Vec<Rule> = search
            .found()
            .iter()
            .flat_map(|found| match found {
                Found::Match {
                    path,
                    object,
                    pattern,
                } => self.matched(path, *object, *pattern).into_iter().collect(),
                Found::Repository(repository) if self.git => self.repository(repository),
                Found::Repository(_) => Vec::new(),
            })
            .collect();
        rules.extend(self.repositories_to_be(search.found()));
        if let Some(attached) = &self.attached {
            rules.extend(self.repository(&worktree::closed(attached)));
            rules.extend(worktree::others(attached));
        }
        rules
    }

    /// The rule for what a pattern matches.
    fn matched(&self, path: &Path, object: Object, pattern: usize) -> Option<Rule> {
        let (guard, source) = self.guards.get(pattern)?;
        if let Origin::Preset { preset, .. } = guard.origin
            && self.profile.is_unguarded(path, preset)
        {
            return None;
        }
        let axes = self.unsaid(path, guard.protection.axes());
        let at = match object {
            // A placeholder leads to nothing.
            Object::Link => resolve_in_place(path).filter(|at| at.path != path || at.kind != Kind::Absent)?,
            Object::Directory => unlinked(path, Kind::Directory),
            Object::File => unlinked(path, Kind::File),
        };
        // Where a link leads to nothing yet, a command could make what it leads to.
        let stand_in = if at.kind == Kind::Absent {
            StandIn::Link
        } else {
            StandIn::Nothing
        };
        let rule = Rule::new(at, Reach::Tree, axes, source.clone()).holding(Hold::Object);
        Some(rule.with_stand_in(stand_in))
    }

    /// What a guard says about the object at a path besides what the profile says of that very path: a literal
    /// outranks a pattern there.
    fn unsaid(&self, path: &Path, mut axes: Axes) -> Axes {
        let literal = self.profile.tree().rules().iter().filter(|rule| {
            let written = matches!(
                rule.source,
                Source::Workspace | Source::Root(_) | Source::Guard(_)
            );
            written && rule.path == path
        });
        for rule in literal {
            for axis in Axis::ALL {
                if rule.axes.get(axis).is_some() {
                    axes.forget(axis);
                }
            }
        }
        axes
    }

    /// The rules that close what of a repository makes git run programs.
    fn repository(&self, repository: &Repository) -> Vec<Rule> {
        let Repository { path, kind } = repository;
        if *kind == RepositoryKind::Pointer {
            let reason = "it leads git to the settings of a repository";
            return self
                .closed(path, reason, Hold::Object, StandIn::Nothing)
                .into_iter()
                .collect();
        }
        let hold = Hold::From(path.clone());
        let rows = Preset::Git.rows().iter();
        rows.filter_map(|row| match row.place {
            Place::Repository(name, stand_in) => {
                // The directory of a linked working tree shares settings and hooks with the main one, but for those
                // of its own.
                let whole = *kind == RepositoryKind::Directory || name == OWN_SETTINGS;
                let stand_in = if whole { stand_in } else { StandIn::Nothing };
                self.closed(&path.join(name), row.reason, hold.clone(), stand_in)
            }
            Place::RepositoryPart(name) => {
                let part = self.closed(&path.join(name), row.reason, hold.clone(), StandIn::Nothing)?;
                // It says nothing but that it stays.
                (part.kind == Kind::Directory).then(|| Rule {
                    axes: Axes::default(),
                    ..part
                })
            }
            _ => None,
        })
        .collect()
    }

    /// What a command could make or complete so that git, called in a root on the host, obeys it.
    fn repositories_to_be(&self, found: &[Found]) -> Vec<Rule> {
        let places = if self.git {
            roots(&self.profile)
        } else {
            Vec::new()
        };
        let mut rules = Vec::new();
        for place in &places {
            if !is_found(found, place) {
                rules.extend(self.bare_to_be(place));
            }
            self.led_to(&place.join(REPOSITORY), &places, found, &mut rules);
        }
        rules
    }

    /// What keeps a root from being a repository itself. Without `HEAD` none is; where there is one, the rest must not
    /// come, here or where `commondir` says.
    fn bare_to_be(&self, place: &Path) -> Vec<Rule> {
        let head = place.join(HEAD);
        // A link counts for git if it says `refs/…`, wherever that leads.
        let is_there = match head.read_link() {
            Ok(branch) => branch.starts_with("refs"),
            Err(_) => head.symlink_metadata().is_ok(),
        };
        if !is_there {
            return self.obeyed(&head).into_iter().collect();
        }
        let missing = PARTS.into_iter().filter(|name| !is_part(&place.join(name)));
        let names = missing.chain(std::iter::once(COMMON));
        names.filter_map(|name| self.obeyed(&place.join(name))).collect()
    }

    /// Closes a directory that git is led to if it is not there. If it is there and no repository yet, its settings are closed
    /// as those of one.
    fn led_to(&self, path: &Path, places: &[PathBuf], found: &[Found], rules: &mut Vec<Rule>) {
        let mut next = Some(path.to_owned());
        for _ in 0..MOST_LEADS {
            let Some(at) = next.take().and_then(|path| Host.resolve(&path).ok()) else {
                return;
            };
            if !places.iter().any(|place| at.path.starts_with(place)) {
                return;
            }
            match at.kind {
                Kind::Absent => rules.extend(self.obeyed(&at.path)),
                Kind::Directory => {
                    if !is_found(found, &at.path) {
                        let (path, kind) = (at.path.clone(), RepositoryKind::Directory);
                        rules.extend(self.repository(&Repository { path, kind }));
                    }
                    let common = repository::common_directory(&at.path);
                    next = common.ok().filter(|common| *common != at.path);
                }
                Kind::File => next = repository::pointed(&at.path).ok(),
            }
        }
    }

    fn obeyed(&self, path: &Path) -> Option<Rule> {
        let reason = "git would obey a repository of the command's making";
        self.closed(path, reason, Hold::Name, StandIn::Link)
    }

    /// Whether all that git could be led by in a root can be closed: what is behind a link that leads nobody anywhere can't.
    fn can_be_closed(&self) -> bool {
        let places = if self.git {
            roots(&self.profile)
        } else {
            Vec::new()
        };
        let names = || [REPOSITORY, HEAD, COMMON].into_iter().chain(PARTS);
        let mut paths = places
            .iter()
            .flat_map(|place| names().map(|name| place.join(name)));
        paths.all(|path| {
            self.profile.is_unguarded(&path, Preset::Git)
                || Host.resolve(&path).is_ok()
                || path.symlink_metadata().is_err()
        })
    }

    fn closed(&self, path: &Path, reason: &'static str, hold: Hold, stand_in: StandIn) -> Option<Rule> {
        if self.profile.is_unguarded(path, Preset::Git) {
            return None;
        }
        let at = resolve_in_place(path)?;
        if at.kind == Kind::Absent && stand_in == StandIn::Nothing {
            return None;
        }
        let source = Source::Preset {
            preset: Preset::Git,
            reason,
        };
        let rule = Rule::new(at, Reach::Tree, Protection::Protect.axes(), source);
        Some(rule.holding(hold).with_stand_in(stand_in))
    }
}

impl Guarded for GuardedPlaces {
    fn look(&self) -> Arc<[Rule]> {
        let mut state = self.lock();
        self.look_again(&mut state);
        Arc::clone(&state.rules)
    }

    fn rules(&self) -> Arc<[Rule]> {
        Arc::clone(&self.lock().rules)
    }

    fn is_complete(&self) -> bool {
        self.lock().search.is_complete() && self.can_be_closed()
    }
}

fn is_found(found: &[Found], path: &Path) -> bool {
    let mut found = found.iter();
    found.any(|found| matches!(found, Found::Repository(repository) if repository.path == path))
}

fn pattern(guard: &ResolvedGuard) -> Option<&ringfence_policy::Pattern> {
    match &guard.subject {
        ResolvedSubject::Pattern(pattern) => Some(pattern),
        ResolvedSubject::Name(_) => None,
    }
}

/// What is at a path whose directory is canonical. If that has been replaced by a link meanwhile, the path says nothing
/// about what is where the link leads.
fn resolve_in_place(path: &Path) -> Option<Resolved> {
    let at = Host.resolve(path).ok()?;
    at.links
        .first()
        .is_none_or(|link| link.path == path)
        .then_some(at)
}

fn unlinked(path: &Path, kind: Kind) -> Resolved {
    Resolved {
        path: path.to_owned(),
        kind,
        identity: None,
        links: Vec::new(),
    }
}

/// The workspace and the additional roots that commands can write.
fn roots(profile: &Profile) -> Vec<PathBuf> {
    let workspace = (&profile.workspace().path, profile.workspace_access());
    let additional = profile.roots().iter().map(|root| (&root.at.path, root.access));
    std::iter::once(workspace)
        .chain(additional)
        .filter(|(_, access)| access.allows_any())
        .map(|(path, _)| path.clone())
        .collect()
}

/// What has to be searched: the places of the profile for repositories, and wherever a pattern leads.
fn searched(profile: &Profile, guards: &[(ResolvedGuard, Source)], repositories: bool) -> Vec<PathBuf> {
    // A preset's patterns are those of each root; in one that is closed there is nothing left to close, and a root in it
    // has its own.
    let is_closed = |guard: &ResolvedGuard, base: &Path| {
        matches!(guard.origin, Origin::Preset { .. }) && !profile.tree().verdict(base).allows_any()
    };
    let bases = guards.iter().filter_map(|(guard, _)| {
        let pattern = pattern(guard).filter(|pattern| pattern.glob().is_some())?;
        (!is_closed(guard, pattern.base())).then(|| pattern.base().to_owned())
    });
    let roots = if repositories { roots(profile) } else { Vec::new() };
    let mut places: Vec<PathBuf> = roots.into_iter().chain(bases).collect();
    places.sort();
    places.dedup_by(|inner, outer| inner.starts_with(outer));
    places
}
