//! The seam between ringfence's pipeline and whatever enforces a policy.
//!
//! A [`Backend`] is chosen once per set. It compiles a policy into a [`CompiledPolicy`], which launches any
//! number of commands; each gives a [`Containment`], the handle to that command's whole process tree. The
//! pipeline drives it by readiness ([`Containment::descriptors`], or the [`Notifier`] of the launch where a
//! system has no descriptors to wait on) and [`Containment::next_event`].
//!
//! The module [`direct`] is the backend without confinement.

#![forbid(unsafe_code)]

mod containment;
pub mod direct;
mod error;
#[cfg(unix)]
mod lookup;
mod signal;

use std::ffi::OsString;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence_policy::{Access, Identity, Limits, Policy, RegionTree, Report, Rule};
use serde::Serialize;

pub use containment::{
    Containment, Event, ExitStatus, HostDeath, Lifetime, LifetimeContainment, Usage, Watch,
};
pub use error::{LaunchError, ReleaseFailed, SetupFailed, SignalError, Unavailable};
#[cfg(unix)]
pub use lookup::candidates;
pub use signal::{Signal, UnixSignal};

/// A descriptor or handle that becomes a standard stream of the command.
#[cfg(unix)]
pub type Stream = std::os::fd::OwnedFd;
/// A descriptor or handle that becomes a standard stream of the command.
#[cfg(windows)]
pub type Stream = std::os::windows::io::OwnedHandle;

/// Something that can enforce policies on this host.
pub trait Backend: Debug + Send + Sync {
    /// What it found out about this host when it was probed.
    fn capabilities(&self) -> &Capabilities;

    /// Directories of which commands get their own, unless a profile's root is at one of them: the host's are out of
    /// their reach.
    fn private_directories(&self) -> &'static [&'static str];

    /// How to get what a failed step of the set-up lacks; empty when there is nothing to say.
    fn advice(&self, failed: &SetupFailed) -> String;

    /// Begins what takes the system a while and depends on little of a policy, for one that is about to be compiled. The
    /// directory belongs to the caller. What goes wrong is told when it is needed.
    fn anticipate(&self, _network: Access, _scratch: &Path) {}

    /// Turns a policy into something that launches commands.
    ///
    /// # Errors
    /// [`Unavailable`] when a clause of the policy has no mechanism here, naming it; [`Unavailable::Residue`] if that was
    /// found too late to leave nothing behind.
    fn compile(&self, request: CompileRequest) -> Result<Arc<dyn CompiledPolicy>, Unavailable>;
}

/// What a backend knows about this host, for people and for `ringfence doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// Name of the tier: `namespaces`, `direct`.
    pub tier: &'static str,
    /// Facts in a fixed order.
    pub facts: Vec<Fact>,
}

/// One capability of this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Stable name.
    pub name: &'static str,
    /// Whether it is there, and in which form.
    pub state: FactState,
    /// What its absence costs and how to get it; empty when there is nothing to do.
    pub advice: String,
}

/// State of a capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FactState {
    /// There, with a version or form.
    Present(String),
    /// Not there, with the reason.
    Absent(String),
}

/// What a backend compiles.
#[derive(Clone, Debug)]
pub struct CompileRequest {
    /// The regions and boundaries to enforce.
    pub policy: Policy,
    /// Where guards hold besides, as far as that has to be looked for.
    pub guarded: Arc<dyn Guarded>,
    /// An existing directory owned by the set, mode 0700, that the backend may use for the life of the policy.
    pub base: PathBuf,
    /// Where the backend may keep a file about what it makes outside of `base`, for whoever cleans up after a crash.
    pub journal: PathBuf,
    /// A file for locks, made when it is needed, the same for all executors that may share a place.
    pub locks: PathBuf,
    /// Size of each private memory filesystem, in bytes.
    pub private_bytes: u64,
}

/// Looks for what guards are about.
pub trait Guarded: Debug + Send + Sync {
    /// Looks, and gives the rules for what is there now, to be added to those of the policy. As long as nothing has
    /// changed, every answer is the same allocation.
    fn look(&self) -> Arc<[Rule]>;

    /// The rules for what was there at the last look.
    fn rules(&self) -> Arc<[Rule]>;

    /// Whether everything could be looked at.
    fn is_complete(&self) -> bool;
}

/// Guards that need no looking: there is nothing besides the rules of the policy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unguarded;

impl Guarded for Unguarded {
    fn look(&self) -> Arc<[Rule]> {
        self.rules()
    }

    fn rules(&self) -> Arc<[Rule]> {
        static NONE: std::sync::OnceLock<Arc<[Rule]>> = std::sync::OnceLock::new();
        Arc::clone(NONE.get_or_init(|| Arc::from([])))
    }

    fn is_complete(&self) -> bool {
        true
    }
}

/// A policy ready to launch commands; dropping it releases everything it holds.
pub trait CompiledPolicy: Debug + Send + Sync {
    /// Which obligations are discharged, and how, as far as the host was last seen.
    fn report(&self) -> Arc<Report>;

    /// The regions as they are enforced, as far as the host was last seen: the policy's, what guards are about, and
    /// what the backend added around them.
    fn tree(&self) -> Arc<RegionTree>;

    /// What stands on the host while this policy lives, in places of the profile.
    fn placeholders(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether [`Launch::terminal`] can be asked for.
    fn has_terminals(&self) -> bool {
        false
    }

    /// Whether a launch would find everything ready, as far as that can be told without looking; else it may take as
    /// long as [`CompiledPolicy::warm_up`].
    fn is_warm(&self) -> bool {
        true
    }

    /// Does now what the first launch would have to do.
    ///
    /// # Errors
    /// As [`CompiledPolicy::launch`].
    fn warm_up(&self) -> Result<(), LaunchError>;

    /// Starts one command. Returns as soon as the system has taken it over; whether the program was executed
    /// is the first event of the containment.
    ///
    /// The caller has just had the guards look.
    ///
    /// # Errors
    /// [`LaunchError`]; then no process of the command exists.
    fn launch(&self, launch: Launch) -> Result<Box<dyn Containment>, LaunchError>;

    /// Ends whatever it keeps running and gives back what it holds; later launches answer
    /// [`LaunchError::Released`].
    ///
    /// # Errors
    /// What could not be given back; it is not tried again.
    fn release(&self) -> Result<(), ReleaseFailed>;
}

/// One command, fully resolved.
#[derive(Debug)]
pub struct Launch {
    /// The program's name and its arguments; never empty.
    pub arguments: Vec<OsString>,
    /// The complete environment: an empty list is an empty environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Working directory, absolute.
    pub directory: PathBuf,
    /// What was there when the command was prepared, if it must still be that.
    pub directory_identity: Option<Identity>,
    /// How much it may use; what the pipeline enforces itself (time, output) is of no concern here.
    pub limits: Limits,
    /// Standard input, output and error.
    pub streams: [Stream; 3],
    /// A terminal of the command's own, which is its controlling one.
    pub terminal: Option<Terminal>,
    /// Called by backends that can't offer a descriptor, whenever an event may be waiting.
    pub notifier: Notifier,
}

/// A terminal for a command.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// Which of the standard streams, by their numbers, are the terminal, in place of those of the launch.
    pub streams: [bool; 3],
    /// Lines, at least 1.
    pub rows: u16,
    /// Characters in a line, at least 1.
    pub columns: u16,
    /// Another terminal whose settings it gets.
    pub like: Option<Arc<Stream>>,
}

/// A callback that wakes whoever waits for a containment's events.
#[derive(Clone)]
pub struct Notifier(Arc<dyn Fn() + Send + Sync>);

impl Notifier {
    /// Wraps a callback; it may be called from any thread and must not block.
    pub fn new(callback: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(callback))
    }

    /// Says that an event may be waiting.
    pub fn notify(&self) {
        (self.0)();
    }
}

impl Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notifier")
    }
}
