//! The system-call filter: a reviewed table ([`table`]) and its assembler ([`assemble`]).

mod assemble;
mod making;
mod table;

pub(crate) use assemble::{asking, assemble};
pub(crate) use table::Architecture;

/// What a system call gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It runs.
    Allow,
    /// It fails with this errno.
    Fail(u16),
    /// The whole process is killed with `SIGSYS`.
    Kill,
    /// Whoever listens answers.
    Ask,
}

/// A decision on the arguments of one system call.
///
/// Only the low 32 bits of an argument are looked at: everything tested here is an `int` to the kernel, so
/// bits above them never change its meaning (and setting them must not change ours).
#[derive(Debug)]
pub(crate) enum Check {
    /// Whatever the arguments are.
    Always(Action),
    /// By whether `argument & mask` is one of the values.
    OneOf {
        argument: u8,
        mask: u32,
        values: &'static [u32],
        then: &'static Check,
        otherwise: &'static Check,
    },
    /// By whether any bit of the mask is set in the argument.
    AnyBit {
        argument: u8,
        mask: u32,
        then: &'static Check,
        otherwise: &'static Check,
    },
}
