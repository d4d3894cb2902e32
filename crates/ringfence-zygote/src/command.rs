//! The one command a spare executes.

use crate::wire::COMMAND_MAGIC;
use crate::{Put, Unencodable, count};

/// What to execute, in bytes as the kernel takes them.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Working directory, absolute in the view.
    pub directory: &'a [u8],
    /// Device and inode the directory must have; inode 0: any.
    pub identity: (u64, u64),
    /// Paths to try for the program, in order.
    pub programs: &'a [Vec<u8>],
    /// The arguments, the invoked name first.
    pub arguments: &'a [Vec<u8>],
    /// `NAME=value` entries.
    pub environment: &'a [Vec<u8>],
    /// Limits of the process and those it makes: the resource's number (getrlimit(2)) and the value, soft and hard.
    pub limits: &'a [(u32, u64)],
    /// Which of the streams 0, 1, 2 are the spawn's terminal, as bits.
    pub terminal: u32,
}

/// The command in wire format: header and body.
///
/// # Errors
/// A string that contains a NUL, or more than 4 GiB.
pub fn encode(command: &Command<'_>) -> Result<Vec<u8>, Unencodable> {
    let mut body = Vec::with_capacity(1024);
    for (resource, value) in command.limits {
        body.put_u32(*resource);
        body.put_u64(*value);
    }
    body.put_bytes(command.directory)?;
    body.put_u64(command.identity.0);
    body.put_u64(command.identity.1);
    for list in [command.programs, command.arguments, command.environment] {
        for string in list {
            body.put_bytes(string)?;
        }
    }
    let mut message = Vec::with_capacity(28 + body.len());
    message.put_u32(COMMAND_MAGIC);
    message.put_u32(count(body.len())?);
    for list in [command.programs, command.arguments, command.environment] {
        message.put_u32(count(list.len())?);
    }
    message.put_u32(count(command.limits.len())?);
    message.put_u32(command.terminal);
    message.extend_from_slice(&body);
    Ok(message)
}
