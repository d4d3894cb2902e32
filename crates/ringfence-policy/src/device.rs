//! Devices a profile opens.

use std::path::PathBuf;

use serde::Serialize;

use crate::text;

/// A device node of the host that commands may read, write and control.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Device {
    /// Absolute path below `/dev`.
    #[serde(serialize_with = "text::path")]
    pub path: PathBuf,
    /// What happens on a host that does not have it.
    pub presence: Presence,
}

/// Whether a device must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// Without it no executor is made.
    Required,
    /// Without it commands go without, and the report says so.
    Optional,
}
