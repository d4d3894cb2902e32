//! One by one: what the policy says, what happened without confinement, and what happened within.

use ringfence::Guarantees;

use super::attempts::Planned;
use super::oracle::{Expect, Oracle};
use super::probe::Tried;
use crate::report::{Disagreement, Summary};

/// What is compared.
pub(crate) struct Case<'a> {
    pub(crate) plan: &'a [Planned],
    pub(crate) expected: &'a [Expect],
    pub(crate) control: &'a [Tried],
    pub(crate) tried: &'a [Tried],
    /// What was claimed for the command.
    pub(crate) claimed: Guarantees,
}

impl Case<'_> {
    /// Counts agreements, and describes each difference.
    pub(crate) fn compare(&self) -> Summary {
        let mut summary = Summary::default();
        let results = self.control.iter().zip(self.tried);
        for ((planned, expected), (control, tried)) in self.plan.iter().zip(self.expected).zip(results) {
            summary.attempts += 1;
            let agreed = summary
                .operations
                .entry(planned.operation.to_owned())
                .or_default();
            match (expected, tried.worked()) {
                // What was refused and worked is a difference, whether or not the control did.
                (Expect::Denied(why), true) => summary.disagreements.push(difference(planned, why, *tried)),
                (Expect::Either(_) | Expect::Hidden(_), _) => summary.unspecified += 1,
                _ if !control.worked() => summary.unproven += 1,
                (Expect::Allowed, true) => {
                    agreed.allowed += 1;
                    summary.agreed_allowed += 1;
                }
                (Expect::Denied(_), false) => {
                    agreed.denied += 1;
                    summary.agreed_denied += 1;
                    for name in (Oracle::guarantee(planned) & self.claimed).names() {
                        *summary.proven.entry(name).or_default() += 1;
                    }
                }
                (Expect::Allowed, false) => {
                    summary
                        .disagreements
                        .push(difference(planned, "it is allowed", *tried));
                }
            }
        }
        summary
    }
}

fn difference(planned: &Planned, policy: &str, tried: Tried) -> Disagreement {
    Disagreement {
        case: 0,
        profile: String::new(),
        operation: planned.operation.to_owned(),
        paths: planned.paths.iter().map(|path| format!("{path:?}")).collect(),
        policy: policy.to_owned(),
        reality: reality(planned, tried),
    }
}

fn reality(planned: &Planned, tried: Tried) -> String {
    if tried.worked() {
        return "it worked".to_owned();
    }
    if tried.signal != 0 {
        return format!("signal {} ended it", tried.signal);
    }
    let step = usize::try_from(tried.step).unwrap_or(usize::MAX);
    let call = planned.attempt.calls.get(step).map_or(0, |call| call.number);
    let error = std::io::Error::from_raw_os_error(tried.errno);
    format!("system call {call} (step {step}) failed: {error}")
}
