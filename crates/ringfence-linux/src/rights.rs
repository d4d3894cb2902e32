//! Landlock rights, per ABI version (`landlock(7)`).

use ringfence_policy::{Access, Kind, Verdict};

use crate::mutation::{self, Layer};

/// Newest ABI whose additions this backend knows.
const NEWEST: u32 = 9;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_SYM: u64 = 1 << 12;
/// ABI 2: renaming and linking between directories.
const REFER: u64 = 1 << 13;
/// ABI 3.
const TRUNCATE: u64 = 1 << 14;
/// ABI 5: requests to devices.
const IOCTL_DEV: u64 = 1 << 15;
/// ABI 9: connecting to a Unix socket by its path.
const RESOLVE_UNIX: u64 = 1 << 16;

/// ABI 6: abstract Unix sockets of others.
const SCOPE_ABSTRACT_UNIX_SOCKET: u64 = 1;
/// ABI 6: signals to others.
const SCOPE_SIGNAL: u64 = 1 << 1;

/// First ABI with scopes.
pub(crate) const ABI_SCOPES: u32 = 6;
/// First ABI that mediates Unix sockets by path.
pub(crate) const ABI_UNIX_PATHS: u32 = 9;

/// What Landlock does for one executor; `None` everywhere when the kernel has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Landlock {
    pub(crate) abi: Option<u32>,
    /// Which errata are fixed, as the kernel tells it.
    pub(crate) errata: u32,
}

impl Landlock {
    /// The rights a ruleset handles, that is: denies unless a rule grants them.
    pub(crate) fn handled(self) -> u64 {
        let Some(abi) = self.abi.map(|abi| abi.min(NEWEST)) else {
            return 0;
        };
        // ABI 1 knows every right below REFER.
        let first = REFER - 1;
        let later = [
            (2, REFER),
            (3, TRUNCATE),
            (5, IOCTL_DEV),
            (ABI_UNIX_PATHS, RESOLVE_UNIX),
        ];
        let rights = later
            .into_iter()
            .filter(|(since, _)| abi >= *since)
            .fold(first, |rights, (_, right)| rights | right);
        kept("right", rights)
    }

    pub(crate) fn scopes(self) -> u64 {
        /// Erratum 2: without its fix, scoped signals keep threads from signalling each other, which is how C
        /// libraries change ids. The pid namespace hides everybody else anyway.
        const SIGNALS_BETWEEN_THREADS: u32 = 1 << 1;
        if self.abi.is_none_or(|abi| abi < ABI_SCOPES) {
            return 0;
        }
        let signals = self.errata & SIGNALS_BETWEEN_THREADS != 0;
        kept(
            "scope",
            SCOPE_ABSTRACT_UNIX_SOCKET | if signals { SCOPE_SIGNAL } else { 0 },
        )
    }

    /// What a rule grants beneath an object of this kind.
    pub(crate) fn rights(self, verdict: Verdict, kind: Kind) -> u64 {
        let mut rights = 0;
        if verdict.read == Access::Allow {
            rights |= READ_FILE | READ_DIR;
        }
        if verdict.execute == Access::Allow {
            rights |= EXECUTE;
        }
        if verdict.write == Access::Allow {
            rights |= WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | REFER | Self::MAKING;
        }
        self.for_kind(rights, kind)
    }

    /// What making a name in a directory takes.
    pub(crate) const MAKING: u64 = MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM;

    /// What the command lacks in guarded directories.
    pub(crate) fn withheld(self) -> u64 {
        kept("withheld right", Self::MAKING & self.handled())
    }

    /// Requests to the devices of the private `/dev`.
    pub(crate) fn device_rights(self, kind: Kind) -> u64 {
        self.for_kind(IOCTL_DEV, kind)
    }

    /// Connecting to sockets in trees where no host process has any.
    pub(crate) fn socket_rights(self, kind: Kind) -> u64 {
        self.for_kind(RESOLVE_UNIX, kind)
    }

    /// The kernel refuses directory rights on other objects.
    fn for_kind(self, rights: u64, kind: Kind) -> u64 {
        const FILE: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX;
        let fitting = if kind == Kind::Directory {
            rights
        } else {
            rights & FILE
        };
        fitting & self.handled()
    }
}

/// The bits, each of which is a rule.
fn kept(kind: &str, bits: u64) -> u64 {
    if cfg!(not(feature = "mutation")) {
        return bits;
    }
    let single = (0..u64::BITS).map(|bit| 1 << bit).filter(|bit| bits & bit != 0);
    single
        .filter(|bit| mutation::keeps(Layer::Landlock, || format!("{kind} {bit:#x}")))
        .fold(0, |all, bit| all | bit)
}

/// `MAKE_CHAR` and `MAKE_BLOCK`: making device nodes needs a capability no command has.
#[cfg(test)]
const NEVER_GRANTED: u64 = 1 << 6 | 1 << 11;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_abi_handles_what_it_knows() {
        let handled = |abi| Landlock { abi, errata: 0 }.handled();
        assert_eq!(handled(None), 0);
        assert_eq!(handled(Some(1)), 0x1FFF);
        assert_eq!(handled(Some(2)), 0x3FFF);
        assert_eq!(handled(Some(4)), 0x7FFF);
        assert_eq!(handled(Some(7)), 0xFFFF);
        assert_eq!(handled(Some(9)), 0x1_FFFF);
        assert_eq!(
            handled(Some(99)),
            0x1_FFFF,
            "rights of unknown ABIs stay unhandled"
        );
    }

    #[test]
    fn no_rule_grants_more_than_is_handled_or_fits_the_object() {
        for abi in [None, Some(1), Some(3), Some(7), Some(9)] {
            let landlock = Landlock { abi, errata: 0 };
            for kind in [Kind::Directory, Kind::File] {
                let rights = landlock.rights(Verdict::READ_WRITE, kind);
                assert_eq!(rights & !landlock.handled(), 0);
                assert_eq!(rights & NEVER_GRANTED, 0);
                assert!(kind == Kind::Directory || rights & (READ_DIR | MAKE_REG | REFER) == 0);
            }
        }
    }

    #[test]
    fn signals_are_scoped_only_where_threads_can_still_signal_each_other() {
        let scopes = |abi, errata| Landlock { abi, errata }.scopes();
        assert_eq!(scopes(None, 0), 0);
        assert_eq!(scopes(Some(5), 7), 0);
        assert_eq!(scopes(Some(6), 0b101), SCOPE_ABSTRACT_UNIX_SOCKET);
        assert_eq!(scopes(Some(7), 0b010), SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL);
    }

    #[test]
    fn axes_are_independent() {
        let landlock = Landlock {
            abi: Some(7),
            errata: 0,
        };
        let only = |verdict| landlock.rights(verdict, Kind::Directory);
        let deny = Verdict::DENY;
        assert_eq!(only(deny), 0);
        assert_eq!(
            only(Verdict {
                read: Access::Allow,
                ..deny
            }),
            READ_FILE | READ_DIR
        );
        assert_eq!(
            only(Verdict {
                execute: Access::Allow,
                ..deny
            }),
            EXECUTE
        );
        assert_eq!(
            only(Verdict {
                write: Access::Allow,
                ..deny
            }) & (READ_FILE | EXECUTE),
            0
        );
        assert_eq!(
            only(Verdict {
                read: Access::Gated,
                ..deny
            }),
            0,
            "gated is closed until granted"
        );
    }
}
