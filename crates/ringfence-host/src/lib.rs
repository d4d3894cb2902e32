//! Looks at this host.
//!
//! * [`Host`] makes paths canonical and says which object it found; [`observe`] looks at one object again.
//! * [`runtime`] finds what programs need to start and the toolchains that `PATH` really uses.
//! * [`sockets`] finds Unix sockets that have a path.
//! * [`links`] finds files with several hard links, and their names.
//! * `cgroup`, on Linux, finds where control groups can be made, and makes one around a command.
//! * `file_lock`, on Unix, locks files in a way that ends with the process.
//! * [`placeholder`] occupies absent names, on Linux.
//! * [`guarded`] finds what patterns match, and repositories, again and again at little cost.
//! * [`repository`] reads what a git repository's own files say, without running git.
//!
//! # What it does not do
//! * It decides nothing: every answer is a fact for the policy to judge.
//! * It holds nothing open. An answer is about the moment of the question; whoever acts on it later compares
//!   the [`Identity`](ringfence_policy::Identity) of what it opens.
//! * It never prints, never exits and never reads the environment; callers pass in what they want considered.
//!
//! # Platforms
//! Complete on Linux. Other Unix systems have no mount identity and no [`sockets::bound`]; elsewhere paths
//! have no identity.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod cgroup;
#[cfg(unix)]
pub mod file_lock;
#[cfg(target_os = "linux")]
pub mod folding;
#[cfg(all(target_os = "linux", any(test, fuzzing)))]
#[doc(hidden)]
pub mod fuzzing;
pub mod guarded;
mod homes;
mod host;
pub mod links;
#[cfg(target_os = "linux")]
pub mod mountinfo;
mod observe;
#[cfg(target_os = "linux")]
mod owner;
#[cfg(target_os = "linux")]
pub mod placeholder;
#[cfg(not(target_os = "linux"))]
#[path = "placeholder/none.rs"]
pub mod placeholder;
pub mod repository;
pub mod runtime;
mod scan;
pub mod sockets;
#[cfg(test)]
#[cfg(unix)]
mod testing;
#[cfg(unix)]
mod walk;

pub use host::Host;
pub use observe::observe;
#[cfg(target_os = "linux")]
pub use owner::Owner;
