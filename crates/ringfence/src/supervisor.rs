//! The one thread of a set that watches its commands: their ends, their captured output, their deadlines.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token, Waker};
use ringfence_backend::{Notifier, Watch};

use crate::outcome::Ending;
use crate::running::{Next, Running};

/// Tokens per command: containment descriptors first, then the captured streams.
const TOKENS: usize = 16;
#[cfg(unix)]
const FIRST_STREAM_TOKEN: usize = 6;
/// How often a command that can't be watched is asked whether it is over.
const UNWATCHED_PACE: Duration = Duration::from_millis(5);
/// How long a killed tree may take to end before it is killed once more.
const KILL_AGAIN_AFTER: Duration = Duration::from_secs(1);
const WAKE: Token = Token(usize::MAX);

/// Handle of the thread; dropping it stops the thread once its commands are over.
#[derive(Debug)]
pub(crate) struct Supervisor {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    #[cfg(unix)]
    registry: mio::Registry,
    waker: Waker,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: usize,
    tasks: HashMap<usize, Task>,
    /// Commands to look at although no descriptor says so.
    pending: Vec<usize>,
    stopping: bool,
}

#[derive(Debug)]
struct Task {
    running: Arc<Running>,
    deadline: Option<Instant>,
    /// It was asked to end; at this moment the grace is over.
    kill_at: Option<Instant>,
    /// It should have ended and has not; when to kill it again.
    kill_again_at: Option<Instant>,
    /// When to ask whether it went over a limit.
    look_at: Option<Instant>,
    /// Its descriptors could not be registered: it has been killed, and its end must be asked for.
    unwatched: bool,
}

impl Supervisor {
    pub(crate) fn start() -> io::Result<Self> {
        let poll = Poll::new()?;
        let shared = Arc::new(Shared {
            #[cfg(unix)]
            registry: poll.registry().try_clone()?,
            waker: Waker::new(poll.registry(), WAKE)?,
            state: Mutex::default(),
        });
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("ringfence".to_owned())
            .spawn(move || watched.run(poll))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// A number for a command to come, and what wakes this thread for it.
    pub(crate) fn reserve(&self) -> (usize, Notifier) {
        let mut state = self.shared.lock();
        let id = state.next;
        state.next += 1;
        let shared = Arc::downgrade(&self.shared);
        let notifier = Notifier::new(move || {
            if let Some(shared) = shared.upgrade() {
                shared.lock().pending.push(id);
                shared.wake();
            }
        });
        (id, notifier)
    }

    /// Watches a started command until it is over.
    pub(crate) fn watch(&self, id: usize, running: &Arc<Running>, watch: Watch, deadline: Option<Instant>) {
        let task = Task {
            running: Arc::clone(running),
            deadline,
            kill_at: None,
            kill_again_at: None,
            look_at: running.check_limits().and_then(in_future),
            unwatched: false,
        };
        let looks = task.look_at.is_some();
        self.shared.lock().tasks.insert(id, task);
        // Readiness wakes the thread by itself. It must be woken for a new time-out, for a backend without
        // descriptors, and to end a command that can't be watched.
        let silent = match self.shared.register(id, running, watch) {
            Ok(descriptors) => descriptors == 0,
            Err(error) => {
                tracing::error!(%error, "a command can't be watched and is killed");
                running.end(Ending::Cancelled);
                if let Some(task) = self.shared.lock().tasks.get_mut(&id) {
                    task.unwatched = true;
                }
                true
            }
        };
        if silent || deadline.is_some() || looks {
            self.shared.lock().pending.push(id);
            self.shared.wake();
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.shared.lock().stopping = true;
        self.shared.wake();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            // A panic of the thread has been reported where it happened.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        if let Err(error) = self.waker.wake() {
            tracing::error!(%error, "the supervisor can't be woken");
        }
    }

    fn run(&self, mut poll: Poll) {
        let mut events = Events::with_capacity(256);
        loop {
            let timeout = {
                let state = self.lock();
                if state.stopping && state.tasks.is_empty() {
                    return;
                }
                state.timeout(Instant::now())
            };
            match poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    tracing::error!(%error, "waiting for commands failed");
                }
                _ => {}
            }
            let tokens = events.iter().map(mio::event::Event::token);
            let mut ready: Vec<usize> = tokens
                .filter(|token| *token != WAKE)
                .map(|token| token.0 / TOKENS)
                .collect();
            self.lock().take_pending(&mut ready);
            ready.sort_unstable();
            ready.dedup();
            ready.into_iter().for_each(|id| self.progress(id));
            self.pass_deadlines();
        }
    }

    fn pass_deadlines(&self) {
        let due = self.lock().take_due(Instant::now());
        for (id, running, what) in due {
            match what {
                Due::TimeOut => running.time_out(),
                Due::Kill => running.escalate(),
                Due::KillAgain => running.kill_again(),
                Due::Look => {
                    let next = running.check_limits().and_then(in_future);
                    if let Some(task) = self.lock().tasks.get_mut(&id) {
                        task.look_at = next;
                    }
                }
            }
        }
    }

    fn progress(&self, id: usize) {
        let Some(running) = self.lock().tasks.get(&id).map(|task| Arc::clone(&task.running)) else {
            return;
        };
        if let Some(at) = running.take_kill_at()
            && let Some(task) = self.lock().tasks.get_mut(&id)
        {
            task.kill_at = task.kill_at.into_iter().chain([at]).min();
        }
        match running.progress() {
            Next::Wait if running.is_ending() => {
                if let Some(task) = self.lock().tasks.get_mut(&id) {
                    task.kill_again_at = task.kill_again_at.or_else(|| in_future(KILL_AGAIN_AFTER));
                }
            }
            Next::Wait => {}
            Next::Again => self.lock().pending.push(id),
            Next::Forget => drop(self.lock().tasks.remove(&id)),
        }
    }

    /// Watches the descriptors of a command; returns how many there are.
    #[cfg(unix)]
    fn register(&self, id: usize, running: &Running, watch: Watch) -> io::Result<usize> {
        use mio::{Interest, unix::SourceFd};
        use std::os::fd::{AsRawFd, BorrowedFd};
        let add = |slot: usize, fd: BorrowedFd<'_>| {
            let token = Token(id * TOKENS + slot);
            self.registry
                .register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE)
        };
        let Some(containment) = running.containment() else {
            return Ok(0);
        };
        let descriptors = containment.descriptors(watch);
        debug_assert!(descriptors.len() <= FIRST_STREAM_TOKEN);
        let count = descriptors.len();
        descriptors
            .into_iter()
            .enumerate()
            .try_for_each(|(slot, fd)| add(slot, fd))?;
        running.with_pipes(|pipes| {
            let mut open = pipes.enumerate();
            open.try_for_each(|(slot, pipe)| {
                let added = pipe.with_descriptor(|fd| add(FIRST_STREAM_TOKEN + slot, fd));
                added.unwrap_or(Ok(()))
            })
        })?;
        Ok(count)
    }

    #[cfg(not(unix))]
    fn register(&self, _: usize, _: &Running, _: Watch) -> io::Result<usize> {
        Ok(0)
    }
}

/// The moment after this time, if the clock can say it.
fn in_future(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

impl State {
    fn timeout(&self, now: Instant) -> Option<Duration> {
        if !self.pending.is_empty() {
            return Some(Duration::ZERO);
        }
        let moments = self
            .tasks
            .values()
            .flat_map(|task| [task.deadline, task.kill_at, task.kill_again_at, task.look_at])
            .flatten();
        let until = moments.min().map(|moment| moment.saturating_duration_since(now));
        let unwatched = self
            .tasks
            .values()
            .any(|task| task.unwatched)
            .then_some(UNWATCHED_PACE);
        until.into_iter().chain(unwatched).min()
    }

    /// Commands to look at although no descriptor said so.
    fn take_pending(&mut self, ready: &mut Vec<usize>) {
        ready.append(&mut self.pending);
        ready.extend(
            self.tasks
                .iter()
                .filter(|(_, task)| task.unwatched)
                .map(|(id, _)| *id),
        );
    }

    /// What is due, to be done without holding the state: ending a command comes back here.
    fn take_due(&mut self, now: Instant) -> Vec<(usize, Arc<Running>, Due)> {
        let mut due = Vec::new();
        for (id, task) in &mut self.tasks {
            let mut add = |what| due.push((*id, Arc::clone(&task.running), what));
            if task.deadline.take_if(|moment| *moment <= now).is_some() {
                add(Due::TimeOut);
            }
            if task.kill_at.take_if(|moment| *moment <= now).is_some() {
                add(Due::Kill);
            }
            if task.kill_again_at.take_if(|moment| *moment <= now).is_some() {
                task.kill_again_at = now.checked_add(KILL_AGAIN_AFTER);
                add(Due::KillAgain);
            }
            if task.look_at.take_if(|moment| *moment <= now).is_some() {
                add(Due::Look);
            }
        }
        due
    }
}

/// What the clock asks for.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// The deadline has passed.
    TimeOut,
    /// So has the grace after it.
    Kill,
    KillAgain,
    /// Whether a limit is exceeded.
    Look,
}
