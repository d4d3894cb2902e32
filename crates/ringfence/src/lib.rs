//! Runs commands so that they can touch only what a profile allows, and says which limits are really enforced.
//!
//! ```no_run
//! use ringfence::{ExecutorSet, Host, Profile, ProfileConfig, Verdict};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = ProfileConfig {
//!     workspace: "/home/me/project".into(),
//!     workspace_access: Verdict::READ_WRITE,
//!     command: ringfence::Access::Allow,
//!     ..ProfileConfig::default()
//! };
//! let profile = Profile::new(&config, &Host)?;
//! let set = ExecutorSet::builder(profile).scratch_root("/tmp").max_executors(8).build()?;
//! let executor = set.executor("agent-a").await?;
//! let outcome = executor.command("cargo").arg("test").current_dir("/home/me/project").output().await?;
//! println!("{:?}: {}", outcome.ended, String::from_utf8_lossy(outcome.stdout.head()));
//! assert!(set.close().await.is_clean());
//! # Ok(())
//! # }
//! ```
//!
//! An [`ExecutorSet`] is the owner: it hands out one [`Executor`] per key and closes them all. An executor holds
//! one compiled policy with a private home and temporary directory. [`Command`] is the one way to a process:
//! `output()` captures, `spawn()` gives a live [`Process`], `prepare()` stops before anything runs. A process has
//! streams or a [terminal](Command::tty), takes [signals](Process::signal), and is waited for in two steps: until the command
//! has ended, and until nothing of it is left. Futures work on any runtime; [`blocking`] has the same API without them. A [`ProfileFile`] is a configuration as TOML.
//!
//! # What is not promised
//!
//! Nothing beyond the guarantees of [`Executor::report`]. Side channels, denial of service within the limits,
//! and bugs of the kernel are out of scope.

#![forbid(unsafe_code)]

mod access;
pub mod blocking;
mod builder;
mod bundles;
mod cancellation;
mod capture;
mod command;
mod completion;
#[cfg_attr(not(unix), path = "end/other.rs")]
mod end;
mod environment;
mod error;
mod executor;
#[cfg(all(unix, any(test, fuzzing)))]
#[doc(hidden)]
pub mod fuzzing;
mod guarded;
mod input;
mod kept;
mod lifecycle;
mod making;
mod memo;
mod outcome;
mod output;
mod pipe;
mod platform;
mod prepared;
mod process;
mod profile_file;
mod repositories;
mod requests;
mod running;
mod scratch;
mod set;
mod single_use;
mod stdio;
mod supervisor;
mod sync;
mod terminal;
#[cfg(all(unix, feature = "tokio"))]
mod tokio_streams;
mod worktree;

#[cfg(test)]
mod completion_tests;
#[cfg(test)]
mod lifecycle_tests;
#[cfg(doctest)]
mod outside_tests;
#[cfg(test)]
mod requests_tests;

pub use access::EffectiveAccess;
pub use builder::{Commands, ExecutorSetBuilder, WindowsSandboxMode};
pub use bundles::Survey;
pub use capture::Captured;
pub use command::{CancelToken, Command};
pub use error::{BuildError, ExecutorError, RunError};
pub use executor::Executor;
pub use input::{ChildStdin, EofNotDelivered, StdinClosed};
pub use lifecycle::Execution;
pub use outcome::{Achieved, Ending, Exit, Outcome, OutcomeError};
pub use output::{ChildStderr, ChildStdout};
pub use prepared::PreparedProcess;
pub use process::Process;
#[cfg(unix)]
pub use process::TerminalRestore;
pub use profile_file::{FilePosition, FileProblem, FileReason, ProfileFile, ProfileFileError, Variables};
pub use repositories::NewRepository;
pub use running::Delivery;
pub use set::{CloseProblem, CloseReport, ExecutorSet, StillClosing};
pub use stdio::Stdio;
pub use terminal::{ResizeError, StreamMode, TerminalSize, Tty};
#[cfg(all(unix, feature = "tokio"))]
pub use tokio_streams::{AsyncOutput, AsyncStdin};

pub use platform::{Probe, capabilities};
pub use ringfence_backend as backend;
pub use ringfence_backend::{
    Capabilities, Fact, FactState, HostDeath, Lifetime, LifetimeContainment, ReleaseFailed, SetupFailed,
    Signal, SignalError, Stream, Unavailable, UnixSignal, Usage,
};
pub use ringfence_host::Host;
pub use ringfence_host::runtime::{BundleName, Cache, NameError};
pub use ringfence_policy::{
    ABI_VERSION, Access, Acknowledgement, Axes, Axis, Clause, Decision, Device, Discharge, Entry,
    EnvironmentNotes, EnvironmentRules, Explicit, Field, Fingerprint, Glob, GlobError, GuaranteeSet,
    Guarantees, Guard, Hold, Home, INHERITED, Identity, InvalidProfile, InvalidVariable, Isolation, Kind,
    Level, Limit, Limits, Link, Mechanism, NEVER, NestedNamespaces, Never, NewRepositories, Obligation,
    Origin, Overridden, Pattern, Presence, Preset, Problem, Profile, ProfileConfig, Protection, QueryError,
    Reach, Reason, Region, RegionTree, Report, Resolve, ResolveError, Resolved, ResolvedDecision,
    ResolvedGuard, ResolvedRoot, ResolvedSubject, Root, RootKind, Rule, Settings, Source, StandIn, Subject,
    UnknownPreset, VariableName, Verdict, Withheld,
};
