//! Signals that ask a command to end: caught from the beginning, passed on once there is a command.

use ringfence::blocking::Process;
use ringfence::{Outcome, RunError};

/// The signals of this process, from now on.
#[cfg(unix)]
pub(crate) struct Signals(signal_hook::iterator::Signals);

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> Result<Self, RunError> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let heeded = [SIGHUP, SIGINT, SIGTERM]
            .into_iter()
            .filter(|signal| !is_ignored(*signal));
        let signals = signal_hook::iterator::Signals::new(heeded);
        let failed = |error: std::io::Error| RunError::Io {
            what: "listening for signals",
            why: error.to_string(),
        };
        signals.map(Self).map_err(failed)
    }

    /// The first signal that has come already, if any has.
    pub(crate) fn arrived(&mut self) -> Option<i32> {
        self.0.pending().next()
    }

    /// Waits for the end of the command and passes on every signal that comes meanwhile.
    pub(crate) fn wait(mut self, process: &Process) -> Result<Outcome, RunError> {
        let listening = self.0.handle();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for signal in &mut self.0 {
                    // A command that has just ended needs no signal.
                    let _ = process.signal(requested(signal));
                }
            });
            let result = process.wait_all();
            listening.close();
            result
        })
    }
}

/// Whether this process was started with a signal ignored, as `nohup` does: then the command goes on, too.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}

#[cfg(unix)]
fn requested(signal: i32) -> ringfence::Signal {
    use ringfence::{Signal, UnixSignal};
    use signal_hook::consts::{SIGHUP, SIGTERM};
    match signal {
        SIGHUP => Signal::Unix(UnixSignal::Hangup),
        // As it came: whoever sent it decides whether a kill follows.
        SIGTERM => Signal::Unix(UnixSignal::Terminate),
        _ => Signal::Interrupt,
    }
}

/// This system ends a console program and its children together.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> Result<Self, RunError> {
        Ok(Self)
    }

    pub(crate) fn arrived(&mut self) -> Option<i32> {
        None
    }

    pub(crate) fn wait(self, process: &Process) -> Result<Outcome, RunError> {
        process.wait_all()
    }
}
