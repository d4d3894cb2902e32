//! The locks of everything whose order of events matters: the standard library's, or those of the model that tries every
//! order (`tests/model.rs`).

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
