//! Whether what is at some paths may have been replaced.

use std::path::Path;

use super::watch::Watches;
use super::way::{Seen, Way};

/// Paths of which the kernel tells that something else may be there.
///
/// It tells of what happens from [`Replaced::watch`] on: what was there before is to be looked at after that.
#[derive(Debug)]
pub struct Replaced {
    watches: Watches,
    ways: Vec<Way>,
    /// Whether the kernel tells of all of them.
    is_complete: bool,
    /// How often something was told, and up to which time whoever looked has found everything as it was.
    told: u64,
    settled: u64,
}

impl Replaced {
    /// Watches the directories on the way to each path.
    pub fn watch<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        let watches = Watches::new();
        let mut seen = Seen::new();
        let ways: Vec<Way> = paths
            .into_iter()
            .map(|path| Way::watch(path, &watches, &mut seen))
            .collect();
        Self {
            is_complete: ways.iter().all(Way::is_watched),
            watches,
            ways,
            told: 0,
            settled: 0,
        }
    }

    /// Whether anything may be, as far as nobody has [settled](Replaced::settle) that nothing was; always where the
    /// kernel can't tell. Gives what to settle.
    ///
    /// Costs one system call where nothing happens in those directories.
    pub fn may_be(&mut self) -> Option<u64> {
        if !(self.is_complete && self.watches.is_quiet()) {
            let told = self.watches.changed();
            let is_stale = told.is_none_or(|told| self.ways.iter().any(|way| way.is_stale(&told)));
            self.told += u64::from(is_stale);
        }
        (self.told > self.settled).then_some(self.told)
    }

    /// Notes that a look after [`Replaced::may_be`] has found everything as it was.
    pub fn settle(&mut self, told: u64) {
        self.settled = self.settled.max(told);
    }
}
