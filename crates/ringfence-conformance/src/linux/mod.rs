//! The suite on Linux: cases, trees, attempts, and what the policy says of them.

mod attempts;
mod compare;
mod effects;
mod generate;
mod oracle;
mod probe;
mod suite;
mod tree;

pub(crate) use suite::{covering, run};
