//! Thin safe wrappers for what rustix does not offer.
//!
//! Together with the embedded program this is the only code of ringfence that may say `unsafe`. Everything
//! here is Linux; on other systems the crate is empty.

#[cfg(target_os = "linux")]
pub mod landlock;
#[cfg(target_os = "linux")]
pub mod spawn;
