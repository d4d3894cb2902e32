//! The user's terminal, while the command has one of its own.

use std::io::{self, IsTerminal, PipeReader, PipeWriter, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ringfence::blocking::Process;
use ringfence::{ChildStdin, Stdio, TerminalSize, Tty};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr};

use crate::args::When;

/// What a command gets in place of the user's terminal: that is never its own, since nothing would keep a command in the
/// background from reading what the user types into the shell.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// A terminal, into which the user types.
    Whole(Tty),
    /// A terminal for its output only.
    Output(Tty),
    /// None: no standard stream is a terminal, or the user wants it so.
    Nothing,
}

/// Decides that.
///
/// Left to us, keys are passed on where standard input and output are both the user's terminal: with output that goes
/// elsewhere, whoever reads that, such as a pager, reads the keys too. In the background nobody types for the command.
pub(crate) fn wanted(when: When) -> Wanted {
    let [input, output, errors] = [
        io::stdin().is_terminal(),
        io::stdout().is_terminal(),
        io::stderr().is_terminal(),
    ];
    match when {
        When::Never => Wanted::Nothing,
        When::Always => Wanted::Whole(Tty::new(size())),
        When::Auto if input && output && is_in_foreground() => Wanted::Whole(Tty::new(size())),
        When::Auto if output || errors => Wanted::Output(Tty::new(size())),
        When::Auto => Wanted::Nothing,
    }
}

/// Standard input of a command that the user does not type for.
pub(crate) fn input() -> Stdio {
    if io::stdin().is_terminal() && !is_in_foreground() {
        Stdio::Null
    } else {
        Stdio::Inherit
    }
}

/// Where the user looks.
pub(crate) fn screen() -> Box<dyn Write + Send> {
    if io::stdout().is_terminal() || !io::stderr().is_terminal() {
        Box::new(io::stdout())
    } else {
        Box::new(io::stderr())
    }
}

fn is_in_foreground() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}

/// The size of the user's terminal; the usual one where there is none, or it doesn't know.
fn size() -> TerminalSize {
    let size = tcgetwinsize(io::stdin())
        .or_else(|_| tcgetwinsize(io::stdout()))
        .or_else(|_| tcgetwinsize(io::stderr()));
    size.ok()
        .and_then(|size| TerminalSize::new(size.ws_row, size.ws_col))
        .unwrap_or_default()
}

/// The user's terminal in raw mode: every key is for the command's terminal, which does with it what is to be done.
///
/// Its settings are put back when this is dropped, and by the command's keeper when this process dies before.
#[derive(Debug)]
pub(crate) struct Raw {
    /// `None` where standard input is no terminal.
    settings: Option<Termios>,
    keys: Mutex<Option<Keys>>,
}

/// The thread that passes keys on.
#[derive(Debug)]
struct Keys {
    /// Closing it ends the thread.
    _stop: PipeWriter,
}

impl Raw {
    /// Begins to pass keys on to a command.
    pub(crate) fn enter(process: &Process, keys: ChildStdin) -> io::Result<Self> {
        let settings = tcgetattr(io::stdin()).ok();
        let raw = Self {
            settings,
            keys: Mutex::new(None),
        };
        if raw.settings.is_some() {
            match process.restore_at_host_death(io::stdin()) {
                Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
                _ => {}
            }
        }
        raw.resume()?;
        let (waited_for, stop) = io::pipe()?;
        std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || pass_keys(&keys, &waited_for))?;
        *raw.keys() = Some(Keys { _stop: stop });
        Ok(raw)
    }

    fn keys(&self) -> MutexGuard<'_, Option<Keys>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Raw mode again, after [`Raw::suspend`].
    pub(crate) fn resume(&self) -> io::Result<()> {
        let Some(settings) = &self.settings else {
            return Ok(());
        };
        let mut raw = settings.clone();
        raw.make_raw();
        Ok(tcsetattr(io::stdin(), OptionalActions::Drain, &raw)?)
    }

    /// The terminal as the user had it.
    pub(crate) fn suspend(&self) {
        if let Some(settings) = &self.settings {
            // A terminal that is gone has no settings.
            let _ = tcsetattr(io::stdin(), OptionalActions::Drain, settings);
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        drop(self.keys().take());
        self.suspend();
    }
}

/// The command's terminal gets the size of the user's.
pub(crate) fn resize(process: &Process) {
    // One that is closed needs none.
    let _ = process.resize(size());
}

/// Passes on what is typed, until the other end of `stop` is closed.
fn pass_keys(keys: &ChildStdin, stop: &PipeReader) {
    // Not through the standard library's buffer, which may hold keys that nobody waits for.
    let input = io::stdin();
    let mut buffer = [0; 4096];
    loop {
        let mut fds = [
            PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN),
            PollFd::new(stop, PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) if !fds[1].revents().is_empty() => return,
            Ok(_) => {}
        }
        match rustix::io::read(&input, &mut buffer) {
            Err(Errno::INTR) => {}
            Ok(count @ 1..) => {
                let mut keys = keys;
                if keys.write_all(&buffer[..count]).is_err() {
                    return;
                }
            }
            // Nobody types any more.
            Ok(0) | Err(_) => {
                let _ = keys.close();
                return;
            }
        }
    }
}
