//! The state of one started command, shared by its handles and the supervisor.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use ringfence_backend::{Containment, Event, ExitStatus, Lifetime, Notifier, Signal, SignalError};
use ringfence_policy::Limit;

use crate::capture::Capture;
use crate::completion::Completion;
use crate::error::RunError;
use crate::lifecycle::{Closable, Execution, Lease};
use crate::outcome::{Achieved, Ending, Exit, Outcome};
use crate::pipe::CapturePipe;
use crate::repositories::Inventory;
use crate::requests::{Answer, Requests};

/// What a started command came to.
pub(crate) type Result = std::result::Result<Outcome, RunError>;

/// How much of the output is kept or allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputLimits {
    /// Bytes kept of each captured stream.
    pub(crate) capture_bytes: usize,
    /// Bytes after which the command is killed, of both streams together.
    pub(crate) kill_after_bytes: Option<u64>,
    /// Whether the size of its files is limited.
    pub(crate) file_size_limited: bool,
}

/// A started command.
pub(crate) struct Running {
    /// Gone, with the descriptors it holds, once the command is over: handles may be kept for long.
    containment: Mutex<Option<Arc<dyn Containment>>>,
    lifetime: Lifetime,
    /// Wakes the supervisor.
    notifier: Notifier,
    pub(crate) started: Completion<std::result::Result<(), RunError>>,
    pub(crate) exited: Completion<std::result::Result<Exit, RunError>>,
    pub(crate) done: Completion<Result>,
    requests: Requests<SignalError>,
    /// Who it is, for whoever asks what is running.
    identity: Execution,
    grace: Duration,
    state: Mutex<State>,
}

struct State {
    /// Why we ended it, if we did.
    cause: Option<Ending>,
    requested: Option<Signal>,
    exit: Option<Exit>,
    /// When its termination becomes a kill; taken by the supervisor.
    kill_at: Option<Instant>,
    killed_at: Option<Instant>,
    started: SystemTime,
    began: Instant,
    limits: OutputLimits,
    streams: [Option<CapturedStream>; 3],
    output_bytes: u64,
    inventory: Option<Arc<Inventory>>,
    lease: Option<Lease>,
}

/// What came of a request to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was sent, now or by an earlier request for the same.
    Sent,
    /// The command had ended before; nothing was sent.
    Ended,
}

/// One captured stream: the pipe while it is open, and what came out of it.
struct CapturedStream {
    pipe: CapturePipe,
    capture: Capture,
    open: bool,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running")
            .field("containment", &self.containment())
            .finish_non_exhaustive()
    }
}

/// What the supervisor has to do next about a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Wait,
    /// There is more output than one turn takes.
    Again,
    /// It is over and completed.
    Forget,
}

impl Running {
    pub(crate) fn new(
        containment: Box<dyn Containment>,
        notifier: Notifier,
        captured: [Option<CapturePipe>; 3],
        limits: OutputLimits,
        inventory: Option<Inventory>,
        (identity, grace): (Execution, Duration),
    ) -> Arc<Self> {
        let stream = |kept_bytes, pipe| CapturedStream {
            pipe,
            capture: Capture::new(kept_bytes),
            open: true,
        };
        let [stdout, stderr, discarded] = captured;
        let streams = [
            stdout.map(|pipe| stream(limits.capture_bytes, pipe)),
            stderr.map(|pipe| stream(limits.capture_bytes, pipe)),
            discarded.map(|pipe| stream(0, pipe)),
        ];
        Arc::new(Self {
            lifetime: containment.lifetime(),
            containment: Mutex::new(Some(Arc::from(containment))),
            notifier,
            started: Completion::default(),
            exited: Completion::default(),
            done: Completion::default(),
            requests: Requests::new(),
            identity,
            grace,
            state: Mutex::new(State {
                cause: None,
                requested: None,
                exit: None,
                kill_at: None,
                killed_at: None,
                started: SystemTime::now(),
                began: Instant::now(),
                limits,
                streams,
                output_bytes: 0,
                inventory: inventory.map(Arc::new),
                lease: None,
            }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the lease until nothing of the command is left.
    pub(crate) fn hold(&self, lease: Lease) {
        self.lock().lease = Some(lease);
    }

    /// `None` once the command is over.
    pub(crate) fn containment(&self) -> Option<Arc<dyn Containment>> {
        self.containment
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn send(&self, signal: Signal) -> std::result::Result<(), SignalError> {
        self.containment()
            .map_or(Err(SignalError::Ended), |containment| containment.signal(signal))
    }

    pub(crate) fn id(&self) -> &str {
        &self.identity.id
    }

    /// Asks the command to end for its caller, with a grace of its own.
    pub(crate) fn shut_down(&self, grace: Duration) {
        self.lock().requested = Some(Signal::Terminate);
        if let Answer::Done(Err(_)) | Answer::DoneBefore(Err(_)) = self.terminate(grace) {
            self.end(Ending::Cancelled);
        }
    }

    pub(crate) fn lifetime(&self) -> Lifetime {
        self.lifetime
    }

    pub(crate) fn hang_up(&self) {
        if let Some(containment) = self.containment() {
            containment.hang_up();
        }
    }

    /// Asks the command for something on behalf of the caller.
    pub(crate) fn signal(&self, signal: Signal) -> std::result::Result<Delivery, SignalError> {
        // Before it is sent, as the command may end of it at once.
        let former = self.lock().requested.replace(signal);
        let answer = match signal {
            Signal::Terminate => self.terminate(self.grace),
            Signal::Kill => self.end(Ending::Cancelled),
            other => self.requests.pass(|| self.send(other)),
        };
        let delivery = match answer {
            Answer::Ended | Answer::Done(Err(SignalError::Ended)) => Ok(Delivery::Ended),
            Answer::Done(result) | Answer::DoneBefore(result) => result.map(|()| Delivery::Sent),
        };
        if delivery.is_err() {
            self.lock().requested = former;
        }
        delivery
    }

    /// Asks the command to end, and has it killed if it has not when the grace is over. Where nobody can ask, nothing
    /// follows (SIG-10).
    pub(crate) fn terminate(&self, grace: Duration) -> Answer<SignalError> {
        let answer = self.requests.terminate(|| self.send(Signal::Terminate));
        if !matches!(
            answer,
            Answer::Ended
                | Answer::Done(Err(SignalError::Unsupported))
                | Answer::DoneBefore(Err(SignalError::Unsupported))
        ) {
            let mut state = self.lock();
            let at = Instant::now().checked_add(grace);
            state.kill_at = state.kill_at.into_iter().chain(at).min();
            drop(state);
            self.notifier.notify();
        }
        answer
    }

    /// When its termination becomes a kill, if that is news.
    pub(crate) fn take_kill_at(&self) -> Option<Instant> {
        self.lock().kill_at.take()
    }

    /// Kills the tree for a reason.
    pub(crate) fn end(&self, cause: Ending) -> Answer<SignalError> {
        {
            let mut state = self.lock();
            add_cause(&mut state.cause, cause);
            state.killed_at.get_or_insert_with(Instant::now);
        }
        let answer = self.requests.kill(|| self.kill_again());
        // It sees to it that the tree really ends.
        self.notifier.notify();
        answer
    }

    /// Whether its tree should have ended, or be about to.
    pub(crate) fn is_ending(&self) -> bool {
        self.requests.is_killed() || self.exited.is_complete()
    }

    /// Kills the tree once more: what has not ended may have been out of reach for a moment (EXE-48, EXE-54).
    pub(crate) fn kill_again(&self) {
        if let Some(containment) = self.containment() {
            containment.kill();
        }
    }

    /// Ends the command if it went over a limit that nobody else ends it for; else says when to ask again.
    pub(crate) fn check_limits(&self) -> Option<Duration> {
        let containment = self.containment()?;
        if let Some(limit) = containment.exceeded() {
            self.end(Ending::LimitExceeded(limit));
            return None;
        }
        containment.next_look()
    }

    /// Asks the command to end because its deadline has passed.
    pub(crate) fn time_out(&self) {
        add_cause(&mut self.lock().cause, Ending::TimedOut);
        if let Answer::Done(Err(_)) | Answer::DoneBefore(Err(_)) = self.terminate(self.grace) {
            self.end(Ending::TimedOut);
        }
    }

    /// Kills a command that was asked to end and has not.
    pub(crate) fn escalate(&self) {
        let timed_out = self.lock().cause == Some(Ending::TimedOut);
        self.end(if timed_out {
            Ending::TimedOut
        } else {
            Ending::Cancelled
        });
    }

    /// Calls `f` with the pipes of the streams that are read here.
    #[cfg(unix)]
    pub(crate) fn with_pipes<R>(&self, f: impl FnOnce(&mut dyn Iterator<Item = &CapturePipe>) -> R) -> R {
        let state = self.lock();
        f(&mut state.streams.iter().flatten().map(|stream| &stream.pipe))
    }

    /// Takes everything that is there: output, then events.
    pub(crate) fn progress(self: &Arc<Self>) -> Next {
        let read = self.lock().read_output(MOST_BYTES_AT_ONCE);
        if read.over_limit && !self.exited.is_complete() {
            self.end(Ending::LimitExceeded(Limit::Output));
        }
        let Some(containment) = self.containment() else {
            return Next::Forget;
        };
        while let Some(event) = containment.next_event() {
            match event {
                Event::Started => self.started.complete(Ok(())),
                Event::SetupFailed(failed) => return self.finish(Err(RunError::Setup(failed))),
                Event::Changed { path } => return self.finish(Err(RunError::Changed { path })),
                Event::Exited(status) => {
                    // First, so that of an end and a kill at the same moment only one happens.
                    self.requests.end();
                    let exit = self.exit(status, &*containment);
                    self.started.complete(Ok(()));
                    self.exited.complete(Ok(exit));
                }
                Event::Empty => {
                    self.settle(self.outcome(&*containment));
                    return Next::Forget;
                }
            }
        }
        if read.more { Next::Again } else { Next::Wait }
    }

    /// How the command ended, by itself or because of us; from now on that stays.
    fn exit(&self, status: ExitStatus, containment: &dyn Containment) -> Exit {
        let mut state = self.lock();
        let over_limit = state.read_output(LARGEST_PIPE_BYTES).over_limit;
        let by_itself = match status {
            ExitStatus::Exited(code) => Ending::Exited(code),
            ExitStatus::Signaled { signal, core } => Ending::Signaled { signal, core },
            ExitStatus::Killed => Ending::Signaled {
                signal: Signal::Kill.number(),
                core: false,
            },
        };
        // Such a signal means that ours was the limit.
        let over_file_size = is_file_size(status) && state.limits.file_size_limited;
        let over_limit = over_limit.then_some(Limit::Output);
        let over_limit = over_limit
            .or_else(|| over_file_size.then_some(Limit::FileSize))
            .or_else(|| containment.exceeded());
        if let Some(limit) = over_limit {
            add_cause(&mut state.cause, Ending::LimitExceeded(limit));
        }
        let exit = Exit {
            ended: state.cause.unwrap_or(by_itself),
            requested: state.requested,
            started: state.started,
            elapsed: state.began.elapsed(),
        };
        state.exit = Some(exit);
        exit
    }

    fn outcome(&self, containment: &dyn Containment) -> Result {
        let mut state = self.lock();
        // Nobody of the tree is left to write. Where a backend can't prove that, the bound ends the reading.
        state.read_output(LARGEST_PIPE_BYTES);
        let Some(exit) = state.exit else {
            return Err(RunError::Io {
                what: "watching the command",
                why: "its end was not told".to_owned(),
            });
        };
        let [stdout, stderr, _] = state
            .streams
            .each_mut()
            .map(|stream| stream.take().map(|stream| stream.capture.finish(!stream.open)));
        Ok(Outcome {
            ended: exit.ended,
            requested: exit.requested,
            stdout: stdout.unwrap_or_default(),
            stderr: stderr.unwrap_or_default(),
            achieved: Achieved::of(containment.report()),
            lifetime: self.lifetime(),
            usage: containment.usage(),
            new_repositories: Vec::new(),
            unsearched: Vec::new(),
            started: exit.started,
            elapsed: exit.elapsed,
        })
    }

    /// Looks for what the command left, on a thread of its own if that may take long.
    fn settle(self: &Arc<Self>, outcome: Result) {
        let inventory = self.lock().inventory.take();
        let (inventory, outcome) = match (inventory, outcome) {
            (Some(inventory), Ok(outcome)) => (inventory, outcome),
            (_, outcome) => {
                self.finish(outcome);
                return;
            }
        };
        let settle = |running: &Self, inventory: &Inventory, mut outcome: Outcome| {
            let news = inventory.compare();
            outcome.new_repositories = news.repositories;
            outcome.unsearched = news.unsearched;
            running.finish(Ok(outcome));
        };
        if inventory.is_quick() {
            return settle(self, &inventory, outcome);
        }
        let (running, theirs, same) = (Arc::clone(self), Arc::clone(&inventory), outcome.clone());
        let thread = std::thread::Builder::new().name("ringfence-settle".to_owned());
        if thread.spawn(move || settle(&running, &theirs, same)).is_err() {
            // Without a thread it is done in place.
            settle(self, &inventory, outcome);
        }
    }

    fn finish(&self, result: Result) -> Next {
        let containment = self
            .containment
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let afterwards = containment
            .as_ref()
            .and_then(|containment| containment.afterwards());
        // Its descriptors are not watched any more once they are closed.
        drop(containment);
        // Before anybody learns that it is over, the set must know that nothing of it is left.
        drop(self.lock().lease.take());
        if let Err(error) = &result {
            self.started.complete(Err(error.clone()));
            self.exited.complete(Err(error.clone()));
        }
        self.done.complete(result);
        if let Some(afterwards) = afterwards {
            afterwards();
        }
        Next::Forget
    }
}

/// A limit outranks what the caller wants, and that what the owner wants; of equals the first one stays (EXE-44,
/// EXE-47).
fn add_cause(reason: &mut Option<Ending>, cause: Ending) {
    let rank = |cause: Ending| match cause {
        Ending::LimitExceeded(_) => 3,
        Ending::Cancelled | Ending::TimedOut => 2,
        _ => 1,
    };
    if reason.is_none_or(|earlier| rank(earlier) < rank(cause)) {
        *reason = Some(cause);
    }
}

/// Whether a process was ended for writing too large a file (setrlimit(2)).
fn is_file_size(status: ExitStatus) -> bool {
    /// Wherever a backend keeps that limit.
    const SIGXFSZ: i32 = 25;
    matches!(status, ExitStatus::Signaled { signal: SIGXFSZ, .. })
}

impl Closable for Running {
    fn close_for_owner(&self) {
        self.end(Ending::OwnerClosed);
    }

    fn execution(&self) -> Option<Execution> {
        let killed_at = self.lock().killed_at;
        Some(Execution {
            exited: self.exited.is_complete(),
            killed_for: killed_at.map(|at| at.elapsed()),
            ..self.identity.clone()
        })
    }
}

/// What one turn takes from a stream, so that one busy command does not starve the others.
const MOST_BYTES_AT_ONCE: usize = 256 * 1024;
/// What an unprivileged pipe can hold at most (`pipe(7)`).
const LARGEST_PIPE_BYTES: usize = 1024 * 1024;

struct ReadOutput {
    over_limit: bool,
    /// Reading stopped before the pipes were empty.
    more: bool,
}

impl State {
    fn read_output(&mut self, most: usize) -> ReadOutput {
        let limit = self.limits.kill_after_bytes;
        let mut more = false;
        for stream in self.streams.iter_mut().flatten() {
            let mut taken = 0;
            let mut buffer = [0u8; 16 * 1024];
            while stream.open {
                if taken >= most {
                    more = true;
                    break;
                }
                match stream.pipe.read(&mut buffer) {
                    Ok(0) => stream.open = false,
                    Ok(count) => {
                        let room = limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.output_bytes));
                        let kept = count.min(usize::try_from(room).unwrap_or(usize::MAX));
                        stream.capture.push(&buffer[..kept]);
                        self.output_bytes += count as u64;
                        taken += count;
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                    Err(_) => stream.open = false,
                }
            }
        }
        ReadOutput {
            over_limit: limit.is_some_and(|limit| self.output_bytes > limit),
            more,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exe_44_a_limit_outranks_the_caller_and_the_caller_the_owner() {
        let limit = Ending::LimitExceeded(Limit::Output);
        let reason = |causes: &[Ending]| {
            let mut reason = None;
            causes.iter().for_each(|cause| add_cause(&mut reason, *cause));
            reason.unwrap()
        };
        assert_eq!(reason(&[Ending::Cancelled, limit]), limit);
        assert_eq!(reason(&[limit, Ending::Cancelled]), limit);
        assert_eq!(reason(&[Ending::OwnerClosed, Ending::TimedOut]), Ending::TimedOut);
        assert_eq!(reason(&[Ending::TimedOut, Ending::Cancelled]), Ending::TimedOut);
        assert_eq!(
            reason(&[Ending::Cancelled, Ending::OwnerClosed]),
            Ending::Cancelled
        );
    }
}
