//! What is looked at before a command starts, to tell whether the view still shows the host as it is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringfence_host::guarded::Replaced;
use ringfence_policy::{RegionTree, Rule};

use crate::seen::Seen;
use crate::sockets::Sockets;
use crate::view::{By, Pace, Watched};

/// What is known, to be compared with what is there.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) watched: Arc<[Watched]>,
    /// The kernel's word about those that must be noticed at once, if it gives that already.
    pub(crate) replaced: Option<Arc<Mutex<Replaced>>>,
    pub(crate) sockets: Sockets,
    pub(crate) guarded: Arc<[Rule]>,
    /// Also what may be noticed late.
    pub(crate) everything: bool,
}

impl Look {
    /// Looks; gives the sockets that are there now, and whether a view with what was known is stale.
    pub(crate) fn compare(&self, tree: &RegionTree, rules: &Arc<[Rule]>) -> (Sockets, bool) {
        let sockets = Sockets::look_again(tree, &self.sockets, self.everything);
        let same = sockets.are_same(&self.sockets) && Arc::ptr_eq(rules, &self.guarded);
        let stale = !same || self.finds_replaced();
        (sockets, stale)
    }

    /// Whether something was replaced that the view shows or hides.
    fn finds_replaced(&self) -> bool {
        let told = self.replaced.as_ref().map(|replaced| lock(replaced).may_be());
        let is_due = |object: &&Watched| match object.pace {
            Pace::EverySpawn => told != Some(None),
            Pace::Soon => self.everything,
            Pace::Never => false,
        };
        let found = self.watched.iter().filter(is_due).any(is_replaced);
        if let (false, Some(Some(told)), Some(replaced)) = (found, told, &self.replaced) {
            lock(replaced).settle(told);
        }
        found
    }
}

/// An object that can't be looked at any more counts as replaced.
fn is_replaced(object: &Watched) -> bool {
    match (Seen::at(&object.path), &object.seen, object.by) {
        (Ok(None), None, _) => false,
        (Ok(Some(now)), Some(seen), By::Identity) => !now.is_same_object(seen),
        (Ok(Some(now)), Some(seen), By::Content) => !now.is_unchanged(seen),
        _ => true,
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
