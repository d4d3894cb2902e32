//! How this backend answers each obligation of a policy.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ringfence_host::links::{self, Names};
use ringfence_policy::{
    Access, Axis, Clause, Discharge, Entry, Guarantees, Kind, Mechanism, NestedNamespaces, Obligation,
    Policy, Region, Report, Source,
};

use crate::absent::{self, Absent};
use crate::limits;
use crate::policy::HostFacts;
use crate::rights::{ABI_SCOPES, ABI_UNIX_PATHS};
use crate::view::{Area, Placement, View};

/// Entries looked at when searching for files with several names, and again for those names.
const LINK_SEARCH_LIMIT: usize = 200_000;

/// Which searches looked at everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Complete {
    pub(crate) sockets: bool,
    pub(crate) patterns: bool,
}

/// The report for a policy and its view.
pub(crate) fn report(
    policy: &Policy,
    view: &View,
    complete: Complete,
    absent: &Absent,
    facts: &HostFacts,
) -> Report {
    let placements = view.placements.iter();
    let answers = Answers {
        policy,
        placements: placements
            .map(|placement| (placement.path.as_path(), placement))
            .collect(),
        complete,
        absent,
        facts,
    };
    let mut entries: Vec<Entry> = policy
        .obligations()
        .into_iter()
        .map(|obligation| Entry {
            discharge: answers.discharge(&obligation),
            obligation,
        })
        .collect();
    entries.extend(answers.narrowed(&entries));
    entries.extend(answers.hard_links());
    Report::new(entries)
}

struct Answers<'a> {
    policy: &'a Policy,
    /// By path: a pattern may match thousands of files, and each is asked for.
    placements: HashMap<&'a Path, &'a Placement>,
    complete: Complete,
    absent: &'a Absent,
    facts: &'a HostFacts,
}

impl Answers<'_> {
    fn discharge(&self, obligation: &Obligation) -> Discharge {
        use Mechanism as M;
        match obligation.clause {
            Clause::FileAccess => match (obligation.axis, obligation.region.as_deref()) {
                (Some(axis), Some(region)) => self.file_access(axis, region),
                _ => unknown(),
            },
            Clause::Patterns => self.patterns(),
            Clause::NewRepositories => Discharge::HostArtefact {
                what:
                    "a new repository is set aside when the command ends; until then the host's git finds it"
                        .to_owned(),
            },
            Clause::ProcessIsolation if !self.facts.proc => Discharge::Narrowed {
                what: "there is no /proc but for a few files about the machine: the host's is covered in part, so the \
                       kernel allows no other, and processes can't look at themselves"
                    .to_owned(),
            },
            Clause::ProcessIsolation => self.with_landlock([M::PidNamespace, M::IpcNamespace], ABI_SCOPES),
            Clause::Privilege | Clause::KernelSurface
                if self.policy.nested_namespaces == NestedNamespaces::Allow =>
            {
                Discharge::Narrowed {
                    what: "the command may make namespaces of its own, has capabilities in them, and so reaches more of \
                           the kernel; it mounts nothing"
                        .to_owned(),
                }
            }
            Clause::Privilege => Discharge::enforced([M::Capabilities, M::NoNewPrivileges]),
            Clause::Descriptors => Discharge::enforced([M::DescriptorTable]),
            Clause::Terminal => Discharge::enforced([M::Session, M::Seccomp]),
            Clause::HostSockets => self.host_sockets(),
            Clause::AbstractSockets => self.abstract_sockets(),
            Clause::KernelSurface => Discharge::enforced([M::Seccomp]),
            Clause::Lifetime => Discharge::enforced([M::PidNamespace, M::HostWatch]),
            Clause::Environment => Discharge::enforced([M::EnvironmentAllowlist]),
            Clause::Limit(limit) => limits::discharge(limit, &self.facts.cgroups),
            Clause::Network => Discharge::enforced([M::NetworkNamespace]),
            _ => unknown(),
        }
    }

    fn with_landlock<const N: usize>(&self, mechanisms: [Mechanism; N], since: u32) -> Discharge {
        let mut mechanisms = Vec::from(mechanisms);
        mechanisms.extend(self.landlock_since(since));
        Discharge::enforced(mechanisms)
    }

    fn landlock_since(&self, since: u32) -> Option<Mechanism> {
        self.facts
            .landlock
            .abi
            .filter(|abi| *abi >= since)
            .map(|abi| Mechanism::Landlock { abi })
    }

    fn file_access(&self, axis: Axis, region: &Path) -> Discharge {
        let Some(placement) = self.placements.get(region) else {
            // The root of a tree without a rule for it: the skeleton.
            return self.with_landlock([Mechanism::MountView], 1);
        };
        if let Some(what) = &placement.narrowed {
            return Discharge::Narrowed { what: what.clone() };
        }
        if let Some(what) = self.absent.artefact(region) {
            return Discharge::HostArtefact { what };
        }
        if placement.absent {
            return self.absent(axis, placement);
        }
        match (placement.area, axis) {
            (Area::Bound { .. }, Axis::Read) if placement.read_by_landlock => match self.landlock_since(1) {
                Some(landlock) => Discharge::enforced([landlock]),
                None => Discharge::Unenforced {
                    why: "the kernel has no Landlock".to_owned(),
                },
            },
            _ => self.with_landlock([Mechanism::MountView], 1),
        }
    }

    /// A name that does not exist is protected only where nobody can create it.
    fn absent(&self, axis: Axis, placement: &Placement) -> Discharge {
        let parent = placement.path.parent().unwrap_or(Path::new("/"));
        let creatable = absent::can_create(&self.policy.tree, parent);
        if !creatable || self.absent.is_refused(&placement.path) {
            return Discharge::Vacuous;
        }
        if self.absent.is_closed(&placement.path) {
            return self.with_landlock([Mechanism::Broker], 2);
        }
        let what = match axis {
            Axis::Write => "created",
            Axis::Read | Axis::Execute => "created and then used",
        };
        let why = match self.absent.failure(&placement.path) {
            Some(error) => {
                format!("the name does not exist, so it can be {what}, and it can't be occupied: {error}")
            }
            None => format!("the name does not exist yet, so it can be {what}"),
        };
        Discharge::Unenforced { why }
    }

    /// The matches are regions of their own; what is said here is that they are all there are.
    fn patterns(&self) -> Discharge {
        if self.complete.patterns {
            return Discharge::enforced([Mechanism::MountView]);
        }
        Discharge::Unenforced {
            why: "not all places could be searched for what the patterns match".to_owned(),
        }
    }

    fn host_sockets(&self) -> Discharge {
        if let Some(landlock) = self.landlock_since(ABI_UNIX_PATHS) {
            return Discharge::enforced([Mechanism::MountView, landlock]);
        }
        let mut why =
            "sockets in visible directories that host processes make after the command has started, or \
                       made in another network namespace, are reachable (Landlock ABI 9, Linux 7.1, closes them)"
                .to_owned();
        if !self.complete.sockets {
            why.push_str("; some sockets are not where their names lead, and not all places could be searched for them");
        }
        Discharge::Unenforced { why }
    }

    fn abstract_sockets(&self) -> Discharge {
        if self.policy.network != Access::Allow {
            return self.with_landlock([Mechanism::NetworkNamespace], ABI_SCOPES);
        }
        match self.landlock_since(ABI_SCOPES) {
            Some(landlock) => Discharge::enforced([landlock]),
            None => Discharge::Unenforced {
                why: "the host's network includes its abstract sockets (Landlock ABI 6, Linux 6.12, closes them)"
                    .to_owned(),
            },
        }
    }

    /// What was taken away in regions that close no more than what surrounds them, and so have no obligation.
    fn narrowed(&self, told: &[Entry]) -> Vec<Entry> {
        let told: HashSet<&Path> = told
            .iter()
            .filter_map(|entry| entry.obligation.region.as_deref())
            .collect();
        let mut narrowed: Vec<(&Path, &String)> = self
            .placements
            .iter()
            .filter(|(region, _)| !told.contains(*region))
            .filter_map(|(region, placement)| Some((*region, placement.narrowed.as_ref()?)))
            .collect();
        narrowed.sort_unstable();
        let entry = |(region, what): (&Path, &String)| Entry {
            obligation: Obligation::file(Axis::Read, region),
            discharge: Discharge::Narrowed { what: what.clone() },
        };
        narrowed.into_iter().map(entry).collect()
    }

    /// A closed file, or one in a closed directory, may have a second name where it is open.
    fn hard_links(&self) -> Vec<Entry> {
        let tree = &self.policy.tree;
        let open = |path: &Path, axis| tree.decide(path, axis).access == Access::Allow;
        let closed = |region: &Region<'_>| -> Vec<Axis> {
            let named = region
                .rules
                .iter()
                .any(|rule| !matches!(rule.source, Source::System | Source::Owned));
            let inside = |axis: &Axis| {
                let around = region.path.parent().is_some_and(|parent| open(parent, *axis));
                around && !open(region.path, *axis)
            };
            let axes = [Axis::Write, Axis::Read].into_iter().filter(inside);
            let placement = self.placements.get(region.path);
            let kind = placement.map_or(region.kind, |placement| placement.kind);
            axes.filter(|_| named && kind != Kind::Absent).collect()
        };
        let regions = tree.regions().map(|region| (region.path, closed(&region)));
        // Looking costs a system call for every file, so it is done once for both.
        let linked: Vec<(&Path, Vec<Axis>, Names)> = regions
            .filter(|(_, axes)| !axes.is_empty())
            .map(|(path, axes)| (path, axes, links::multiply_linked(path, LINK_SEARCH_LIMIT)))
            .filter(|(_, _, names)| !names.found.is_empty() || !names.complete)
            .collect();
        let entries = |axis| {
            let linked = linked.iter().filter(move |(_, axes, _)| axes.contains(&axis));
            let linked: Vec<(&Path, &Names)> = linked.map(|(path, _, names)| (*path, names)).collect();
            if linked.is_empty() {
                return Vec::new();
            }
            let files: HashSet<_> = linked
                .iter()
                .flat_map(|(_, names)| &names.found)
                .map(|name| name.file)
                .collect();
            let mut others = links::names_of(&files, &self.open_roots(axis), LINK_SEARCH_LIMIT);
            others.found.retain(|name| open(&name.path, axis));
            let entry = |(region, names): &(&Path, &Names)| hard_link_entry(axis, region, names, &others);
            linked.iter().map(entry).collect()
        };
        [Axis::Write, Axis::Read].into_iter().flat_map(entries).collect()
    }

    fn open_roots(&self, axis: Axis) -> Vec<PathBuf> {
        let bound = |path| matches!(self.area_of(path), Some(Area::Bound { writable, .. }) if writable || axis == Axis::Read);
        // Whoever can make a link among the programs of the system owns the system.
        let of_the_system =
            |source: &Source| matches!(source, Source::Runtime { .. } | Source::Device | Source::System);
        let roots = self.policy.tree.regions().filter(|region| {
            let rules = &region.rules;
            region.subtree.get(axis) == Access::Allow && !rules.iter().all(|rule| of_the_system(&rule.source))
        });
        roots
            .map(|region| region.path)
            .filter(|path| bound(path))
            .map(Path::to_owned)
            .collect()
    }

    fn area_of(&self, path: &Path) -> Option<Area> {
        self.placements.get(path).map(|placement| placement.area)
    }
}

fn hard_link_entry(axis: Axis, region: &Path, names: &Names, others: &Names) -> Entry {
    let (guarantee, used) = match axis {
        Axis::Write => (Guarantees::WRITE_BOUNDARY, "written"),
        Axis::Read | Axis::Execute => (Guarantees::READ_BOUNDARY, "read"),
    };
    let obligation = Obligation {
        axis: Some(axis),
        region: Some(region.to_owned()),
        ..Obligation::of(guarantee, Clause::HardLinks)
    };
    let pair = names.found.iter().find_map(|name| {
        let other = others.found.iter().find(|other| other.file == name.file)?;
        Some((&name.path, &other.path))
    });
    let discharge = match pair {
        Some((name, other)) => Discharge::Unenforced {
            why: format!(
                "{name:?} can be {used} under its other name {other:?}: remove that, or close it too"
            ),
        },
        None if names.complete && others.complete => Discharge::enforced([Mechanism::MountView]),
        None => Discharge::Unenforced {
            why: "files in it may have other names, and not all places could be searched for them".to_owned(),
        },
    };
    Entry {
        obligation,
        discharge,
    }
}

fn unknown() -> Discharge {
    Discharge::Unenforced {
        why: "this backend does not know the clause".to_owned(),
    }
}

#[cfg(test)]
#[path = "discharge_tests.rs"]
mod tests;
