//! Leaves out single rules, so that a test can show that somebody would notice.
//!
//! Without the feature `mutation`, which nothing but that test turns on, every rule is kept and nothing of this is left
//! in the program.

/// Where a rule belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// A row of the system-call filter.
    Filter,
    /// An operation of the view, or an attribute of what it mounts.
    View,
    /// A right or scope that Landlock withholds, or a rule that grants some.
    Landlock,
    /// A name that the broker does not make, or a call that it is asked about.
    Broker,
}

/// Whether a rule is in force.
#[cfg(not(feature = "mutation"))]
pub(crate) fn keeps(_: Layer, _: impl Fn() -> String) -> bool {
    true
}

#[cfg(feature = "mutation")]
pub(crate) use switch::keeps;
#[cfg(feature = "mutation")]
pub use switch::{asked, omit};

#[cfg(feature = "mutation")]
mod switch {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    use super::Layer;

    static OMITTED: Mutex<Vec<(Layer, String)>> = Mutex::new(Vec::new());
    static ASKED: Mutex<BTreeSet<(Layer, String)>> = Mutex::new(BTreeSet::new());

    /// Has these rules left out from now on, in this process, and no others; in a name `*` stands for anything.
    pub fn omit(rules: Vec<(Layer, String)>) {
        *OMITTED.lock().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    /// The rules there were since this was asked last.
    pub fn asked() -> BTreeSet<(Layer, String)> {
        std::mem::take(&mut ASKED.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn keeps(layer: Layer, name: impl Fn() -> String) -> bool {
        let name = name();
        let omitted = OMITTED.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = !omitted
            .iter()
            .any(|(of, pattern)| *of == layer && matches(pattern, &name));
        ASKED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert((layer, name));
        kept
    }

    fn matches(pattern: &str, name: &str) -> bool {
        let Some((beginning, rest)) = pattern.split_once('*') else {
            return pattern == name;
        };
        let Some(after) = name.strip_prefix(beginning) else {
            return false;
        };
        let mut ends = after.char_indices().map(|(at, _)| at).chain([after.len()]);
        ends.any(|at| matches(rest, &after[at..]))
    }
}
