//! A value that arrives once, for any number of waiters, on any runtime or none.

use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::sync::{Mutex, MutexGuard};

/// The waiting side; clones wait for the same value.
#[derive(Debug)]
pub(crate) struct Completion<T> {
    shared: Arc<Mutex<Shared<T>>>,
}

#[derive(Debug)]
struct Shared<T> {
    value: Option<T>,
    wakers: Vec<Waker>,
}

impl<T> Clone for Completion<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T> Default for Completion<T> {
    fn default() -> Self {
        Self {
            shared: Arc::new(Mutex::new(Shared {
                value: None,
                wakers: Vec::new(),
            })),
        }
    }
}

impl<T> Completion<T> {
    fn lock(&self) -> MutexGuard<'_, Shared<T>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the value; the first one stays.
    pub(crate) fn complete(&self, value: T) {
        let wakers = {
            let mut shared = self.lock();
            if shared.value.is_some() {
                return;
            }
            shared.value = Some(value);
            std::mem::take(&mut shared.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl<T> Completion<T> {
    pub(crate) fn is_complete(&self) -> bool {
        self.lock().value.is_some()
    }
}

impl<T: Clone> Completion<T> {
    pub(crate) fn get(&self) -> Option<T> {
        self.lock().value.clone()
    }
}

impl<T: Clone> Future for Completion<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut shared = self.lock();
        if let Some(value) = &shared.value {
            return Poll::Ready(value.clone());
        }
        if !shared.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            shared.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}

/// Runs a future of this crate to its end on the calling thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    loop {
        if let Some(output) = run_until(future.as_mut(), None) {
            return output;
        }
    }
}

/// Runs a future of this crate on the calling thread, not longer than this; nothing if it has not ended by then.
pub(crate) fn block_on_within<F: Future>(future: F, patience: Duration) -> Option<F::Output> {
    run_until(std::pin::pin!(future), Instant::now().checked_add(patience))
}

/// Without a moment it has all the time there is.
fn run_until<F: Future>(mut future: Pin<&mut F>, moment: Option<Instant>) -> Option<F::Output> {
    struct Unpark(std::thread::Thread);

    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        match moment.map(|moment| moment.saturating_duration_since(Instant::now())) {
            None => std::thread::park(),
            Some(Duration::ZERO) => return None,
            Some(left) => std::thread::park_timeout(left),
        }
    }
}
