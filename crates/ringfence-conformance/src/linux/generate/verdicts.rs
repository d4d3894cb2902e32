//! What profiles say: the usual combinations often, all others now and then.

use proptest::prelude::*;
use ringfence::{Access, Verdict};

const READ: Verdict = Verdict::READ_ONLY.with_execute(Access::Deny);
const DATA: Verdict = Verdict::READ_WRITE.with_execute(Access::Deny);

/// Never writable: an attempt that is allowed is made, and the host is somebody's.
pub(super) fn host() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        8 => Just(Verdict::DENY),
        1 => Just(READ),
        1 => Just(Verdict::READ_ONLY),
        1 => Just(Verdict::new(Access::Gated, Access::Gated)),
    ]
}

pub(super) fn workspace() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        8 => Just(Verdict::READ_WRITE),
        2 => Just(Verdict::READ_ONLY),
        2 => Just(DATA),
        1 => any_verdict(),
    ]
}

pub(super) fn root() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        3 => Just(Verdict::DENY),
        4 => Just(Verdict::READ_ONLY),
        4 => Just(Verdict::READ_WRITE),
        2 => Just(READ),
        2 => Just(DATA),
        2 => any_verdict(),
    ]
}

pub(super) fn network() -> impl Strategy<Value = Access> {
    prop_oneof![4 => Just(Access::Deny), 1 => Just(Access::Gated), 1 => Just(Access::Allow)]
}

fn any_verdict() -> impl Strategy<Value = Verdict> {
    let access = || prop::sample::select(&[Access::Deny, Access::Gated, Access::Allow][..]);
    (access(), access(), access()).prop_map(|(read, execute, write)| Verdict { read, execute, write })
}
