//! A running command.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use ringfence_backend::{Lifetime, LifetimeContainment, Signal, SignalError};

use crate::end::End;
use crate::error::RunError;
use crate::executor::Executor;
use crate::input::{ChildStdin, Input};
use crate::outcome::{Ending, Exit, Outcome};
use crate::output::{ChildStderr, ChildStdout};
use crate::running::{Delivery, Running};
use crate::terminal::{ResizeError, StreamMode, TerminalSize};

/// A running command and its process tree.
///
/// Dropping it closes the streams that were not taken; its terminal is hung up once nobody has an end of it any more. The
/// command goes on, is still watched, and ends with its set at the latest. With [`Command::kill_on_drop`](crate::Command::kill_on_drop) its tree is
/// killed. When the command itself has ended, what it has left in the background is killed at once, without a grace.
#[derive(Debug)]
pub struct Process {
    running: Arc<Running>,
    /// The supervisor that watches this command lives in the set the executor belongs to.
    _executor: Executor,
    kill_on_drop: bool,
    ends: Mutex<Ends>,
    input: Weak<Input>,
    mode: StreamMode,
    terminal: Option<Arc<End>>,
}

/// Our ends of the streams, as far as nobody took them.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

impl Process {
    pub(crate) fn new(
        running: Arc<Running>,
        executor: Executor,
        ends: Ends,
        terminal: Option<Arc<End>>,
    ) -> Self {
        Self {
            running,
            _executor: executor,
            // Until whoever started it has it.
            kill_on_drop: true,
            input: ends
                .stdin
                .as_ref()
                .map(|stdin| Arc::downgrade(&stdin.0))
                .unwrap_or_default(),
            ends: Mutex::new(ends),
            mode: if terminal.is_some() {
                StreamMode::Pty
            } else {
                StreamMode::Pipes
            },
            terminal,
        }
    }

    pub(crate) async fn started(mut self, kill_on_drop: bool) -> Result<Self, RunError> {
        self.running.started.clone().await?;
        self.kill_on_drop = kill_on_drop;
        Ok(self)
    }

    fn ends(&self) -> std::sync::MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id that tells this execution from every other one.
    #[must_use]
    pub fn execution_id(&self) -> &str {
        self.running.id()
    }

    /// Whether its standard streams are a terminal; never both one and the other.
    #[must_use]
    pub const fn stream_mode(&self) -> StreamMode {
        self.mode
    }

    /// Takes the writing end of a piped standard input or of the terminal; `None` the second time.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.ends().stdin.take()
    }

    /// Takes the reading end of a piped standard output or of the terminal; `None` the second time.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.ends().stdout.take()
    }

    /// Takes the reading end of a piped standard error; with a terminal, one that is at its end. `None` the second
    /// time.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.ends().stderr.take()
    }

    /// Waits until the command has ended, which what is left of its process tree may not have.
    ///
    /// A standard input that nobody took is closed first, so that a command that reads it does not wait for us; in a
    /// terminal that types the end-of-file character once. Any number of callers may wait, each gets the same answer. Dropping the future stops only this waiting.
    ///
    /// # Errors
    /// [`RunError`] when the program turned out not to be executable, for a command nobody waited for to start.
    pub async fn wait(&self) -> Result<Exit, RunError> {
        self.leave_stdin();
        self.running.exited.clone().await
    }

    /// Waits until nothing of the command's tree is left and everything it held is released.
    ///
    /// Otherwise as [`Process::wait`]. A process that the kernel does not let die keeps this from answering; see
    /// [`ExecutorSet::executions`](crate::ExecutorSet::executions).
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub async fn wait_all(&self) -> Result<Outcome, RunError> {
        self.leave_stdin();
        self.running.done.clone().await
    }

    fn leave_stdin(&self) {
        // Outside of the lock: it may be the last one to let go.
        let stdin = self.ends().stdin.take();
        drop(stdin);
    }

    /// How the command ended, if it has.
    #[must_use]
    pub fn try_wait(&self) -> Option<Result<Exit, RunError>> {
        self.running.exited.get()
    }

    /// The outcome, if nothing of the command is left.
    #[must_use]
    pub fn try_wait_all(&self) -> Option<Result<Outcome, RunError>> {
        self.running.done.get()
    }

    /// Asks the command for something. After its end, nothing is sent, and the answer says so.
    ///
    /// * [`Signal::Interrupt`]: `SIGINT` to its process group, or to the job in the foreground of its terminal.
    /// * [`Signal::Terminate`]: `SIGTERM` to its process group, or with a terminal to the whole tree; sent once, a later
    ///   request gets the same answer. If the command has not ended when the grace is over
    ///   ([`Command::terminate_grace`](crate::Command::terminate_grace)), its tree is killed, whether or not anybody waits.
    /// * [`Signal::Kill`]: as [`Process::kill`].
    /// * [`Signal::Unix`]: that signal, as often as asked, to whom [`Signal::Terminate`] goes.
    ///
    /// Once the terminal was hung up by [`Process::close`], an interrupt goes to the whole tree, too.
    ///
    /// # Errors
    /// [`SignalError::Unsupported`] where the backend can't (`ErrProcessSignalUnsupported`), or what the system said.
    pub fn signal(&self, signal: Signal) -> Result<Delivery, SignalError> {
        self.running.signal(signal)
    }

    /// Kills the whole tree; the ending is [`Ending::Cancelled`]. Does not wait.
    pub fn kill(&self) {
        // There is no way in which it could be refused.
        let _ = self.running.signal(Signal::Kill);
    }

    /// Asks the command to end, kills it when the grace is over, and waits until nothing of it is left.
    ///
    /// Dropping the future stops only the waiting.
    ///
    /// # Errors
    /// As [`Process::wait_all`].
    pub async fn shutdown(&self, grace: Duration) -> Result<Outcome, RunError> {
        self.running.shut_down(grace);
        self.wait_all().await
    }

    /// Closes the streams, and hangs the terminal up; neither signals nor waits. Nobody who reads or writes holds this up:
    /// they are released. A second time there is nothing to close.
    ///
    /// Output that the caller took as a pipe stays open until the caller drops it.
    pub fn close(&self) {
        if let Some(input) = self.input.upgrade() {
            input.end.sever();
        }
        let taken = {
            let mut ends = self.ends();
            (ends.stdin.take(), ends.stdout.take(), ends.stderr.take())
        };
        drop(taken);
        if let Some(terminal) = &self.terminal {
            terminal.sever();
        }
        self.running.hang_up();
    }

    /// Gives the terminal another size, of which the job in the foreground is told (`SIGWINCH`). After the command's end
    /// nothing happens.
    ///
    /// # Errors
    /// [`ResizeError::Unsupported`] without a terminal.
    pub fn resize(&self, size: TerminalSize) -> Result<(), ResizeError> {
        #[cfg(unix)]
        if let Some(terminal) = &self.terminal {
            if self.running.exited.is_complete() {
                return Ok(());
            }
            let master = terminal.descriptor().ok_or(ResizeError::Closed)?;
            let size = rustix::termios::Winsize {
                ws_row: size.rows(),
                ws_col: size.columns(),
                ws_xpixel: 0,
                ws_ypixel: 0,
            };
            return rustix::termios::tcsetwinsize(&master, size).map_err(|errno| ResizeError::Failed {
                why: errno.to_string(),
            });
        }
        let _ = size;
        Err(ResizeError::Unsupported)
    }

    /// The key that asks the command itself to stop, as Ctrl-Z does, if its terminal has such a key at the moment and no
    /// shell in it would stop a job instead.
    ///
    /// The kernel does not stop it then, because nobody in its session could let it go on. Whoever relays a terminal does so
    /// instead of typing the key: by [`UnixSignal::Stop`](crate::UnixSignal::Stop), and later
    /// [`UnixSignal::Continue`](crate::UnixSignal::Continue).
    #[cfg(unix)]
    #[must_use]
    pub fn suspend_key(&self) -> Option<u8> {
        use rustix::termios::{LocalModes, SpecialCodeIndex, tcgetattr, tcgetpgrp, tcgetsid};
        let master = self.terminal.as_ref()?.descriptor()?;
        let settings = tcgetattr(&master).ok()?;
        // A program that edits lines itself knows what it makes of keys.
        let heeded = settings
            .local_modes
            .contains(LocalModes::ICANON | LocalModes::ISIG);
        let key = settings.special_codes[SpecialCodeIndex::VSUSP];
        let is_its_own = tcgetpgrp(&master).ok()? == tcgetsid(&master).ok()?;
        (heeded && is_its_own && key != 0).then_some(key)
    }

    /// Sees to it that the settings this terminal of ours has now are put back if this process dies, even by `SIGKILL`,
    /// while the command lives and the answer is held. The command does not get the terminal. Of two answers for one command the
    /// later counts.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](std::io::ErrorKind::Unsupported) where nobody could do that, or that it is no
    /// terminal.
    #[cfg(unix)]
    pub fn restore_at_host_death(
        &self,
        terminal: impl std::os::fd::AsFd,
    ) -> std::io::Result<TerminalRestore> {
        if let Some(containment) = self.running.containment() {
            containment.restore_at_host_death(terminal.as_fd())?;
        }
        Ok(TerminalRestore(Arc::clone(&self.running)))
    }

    /// How surely the tree ends when it is to end.
    #[must_use]
    pub fn lifetime_containment(&self) -> LifetimeContainment {
        self.lifetime().containment
    }

    /// How surely the tree ends, on what that rests, and what becomes of it when this process dies.
    #[must_use]
    pub fn lifetime(&self) -> Lifetime {
        self.running.lifetime()
    }
}

/// Whoever holds it has a terminal's settings put back should this process die; see
/// [`Process::restore_at_host_death`].
#[cfg(unix)]
#[derive(Debug)]
#[must_use = "dropping it undoes what was asked for"]
pub struct TerminalRestore(Arc<Running>);

#[cfg(unix)]
impl Drop for TerminalRestore {
    fn drop(&mut self) {
        if let Some(containment) = self.0.containment() {
            containment.leave_terminal();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.kill_on_drop && !self.running.done.is_complete() {
            self.running.end(Ending::Cancelled);
        }
        self.running.hang_up();
    }
}
