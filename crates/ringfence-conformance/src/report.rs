//! What the suite found, for people and for programs.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The seed, with which the run can be repeated.
    pub seed: u64,
    /// Generated cases.
    pub cases: u64,
    /// Cases whose policy was refused, so that nothing ran, by the reason.
    pub refused: BTreeMap<String, u64>,
    /// Attempts from inside.
    pub attempts: u64,
    /// Allowed, and worked.
    pub agreed_allowed: u64,
    /// Denied, and refused, although they work without confinement.
    pub agreed_denied: u64,
    /// Attempts of which the documentation says that both can happen.
    pub unspecified: u64,
    /// Attempts that don't work without confinement either, and so prove nothing.
    pub unproven: u64,
    /// Refusals that bear out a guarantee that was claimed, by its name.
    pub proven: BTreeMap<String, u64>,
    /// Operations with how often each was allowed and refused as the policy says.
    pub operations: BTreeMap<String, Agreed>,
    /// Where policy and reality differ.
    pub disagreements: Vec<Disagreement>,
}

/// How often an operation did what the policy says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Agreed {
    /// Allowed, and worked.
    pub allowed: u64,
    /// Denied, and refused.
    pub denied: u64,
}

/// One difference between policy and reality.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// The number of the case, which is made anew by the seed and this.
    pub case: u64,
    /// The profile and the tree, as small as they could be made; paths are beneath `TOP`.
    pub profile: String,
    /// What was tried.
    pub operation: String,
    /// On what.
    pub paths: Vec<String>,
    /// What the policy says, and by which rule.
    pub policy: String,
    /// What happened.
    pub reality: String,
}

impl Summary {
    /// Whether policy and reality agree everywhere.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.disagreements.is_empty()
    }

    /// Adds what another part of the run found.
    pub fn merge(&mut self, other: Self) {
        self.cases += other.cases;
        self.attempts += other.attempts;
        self.agreed_allowed += other.agreed_allowed;
        self.agreed_denied += other.agreed_denied;
        self.unspecified += other.unspecified;
        self.unproven += other.unproven;
        for (key, count) in other.refused {
            *self.refused.entry(key).or_default() += count;
        }
        for (key, count) in other.proven {
            *self.proven.entry(key).or_default() += count;
        }
        for (key, agreed) in other.operations {
            let sum = self.operations.entry(key).or_default();
            sum.allowed += agreed.allowed;
            sum.denied += agreed.denied;
        }
        self.disagreements.extend(other.disagreements);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused: u64 = self.refused.values().sum();
        writeln!(f, "cases            {:>9}  (seed {})", self.cases, self.seed)?;
        writeln!(f, "policies refused {refused:>9}")?;
        for (reason, count) in &self.refused {
            writeln!(f, "                 {count:>9}  {reason}")?;
        }
        writeln!(f, "attempts         {:>9}", self.attempts)?;
        writeln!(f, "  allowed, works {:>9}", self.agreed_allowed)?;
        writeln!(f, "  denied, refused{:>9}", self.agreed_denied)?;
        for (guarantee, count) in &self.proven {
            writeln!(f, "                 {count:>9}  for {guarantee}")?;
        }
        writeln!(f, "  unspecified    {:>9}", self.unspecified)?;
        writeln!(
            f,
            "  unproven       {:>9}  (not possible without confinement either)",
            self.unproven
        )?;
        writeln!(f, "disagreements    {:>9}", self.disagreements.len())?;
        self.disagreements
            .iter()
            .try_for_each(|found| write!(f, "\n{found}"))
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "case {}: {}", self.case, self.operation)?;
        for path in &self.paths {
            writeln!(f, "  path     {path}")?;
        }
        writeln!(f, "  policy   {}", self.policy)?;
        writeln!(f, "  reality  {}", self.reality)?;
        writeln!(f, "  profile  {}", self.profile.replace('\n', "\n           "))
    }
}
