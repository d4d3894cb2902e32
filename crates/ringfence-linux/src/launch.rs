//! Handing a command to a spare.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use ringfence_backend::{Launch, LaunchError, SetupFailed, Stream, candidates};
use ringfence_zygote::command::{self, Command};
use ringfence_zygote::wire::Step;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::zygote::{self, Spare};

/// The message that tells a spare what to run.
pub(crate) fn encode(launch: &Launch, limits: &[(u32, u64)]) -> Result<Vec<u8>, LaunchError> {
    let Some(program) = launch.arguments.first() else {
        return Err(LaunchError::Malformed {
            what: "the command",
            why: "is empty".to_owned(),
        });
    };
    let arguments: Vec<Vec<u8>> = launch
        .arguments
        .iter()
        .map(|argument| argument.as_bytes().to_vec())
        .collect();
    let environment: Vec<Vec<u8>> = launch
        .environment
        .iter()
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
        .collect();
    let programs: Vec<Vec<u8>> = candidates(program, &launch.environment)
        .into_iter()
        .map(|path| path.into_os_string().into_vec())
        .collect();
    let identity = launch.directory_identity;
    let terminal = launch.terminal.as_ref().map(|terminal| terminal.streams);
    let bits = (0..).zip(terminal.unwrap_or_default());
    command::encode(&Command {
        directory: launch.directory.as_os_str().as_bytes(),
        identity: identity.map_or((0, 0), |identity| (identity.device, identity.inode)),
        terminal: bits.fold(0, |bits, (stream, is_terminal)| {
            bits | u32::from(is_terminal) << stream
        }),
        programs: &programs,
        arguments: &arguments,
        environment: &environment,
        limits,
    })
    .map_err(|error| LaunchError::Malformed {
        what: "the command, its environment or its directory",
        why: error.to_string(),
    })
}

/// The first bytes carry the streams; the rest may take several writes, which the spare reads as they come.
pub(crate) fn send(spare: &Spare, message: &[u8], streams: &[Stream; 3]) -> Result<(), SetupFailed> {
    let fds = streams.each_ref().map(AsFd::as_fd);
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut rest = message;
    let mut first = true;
    while !rest.is_empty() {
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if first {
            ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        }
        match sendmsg(
            &spare.command,
            &[io::IoSlice::new(rest)],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        ) {
            Ok(count) => {
                first = false;
                rest = &rest[count..];
            }
            Err(Errno::INTR) => {}
            // The spare failed in its own set-up; what it said about it is read as the first event.
            Err(Errno::PIPE | Errno::CONNRESET) => return Ok(()),
            Err(error) => return Err(zygote::failed(Step::Command, error)),
        }
    }
    Ok(())
}
