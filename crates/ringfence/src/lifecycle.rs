//! The barrier between running commands and the closing of their set.
//!
//! Every admitted execution holds a [`Lease`]. Closing stops admission, asks everything admitted to end, and
//! waits until no lease is left.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

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
        let state = self.lock();
        let idle = self.idle.wait_while(state, |state| !state.leases.is_empty());
        drop(idle);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[derive(Default)]
    struct Flag(AtomicBool);

    impl Closable for Flag {
        fn close_for_owner(&self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn set_33_after_closing_nothing_is_admitted_and_what_was_is_ended() {
        let lifecycle = Arc::new(Lifecycle::default());
        let (lease, flag) = (lifecycle.admit().unwrap(), Arc::new(Flag::default()));
        lease.attach(&flag);
        assert!(lifecycle.begin_closing() && !lifecycle.begin_closing());
        assert!(flag.0.load(Ordering::SeqCst));
        assert!(lifecycle.admit().is_none());
        drop(lease);
        lifecycle.wait_until_idle();
    }

    #[test]
    fn a_part_closes_alone_and_with_the_whole() {
        let whole = Arc::new(Lifecycle::default());
        let (one, other) = (whole.part(), whole.part());
        let (lease, flag) = (one.admit().unwrap(), Arc::new(Flag::default()));
        lease.attach(&flag);
        assert_eq!((one.count(), other.count(), whole.count()), (1, 0, 1));
        assert!(one.begin_closing());
        assert!(flag.0.load(Ordering::SeqCst));
        assert!(one.admit().is_none() && other.admit().is_some());
        drop(lease);
        one.wait_until_idle();
        whole.wait_until_idle();
        assert!(whole.begin_closing());
        assert!(other.admit().is_none() && other.is_closing());
    }

    #[test]
    fn set_34_what_is_attached_after_closing_began_is_ended_too() {
        let lifecycle = Arc::new(Lifecycle::default());
        let (lease, flag) = (lifecycle.admit().unwrap(), Arc::new(Flag::default()));
        lifecycle.begin_closing();
        assert!(!flag.0.load(Ordering::SeqCst));
        lease.attach(&flag);
        assert!(flag.0.load(Ordering::SeqCst));
    }
}
