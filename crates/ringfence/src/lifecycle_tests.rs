#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::lifecycle::{Closable, Lifecycle};

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
