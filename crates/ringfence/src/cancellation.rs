//! Whether something was cancelled, told to everybody who has to do with it.

use std::sync::{Arc, PoisonError, Weak};

use crate::sync::{Mutex, MutexGuard};

/// A cancellation, and who is to be ended by it. Whoever was added before it happened is told by it, and whoever comes
/// later by being added: nobody is left out.
#[derive(Debug)]
pub(crate) struct Cancellation<T> {
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    cancelled: bool,
    concerned: Vec<Weak<T>>,
}

impl<T> Default for Cancellation<T> {
    fn default() -> Self {
        let state = State {
            cancelled: false,
            concerned: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
        }
    }
}

impl<T> Cancellation<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels, and says whom that ends.
    pub(crate) fn cancel(&self) -> Vec<Arc<T>> {
        let mut state = self.lock();
        state.cancelled = true;
        let concerned = std::mem::take(&mut state.concerned);
        drop(state);
        concerned.iter().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.lock().cancelled
    }

    /// Adds somebody; `false` when it is to end at once.
    #[must_use]
    pub(crate) fn add(&self, concerned: &Arc<T>) -> bool {
        let mut state = self.lock();
        if state.cancelled {
            return false;
        }
        state.concerned.retain(|other| other.strong_count() > 0);
        state.concerned.push(Arc::downgrade(concerned));
        true
    }
}
