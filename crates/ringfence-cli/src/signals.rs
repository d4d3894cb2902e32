//! Signals that ask a command to end: caught from the beginning, passed on once there is a command. Before, they ask
//! this program to.

#[cfg(unix)]
use std::sync::mpsc::{Receiver, Sender};

use ringfence::blocking::Process;
use ringfence::{Outcome, RunError};

use crate::terminal::Raw;

/// What a signal asks this program for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "no signal says so there"))]
pub(crate) enum Asked {
    /// To end, by the signal with this number.
    End(i32),
    /// To stop, and with it what it runs.
    Stop,
    /// To look how large its terminal is.
    Look,
}

/// The signals of this process, from now on.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Signals {
    events: Receiver<Event>,
    /// Of what ends.
    done: Sender<Event>,
    listening: signal_hook::iterator::Handle,
}

#[cfg(unix)]
#[derive(Debug)]
enum Event {
    Asked(Asked),
    /// The work that signals are heeded during is over.
    Done,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> Result<Self, RunError> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
        let failed = |error: std::io::Error| RunError::Io {
            what: "listening for signals",
            why: error.to_string(),
        };
        let heeded = [SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH]
            .into_iter()
            .filter(|signal| !is_ignored(*signal));
        let mut signals = signal_hook::iterator::Signals::new(heeded).map_err(failed)?;
        let (done, events) = std::sync::mpsc::channel();
        let (listening, arrived) = (signals.handle(), done.clone());
        let thread = std::thread::Builder::new().name("signals".to_owned());
        let listen = move || {
            // It ends with whoever wants to know.
            let _ = signals
                .forever()
                .try_for_each(|signal| arrived.send(Event::Asked(Asked::by(signal))));
        };
        thread.spawn(listen).map_err(failed)?;
        Ok(Self {
            events,
            done,
            listening,
        })
    }

    /// The first signal that has come already and was not heeded, if any has.
    pub(crate) fn arrived(&self) -> Option<i32> {
        let mut arrived = self.events.try_iter();
        arrived.find_map(|event| match event {
            Event::Asked(Asked::End(signal)) => Some(signal),
            _ => None,
        })
    }

    /// Does some work, and meanwhile what each signal asks for. One that came before counts as well.
    pub(crate) fn during<T: Send>(
        &self,
        work: impl FnOnce() -> T + Send,
        mut on_signal: impl FnMut(Asked),
    ) -> Result<T, RunError> {
        let done = Done(self.done.clone());
        std::thread::scope(|scope| {
            let work = move || {
                let _done = done;
                work()
            };
            let thread = std::thread::Builder::new().spawn_scoped(scope, work);
            let thread = thread.map_err(|error| RunError::Io {
                what: "starting a thread",
                why: error.to_string(),
            })?;
            while let Ok(Event::Asked(asked)) = self.events.recv() {
                on_signal(asked);
            }
            Ok(thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// Waits for the end of the command, and passes on every signal that comes meanwhile; `terminal` is the user's, if the
    /// command has one of its own.
    pub(crate) fn wait(&self, process: &Process, terminal: Option<&Raw>) -> Result<Outcome, RunError> {
        use ringfence::{Signal, UnixSignal};
        let pass_on = |signal| {
            // A command that has just ended needs no signal.
            let _ = process.signal(signal);
        };
        let heed = |asked| match asked {
            Asked::End(signal) => pass_on(requested(signal)),
            Asked::Look => crate::terminal::resize(process),
            Asked::Stop => {
                pass_on(Signal::Unix(UnixSignal::Stop));
                terminal.into_iter().for_each(Raw::suspend);
                stop();
                // A terminal that is gone needs no settings.
                let _ = terminal.map(Raw::resume);
                crate::terminal::resize(process);
                pass_on(Signal::Unix(UnixSignal::Continue));
            }
        };
        self.during(|| process.wait_all(), heed)?
    }
}

#[cfg(unix)]
impl Asked {
    fn by(signal: i32) -> Self {
        match signal {
            signal_hook::consts::SIGTSTP => Self::Stop,
            signal_hook::consts::SIGWINCH => Self::Look,
            end => Self::End(end),
        }
    }
}

/// Stops this program as the signal it caught would have: not where nobody could let it go on again (POSIX, orphaned
/// process group).
#[cfg(unix)]
pub(crate) fn stop() {
    use rustix::process::{Signal, getpgid, getpid, getppid, getsid, kill_process};
    let has_keeper = getppid().is_some_and(|parent| {
        let (ours, theirs) = (getsid(None), getsid(Some(parent)));
        ours.is_ok() && ours == theirs && getpgid(Some(parent)) != getpgid(None)
    });
    if has_keeper {
        // Signalling oneself can't be refused.
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

/// Nobody asks for it.
#[cfg(not(unix))]
pub(crate) const fn stop() {}

#[cfg(unix)]
impl Drop for Signals {
    fn drop(&mut self) {
        self.listening.close();
    }
}

/// Says that the work is over, however it ends.
#[cfg(unix)]
struct Done(Sender<Event>);

#[cfg(unix)]
impl Drop for Done {
    fn drop(&mut self) {
        // Nobody waits for it any more.
        let _ = self.0.send(Event::Done);
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

    pub(crate) fn arrived(&self) -> Option<i32> {
        None
    }

    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T, _: impl FnMut(Asked)) -> Result<T, RunError> {
        Ok(work())
    }

    pub(crate) fn wait(&self, process: &Process, _: Option<&Raw>) -> Result<Outcome, RunError> {
        process.wait_all()
    }
}
