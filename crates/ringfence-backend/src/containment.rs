//! A launched command, as its backend holds it.

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use ringfence_policy::{Limit, Report};
use serde::Serialize;

use crate::{SetupFailed, Signal, SignalError};

/// The process tree of one launched command. Dropping it kills what is left of the tree.
pub trait Containment: Debug + Send + Sync {
    /// How surely the tree ends.
    fn lifetime(&self) -> Lifetime;

    /// What was in force when this command was launched.
    fn report(&self) -> Arc<Report>;

    /// Descriptors that become readable when [`Containment::next_event`] may have something new.
    #[cfg(unix)]
    fn descriptors(&self, watch: Watch) -> Vec<std::os::fd::BorrowedFd<'_>>;

    /// The next event, without blocking; `None` when there is none yet.
    fn next_event(&self) -> Option<Event>;

    /// Asks the command to do something: its process group, or with a terminal the job in the foreground to be
    /// interrupted, and the whole tree everything else.
    ///
    /// # Errors
    /// [`SignalError::Unsupported`] where the system has no such signal, [`SignalError::Ended`] when nobody is
    /// left to receive it.
    fn signal(&self, signal: Signal) -> Result<(), SignalError>;

    /// Kills the whole tree; its end arrives as an event.
    fn kill(&self);

    /// The master of its terminal, if it has one and it was not hung up.
    #[cfg(unix)]
    fn terminal(&self) -> Option<Arc<crate::Stream>> {
        None
    }

    /// Gives up the terminal's master: once nobody else holds it, the terminal is hung up.
    fn hang_up(&self) {}

    /// Sees to it that the settings this terminal has now are put back if this process dies while the command lives and
    /// before [`Containment::leave_terminal`]. No process of the command gets it. Another terminal takes its place.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](std::io::ErrorKind::Unsupported) where nobody could do that.
    #[cfg(unix)]
    fn restore_at_host_death(&self, terminal: std::os::fd::BorrowedFd<'_>) -> std::io::Result<()> {
        let _ = terminal;
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Undoes [`Containment::restore_at_host_death`].
    fn leave_terminal(&self) {}

    /// What is left to do for the commands to come, to be called after the containment is dropped and whoever waits for
    /// this command knows of its end: it may keep a processor busy for a while.
    fn afterwards(&self) -> Option<Box<dyn FnOnce() + Send>> {
        None
    }

    /// What the tree has used so far, or until its end.
    fn usage(&self) -> Usage {
        Usage::default()
    }

    /// The limit the tree went over, if there is one that the kernel does not end a tree for.
    fn exceeded(&self) -> Option<Limit> {
        None
    }

    /// When [`Containment::exceeded`] should be asked next; never if the kernel keeps every limit.
    fn next_look(&self) -> Option<Duration> {
        None
    }
}

/// What a process tree has used; `None` where nobody counts it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// The most memory at one time, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// The most processes and threads at one time.
    pub peak_processes: Option<u64>,
    /// CPU time, all processors together.
    pub cpu_time: Option<Duration>,
    /// Limits that were reached, so that something was refused, without ending the tree.
    pub touched: Vec<Limit>,
}

/// Which events somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// All of them.
    StartAndEnd,
    /// Only those that end the command; [`Event::Started`] then arrives with them.
    End,
}

/// What happened to a launched command, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The program was executed.
    Started,
    /// A step of the set-up failed: the program was not executed and nothing is left. No other event follows.
    SetupFailed(SetupFailed),
    /// Another directory has taken the place of the command's; the same holds.
    Changed {
        /// The directory's path.
        path: std::path::PathBuf,
    },
    /// The command's first process has ended; whatever else there is of its tree is being killed.
    Exited(ExitStatus),
    /// Nothing of its tree is left.
    Empty,
}

/// How a command's first process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// It exited with this code.
    Exited(i32),
    /// A signal ended it.
    Signaled {
        /// Signal number.
        signal: i32,
        /// Whether it left a core dump.
        core: bool,
    },
    /// Its end was caused from outside before it could be observed: the tree was killed.
    Killed,
}

/// How surely a command's process tree ends, by whom, and what becomes of it when the host process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Lifetime {
    /// Whether the whole tree ends when it is to end.
    pub containment: LifetimeContainment,
    /// What the containment rests on.
    pub reason: &'static str,
    /// Whether the tree ends when the process that started it dies, in whatever way.
    pub host_death: HostDeath,
}

impl Lifetime {
    /// What a backend says about its commands.
    #[must_use]
    pub const fn new(containment: LifetimeContainment, reason: &'static str, host_death: HostDeath) -> Self {
        Self {
            containment,
            reason,
            host_death,
        }
    }
}

/// How surely a command's process tree ends when it is to end (LIF-1, LIF-2). The numbers are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum LifetimeContainment {
    /// Nothing is promised.
    Unspecified = 0,
    /// The kernel ends every process of the tree, however it forks or detaches.
    Enforced = 1,
    /// Every process that was kept track of; another one may live on, confined.
    BestEffort = 2,
}

impl fmt::Display for LifetimeContainment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "unspecified",
            Self::Enforced => "enforced",
            Self::BestEffort => "best-effort",
        })
    }
}

/// What becomes of a command when the process that started it dies, even by `SIGKILL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HostDeath {
    /// Its whole tree is killed.
    Killed,
    /// It goes on.
    Survives,
}
