//! Terminals; see `ioctl_tty(2)`.

use core::ffi::c_int;

use super::{Fd, O_CLOEXEC, O_NOCTTY, O_RDWR, Result, call, fd, int, nr, ptr, ptr_mut};

/// `struct termios` as the kernel has it: four words and twenty characters.
pub(crate) struct TerminalSettings([u8; 36]);

impl TerminalSettings {
    /// The same for input in UTF-8.
    pub(crate) const fn with_utf8(mut self) -> Self {
        /// In the first word.
        const IUTF8: u32 = 0o40_000;
        let [a, b, c, d, ..] = self.0;
        let [a, b, c, d] = (u32::from_ne_bytes([a, b, c, d]) | IUTF8).to_ne_bytes();
        (self.0[0], self.0[1], self.0[2], self.0[3]) = (a, b, c, d);
        self
    }
}

pub(crate) fn terminal_settings(terminal: &Fd) -> Result<TerminalSettings> {
    const TCGETS: usize = 0x5401;
    let mut settings = TerminalSettings([0; 36]);
    call(
        nr::IOCTL,
        &[int(terminal.raw()), TCGETS, ptr_mut(&mut settings.0)],
    )?;
    Ok(settings)
}

/// At once: output that nobody takes is not waited for.
pub(crate) fn set_terminal_settings(terminal: &Fd, settings: &TerminalSettings) -> Result<()> {
    const TCSETS: usize = 0x5402;
    call(nr::IOCTL, &[int(terminal.raw()), TCSETS, ptr(&settings.0)]).map(drop)
}

/// Lets the other side of a master be opened.
pub(crate) fn unlock_terminal(master: &Fd) -> Result<()> {
    const TIOCSPTLCK: usize = 0x4004_5431;
    let locked: c_int = 0;
    call(nr::IOCTL, &[int(master.raw()), TIOCSPTLCK, ptr(&locked)]).map(drop)
}

/// Opens the other side of a master.
pub(crate) fn terminal_peer(master: &Fd) -> Result<Fd> {
    const TIOCGPTPEER: usize = 0x5441;
    #[expect(clippy::cast_possible_truncation, reason = "64-bit targets only")]
    let flags = (O_RDWR | O_NOCTTY | O_CLOEXEC) as usize;
    fd(call(nr::IOCTL, &[int(master.raw()), TIOCGPTPEER, flags]))
}

/// Makes a terminal the controlling one of this process's session.
pub(crate) fn control_terminal(terminal: &Fd) -> Result<()> {
    const TIOCSCTTY: usize = 0x540E;
    call(nr::IOCTL, &[int(terminal.raw()), TIOCSCTTY, 0]).map(drop)
}
