//! Passes a command's output on, up to a limit.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ringfence::blocking::Process;
use ringfence::{Ending, Limit, Outcome, RunError};

use crate::signals::Signals;

/// How many bytes a command may still write to both streams together.
#[derive(Debug)]
pub(crate) struct Relay {
    allowance: Mutex<u64>,
    exceeded: AtomicBool,
}

impl Relay {
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self {
            allowance: Mutex::new(limit.unwrap_or(u64::MAX)),
            exceeded: AtomicBool::new(false),
        }
    }

    /// Passes a stream of a process on to one of ours, on a thread of its own. It holds that stream alone: one that nobody
    /// reads must not keep others from saying what came of the command.
    pub(crate) fn start(
        self: &Arc<Self>,
        signals: &Signals,
        process: &Arc<Process>,
        from: impl Read + Send + 'static,
        to: std::io::Result<File>,
    ) -> Result<(), RunError> {
        let to = to.map_err(|error| RunError::Io {
            what: "passing output on",
            why: error.to_string(),
        })?;
        let (relay, process) = (Arc::clone(self), Arc::clone(process));
        signals.relay(move || relay.pass(from, to, &process))
    }

    /// Passes one stream on to its end, or kills the command when it writes more than it may: exactly what it may
    /// write has then been passed on (EXE-43).
    pub(crate) fn pass(&self, mut from: impl Read, mut to: impl Write, process: &Process) {
        let mut buffer = [0; 64 * 1024];
        loop {
            let count = match from.read(&mut buffer) {
                Ok(count @ 1..) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                _ => return,
            };
            let allowed = self.take(count);
            // A reader that has gone away: closing our end lets the command know.
            if to.write_all(&buffer[..allowed]).is_err() {
                return;
            }
            if allowed < count {
                self.exceeded.store(true, Ordering::SeqCst);
                process.kill();
                return;
            }
        }
    }

    /// The outcome of a command that may have been killed for writing too much.
    pub(crate) fn judge(&self, mut outcome: Outcome) -> Outcome {
        if self.exceeded.load(Ordering::SeqCst) && outcome.ended != Ending::TimedOut {
            outcome.ended = Ending::LimitExceeded(Limit::Output);
        }
        outcome
    }

    /// How many of so many bytes may be passed on.
    fn take(&self, count: usize) -> usize {
        let mut left = self.allowance.lock().unwrap_or_else(PoisonError::into_inner);
        let allowed = usize::try_from(*left).map_or(count, |left| left.min(count));
        *left -= allowed as u64;
        allowed
    }
}
