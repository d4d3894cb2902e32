//! The frozen vocabulary: accesses, axes and the answer on all axes of one place.

use serde::Serialize;
use thiserror::Error;

/// Version of the numeric values in this module; they never change within one version (PRO-1).
pub const ABI_VERSION: u32 = 1;

/// Whether something may be done; ordered from strict to lenient, so the stricter of two is [`Ord::min`] (PRO-1).
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Never.
    #[default]
    Deny = 0,
    /// Only with a grant; closed until one is redeemed, so enforcement treats it as `Deny` (PRO-66).
    Gated = 1,
    /// Always.
    Allow = 2,
}

/// Which home directory a command is told about; the lower value is stricter (PRO-2).
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Home {
    /// A private directory of the executor.
    #[default]
    Isolated = 0,
    /// The home of the invoking user; adds no file authority by itself.
    Real = 1,
}

/// Whether the operating system confines the command; the lower value is stricter (PRO-2).
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Confined by the best available backend, or not started.
    #[default]
    Sandboxed = 0,
    /// Not confined; needs an explicit acknowledgement.
    Unconfined = 1,
}

/// One kind of use of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// Reading content, listing directories.
    Read,
    /// Running a program, mapping a file executable.
    Execute,
    /// Changing content, names or metadata.
    Write,
}

impl Axis {
    /// Every axis, in reporting order.
    pub const ALL: [Self; 3] = [Self::Read, Self::Execute, Self::Write];

    /// The lowercase word for this axis.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Execute => "execute",
            Self::Write => "write",
        }
    }
}

/// One access per axis; the default denies all three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Verdict {
    /// Access on [`Axis::Read`].
    pub read: Access,
    /// Access on [`Axis::Execute`].
    pub execute: Access,
    /// Access on [`Axis::Write`].
    pub write: Access,
}

impl Verdict {
    /// Denies every axis.
    pub const DENY: Self = Self::new(Access::Deny, Access::Deny);
    /// Allows reading and running, denies writing.
    pub const READ_ONLY: Self = Self::new(Access::Allow, Access::Deny);
    /// Allows every axis.
    pub const READ_WRITE: Self = Self::new(Access::Allow, Access::Allow);

    /// Builds a verdict whose execute access follows `read`.
    pub const fn new(read: Access, write: Access) -> Self {
        Self {
            read,
            execute: read,
            write,
        }
    }

    /// The same verdict with another execute access.
    pub const fn with_execute(self, execute: Access) -> Self {
        Self { execute, ..self }
    }

    /// The access on one axis.
    pub const fn get(self, axis: Axis) -> Access {
        match axis {
            Axis::Read => self.read,
            Axis::Execute => self.execute,
            Axis::Write => self.write,
        }
    }

    /// The stricter access on each axis; idempotent, commutative and associative (PRO-56).
    pub fn meet(self, other: Self) -> Self {
        Self::from_fn(|axis| self.get(axis).min(other.get(axis)))
    }

    /// Whether some axis is [`Access::Allow`].
    pub fn allows_any(self) -> bool {
        Axis::ALL.iter().any(|axis| self.get(*axis) == Access::Allow)
    }

    pub(crate) fn from_fn(mut access: impl FnMut(Axis) -> Access) -> Self {
        Self {
            read: access(Axis::Read),
            execute: access(Axis::Execute),
            write: access(Axis::Write),
        }
    }
}

/// A number that stands for no value of a frozen enum (PRO-12).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} {value} is out of range 0..={max}")]
pub struct OutOfRange {
    /// What the number was meant to be, such as `access`.
    pub what: &'static str,
    /// The refused number.
    pub value: u8,
    /// The greatest number that has a meaning.
    pub max: u8,
}

impl OutOfRange {
    /// Stable identifier of this error.
    pub const fn code(&self) -> &'static str {
        "out_of_range"
    }

    /// What the reader can do about it.
    pub const fn hint(&self) -> &'static str {
        "use one of the documented numbers; they are frozen per ABI version"
    }
}

/// Implements the conversions between a frozen enum and its number; the variants are listed in numeric order.
macro_rules! numbered {
    ($type:ident, $what:literal, [$($variant:ident),+]) => {
        impl TryFrom<u8> for $type {
            type Error = $crate::access::OutOfRange;

            fn try_from(value: u8) -> Result<Self, Self::Error> {
                let values = [$(Self::$variant),+];
                values.into_iter().find(|known| *known as u8 == value).ok_or($crate::access::OutOfRange {
                    what: $what,
                    value,
                    max: [$(Self::$variant as u8),+].into_iter().max().unwrap_or_default(),
                })
            }
        }

        impl From<$type> for u8 {
            fn from(value: $type) -> Self {
                value as Self
            }
        }
    };
}
pub(crate) use numbered;

numbered!(Access, "access", [Deny, Gated, Allow]);
numbered!(Home, "home", [Isolated, Real]);
numbered!(Isolation, "isolation", [Sandboxed, Unconfined]);

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
