//! The platform selector: which backend this system has.

use std::sync::Arc;

use ringfence_backend::direct::Direct;
use ringfence_backend::{Backend, Capabilities, Unavailable};
use ringfence_policy::Isolation;

/// When a set finds out whether this host can confine commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Probe {
    /// When it is built, by running the real set-up once.
    #[default]
    AtBuild,
    /// When its first executor is made: that executor's own set-up is the trial. Cheaper for a set with one
    /// executor.
    AtFirstExecutor,
}

/// The backend for a profile of this isolation; chosen once per set (SET-6).
pub(crate) fn select(isolation: Isolation, probe: Probe) -> Result<Arc<dyn Backend>, Unavailable> {
    match isolation {
        Isolation::Unconfined => Ok(Arc::new(Direct::default())),
        Isolation::Sandboxed => confining(probe),
    }
}

/// What this host offers for confining commands, found out by running the real set-up once.
///
/// # Errors
/// [`Unavailable`] with the step that failed and how to get what is missing.
pub fn capabilities() -> Result<Capabilities, Unavailable> {
    Ok(confining(Probe::AtBuild)?.capabilities().clone())
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn confining(probe: Probe) -> Result<Arc<dyn Backend>, Unavailable> {
    Ok(Arc::new(match probe {
        Probe::AtBuild => ringfence_linux::Linux::probe()?,
        Probe::AtFirstExecutor => ringfence_linux::Linux::untried(),
    }))
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn confining(_: Probe) -> Result<Arc<dyn Backend>, Unavailable> {
    Err(Unavailable::NoBackend {
        why: format!(
            "this version confines commands on Linux on x86-64 and AArch64 only, not on {} on {}",
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
        advice: "run it there, or acknowledge an unconfined profile".to_owned(),
    })
}
