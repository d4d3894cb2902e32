//! A process group, as far as it holds together.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ringfence_policy::Identity;
use rustix::io::Errno;
use rustix::process::{Pid, Signal as Number, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::{ExitStatus, Launch, Signal, SignalError, candidates};

/// A command that executes the program as it was found where the command itself would look for it.
pub(super) fn command(program: &OsStr, launch: &Launch) -> io::Result<Command> {
    let given = program.as_encoded_bytes().contains(&b'/');
    let candidates = candidates(program, &launch.environment).into_iter();
    let mut paths = candidates.map(|path| launch.directory.join(path));
    // What is wrong with a path that was given, its execution says best.
    let path = paths.find(|path| {
        let seen = path.metadata();
        given || seen.is_ok_and(|seen| seen.is_file() && seen.mode() & 0o111 != 0)
    });
    let mut command = Command::new(path.ok_or(Errno::NOENT)?);
    command.arg0(program);
    Ok(command)
}

/// Whether that very directory is at a path.
pub(super) fn is_at(path: &Path, meant: Identity) -> bool {
    path.metadata()
        .is_ok_and(|there| (there.dev(), there.ino()) == (meant.device, meant.inode))
}

/// A command and the process group it leads.
#[derive(Debug)]
pub(super) struct Tree {
    id: Pid,
    /// `None` once it has been waited for: from then on its id may be somebody else's.
    child: Mutex<Option<Child>>,
}

impl Tree {
    pub(super) fn spawn(mut command: Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        Ok(Self {
            id: Pid::from_child(&child),
            child: Mutex::new(Some(child)),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the command and kills what is left of its group, before its id can be reused.
    pub(super) fn wait(&self) -> ExitStatus {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.id), options), Err(Errno::INTR)) {}
        let mut child = self.lock();
        // A group without another member is gone, which is what is wanted.
        let _ = kill_process_group(self.id, Number::KILL);
        let status = child.take().and_then(|mut child| child.wait().ok());
        let code = status.and_then(|status| status.code()).map(ExitStatus::Exited);
        let signaled = status.and_then(|status| {
            status.signal().map(|signal| ExitStatus::Signaled {
                signal,
                core: status.core_dumped(),
            })
        });
        code.or(signaled).unwrap_or(ExitStatus::Killed)
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        let number = Number::from_named_raw(signal.number()).ok_or(SignalError::Unsupported)?;
        match *self.lock() {
            Some(_) => kill_process_group(self.id, number).map_err(|errno| match errno {
                Errno::SRCH => SignalError::Ended,
                other => SignalError::Failed {
                    errno: other.raw_os_error(),
                },
            }),
            None => Err(SignalError::Ended),
        }
    }
}
