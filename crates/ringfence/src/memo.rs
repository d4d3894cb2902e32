//! One value per key, made once and kept until it is released or all are taken.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use crate::lifecycle::{Lease, Lifecycle};
use crate::sync::{Mutex, MutexGuard};

/// The values; making one holds up neither another nor one that is there (SET-14).
#[derive(Debug)]
pub(crate) struct Memo<T> {
    max: usize,
    slots: Mutex<HashMap<String, Slot<T>>>,
}

/// One key: empty while its value is being made.
type Slot<T> = Arc<Mutex<Option<T>>>;

/// Why there is no value for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Closing has begun.
    Closing,
    /// There are as many keys as there may be.
    Full { max: usize },
}

impl<T: Clone> Memo<T> {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            slots: Mutex::new(HashMap::new()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Slot<T>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// The value of a key if it is there already; one in the making is not waited for.
    pub(crate) fn get(&self, lifecycle: &Lifecycle, key: &str) -> Result<Option<T>, Refused> {
        if lifecycle.is_closing() {
            return Err(Refused::Closing);
        }
        let slot = self.lock().get(key).cloned();
        Ok(slot.and_then(|slot| slot.try_lock().ok().and_then(|made| made.clone())))
    }

    /// The value of a key, made now if it is not there. Whoever comes while it is made waits for it; what failed is
    /// forgotten (SET-15).
    pub(crate) fn get_or_make<E: From<Refused>>(
        &self,
        lifecycle: &Arc<Lifecycle>,
        key: &str,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        loop {
            let slot = self.slot(lifecycle, key)?;
            let mut made = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(value) = &*made {
                return Ok(value.clone());
            }
            // A failure or a release took the slot away while this call waited for it.
            if !self.is_current(key, &slot) {
                continue;
            }
            // Closing waits for what is in the making, so that nothing of it is left over.
            let result = match lifecycle.admit() {
                Some(_lease) => make(),
                None => Err(Refused::Closing.into()),
            };
            match &result {
                Ok(value) => *made = Some(value.clone()),
                Err(_) => drop(self.lock().remove(key)),
            }
            return result;
        }
    }

    /// Takes the value of a key away; whoever asks for the key meanwhile waits until `end` is done with it, and gets
    /// a new one. The lease says that nobody has closed the whole.
    pub(crate) fn release<R>(&self, _: &Lease, key: &str, end: impl FnOnce(T) -> R) -> Option<R> {
        let slot = self.lock().get(key).cloned()?;
        let mut made = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = made.take().map(end);
        let mut slots = self.lock();
        if slots.get(key).is_some_and(|current| Arc::ptr_eq(current, &slot)) {
            slots.remove(key);
        }
        ended
    }

    /// All values; none is in the making once nothing is admitted any more.
    pub(crate) fn take_all(&self) -> Vec<T> {
        let slots: Vec<Slot<T>> = self.lock().drain().map(|(_, slot)| slot).collect();
        let values = slots
            .iter()
            .filter_map(|slot| slot.lock().unwrap_or_else(PoisonError::into_inner).take());
        values.collect()
    }

    fn slot(&self, lifecycle: &Lifecycle, key: &str) -> Result<Slot<T>, Refused> {
        let mut slots = self.lock();
        if lifecycle.is_closing() {
            return Err(Refused::Closing);
        }
        if let Some(slot) = slots.get(key) {
            return Ok(Arc::clone(slot));
        }
        if slots.len() >= self.max {
            return Err(Refused::Full { max: self.max });
        }
        let slot = Slot::default();
        slots.insert(key.to_owned(), Arc::clone(&slot));
        Ok(slot)
    }

    fn is_current(&self, key: &str, slot: &Slot<T>) -> bool {
        self.lock()
            .get(key)
            .is_some_and(|current| Arc::ptr_eq(current, slot))
    }
}
