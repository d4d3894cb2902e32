//! The writing end of a command's standard input.

use std::io::{self, PipeWriter, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

use crate::end::End;

/// The writing end of a command's standard input. Clones are the same end.
///
/// Any number of threads may write and close at the same time. [`ChildStdin::close`], or dropping the last clone,
/// delivers the end of file: at a pipe by closing it, in a terminal by typing its end-of-file character, which leaves
/// the terminal up. A write that waits for room is released by it. Later writes fail with [`StdinClosed`], and those to
/// a command that reads no more with [`io::ErrorKind::BrokenPipe`]; no write raises a signal.
#[derive(Clone, Debug)]
pub struct ChildStdin(pub(crate) Arc<Input>);

/// What the clones share.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) end: Arc<End>,
    /// There for a terminal, which its input does not own.
    typed: Option<Mutex<Typed>>,
}

#[derive(Debug, Default)]
struct Typed {
    closed: bool,
    /// Something was typed after the last end of a line.
    in_line: bool,
}

/// Standard input was written to after it was closed (`ErrProcessStdinClosed`); what an [`io::Error`] of the kind
/// [`BrokenPipe`](io::ErrorKind::BrokenPipe) carries then, to be found by [`io::Error::get_ref`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("standard input has been closed")]
pub struct StdinClosed;

/// A terminal could not be told the end of file; it is as open as before.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EofNotDelivered {
    /// It is not in canonical mode: whatever is typed is read as it is, and means what the command takes it for.
    #[error("the terminal is not in canonical mode, in which alone there is an end of file")]
    NotCanonical,
    /// It has no end-of-file character.
    #[error("the terminal has no end-of-file character")]
    NoCharacter,
    /// The system refused.
    #[error("typing the end-of-file character: {why}")]
    Failed {
        /// What it said.
        why: String,
    },
}

impl ChildStdin {
    pub(crate) fn pipe(writer: PipeWriter) -> io::Result<Self> {
        Ok(Self(Arc::new(Input {
            end: Arc::new(End::writer(writer)?),
            typed: None,
        })))
    }

    #[cfg(unix)]
    pub(crate) fn terminal(end: Arc<End>) -> Self {
        Self(Arc::new(Input {
            end,
            typed: Some(Mutex::default()),
        }))
    }

    /// Delivers the end of file; a second time there is nothing to deliver. Never blocks.
    ///
    /// In a terminal the character is typed twice where a line is unfinished, since once only hands the line over.
    ///
    /// # Errors
    /// [`EofNotDelivered`] in a terminal that can't be told.
    pub fn close(&self) -> Result<(), EofNotDelivered> {
        self.0.close()
    }
}

impl Input {
    pub(crate) fn close(&self) -> Result<(), EofNotDelivered> {
        let Some(typed) = self.typed() else {
            self.end.sever();
            return Ok(());
        };
        let delivered = type_end_of_file(&self.end, typed);
        self.end.wake();
        delivered
    }

    fn typed(&self) -> Option<MutexGuard<'_, Typed>> {
        let typed = self.typed.as_ref()?;
        Some(typed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether it takes no more.
    #[cfg(all(unix, feature = "tokio"))]
    pub(crate) fn is_closed(&self) -> bool {
        self.end.is_severed() || self.typed().is_some_and(|typed| typed.closed)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.end.wait_for_room().unwrap_or_else(|| Err(closed()))?;
                }
                done => return done,
            }
        }
    }

    /// Writes what there is room for, in one with remembering how it ends: nothing comes after the end of file.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut typed = self.typed();
        if typed.as_ref().is_some_and(|typed| typed.closed) {
            return Err(closed());
        }
        let count = self.end.try_write(bytes).unwrap_or_else(|| Err(closed()))?;
        if let (Some(typed), Some(last)) = (&mut typed, bytes[..count].last()) {
            typed.in_line = !matches!(last, b'\n' | b'\r');
        }
        Ok(count)
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // A terminal that can't be told goes on without.
        let _ = self.close();
    }
}

pub(crate) fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, StdinClosed)
}

/// Types the end-of-file character of a terminal, as it is now.
#[cfg(unix)]
fn type_end_of_file(end: &End, mut typed: MutexGuard<'_, Typed>) -> Result<(), EofNotDelivered> {
    use rustix::io::Errno;
    use rustix::termios::{LocalModes, SpecialCodeIndex, tcgetattr};
    use std::os::fd::AsFd;
    let failed = |errno: Errno| EofNotDelivered::Failed {
        why: io::Error::from(errno).to_string(),
    };
    let Some(terminal) = end.descriptor().filter(|_| !typed.closed) else {
        return Ok(());
    };
    let settings = tcgetattr(&terminal).map_err(failed)?;
    if !settings.local_modes.contains(LocalModes::ICANON) {
        return Err(EofNotDelivered::NotCanonical);
    }
    let character = match settings.special_codes[SpecialCodeIndex::VEOF] {
        0 => return Err(EofNotDelivered::NoCharacter),
        character => character,
    };
    let keys = [character; 2];
    let keys = if typed.in_line { &keys[..] } else { &keys[..1] };
    match crate::end::write_to(terminal.as_fd(), keys) {
        // Nobody has the other side open any more: nobody reads on.
        Ok(_) | Err(Errno::IO) => {
            typed.closed = true;
            Ok(())
        }
        Err(errno) => Err(failed(errno)),
    }
}

#[cfg(not(unix))]
fn type_end_of_file(_: &End, _: MutexGuard<'_, Typed>) -> Result<(), EofNotDelivered> {
    Err(EofNotDelivered::NoCharacter)
}

impl Write for ChildStdin {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for &ChildStdin {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
