//! Signals that ask a command to end: caught from the beginning, passed on once there is a command. Before, they ask
//! this program to.

#[cfg(unix)]
use std::cell::Cell;
#[cfg(unix)]
use std::sync::mpsc::{Receiver, Sender};
#[cfg(unix)]
use std::time::{Duration, Instant};

use ringfence::blocking::Process;
use ringfence::{Ending, Outcome, RunError};

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
    /// To go on after a stop.
    Resume,
}

/// The signals of this process, from now on.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Signals {
    events: Receiver<Event>,
    /// Of what ends.
    done: Sender<Event>,
    /// Whether somebody has asked for the end.
    end_asked: Cell<bool>,
    /// How many threads still pass output on.
    relays: Cell<usize>,
    listening: signal_hook::iterator::Handle,
}

#[cfg(unix)]
#[derive(Debug)]
enum Event {
    Asked(Asked),
    /// The work that signals are heeded during is over.
    Done,
    /// A thread that passed output on is through.
    Relayed,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> Result<Self, RunError> {
        use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
        let failed = |error: std::io::Error| RunError::Io {
            what: "listening for signals",
            why: error.to_string(),
        };
        let heeded = [SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH, SIGCONT]
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
            end_asked: Cell::new(false),
            relays: Cell::new(0),
            listening,
        })
    }

    /// The first signal to end that has come already and was not heeded, if any has.
    pub(crate) fn arrived(&self) -> Option<i32> {
        let mut first = None;
        for event in self.events.try_iter().collect::<Vec<_>>() {
            match event {
                Event::Asked(Asked::End(signal)) => first = first.or(Some(signal)),
                // For when there is a command.
                other => self.again(other),
            }
        }
        first
    }

    fn again(&self, event: Event) {
        // The other end is ours.
        let _ = self.done.send(event);
    }

    /// Does some work, and meanwhile what each signal asks for. One that came before counts as well.
    pub(crate) fn during<T: Send>(
        &self,
        work: impl FnOnce() -> T + Send,
        mut on_signal: impl FnMut(Asked),
    ) -> Result<T, RunError> {
        let done = Says(self.done.clone(), Some(Event::Done));
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
            while let Some(asked) = self.next() {
                on_signal(asked);
            }
            Ok(thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// What is asked for next; nothing once the work is done.
    fn next(&self) -> Option<Asked> {
        loop {
            match self.events.recv() {
                Ok(Event::Relayed) => self.relays.update(|relays| relays - 1),
                Ok(Event::Asked(asked)) => {
                    self.end_asked
                        .set(self.end_asked.get() || matches!(asked, Asked::End(_)));
                    return Some(asked);
                }
                Ok(Event::Done) | Err(_) => return None,
            }
        }
    }

    /// Passes output on, on a thread that nobody has to wait for.
    pub(crate) fn relay(&self, work: impl FnOnce() + Send + 'static) -> Result<(), RunError> {
        let through = Says(self.done.clone(), Some(Event::Relayed));
        let thread = std::thread::Builder::new().name("relay".to_owned());
        let spawned = thread.spawn(move || {
            let _through = through;
            work();
        });
        self.relays.update(|relays| relays + 1);
        spawned.map(drop).map_err(|error| RunError::Io {
            what: "starting a thread",
            why: error.to_string(),
        })
    }

    /// Waits until the output of a command that is over is passed on: for as long as that takes if it ended by itself, but
    /// not longer than until somebody asks for the end, and only a moment where that was asked for.
    pub(crate) fn deliver(&self, ended: Ending) {
        let by_itself = matches!(ended, Ending::Exited(_) | Ending::Signaled { .. });
        let until = (!by_itself || self.end_asked.get()).then(|| Instant::now() + LAST_MOMENT);
        while self.relays.get() > 0 {
            let event = match until {
                None => self.events.recv().ok(),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    self.events.recv_timeout(left).ok()
                }
            };
            match event {
                Some(Event::Relayed) => self.relays.update(|relays| relays - 1),
                Some(Event::Asked(Asked::Stop)) => stop(),
                Some(Event::Asked(Asked::End(_))) | None => return,
                Some(_) => {}
            }
        }
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
            Asked::End(signal) => {
                pass_on(requested(signal));
                // One that is stopped would hear of it too late.
                pass_on(Signal::Unix(UnixSignal::Continue));
            }
            Asked::Look => crate::terminal::resize(process),
            Asked::Resume => {
                // A terminal that is gone needs no settings.
                let _ = terminal.map(Raw::resume);
                crate::terminal::resize(process);
            }
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
            signal_hook::consts::SIGCONT => Self::Resume,
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

/// Says something when it is over, however it ends.
#[cfg(unix)]
struct Says(Sender<Event>, Option<Event>);

#[cfg(unix)]
impl Drop for Says {
    fn drop(&mut self) {
        if let Some(event) = self.1.take() {
            // Nobody waits for it any more.
            let _ = self.0.send(event);
        }
    }
}

/// How long output may take that nobody reads, of a command whose end was asked for.
#[cfg(unix)]
const LAST_MOMENT: Duration = Duration::from_secs(1);

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
#[derive(Debug, Default)]
pub(crate) struct Signals {
    relays: std::cell::RefCell<Vec<std::thread::JoinHandle<()>>>,
}

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> Result<Self, RunError> {
        Ok(Self::default())
    }

    pub(crate) fn arrived(&self) -> Option<i32> {
        None
    }

    /// Passes output on, on a thread of its own.
    pub(crate) fn relay(&self, work: impl FnOnce() + Send + 'static) -> Result<(), RunError> {
        let spawned = std::thread::Builder::new().spawn(work);
        let spawned = spawned.map_err(|error| RunError::Io {
            what: "starting a thread",
            why: error.to_string(),
        });
        self.relays.borrow_mut().push(spawned?);
        Ok(())
    }

    /// Waits until all output is passed on.
    pub(crate) fn deliver(&self, _: Ending) {
        for relay in self.relays.take() {
            // What it panicked with has been told.
            let _ = relay.join();
        }
    }

    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T, _: impl FnMut(Asked)) -> Result<T, RunError> {
        Ok(work())
    }

    pub(crate) fn wait(&self, process: &Process, _: Option<&Raw>) -> Result<Outcome, RunError> {
        process.wait_all()
    }
}
