//! How this backend answers each obligation of a policy.

use std::path::{Path, PathBuf};

use ringfence_host::links;
use ringfence_policy::{
    Access, Axis, Clause, Discharge, Entry, Guarantees, Identity, Kind, Mechanism, Obligation, Policy, Report,
};

use crate::rights::{ABI_SCOPES, ABI_UNIX_PATHS, Landlock};
use crate::view::{Area, Placement, View};

/// Entries looked at when searching for other names of a protected file.
const ALIAS_SEARCH_LIMIT: usize = 200_000;

/// The report for a policy and its view.
pub(crate) fn report(policy: &Policy, view: &View, landlock: Landlock, sockets_complete: bool) -> Report {
    let answers = Answers {
        policy,
        view,
        landlock,
        sockets_complete,
    };
    let mut entries: Vec<Entry> = policy
        .obligations()
        .into_iter()
        .map(|obligation| Entry {
            discharge: answers.discharge(&obligation),
            obligation,
        })
        .collect();
    entries.extend(answers.hard_links());
    Report::new(entries)
}

struct Answers<'a> {
    policy: &'a Policy,
    view: &'a View,
    landlock: Landlock,
    sockets_complete: bool,
}

impl Answers<'_> {
    fn discharge(&self, obligation: &Obligation) -> Discharge {
        use Mechanism as M;
        match obligation.clause {
            Clause::FileAccess => match (obligation.axis, obligation.region.as_deref()) {
                (Some(axis), Some(region)) => self.file_access(axis, region),
                _ => unknown(),
            },
            Clause::ProcessIsolation => self.with_landlock([M::PidNamespace, M::IpcNamespace], ABI_SCOPES),
            Clause::Privilege => Discharge::enforced([M::Capabilities, M::NoNewPrivileges]),
            Clause::Descriptors => Discharge::enforced([M::DescriptorTable]),
            Clause::Terminal => Discharge::enforced([M::Session, M::Seccomp]),
            Clause::HostSockets => self.host_sockets(),
            Clause::AbstractSockets => self.abstract_sockets(),
            Clause::KernelSurface => Discharge::enforced([M::Seccomp]),
            Clause::Lifetime => Discharge::enforced([M::PidNamespace, M::HostWatch]),
            Clause::Environment => Discharge::enforced([M::EnvironmentAllowlist]),
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
        self.landlock
            .abi
            .filter(|abi| *abi >= since)
            .map(|abi| Mechanism::Landlock { abi })
    }

    fn file_access(&self, axis: Axis, region: &Path) -> Discharge {
        let Some(placement) = self
            .view
            .placements
            .iter()
            .find(|placement| placement.path == region)
        else {
            // The root of a tree without a rule for it: the skeleton.
            return self.with_landlock([Mechanism::MountView], 1);
        };
        if let Some(what) = &placement.narrowed {
            return Discharge::Narrowed { what: what.clone() };
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
        let creatable = self.policy.tree.decide(parent, Axis::Write).access == Access::Allow;
        if !creatable {
            return Discharge::Vacuous;
        }
        let what = match axis {
            Axis::Write => "created",
            Axis::Read | Axis::Execute => "created and then used",
        };
        Discharge::Unenforced {
            why: format!("the name does not exist yet, so it can be {what}"),
        }
    }

    fn host_sockets(&self) -> Discharge {
        if let Some(landlock) = self.landlock_since(ABI_UNIX_PATHS) {
            return Discharge::enforced([Mechanism::MountView, landlock]);
        }
        let mut why =
            "sockets that host processes make in visible directories after the command has started \
                       are reachable (Landlock ABI 9, Linux 7.1, closes them)"
                .to_owned();
        if !self.sockets_complete {
            why.push_str("; some sockets were bound by a relative path and not all places could be searched");
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

    /// A protected file may have a second name in a tree the command can write.
    fn hard_links(&self) -> Vec<Entry> {
        let tree = &self.policy.tree;
        let writable = |path: &Path| tree.decide(path, Axis::Write).access == Access::Allow;
        let writable_roots: Vec<PathBuf> = tree
            .regions()
            .filter(|region| region.kind == Kind::Directory && region.subtree.write == Access::Allow)
            .filter(|region| {
                matches!(
                    self.area_of(region.path),
                    Some(Area::Bound { writable: true, .. })
                )
            })
            .map(|region| region.path.to_owned())
            .collect();
        tree.regions()
            .filter(|region| region.kind == Kind::File && region.object.write != Access::Allow)
            .filter(|region| region.path.parent().is_some_and(writable))
            .filter(|region| links::link_count(region.path).is_ok_and(|count| count > 1))
            .filter_map(|region| Some((region.path, region.identity?)))
            .map(|(path, identity)| hard_link_entry(path, &identity, &writable_roots))
            .collect()
    }

    fn area_of(&self, path: &Path) -> Option<Area> {
        self.view
            .placements
            .iter()
            .find(|placement| placement.path == path)
            .map(|placement| placement.area)
    }
}

fn hard_link_entry(path: &Path, identity: &Identity, writable: &[PathBuf]) -> Entry {
    let obligation = Obligation {
        axis: Some(Axis::Write),
        region: Some(path.to_owned()),
        ..Obligation::of(Guarantees::WRITE_BOUNDARY, Clause::HardLinks)
    };
    let aliases = links::aliases(identity, writable, ALIAS_SEARCH_LIMIT);
    let other = aliases.found.iter().find(|found| *found != path);
    let discharge = match (other, aliases.complete) {
        (Some(other), _) => Discharge::Unenforced {
            why: format!("it can be written under its other name {}", other.display()),
        },
        (None, true) => Discharge::enforced([Mechanism::MountView]),
        (None, false) => Discharge::Unenforced {
            why: "it has other names, and the writable directories are too large to search for them"
                .to_owned(),
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
