//! A command has no hold on the caller's terminal, even when that is its standard input (S-28).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use common::{ATTACK, Attempt, Fence};

/// A new terminal; what is typed into it can be read from the second end.
struct Terminal {
    _master: OwnedFd,
    user_end: File,
}

impl Terminal {
    fn new() -> Self {
        let (mut master, mut user_end) = (-1, -1);
        let (no_name, no_modes, no_size) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: two live integers; a raw mode is set on the descriptor openpty just made.
        let made = unsafe {
            let made = libc::openpty(&raw mut master, &raw mut user_end, no_name, no_modes, no_size);
            let mut modes = std::mem::zeroed();
            libc::tcgetattr(user_end, &raw mut modes);
            libc::cfmakeraw(&raw mut modes);
            libc::tcsetattr(user_end, libc::TCSANOW, &raw const modes);
            libc::fcntl(user_end, libc::F_SETFL, libc::O_RDWR | libc::O_NONBLOCK);
            made
        };
        assert_eq!(made, 0, "no terminal can be opened");
        // SAFETY: openpty made both; nobody else owns them.
        let [master, user_end] = [master, user_end].map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        Self {
            _master: master,
            user_end: user_end.into(),
        }
    }

    /// What somebody has typed.
    fn typed(&mut self) -> String {
        let mut buffer = [0; 64];
        let count = self.user_end.read(&mut buffer).unwrap_or(0);
        String::from_utf8_lossy(&buffer[..count]).into_owned()
    }

    fn user_end(&self) -> OwnedFd {
        self.user_end.try_clone().unwrap().into()
    }

    /// Attacks from a process whose controlling terminal this is.
    fn control(&self, line: &str) -> String {
        let mut command = Command::new(ATTACK);
        command
            .args(line.split_whitespace())
            .stdin(Stdio::from(self.user_end()));
        // SAFETY: both calls are safe between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        String::from_utf8(command.output().unwrap().stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// Attacks from inside with this terminal as standard input.
    fn attack(&self, fence: &Fence, line: &str) -> Attempt {
        let stdin = ringfence::Stdio::Owned(self.user_end());
        let outcome = fence.attacker(line).stdin(stdin).output().unwrap();
        assert_eq!(
            outcome.code(),
            Some(1),
            "{line} inside: {}",
            outcome.stdout.to_text()
        );
        Attempt::Refused(outcome.stdout.to_text().trim_end().to_owned())
    }
}

#[test]
fn nothing_is_typed_into_the_callers_terminal() {
    let fence = Fence::new();
    let mut terminal = Terminal::new();
    for line in ["tiocsti echo", "high + tiocsti echo"] {
        match terminal.control(line).as_str() {
            "done" => assert_eq!(terminal.typed(), "echo", "unconfined, `{line}`"),
            // dev.tty.legacy_tiocsti = 0
            "EIO" => common::skip("terminal", "this kernel lets nobody type"),
            other => panic!("unconfined, `{line}` gives {other}"),
        }
        assert_eq!(terminal.attack(&fence, line), Attempt::refused("EPERM"), "{line}");
        assert_eq!(terminal.typed(), "", "`{line}` arrived");
    }
}

/// The other requests a filter must stop: pasting into a console, changing the line discipline.
#[test]
fn the_callers_terminal_cannot_be_reconfigured() {
    let fence = Fence::new();
    let terminal = Terminal::new();
    for request in ["tioclinux", "tiocsetd"] {
        for line in [request.to_owned(), format!("high + {request}")] {
            assert_eq!(terminal.control(&line), "done", "unconfined, `{line}`");
            assert_eq!(
                terminal.attack(&fence, &line),
                Attempt::refused("EPERM"),
                "{line}"
            );
        }
    }
}

#[test]
fn the_callers_terminal_has_no_name_inside() {
    let fence = Fence::new();
    let terminal = Terminal::new();
    assert_eq!(terminal.control("tty"), "done");
    assert_eq!(terminal.attack(&fence, "tty"), Attempt::refused("ENXIO"));
    let path = std::fs::read_link(format!("/proc/self/fd/{}", terminal.user_end.as_raw_fd())).unwrap();
    let line = format!("stat {}", path.display());
    assert_eq!(terminal.control(&line), "done");
    assert_eq!(terminal.attack(&fence, &line), Attempt::refused("ENOENT"));
}
