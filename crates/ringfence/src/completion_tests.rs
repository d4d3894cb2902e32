//! What arrives for several threads. Every order is tried in `tests/model.rs`.

use crate::completion::{Completion, block_on};

#[test]
fn every_waiter_gets_the_first_value() {
    let completion = Completion::default();
    let waiters: Vec<_> = (0..4)
        .map(|_| {
            let completion: Completion<i32> = completion.clone();
            std::thread::spawn(move || block_on(completion))
        })
        .collect();
    completion.complete(7);
    completion.complete(8);
    assert!(waiters.into_iter().all(|waiter| waiter.join().unwrap() == 7));
    assert_eq!(completion.get(), Some(7));
}
