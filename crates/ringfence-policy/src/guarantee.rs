//! Guarantees: what was achieved, never what was asked for (PRO-72).

use std::fmt;

use bitflags::bitflags;
use serde::{Serialize, Serializer};

use crate::access::numbered;

bitflags! {
    /// A set of guarantees; the bit values are frozen (PRO-70).
    ///
    /// Displays as comma-separated names (`none` when empty), serialises as a list of names.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Guarantees: u8 {
        /// Spawned inside an isolating boundary.
        const PROCESS_BOUNDARY = 1;
        /// Writes are confined to what the policy allows.
        const WRITE_BOUNDARY = 2;
        /// Reads and execution are confined to what the policy allows.
        const READ_BOUNDARY = 4;
        /// The environment was built from the allowlist.
        const ENV_SCRUB = 8;
        /// Egress is at least port-restricted.
        const NETWORK_BOUNDARY = 16;
        /// Address-scoped egress rules are enforced.
        const ADDRESS_NETWORK = 32;
        /// Resource limits are applied.
        const RESOURCE_LIMITS = 64;
        /// Egress is restricted to authenticated proxy targets.
        const TARGET_NETWORK = 128;
    }
}

impl Guarantees {
    /// The lowercase names of the members, in bit order.
    pub fn names(self) -> impl Iterator<Item = String> {
        self.iter_names().map(|(name, _)| name.to_lowercase())
    }
}

impl fmt::Display for Guarantees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        f.write_str(&self.names().collect::<Vec<_>>().join(", "))
    }
}

impl Serialize for Guarantees {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

/// The same set with one named field per guarantee; converts losslessly both ways (PRO-70).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct GuaranteeSet {
    /// [`Guarantees::PROCESS_BOUNDARY`].
    pub process_boundary: bool,
    /// [`Guarantees::WRITE_BOUNDARY`].
    pub write_boundary: bool,
    /// [`Guarantees::READ_BOUNDARY`].
    pub read_boundary: bool,
    /// [`Guarantees::ENV_SCRUB`].
    pub env_scrub: bool,
    /// [`Guarantees::NETWORK_BOUNDARY`].
    pub network_boundary: bool,
    /// [`Guarantees::ADDRESS_NETWORK`].
    pub address_network: bool,
    /// [`Guarantees::RESOURCE_LIMITS`].
    pub resource_limits: bool,
    /// [`Guarantees::TARGET_NETWORK`].
    pub target_network: bool,
}

impl From<Guarantees> for GuaranteeSet {
    fn from(bits: Guarantees) -> Self {
        Self {
            process_boundary: bits.contains(Guarantees::PROCESS_BOUNDARY),
            write_boundary: bits.contains(Guarantees::WRITE_BOUNDARY),
            read_boundary: bits.contains(Guarantees::READ_BOUNDARY),
            env_scrub: bits.contains(Guarantees::ENV_SCRUB),
            network_boundary: bits.contains(Guarantees::NETWORK_BOUNDARY),
            address_network: bits.contains(Guarantees::ADDRESS_NETWORK),
            resource_limits: bits.contains(Guarantees::RESOURCE_LIMITS),
            target_network: bits.contains(Guarantees::TARGET_NETWORK),
        }
    }
}

impl From<GuaranteeSet> for Guarantees {
    fn from(set: GuaranteeSet) -> Self {
        let mut bits = Self::empty();
        bits.set(Self::PROCESS_BOUNDARY, set.process_boundary);
        bits.set(Self::WRITE_BOUNDARY, set.write_boundary);
        bits.set(Self::READ_BOUNDARY, set.read_boundary);
        bits.set(Self::ENV_SCRUB, set.env_scrub);
        bits.set(Self::NETWORK_BOUNDARY, set.network_boundary);
        bits.set(Self::ADDRESS_NETWORK, set.address_network);
        bits.set(Self::RESOURCE_LIMITS, set.resource_limits);
        bits.set(Self::TARGET_NETWORK, set.target_network);
        bits
    }
}

/// How much of the policy is enforced, in one word; the default is the fail-closed one (PRO-71).
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing is confined.
    #[default]
    None = 0,
    /// Some obligation is narrowed, leaves something on the host, or is not enforced.
    Degraded = 1,
    /// Every obligation is enforced or has nothing to enforce.
    Full = 2,
}

numbered!(Level, "level", [None, Degraded, Full]);

#[cfg(test)]
#[path = "guarantee_tests.rs"]
mod tests;
