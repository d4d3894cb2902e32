//! The report: every obligation with its answer, and the words derived from them.

use serde::{Serialize, Serializer};

use crate::guarantee::{Guarantees, Level};
use crate::obligation::{Clause, Discharge, Obligation};

/// What was really enforced; guarantees and level are computed from the entries, never stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    confinement: Confinement,
    entries: Vec<Entry>,
}

/// One obligation with the backend's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// What was asked.
    pub obligation: Obligation,
    /// What was done.
    pub discharge: Discharge,
}

impl Report {
    /// The report of a backend that confines; keeps the order of the entries.
    pub fn new(entries: Vec<Entry>) -> Self {
        Self {
            confinement: Confinement::Some,
            entries,
        }
    }

    /// The report of the backend that confines nothing: level [`Level::None`], at most `ENV_SCRUB`.
    ///
    /// `environment` says how the environment obligation was answered, the only one there is.
    pub fn direct(environment: Discharge) -> Self {
        let obligation = Obligation::of(Guarantees::ENV_SCRUB, Clause::Environment);
        let entries = vec![Entry {
            obligation,
            discharge: environment,
        }];
        Self {
            confinement: Confinement::None,
            entries,
        }
    }

    /// Every entry, in the order of the obligations.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The guarantees that hold: those with at least one obligation, all of which are met.
    ///
    /// A vacuous obligation counts as met. A guarantee nobody asked anything for is not claimed (POL-47).
    pub fn guarantees(&self) -> Guarantees {
        let (met, unmet): (Vec<_>, Vec<_>) = self.entries.iter().partition(|entry| entry.discharge.is_met());
        let bits = |entries: Vec<&Entry>| -> Guarantees {
            entries
                .into_iter()
                .map(|entry| entry.obligation.guarantee)
                .collect()
        };
        bits(met) - bits(unmet)
    }

    /// The report in one word; without confinement or without entries it is [`Level::None`].
    pub fn level(&self) -> Level {
        let full = |entry: &Entry| matches!(entry.discharge, Discharge::Enforced { .. } | Discharge::Vacuous);
        match self.confinement {
            Confinement::None => Level::None,
            Confinement::Some if self.entries.is_empty() => Level::None,
            Confinement::Some if self.entries.iter().all(full) => Level::Full,
            Confinement::Some => Level::Degraded,
        }
    }

    /// The entries that keep required guarantees from holding.
    ///
    /// A required guarantee without any obligation does not hold either, but has no entry to show; compare
    /// with [`Report::guarantees`] to find out whether something is missing (PRO-67).
    pub fn missing(&self, required: Guarantees) -> Vec<&Entry> {
        let behind = |entry: &&Entry| required.intersects(entry.obligation.guarantee);
        self.entries
            .iter()
            .filter(behind)
            .filter(|entry| !entry.discharge.is_met())
            .collect()
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            level: Level,
            guarantees: Guarantees,
            entries: &'a [Entry],
        }
        let shape = Shape {
            level: self.level(),
            guarantees: self.guarantees(),
            entries: &self.entries,
        };
        shape.serialize(serializer)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Confinement {
    None,
    Some,
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
