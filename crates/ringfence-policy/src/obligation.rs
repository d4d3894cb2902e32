//! What a policy asks of a backend, clause by clause, and what the backend answers.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::access::Axis;
use crate::guarantee::Guarantees;
use crate::limit::Limit;
use crate::text;

/// One thing a backend has to bring about: one clause, on one axis, of one region.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Obligation {
    /// The guarantee this counts for; exactly one bit.
    #[serde(serialize_with = "text::display")]
    pub guarantee: Guarantees,
    /// What is asked.
    pub clause: Clause,
    /// The axis of a file clause.
    pub axis: Option<Axis>,
    /// The region of a file clause.
    #[serde(serialize_with = "text::optional_path")]
    pub region: Option<PathBuf>,
}

impl Obligation {
    /// An obligation that concerns the whole command, not one region.
    pub fn of(guarantee: Guarantees, clause: Clause) -> Self {
        Self {
            guarantee,
            clause,
            axis: None,
            region: None,
        }
    }

    /// The obligation to keep a closed axis of a region closed.
    ///
    /// Closed writing counts for the write boundary, closed reading and running for the read boundary.
    pub fn file(axis: Axis, region: impl Into<PathBuf>) -> Self {
        let guarantee = match axis {
            Axis::Write => Guarantees::WRITE_BOUNDARY,
            Axis::Read | Axis::Execute => Guarantees::READ_BOUNDARY,
        };
        Self {
            axis: Some(axis),
            region: Some(region.into()),
            ..Self::of(guarantee, Clause::FileAccess)
        }
    }
}

impl fmt::Display for Obligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.clause)?;
        if let Some(axis) = self.axis {
            write!(f, ", {}", axis.name())?;
        }
        if let Some(region) = &self.region {
            write!(f, ", {region:?}")?;
        }
        Ok(())
    }
}

/// The closed, documented vocabulary of what can be asked of a backend (PRO-75).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Clause {
    /// A closed axis of a region stays closed.
    FileAccess,
    /// What matches the pattern of a guard when a command starts is kept from it.
    #[serde(rename = "patterns_at_start")]
    Patterns,
    /// No repository that a command makes stays one.
    NewRepositories,
    /// Other names of a protected file do not open it.
    HardLinks,
    /// The command sees and signals only its own process tree.
    ProcessIsolation,
    /// The command has no capabilities and can gain no privileges.
    Privilege,
    /// The command holds no descriptor it was not given.
    Descriptors,
    /// The command has no hold on the caller's terminal.
    Terminal,
    /// Sockets of the host that have a path cannot be reached through it.
    HostSockets,
    /// Sockets of the host with an abstract name cannot be reached.
    AbstractSockets,
    /// System calls no ordinary program needs are refused.
    KernelSurface,
    /// The command dies with its host program.
    Lifetime,
    /// The command sees the assembled environment and no other.
    Environment,
    /// The command reaches no network but its own loopback.
    Network,
    /// A limit holds.
    Limit(Limit),
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FileAccess => "file access",
            Self::Patterns => "patterns at start",
            Self::NewRepositories => "new repositories",
            Self::HardLinks => "hard links",
            Self::ProcessIsolation => "process isolation",
            Self::Privilege => "privilege",
            Self::Descriptors => "descriptors",
            Self::Terminal => "terminal",
            Self::HostSockets => "host sockets",
            Self::AbstractSockets => "abstract sockets",
            Self::KernelSurface => "kernel surface",
            Self::Lifetime => "lifetime",
            Self::Environment => "environment",
            Self::Network => "network",
            Self::Limit(limit) => return write!(f, "limit of {limit}"),
        })
    }
}

/// What brings an obligation about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mechanism {
    /// A private view of the file system, made of mounts.
    MountView,
    /// The Landlock security module.
    Landlock {
        /// ABI version in use.
        abi: u32,
    },
    /// A system call filter.
    Seccomp,
    /// A process of ours that makes the names of files for the command, but for closed ones.
    Broker,
    /// A private user namespace.
    UserNamespace,
    /// A private process id namespace.
    PidNamespace,
    /// A private network namespace.
    NetworkNamespace,
    /// A private System V and POSIX message queue namespace.
    IpcNamespace,
    /// A private host name namespace.
    UtsNamespace,
    /// A private view of the control groups.
    CgroupNamespace,
    /// A session of its own, without the caller's terminal.
    Session,
    /// Emptied capability sets.
    Capabilities,
    /// The promise of the kernel that exec adds no privileges.
    NoNewPrivileges,
    /// A descriptor table built from a list.
    DescriptorTable,
    /// An environment built from the allowlist.
    EnvironmentAllowlist,
    /// A per-process resource limit.
    Rlimit,
    /// A control group.
    Cgroup,
    /// A watch on the host process that ends the command with it.
    HostWatch,
    /// The supervisor, which ends the command.
    Supervisor,
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MountView => "the mount view",
            Self::Landlock { abi } => return write!(f, "Landlock ABI {abi}"),
            Self::Seccomp => "the system-call filter",
            Self::Broker => "the broker",
            Self::UserNamespace => "a user namespace",
            Self::PidNamespace => "a pid namespace",
            Self::NetworkNamespace => "a network namespace",
            Self::IpcNamespace => "an IPC namespace",
            Self::UtsNamespace => "a UTS namespace",
            Self::CgroupNamespace => "a cgroup namespace",
            Self::Session => "a session of its own",
            Self::Capabilities => "empty capability sets",
            Self::NoNewPrivileges => "no_new_privs",
            Self::DescriptorTable => "a descriptor table built from a list",
            Self::EnvironmentAllowlist => "the environment's allowlist",
            Self::Rlimit => "resource limits",
            Self::Cgroup => "a control group",
            Self::HostWatch => "a watch on the host process",
            Self::Supervisor => "the supervisor",
        })
    }
}

/// How a backend answers an obligation; the set is closed, so that no reader can overlook an answer (PRO-75).
///
/// Anything wider than asked is not an answer but an error of the backend's compiler.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Discharge {
    /// Brought about.
    Enforced {
        /// By these, each necessary.
        mechanism: Vec<Mechanism>,
    },
    /// The command can do less than the policy allows.
    Narrowed {
        /// What is lost.
        what: String,
    },
    /// Brought about, at the price of something visible on the host while the command runs.
    HostArtefact {
        /// What is visible.
        what: String,
    },
    /// Not brought about.
    Unenforced {
        /// What stands in the way.
        why: String,
    },
    /// There is nothing to enforce.
    Vacuous,
}

impl fmt::Display for Discharge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.status())?;
        match self {
            Self::Enforced { mechanism } => {
                let names: Vec<String> = mechanism.iter().map(Mechanism::to_string).collect();
                write!(f, " by {}", names.join(", "))
            }
            Self::Narrowed { what } | Self::HostArtefact { what } => write!(f, ": {what}"),
            Self::Unenforced { why } => write!(f, ": {why}"),
            Self::Vacuous => Ok(()),
        }
    }
}

impl Discharge {
    /// Enforced by these mechanisms.
    pub fn enforced(mechanism: impl Into<Vec<Mechanism>>) -> Self {
        Self::Enforced {
            mechanism: mechanism.into(),
        }
    }

    /// Whether the obligation counts as met: enforced, met at the price of an artefact, or vacuous.
    pub const fn is_met(&self) -> bool {
        matches!(
            self,
            Self::Enforced { .. } | Self::HostArtefact { .. } | Self::Vacuous
        )
    }

    /// The lowercase word for this answer.
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Enforced { .. } => "enforced",
            Self::Narrowed { .. } => "narrowed",
            Self::HostArtefact { .. } => "host_artefact",
            Self::Unenforced { .. } => "unenforced",
            Self::Vacuous => "vacuous",
        }
    }
}
