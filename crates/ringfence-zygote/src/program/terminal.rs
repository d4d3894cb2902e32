//! Terminals: one for a spawn, and the host's own, whose settings are put back when nobody else can.

use super::plan::Plan;
use super::sys::{self, Fd, Path};
use super::{At, Outcome, view};
use crate::wire::Step;

/// A terminal of a spawn's own devpts.
pub(crate) struct Terminal {
    /// For the host.
    pub(crate) master: Fd,
    /// For the command.
    pub(crate) slave: Fd,
}

impl Terminal {
    /// Mounts a devpts that no other spawn sees, and opens a terminal in it.
    ///
    /// Opened from inside, so that `ttyname(3)` finds a name for it. Its settings are the kernel's, but that a character
    /// is one of UTF-8 and erased as one.
    pub(crate) fn open<'a>(plan: &Plan<'a>) -> Outcome<'a, Self> {
        plan.check(Step::Terminal)?;
        let at = Path::new(b"/dev/pts\0");
        let place = sys::open(at, sys::O_PATH | sys::O_CLOEXEC).at_path(Step::Terminal, at)?;
        let devpts = view::devpts().at_path(Step::Terminal, at)?;
        sys::attach(&devpts, &place).at_path(Step::Terminal, at)?;
        let path = Path::new(b"/dev/pts/ptmx\0");
        let flags = sys::O_RDWR | sys::O_NOCTTY | sys::O_CLOEXEC;
        let master = sys::open(path, flags).at_path(Step::Terminal, path)?;
        sys::unlock_terminal(&master).at(Step::Terminal)?;
        let slave = sys::terminal_peer(&master).at(Step::Terminal)?;
        let utf8 = sys::terminal_settings(&slave).map(sys::TerminalSettings::with_utf8);
        utf8.and_then(|settings| sys::set_terminal_settings(&slave, &settings))
            .at(Step::Terminal)?;
        Ok(Self { master, slave })
    }
}

/// A terminal and the settings it had when it was given to us.
pub(crate) struct Settings {
    terminal: Fd,
    settings: sys::TerminalSettings,
}

impl Settings {
    pub(crate) fn of(terminal: Fd) -> sys::Result<Self> {
        let settings = sys::terminal_settings(&terminal)?;
        Ok(Self { terminal, settings })
    }

    /// Puts the settings back; there is nobody left to tell of a failure.
    pub(crate) fn restore(&self) {
        let _ = sys::set_terminal_settings(&self.terminal, &self.settings);
    }

    /// Closes the descriptor in a process that has only a copy of this.
    pub(crate) fn close(&self) {
        drop(Fd::owned(self.terminal.raw()));
    }
}
