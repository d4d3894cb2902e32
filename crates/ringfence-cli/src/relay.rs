//! Passes a command's output on, up to a limit.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use ringfence::blocking::Process;
use ringfence::{Ending, Limit, Outcome};

/// How many bytes a command may still write to both streams together.
#[derive(Debug)]
pub(crate) struct Relay {
    allowance: Mutex<u64>,
    exceeded: AtomicBool,
}

impl Relay {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            allowance: Mutex::new(limit),
            exceeded: AtomicBool::new(false),
        }
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
            if to
                .write_all(&buffer[..allowed])
                .and_then(|()| to.flush())
                .is_err()
            {
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
