//! What the policy says must become of an attempt.
//!
//! Who may do what to which path is asked of the region tree and nowhere else; this module knows what an operation
//! needs, and the exceptions that are documented:
//!
//! * a name that is a mount point, or above one, can't be moved or removed, and nothing moves from one mount to another
//!   (`EBUSY`, `EXDEV`), although both places are writable: whoever holds a closed name in place pays with that;
//! * a private memory filesystem shows nothing of the host;
//! * what a report calls narrowed may be refused, what it calls not enforced may work.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use ringfence::{
    Access, Axis, Clause, Discharge, Entry, Guarantees, Hold, Profile, Region, RegionTree, Report, Rule,
    Source,
};

use super::attempts::{Need, Planned};

/// What must become of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// It works.
    Allowed,
    /// It is refused, because of this.
    Denied(String),
    /// It may work, but the host must never see that, because of this.
    Hidden(String),
    /// Both is right, because of this.
    Either(String),
}

impl Expect {
    /// What holds when both have to: one refusal is enough for the whole to be refused.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Denied(why), _) | (_, Self::Denied(why)) => Self::Denied(why),
            (Self::Hidden(why), _) | (_, Self::Hidden(why)) => Self::Hidden(why),
            (Self::Either(why), _) | (_, Self::Either(why)) => Self::Either(why),
            (Self::Allowed, Self::Allowed) => Self::Allowed,
        }
    }
}

/// Where a path leads on the host, as it is before anything is tried.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The name itself: its directory's canonical path and its last component.
    pub(crate) name: PathBuf,
    /// What it leads to.
    object: PathBuf,
    exists: bool,
    is_directory: bool,
    /// The symbolic links on the way, the last component included.
    links: Vec<PathBuf>,
}

impl Seen {
    /// Looks at a path; many lie in one directory, which is looked at once.
    fn at(path: &Path, directories: &mut HashMap<PathBuf, (PathBuf, Vec<PathBuf>)>) -> Self {
        let parent = path.parent().unwrap_or(path);
        let around = directories.entry(parent.to_owned());
        let (canonical, links) = around.or_insert_with(|| directory(parent));
        let name = canonical.join(path.file_name().unwrap_or_default());
        let mut links = links.clone();
        let seen = name.symlink_metadata().ok();
        let mut object = name.clone();
        if seen.as_ref().is_some_and(fs::Metadata::is_symlink) {
            links.push(name.clone());
            object = fs::canonicalize(&name).unwrap_or(object);
        }
        Self {
            exists: seen.is_some(),
            is_directory: object.is_dir(),
            object,
            name,
            links,
        }
    }
}

/// Where a directory really is, and the symbolic links on the way to it.
fn directory(path: &Path) -> (PathBuf, Vec<PathBuf>) {
    let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut links = Vec::new();
    if canonical != path {
        for above in path.ancestors().filter(|above| above.is_symlink()) {
            let at = above.parent().and_then(|at| fs::canonicalize(at).ok());
            links.extend(at.map(|at| at.join(above.file_name().unwrap_or_default())));
        }
    }
    (canonical, links)
}

/// Where the paths of all attempts lead; looked at before anything is tried.
pub(crate) fn look(plan: &[Planned]) -> HashMap<PathBuf, Seen> {
    let mut directories = HashMap::new();
    let mut seen = HashMap::new();
    for path in plan.iter().flat_map(|planned| &planned.paths) {
        if !seen.contains_key(path) {
            seen.insert(path.clone(), Seen::at(path, &mut directories));
        }
    }
    seen
}

/// The policy as it is enforced.
#[derive(Debug)]
pub(crate) struct Oracle<'a> {
    profile: &'a Profile,
    /// With everything the executor and the backend have added.
    tree: &'a RegionTree,
    report: &'a Report,
    seen: &'a HashMap<PathBuf, Seen>,
    /// Who speaks about each region.
    sources: HashMap<&'a Path, Vec<&'a Source>>,
    /// What is said of the axes of each region.
    answers: HashMap<&'a Path, Vec<(Option<Axis>, &'a Discharge)>>,
    /// The links that led to regions.
    links: Vec<&'a Path>,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(
        profile: &'a Profile,
        tree: &'a RegionTree,
        report: &'a Report,
        seen: &'a HashMap<PathBuf, Seen>,
    ) -> Self {
        let mut sources: HashMap<&Path, Vec<&Source>> = HashMap::new();
        for rule in tree.rules() {
            sources.entry(&rule.path).or_default().push(&rule.source);
        }
        let mut answers: HashMap<&Path, Vec<_>> = HashMap::new();
        let about_files = |entry: &&Entry| entry.obligation.clause == Clause::FileAccess;
        for entry in report.entries().iter().filter(about_files) {
            if let Some(region) = &entry.obligation.region {
                let answer = (entry.obligation.axis, &entry.discharge);
                answers.entry(region).or_default().push(answer);
            }
        }
        let links = tree.rules().iter().flat_map(|rule| &rule.links);
        Self {
            profile,
            tree,
            report,
            seen,
            sources,
            answers,
            links: links.map(|link| link.path.as_path()).collect(),
        }
    }

    pub(crate) fn expect(&self, planned: &Planned) -> Expect {
        let needs = planned.needs.iter();
        needs
            .map(|need| self.need(*need, planned))
            .fold(Expect::Allowed, Expect::and)
    }

    /// The guarantee that a refusal of this attempt bears out.
    pub(crate) fn guarantee(planned: &Planned) -> Guarantees {
        let of = |need: &Need| match need {
            Need::Use(_, Axis::Write) | Need::Name(_) | Need::Together => Guarantees::WRITE_BOUNDARY,
            Need::Use(_, Axis::Read | Axis::Execute) | Need::Enter(_) => Guarantees::READ_BOUNDARY,
            Need::Lack(_) | Need::Impossible(_) => Guarantees::PROCESS_BOUNDARY,
            Need::Network => Guarantees::NETWORK_BOUNDARY,
            Need::Nothing => Guarantees::empty(),
        };
        planned.needs.iter().map(of).collect()
    }

    /// Where the profile alone and the tree with all additions say different things of what the profile speaks about:
    /// the axis, and both answers.
    pub(crate) fn contradiction(&self, path: &Path) -> Option<String> {
        let seen = self.seen.get(path).filter(|seen| seen.exists)?;
        Axis::ALL.into_iter().find_map(|axis| {
            let decision = self.tree.decide(&seen.object, axis);
            let spoken = |rule: &Rule| {
                matches!(
                    rule.source,
                    Source::Host
                        | Source::Workspace
                        | Source::Root(_)
                        | Source::Guard(_)
                        | Source::Preset { .. }
                )
            };
            let rule = decision.rule.filter(|rule| spoken(rule))?;
            let kind = format!("filesystem.{}", axis.name());
            let asked = self.profile.access_for(&kind, &seen.object).ok()?;
            let differs = (asked == Access::Allow) != (decision.access == Access::Allow);
            differs.then(|| {
                format!(
                    "{}: the profile says {asked:?}, the tree {:?} because of {}",
                    axis.name(),
                    decision.access,
                    rule.source
                )
            })
        })
    }

    fn need(&self, need: Need, planned: &Planned) -> Expect {
        let seen = |index: usize| planned.paths.get(index).and_then(|path| self.seen.get(path));
        match need {
            Need::Nothing => Expect::Allowed,
            Need::Impossible(why) => Expect::Denied(why.to_owned()),
            Need::Lack(clause) => self.clause(clause),
            Need::Network => match self.profile.network() {
                Access::Allow => Expect::Allowed,
                access => Expect::Denied(format!("the network is {access:?}")),
            },
            Need::Enter(index) => match seen(index) {
                Some(seen) if self.tree.verdict(&seen.object).allows_any() => self.visible(seen),
                _ => Expect::Either("a closed directory may not be entered".to_owned()),
            },
            Need::Use(index, axis) => match seen(index) {
                Some(seen) => self.access(&seen.object, axis, seen).and(self.visible(seen)),
                None => unknown(),
            },
            Need::Name(index) => match seen(index) {
                Some(seen) => self.name(seen),
                None => unknown(),
            },
            Need::Together => match (seen(0), seen(1)) {
                // A file with rules of its own is a mount of its own.
                (Some(from), Some(to))
                    if self.mount(&from.name) == self.mount(&to.name)
                        && !self.sources.contains_key(from.object.as_path()) =>
                {
                    Expect::Allowed
                }
                (Some(_), Some(_)) => Expect::Either("the two are on different mounts".to_owned()),
                _ => unknown(),
            },
        }
    }

    /// One axis of one path.
    fn access(&self, path: &Path, axis: Axis, seen: &Seen) -> Expect {
        let decision = self.tree.decide(path, axis);
        let source = decision.rule.map(|rule| &rule.source);
        if matches!(source, Some(Source::Private)) || self.is_private(path) {
            return if seen.exists && !seen.is_directory {
                Expect::Denied("a private memory filesystem shows nothing of the host".to_owned())
            } else {
                Expect::Hidden("it is in a private memory filesystem".to_owned())
            };
        }
        if !seen.exists && path.parent().is_some_and(|parent| self.is_private(parent)) {
            return Expect::Hidden("there is nothing on the host, and it would not be made there".to_owned());
        }
        let why = || {
            let source = source.map_or_else(
                || "no rule opens it".to_owned(),
                |source| format!("because of {source}"),
            );
            format!("{} {path:?}: {:?} {source}", axis.name(), decision.access)
        };
        let answers = self.answers(path, axis);
        if decision.access != Access::Allow {
            let opened = |region: Region<'_>| region.subtree.allows_any() || region.object.allows_any();
            if axis == Axis::Read && seen.is_directory && self.tree.beneath(path).any(opened) {
                return Expect::Hidden(
                    "a closed directory shows what is open beneath it, and nothing else".to_owned(),
                );
            }
            let open = |discharge: &&Discharge| matches!(discharge, Discharge::Unenforced { .. });
            return match answers.iter().find(|discharge| open(discharge)) {
                Some(discharge) => Expect::Either(discharge.to_string()),
                None => Expect::Denied(why()),
            };
        }
        let narrowed = |discharge: &&&Discharge| matches!(discharge, Discharge::Narrowed { .. });
        match answers.iter().find(narrowed) {
            Some(discharge) => Expect::Either(discharge.to_string()),
            None => Expect::Allowed,
        }
    }

    /// What is said of the region a path is in.
    fn answers(&self, path: &Path, axis: Axis) -> Vec<&Discharge> {
        let Some(region) = self.nearest(path) else {
            return Vec::new();
        };
        // What was narrowed is told once for a region, whatever the axis.
        let answers = self.answers.get(region).into_iter().flatten();
        let about = answers.filter(|(about, discharge)| {
            *about == Some(axis) || matches!(discharge, Discharge::Narrowed { .. })
        });
        about.map(|(_, discharge)| *discharge).collect()
    }

    /// The region a path is in.
    fn nearest<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.ancestors().find(|above| self.sources.contains_key(above))
    }

    /// Whether a path that the policy speaks of as the host's lies in a memory filesystem all the same: nothing of the
    /// host is there except for what is mounted into it.
    fn is_private(&self, path: &Path) -> bool {
        let sources = self.nearest(path).and_then(|region| self.sources.get(region));
        sources.is_some_and(|sources| sources.iter().all(|source| **source == Source::Private))
    }

    /// A name that comes, goes or is replaced: it and the directory around it must be writable.
    fn name(&self, seen: &Seen) -> Expect {
        let parent = seen.name.parent().unwrap_or(&seen.name);
        let around = Seen {
            exists: true,
            is_directory: true,
            ..seen.clone()
        };
        let private = self.access(parent, Axis::Write, &around);
        if matches!(private, Expect::Hidden(_)) {
            return private.and(self.access(&seen.name, Axis::Write, seen));
        }
        // A link is changed by what changes its name, and not by what is said of where it leads.
        self.access(&seen.name, Axis::Write, seen)
            .and(self.access(parent, Axis::Write, &around))
            .and(self.held(&seen.name))
            .and(self.visible(seen))
    }

    /// Whether something keeps a name where it is.
    fn held(&self, name: &Path) -> Expect {
        let closed = |rule: &&Rule| rule.axes.write.is_some_and(|access| access != Access::Allow);
        let holds = |rule: &Rule| match &rule.hold {
            Hold::Name => true,
            Hold::From(first) => name.starts_with(first),
            Hold::Object => false,
        };
        let mut beneath = self.tree.beneath(name).flat_map(|region| region.rules);
        let is_above_some = self.tree.beneath(name).next().is_some();
        if let Some(rule) = beneath.find(|rule| closed(rule) && holds(rule)) {
            return Expect::Denied(format!(
                "it would move {:?}, closed because of {}",
                rule.path, rule.source
            ));
        }
        let leads = |link: &&Path| link.starts_with(name);
        if is_above_some || self.sources.contains_key(name) || self.links.iter().any(leads) {
            return Expect::Either("it is a mount point, or above one".to_owned());
        }
        Expect::Allowed
    }

    /// The mount that a name is on, by its path: that of the nearest place that is held or has rules of its own.
    fn mount<'p>(&self, name: &'p Path) -> Option<&'p Path> {
        let is_mount = |directory: &&Path| {
            self.sources.contains_key(directory) || self.tree.beneath(directory).next().is_some()
        };
        name.parent()?.ancestors().find(is_mount)
    }

    /// Whether what leads to an object is shown.
    fn visible(&self, seen: &Seen) -> Expect {
        for link in &seen.links {
            if !self.tree.verdict(link).allows_any() || self.is_private(link) {
                return Expect::Either(format!("the link {link:?} on the way is not shown"));
            }
        }
        Expect::Allowed
    }

    fn clause(&self, clause: Clause) -> Expect {
        let mut entries = self.report.entries().iter();
        match entries.find(|entry| entry.obligation.clause == clause) {
            Some(entry) if entry.discharge.is_met() => {
                Expect::Denied(format!("{clause}: {}", entry.discharge))
            }
            Some(entry) => Expect::Either(format!("{clause}: {}", entry.discharge)),
            None => Expect::Either(format!("nobody has asked for {clause}")),
        }
    }
}

fn unknown() -> Expect {
    Expect::Either("the path was not looked at".to_owned())
}
