//! What can be taken once, or closed instead.

use std::sync::{Arc, PoisonError};

use crate::lifecycle::{Closable, Lease, Lifecycle};
use crate::sync::Mutex;

/// Something reserved; it ends with its owner if nobody takes it before.
#[derive(Debug)]
pub(crate) struct SingleUse<T>(Mutex<State<T>>);

#[derive(Debug)]
enum State<T> {
    Fresh(T),
    Taken,
    Closed,
}

/// Why there is nothing to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    Taken,
    Closed,
}

impl<T: Send + 'static> SingleUse<T> {
    /// Reserves what holds the lease; nothing if closing has begun.
    pub(crate) fn reserve(
        lifecycle: &Lifecycle,
        lease: Lease,
        make: impl FnOnce(Lease) -> T,
    ) -> Option<Arc<Self>> {
        let reserved = Arc::new(Self(Mutex::new(State::Closed)));
        lease.attach(&reserved);
        let fresh = State::Fresh(make(lease));
        *reserved.0.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        // A close that began before it could see this would wait for it forever.
        if lifecycle.is_closing() {
            reserved.close();
            return None;
        }
        Some(reserved)
    }

    /// Takes it; closing does not reach it any more.
    pub(crate) fn take(&self) -> Result<T, Gone> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Taken) {
            State::Fresh(value) => Ok(value),
            State::Taken => Err(Gone::Taken),
            State::Closed => {
                *state = State::Closed;
                Err(Gone::Closed)
            }
        }
    }

    /// Drops it if nobody has taken it; what was taken counts as closed from then on, too (PRE-25).
    pub(crate) fn close(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let released = std::mem::replace(&mut *state, State::Closed);
        // Outside of the lock: what is dropped may come back here.
        drop(state);
        drop(released);
    }
}

impl<T: Send + 'static> Closable for SingleUse<T> {
    fn close_for_owner(&self) {
        self.close();
    }
}
