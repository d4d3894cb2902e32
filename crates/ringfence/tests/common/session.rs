//! A command at a terminal that is typed into and read.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use ringfence::blocking::{Executor, Process};
use ringfence::{ChildStdin, ChildStdout, Ending, Tty};

/// A terminal that is typed into and read.
pub(crate) struct Session {
    pub(crate) process: Process,
    pub(crate) keys: ChildStdin,
    pub(crate) screen: ChildStdout,
    seen: String,
}

impl Session {
    pub(crate) fn start(executor: &Executor, script: &str) -> Self {
        Self::of(executor.shell(script).tty(Tty::default()).spawn().unwrap())
    }

    pub(crate) fn of(mut process: Process) -> Self {
        let (keys, screen) = (process.take_stdin().unwrap(), process.take_stdout().unwrap());
        Self {
            process,
            keys,
            screen,
            seen: String::new(),
        }
    }

    pub(crate) fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads until the text is on the screen; gives what came before it.
    pub(crate) fn see(&mut self, text: &str) -> String {
        let mut buffer = [0; 4096];
        while !self.seen.contains(text) {
            let count = self.screen.read(&mut buffer).unwrap();
            assert_ne!(count, 0, "{text:?} is not in {:?}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        let at = self.seen.find(text).unwrap();
        let before = self.seen[..at].to_owned();
        self.seen.drain(..at + text.len());
        before
    }

    /// Everything that is still to come.
    pub(crate) fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        self.screen.read_to_end(&mut bytes).unwrap();
        std::mem::take(&mut self.seen) + &String::from_utf8_lossy(&bytes)
    }
}

pub(crate) fn ends_within(process: &Process, patience: Duration) -> Ending {
    let began = Instant::now();
    let ended = process.wait().unwrap().ended;
    assert!(began.elapsed() < patience, "it took {:?}", began.elapsed());
    ended
}
