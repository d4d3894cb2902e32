//! The barrier between running commands and the closing of their set.
//!
//! Every admitted execution holds a [`Lease`]. Closing stops admission, asks everything admitted to end, and
//! waits until no lease is left.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use crate::sync::{Condvar, Mutex, MutexGuard};

/// Something that must end when the set closes.
pub(crate) trait Closable: Send + Sync {
    /// Ends it without waiting.
    fn close_for_owner(&self);

    /// What it is, if it is a command that was started.
    fn execution(&self) -> Option<Execution> {
        None
    }
}

/// A command that was started and of which something is left.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Execution {
    /// Key of its executor.
    pub executor: String,
    /// Its execution id.
    pub id: String,
    /// The program's name.
    pub program: OsString,
    /// Whether the command itself has ended, so that only other processes of its tree are left.
    pub exited: bool,
    /// How long ago its whole tree was killed, if it was: what then does not end is waiting in the kernel for something
    /// that does not come, or was frozen. It is killed again and again, and nothing that it uses is released before.
    pub killed_for: Option<Duration>,
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

    /// The commands that were started and of which something is left.
    pub(crate) fn executions(&self) -> Vec<Execution> {
        let closables: Vec<Arc<dyn Closable>> = {
            let state = self.lock();
            let attached = state.leases.values().flatten();
            attached.filter_map(Weak::upgrade).collect()
        };
        closables
            .iter()
            .filter_map(|closable| closable.execution())
            .collect()
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
