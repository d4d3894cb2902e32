//! Terminals of commands.

use std::ffi::OsString;
use std::sync::Arc;

use ringfence_backend::Stream;
use thiserror::Error;

/// A terminal for a command; the default has 24 rows and 80 columns.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Tty {
    /// Its size when the command starts.
    pub size: TerminalSize,
    /// What kind of terminal is at the other end, for `TERM`. Without it the command's environment decides, and
    /// `xterm-256color` if that says nothing.
    pub term: Option<OsString>,
    /// A terminal whose settings it gets.
    pub(crate) like: Option<Arc<Stream>>,
}

impl Tty {
    /// A terminal of a size.
    #[must_use]
    pub const fn new(size: TerminalSize) -> Self {
        Self {
            size,
            term: None,
            like: None,
        }
    }

    /// The same with a value for `TERM`.
    #[must_use]
    pub fn term(self, term: impl Into<OsString>) -> Self {
        Self {
            term: Some(term.into()),
            ..self
        }
    }
}

#[cfg(unix)]
impl Tty {
    /// The same with the settings that another terminal has when the command is started: its control characters, and
    /// how it edits lines.
    ///
    /// # Errors
    /// When the descriptor can't be duplicated, or is no terminal.
    pub fn like(self, terminal: impl std::os::fd::AsFd) -> std::io::Result<Self> {
        rustix::termios::tcgetattr(&terminal)?;
        let like = terminal.as_fd().try_clone_to_owned()?;
        Ok(Self {
            like: Some(Arc::new(like)),
            ..self
        })
    }
}

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TerminalSize {
    rows: u16,
    columns: u16,
}

impl TerminalSize {
    /// The most that every system can say.
    pub const MAX: u16 = 32_767;

    /// A size; `None` if one of the numbers is 0 or more than [`TerminalSize::MAX`] (TTY-13).
    #[must_use]
    pub const fn new(rows: u16, columns: u16) -> Option<Self> {
        if rows == 0 || columns == 0 || rows > Self::MAX || columns > Self::MAX {
            return None;
        }
        Some(Self { rows, columns })
    }

    /// Lines.
    #[must_use]
    pub const fn rows(self) -> u16 {
        self.rows
    }

    /// Characters in a line.
    #[must_use]
    pub const fn columns(self) -> u16 {
        self.columns
    }
}

impl Default for TerminalSize {
    /// 24 rows, 80 columns (TTY-14).
    fn default() -> Self {
        Self {
            rows: 24,
            columns: 80,
        }
    }
}

/// What the standard streams of a process are. The numbers are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum StreamMode {
    /// Pipes, files, or whatever else the command was given.
    Pipes = 1,
    /// A terminal.
    Pty = 2,
}

/// A terminal has not another size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ResizeError {
    /// The process has no terminal (`ErrProcessResizeUnsupported`).
    #[error("the process has no terminal")]
    Unsupported,
    /// The terminal has been hung up.
    #[error("the terminal has been closed")]
    Closed,
    /// The system refused.
    #[error("resizing the terminal: {why}")]
    Failed {
        /// What it said.
        why: String,
    },
}

impl ResizeError {
    /// A stable identifier.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unsupported => "process_resize_unsupported",
            Self::Closed => "process_terminal_closed",
            Self::Failed { .. } => "process_resize_failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tty_13_a_size_of_nothing_or_beyond_the_smallest_systems_range_is_none() {
        for (rows, columns) in [(0, 80), (24, 0), (32_768, 80), (24, 65_535)] {
            assert_eq!(TerminalSize::new(rows, columns), None);
        }
        let largest = TerminalSize::new(TerminalSize::MAX, 1).unwrap();
        assert_eq!((largest.rows(), largest.columns()), (32_767, 1));
    }

    #[test]
    fn prc_24_modes_have_their_numbers() {
        assert_eq!((StreamMode::Pipes as u8, StreamMode::Pty as u8), (1, 2));
    }
}
