//! Thin safe wrappers for what rustix does not offer.
//!
//! Together with the embedded program this is the only code of ringfence that may say `unsafe`. Most
//! of it is Linux; on systems that are no Unix the crate is empty.

#[cfg(target_os = "linux")]
pub mod landlock;
#[cfg(target_os = "linux")]
pub mod mount;
#[cfg(unix)]
pub mod pipe;
#[cfg(unix)]
pub mod record_lock;
#[cfg(target_os = "linux")]
pub mod seccomp;
#[cfg(target_os = "linux")]
pub mod spawn;
#[cfg(target_os = "linux")]
pub mod terminal;
