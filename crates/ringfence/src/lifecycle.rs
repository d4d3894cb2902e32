//! The barrier between running commands and the closing of their set.
//!
//! Every admitted execution holds a [`Lease`]. Closing stops admission, asks everything admitted to end, and
//! waits until no lease is left.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};

use crate::sync::{Condvar, Mutex, MutexGuard};

/// Something that must end when the set closes.
pub(crate) trait Closable: Send + Sync {
    /// Ends it without waiting.
    fn close_for_owner(&self);
}

#[derive(Default)]
pub(crate) struct Lifecycle {
    /// What this is a part of: nothing is admitted here that is not admitted there.
    whole: Option<Arc<Self>>,
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    closing: bool,
    next: u64,
    /// Every lease, with what to end for it once that exists.
    leases: HashMap<u64, Option<Weak<dyn Closable>>>,
}

impl std::fmt::Debug for Lifecycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.lock();
        f.debug_struct("Lifecycle")
            .field("closing", &state.closing)
            .field("leases", &state.leases.len())
            .finish()
    }
}

impl Lifecycle {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A part that can be closed alone.
    pub(crate) fn part(self: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self {
            whole: Some(Arc::clone(self)),
            ..Self::default()
        })
    }

    /// How many executions there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().leases.len()
    }

    /// Admits one execution, unless closing has begun.
    pub(crate) fn admit(self: &Arc<Self>) -> Option<Lease> {
        let whole = match &self.whole {
            Some(whole) => Some(Box::new(whole.admit()?)),
            None => None,
        };
        let mut state = self.lock();
        if state.closing {
            return None;
        }
        let id = state.next;
        state.next += 1;
        state.leases.insert(id, None);
        Some(Lease {
            lifecycle: Arc::clone(self),
            id,
            whole,
        })
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.lock().closing || self.whole.as_ref().is_some_and(|whole| whole.is_closing())
    }

    /// Stops admission and asks everything admitted to end; `false` when somebody else has done so before.
    pub(crate) fn begin_closing(&self) -> bool {
        let closables: Vec<Arc<dyn Closable>> = {
            let mut state = self.lock();
            if std::mem::replace(&mut state.closing, true) {
                return false;
            }
            state
                .leases
                .values()
                .flatten()
                .filter_map(Weak::upgrade)
                .collect()
        };
        closables.iter().for_each(|closable| closable.close_for_owner());
        true
    }

    /// Blocks until no lease is left.
    pub(crate) fn wait_until_idle(&self) {
        let mut state = self.lock();
        while !state.leases.is_empty() {
            state = self.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The right of one execution to exist; dropping it says that nothing of it is left.
#[derive(Debug)]
pub(crate) struct Lease {
    lifecycle: Arc<Lifecycle>,
    id: u64,
    /// That of the whole; it ends after this one.
    whole: Option<Box<Self>>,
}

impl Lease {
    /// Names what to end when the set closes. If closing has begun meanwhile, it is ended at once.
    pub(crate) fn attach(&self, closable: &Arc<impl Closable + 'static>) {
        let closing = {
            let mut state = self.lifecycle.lock();
            let weak: Weak<dyn Closable> = Arc::downgrade(closable) as Weak<dyn Closable>;
            state.leases.insert(self.id, Some(weak));
            state.closing
        };
        if closing {
            closable.close_for_owner();
        }
        if let Some(whole) = &self.whole {
            whole.attach(closable);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.lifecycle.lock();
        state.leases.remove(&self.id);
        if state.leases.is_empty() {
            self.lifecycle.idle.notify_all();
        }
    }
}
