//! Numbers that can be had again.

use std::hash::{BuildHasher, RandomState};

/// Marsaglia's xorshift.
pub(crate) struct Random(u64);

impl Random {
    /// From a seed, which is told in case the test fails.
    #[expect(clippy::print_stdout, reason = "the harness shows it with a failure")]
    pub(crate) fn new(seed: Option<String>) -> Self {
        let any = || RandomState::new().hash_one(std::process::id()) >> 1 | 1;
        let seed = seed.map_or_else(any, |seed| seed.parse().unwrap());
        println!("RINGFENCE_SOAK_SEED={seed}");
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
