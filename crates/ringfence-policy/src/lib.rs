//! The pure core of ringfence: what a confined command may do, and what was really enforced.
//!
//! The way through the crate:
//!
//! 1. A [`ProfileConfig`] plus a [`Resolve`] (somebody who can look at the host) give an immutable [`Profile`].
//! 2. The profile answers questions ([`Profile::access_for`], [`Profile::decide`]), can be narrowed
//!    ([`Profile::restrict`]) and has a [`Fingerprint`].
//! 3. [`Policy::compile`] adds the rules an executor needs (runtime files, devices, HOME) and gives the
//!    [`RegionTree`] a backend enforces, together with its [`Obligation`]s.
//! 4. The backend answers each obligation with a [`Discharge`]; the [`Report`] derives [`Guarantees`] and
//!    [`Level`] from those answers and from nothing else.
//!
//! Precedence lives in [`RegionTree`] alone; everything else asks it.
//!
//! ```
//! use std::path::Path;
//! use ringfence_policy::*;
//!
//! /// A host on which every path is an ordinary directory.
//! struct Directories;
//!
//! impl Resolve for Directories {
//!     fn resolve(&self, path: &Path) -> Result<Resolved, ResolveError> {
//!         Ok(Resolved { path: path.into(), kind: Kind::Directory, identity: None, links: Vec::new() })
//!     }
//! }
//!
//! let config = ProfileConfig {
//!     workspace: "/work".into(),
//!     workspace_access: Verdict::READ_WRITE,
//!     host_access: Verdict::READ_ONLY,
//!     roots: vec![Root::directory("/work/.git", Verdict::READ_ONLY)],
//!     ..ProfileConfig::default()
//! };
//! let profile = Profile::new(&config, &Directories)?;
//! assert_eq!(profile.access_for("filesystem.write", "/work/src/main.rs")?, Access::Allow);
//! assert_eq!(profile.access_for("filesystem.write", "/work/.git/config")?, Access::Deny);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What this crate does not do
//!
//! It performs no I/O, opens no descriptor and knows no operating system. It does not enforce anything. Paths
//! are byte strings with `/` between components; nothing in them is ever a pattern.

#![forbid(unsafe_code)]

mod access;
mod config;
mod device;
mod environment;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod fingerprint;
#[cfg(all(unix, any(test, fuzzing)))]
#[doc(hidden)]
pub mod fuzzing;
mod glob;
mod guarantee;
mod guard;
mod limit;
mod obligation;
mod path;
mod pattern;
mod policy;
mod preset;
mod problem;
mod profile;
mod query;
mod report;
mod rule;
mod terms;
mod text;
mod tree;
mod validate;

pub use access::{ABI_VERSION, Access, Axis, Home, Isolation, OutOfRange, Verdict};
pub use config::{Acknowledgement, NestedNamespaces, NewRepositories, ProfileConfig, Root, RootKind};
pub use device::{Device, Presence};
pub use environment::{
    Environment, EnvironmentNotes, EnvironmentRules, Explicit, INHERITED, INHERITED_ON_WINDOWS, Inherited,
    InvalidVariable, NEVER, NameCase, Never, Overridden, VariableName, Withheld, private_directories,
};
pub use fingerprint::Fingerprint;
pub use glob::{Glob, GlobError, Search};
pub use guarantee::{GuaranteeSet, Guarantees, Level};
pub use guard::{Guard, Origin, Protection, ResolvedGuard, ResolvedSubject, Subject};
pub use limit::{Limit, Limits};
pub use obligation::{Clause, Discharge, Mechanism, Obligation};
pub use path::{Identity, Kind, Link, Resolve, ResolveError, Resolved, path_within};
pub use pattern::Pattern;
pub use policy::Policy;
pub use preset::{Place, Preset, Row, StandIn, UnknownPreset};
pub use problem::{Field, InvalidProfile, Problem, Reason};
pub use profile::Profile;
pub use query::{QueryError, ResolvedDecision};
pub use report::{Entry, Report};
pub use rule::{Axes, Hold, Reach, Rule, Source};
pub use terms::{ResolvedRoot, Settings};
pub use tree::{Decision, Region, RegionTree, TreeError};
