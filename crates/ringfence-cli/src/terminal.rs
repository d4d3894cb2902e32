//! The user's terminal, while the command has one of its own.

use std::fs::File;
use std::io::{self, IsTerminal, PipeReader, PipeWriter, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringfence::blocking::Process;
use ringfence::{ChildStdin, Stdio, TerminalRestore, TerminalSize, Tty};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpgrp, getpid, kill_process};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr};

use crate::args::When;

/// What a command gets in place of the user's terminal: that is never its own, since nothing would keep a command in the
/// background from reading what the user types into the shell.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// A terminal, into which the user types.
    Whole(Tty),
    /// A terminal for its output only; there is nothing to read.
    Output(Tty),
    /// None: no output is seen on a terminal, or the user wants it so.
    Nothing,
}

/// Decides that.
///
/// Left to us, keys are passed on where standard input and an output are the user's terminal, and we are in the foreground
/// of it: in the background nobody types for the command. Where standard output is a pipe, whoever reads that may read the
/// keys too, as a pager does, and they are left to it.
pub(crate) fn wanted(when: When) -> Wanted {
    let (output, errors) = (io::stdout().is_terminal(), io::stderr().is_terminal());
    let for_us = || io::stdin().is_terminal() && is_in_foreground() && !is_pipe(&io::stdout());
    match when {
        When::Never => Wanted::Nothing,
        When::Always => Wanted::Whole(tty()),
        When::Auto if !(output || errors) => Wanted::Nothing,
        When::Auto if for_us() => Wanted::Whole(tty()),
        When::Auto => Wanted::Output(tty()),
    }
}

/// A terminal as the user's is.
fn tty() -> Tty {
    let tty = Tty::new(size());
    // One that can't be asked is like none.
    tty.clone().like(io::stdin()).unwrap_or(tty)
}

fn is_pipe(stream: &impl AsFd) -> bool {
    use rustix::fs::{FileType, fstat};
    fstat(stream).is_ok_and(|seen| FileType::from_raw_mode(seen.st_mode) == FileType::Fifo)
}

/// What is read where no terminal of the command's own is: never the user's.
pub(crate) fn input() -> Stdio {
    if io::stdin().is_terminal() {
        Stdio::Null
    } else {
        Stdio::Inherit
    }
}

/// Where the user sees what is on the command's terminal: with one in any case, where standard output goes.
pub(crate) fn screen(when: When) -> io::Result<File> {
    if when == When::Always || io::stdout().is_terminal() {
        output()
    } else {
        errors()
    }
}

/// Standard output, without anybody's lock or buffer.
pub(crate) fn output() -> io::Result<File> {
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

/// See [`output`].
pub(crate) fn errors() -> io::Result<File> {
    io::stderr().as_fd().try_clone_to_owned().map(File::from)
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
/// Its settings are put back when this is dropped, and by the command's keeper should this process die before.
#[derive(Debug)]
pub(crate) struct Raw {
    process: Arc<Process>,
    /// What to put back; nothing where standard input is no terminal, or somebody else's at the moment.
    settings: Mutex<Option<(Termios, Option<TerminalRestore>)>>,
    /// Closing it ends the thread that passes keys on.
    _stop: PipeWriter,
}

impl Raw {
    /// Begins to pass keys on to a command.
    pub(crate) fn enter(process: &Arc<Process>, keys: ChildStdin) -> io::Result<Self> {
        let (waited_for, stop) = io::pipe()?;
        let raw = Self {
            process: Arc::clone(process),
            settings: Mutex::new(None),
            _stop: stop,
        };
        raw.resume()?;
        let process = Arc::clone(process);
        std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || pass_keys(&process, &keys, &waited_for))?;
        Ok(raw)
    }

    fn settings(&self) -> MutexGuard<'_, Option<(Termios, Option<TerminalRestore>)>> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Raw mode, also after whoever had the terminal meanwhile left it as the user had it.
    pub(crate) fn resume(&self) -> io::Result<()> {
        let mut settings = self.settings();
        let now = match tcgetattr(io::stdin()) {
            Ok(now) if is_in_foreground() => now,
            // Another program's, or none at all.
            _ => return Ok(()),
        };
        if settings.is_some() && !now.local_modes.contains(LocalModes::ICANON) {
            // Nobody had it meanwhile.
            return Ok(());
        }
        let mut raw = now.clone();
        raw.make_raw();
        let restore = self.process.restore_at_host_death(io::stdin());
        let restore = match restore {
            Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
            restore => restore.ok(),
        };
        tcsetattr(io::stdin(), OptionalActions::Drain, &raw)?;
        *settings = Some((now, restore));
        Ok(())
    }

    /// The terminal as the user had it, and nobody's business of ours any more.
    pub(crate) fn suspend(&self) {
        if let Some((settings, restore)) = self.settings().take() {
            // In the background it is somebody else's, who has put it right; one that is gone has no settings.
            if is_in_foreground() {
                let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &settings);
            }
            drop(restore);
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.suspend();
    }
}

/// The command's terminal gets the size of the user's.
pub(crate) fn resize(process: &Process) {
    // One that is closed needs none.
    let _ = process.resize(size());
}

/// Passes on what is typed, until the other end of `stop` is closed. In the background nothing is read: that is typed for
/// the shell, and the kernel would stop this program for it.
fn pass_keys(process: &Process, keys: &ChildStdin, stop: &PipeReader) {
    // Not through the standard library's buffer, which may hold keys that nobody waits for.
    let input = io::stdin();
    let is_terminal = input.is_terminal();
    let mut buffer = [0; 4096];
    loop {
        if is_terminal && !is_in_foreground() {
            if is_over(stop) {
                return;
            }
            continue;
        }
        let mut fds = [
            PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN),
            PollFd::new(stop, PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) if !fds[1].revents().is_empty() => return,
            // It may have got there while this waited.
            Ok(_) if is_terminal && !is_in_foreground() => continue,
            Ok(_) => {}
        }
        match rustix::io::read(&input, &mut buffer) {
            Err(Errno::INTR) => {}
            Ok(count @ 1..) => {
                let suspends = process.suspend_key();
                for (part, key) in parts(&buffer[..count], suspends) {
                    let mut keys = keys;
                    if keys.write_all(part).is_err() {
                        return;
                    }
                    if key.is_some() {
                        // As if the terminal were still the one that the user types into.
                        let _ = kill_process(getpid(), Signal::TSTP);
                    }
                }
            }
            // Nobody types any more, and whoever asks is told so.
            Ok(0) | Err(_) => return type_end(keys, stop),
        }
    }
}

/// What is typed, in parts that end before a key, each with that key if there is one.
fn parts(typed: &[u8], key: Option<u8>) -> impl Iterator<Item = (&[u8], Option<u8>)> {
    typed
        .split_inclusive(move |byte| Some(*byte) == key)
        .map(move |part| match part.split_last() {
            Some((last, before)) if Some(*last) == key => (before, key),
            _ => (part, None),
        })
}

/// Types the end of the input again and again, as each reader takes one of them only, and one that edits lines itself may
/// not have begun when the first is typed.
fn type_end(mut keys: &ChildStdin, stop: &PipeReader) {
    const CTRL_D: u8 = 4;
    while keys.write_all(&[CTRL_D]).is_ok() && !is_over(stop) {}
}

/// Whether the other end of `stop` is closed; waits a moment for that.
fn is_over(stop: &PipeReader) -> bool {
    const MOMENT: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 200_000_000,
    };
    let mut over = [PollFd::new(stop, PollFlags::IN)];
    !matches!(poll(&mut over, Some(&MOMENT)), Ok(0) | Err(Errno::INTR))
}
