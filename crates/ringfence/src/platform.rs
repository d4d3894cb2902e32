//! The platform selector: which backend this system has.

use std::sync::Arc;

use ringfence_backend::direct::Direct;
use ringfence_backend::{Backend, Capabilities, Unavailable};
use ringfence_policy::Isolation;

/// The backend for a profile of this isolation; chosen once per set (SET-6).
pub(crate) fn select(isolation: Isolation) -> Result<Arc<dyn Backend>, Unavailable> {
    match isolation {
        Isolation::Unconfined => Ok(Arc::new(Direct::default())),
        Isolation::Sandboxed => confining(),
    }
}

/// What this host offers for confining commands, found out by running the real set-up once.
///
/// # Errors
/// [`Unavailable`] with the step that failed and how to get what is missing.
pub fn capabilities() -> Result<Capabilities, Unavailable> {
    Ok(confining()?.capabilities().clone())
}

#[cfg(target_os = "linux")]
fn confining() -> Result<Arc<dyn Backend>, Unavailable> {
    Ok(Arc::new(ringfence_linux::Linux::probe()?))
}

#[cfg(not(target_os = "linux"))]
fn confining() -> Result<Arc<dyn Backend>, Unavailable> {
    Err(Unavailable::NoBackend {
        why: format!(
            "this version of ringfence confines commands on Linux only, not on {}",
            std::env::consts::OS
        ),
        advice: "run it on Linux, or acknowledge an unconfined profile".to_owned(),
    })
}
