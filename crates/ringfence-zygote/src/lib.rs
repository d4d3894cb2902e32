//! The embedded program of ringfence's Linux backend, and what the host needs to talk to it.
//!
//! [`IMAGE`] is a static executable of a few kilobytes, made from `src/program` when this crate is built.
//! The host starts it with a [`plan::Plan`] and then sends it [`command::encode`]d commands. The wire types
//! are in [`wire`].
//!
//! With the feature `probe` there is a second program, which tries what it is told and says what worked: module
//! `attempt`. The product itself does not use it.
//!
//! The programs are empty on targets other than Linux on x86-64 and AArch64.

#[cfg(feature = "probe")]
pub mod attempt;
pub mod command;
pub mod plan;
pub mod wire;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "program/body.rs"]
mod body;

#[cfg(all(
    feature = "probe",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[path = "probe/body.rs"]
mod probe_body;
#[cfg(all(
    feature = "probe",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
use body::sys;

#[cfg(all(
    any(test, fuzzing),
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[doc(hidden)]
pub mod fuzzing;

/// The program, to be executed from a file or a sealed memfd.
pub static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/zygote"));

/// Appends to a buffer in the wire format.
trait Put {
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
    fn put_bytes(&mut self, bytes: &[u8]) -> Result<(), Unencodable>;
}

impl Put for Vec<u8> {
    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_ne_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_ne_bytes());
    }

    fn put_bytes(&mut self, bytes: &[u8]) -> Result<(), Unencodable> {
        if bytes.contains(&0) {
            return Err(Unencodable::Nul);
        }
        self.put_u32(u32::try_from(bytes.len()).map_err(|_| Unencodable::TooLong)?);
        self.extend_from_slice(bytes);
        self.push(0);
        Ok(())
    }
}

/// Why something can't be put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unencodable {
    /// A string contains a NUL, which no path, argument or variable can.
    Nul,
    /// More than 4 GiB.
    TooLong,
}

impl std::fmt::Display for Unencodable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nul => "contains a NUL byte",
            Self::TooLong => "is longer than 4 GiB",
        })
    }
}

impl std::error::Error for Unencodable {}

/// A count for the wire.
fn count(length: usize) -> Result<u32, Unencodable> {
    u32::try_from(length).map_err(|_| Unencodable::TooLong)
}
