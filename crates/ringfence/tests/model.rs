//! Every order in which admission, starting, closing and building can meet, tried on the real code with locks that a
//! model checker schedules.

#![allow(dead_code, unreachable_pub, reason = "the parts are used by the library")]
#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

#[path = "../src/cancellation.rs"]
mod cancellation;
#[path = "../src/completion.rs"]
mod completion;
#[path = "../src/lifecycle.rs"]
mod lifecycle;
#[path = "../src/memo.rs"]
mod memo;
#[path = "../src/requests.rs"]
mod requests;
#[path = "../src/single_use.rs"]
mod single_use;

/// What takes the place of the standard library's.
mod sync {
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
}

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use loom::thread;

use cancellation::Cancellation;
use completion::Completion;
use lifecycle::{Closable, Lease, Lifecycle};
use memo::{Memo, Refused};
use requests::{Answer, Requests};
use single_use::{Gone, SingleUse};

/// Tries every order with up to this many changes of thread that nobody had to wait for: a fault that takes more of them is
/// hardly ever seen, and all of them take minutes.
fn explore(run: impl Fn() + Send + Sync + 'static) {
    const PREEMPTIONS: usize = 5;
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(PREEMPTIONS);
    model.check(run);
}

/// What a preparation holds.
struct Capsule {
    /// Counts those that are left.
    _left: Left,
    /// Last, so that it is dropped last.
    lease: Lease,
}

/// Something that must be gone once a set is closed.
struct Left(Arc<AtomicUsize>);

impl Left {
    fn new(counter: &Arc<AtomicUsize>) -> Self {
        counter.fetch_add(1, SeqCst);
        Self(Arc::clone(counter))
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// A command that runs until it is ended.
#[derive(Default)]
struct Running {
    ended: AtomicBool,
}

impl Closable for Running {
    fn close_for_owner(&self) {
        self.ended.store(true, SeqCst);
    }
}

/// Prepares, and says what for when it was admitted.
fn prepare(lifecycle: &Arc<Lifecycle>, left: &Arc<AtomicUsize>) -> Option<Arc<SingleUse<Capsule>>> {
    let lease = lifecycle.admit()?;
    let left = Left::new(left);
    SingleUse::reserve(lifecycle, lease, |lease| Capsule { lease, _left: left })
}

/// Starts, and then behaves as a command that never ends by itself: nothing but a close can get rid of it.
fn start(prepared: &SingleUse<Capsule>) -> Result<(), Gone> {
    let capsule = prepared.take()?;
    let running = Arc::new(Running::default());
    capsule.lease.attach(&running);
    while !running.ended.load(SeqCst) {
        thread::yield_now();
    }
    Ok(())
}

fn close(lifecycle: &Lifecycle) {
    lifecycle.begin_closing();
    lifecycle.wait_until_idle();
}

// SET-33, SET-34, EXE-50, EXE-51
#[test]
fn set_33_set_34_whatever_meets_a_close_is_refused_or_ended_before_it_returns() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let caller = thread::spawn({
            let (set, left) = (Arc::clone(&set), Arc::clone(&left));
            move || {
                if let Some(prepared) = prepare(&set, &left) {
                    assert_ne!(start(&prepared), Err(Gone::Taken));
                }
            }
        });
        close(&set);
        assert_eq!(left.load(SeqCst), 0, "nothing outlives the close");
        assert!(set.admit().is_none());
        caller.join().unwrap();
    });
}

#[test]
fn set_34_a_preparation_that_nobody_starts_holds_up_no_close() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let executor = set.part();
        let caller = thread::spawn({
            let left = Arc::clone(&left);
            move || prepare(&executor, &left)
        });
        close(&set);
        assert_eq!(left.load(SeqCst), 0, "nothing outlives the close");
        if let Some(kept) = caller.join().unwrap() {
            assert_eq!(start(&kept), Err(Gone::Closed));
        }
    });
}

// EXE-50, EXE-52: the lease is the last thing to go
#[test]
fn set_36_a_close_ends_the_commands_of_every_executor() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let executor = set.part();
        let prepared = prepare(&executor, &left).unwrap();
        let caller = thread::spawn(move || start(&prepared));
        close(&set);
        assert_eq!(left.load(SeqCst), 0, "nothing outlives the close");
        assert_ne!(caller.join().unwrap(), Err(Gone::Taken));
    });
}

#[test]
fn pre_25_of_a_start_and_closes_that_meet_exactly_one_has_it() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let prepared = prepare(&set, &left).unwrap();
        let starter = thread::spawn({
            let prepared = Arc::clone(&prepared);
            move || prepared.take().is_ok()
        });
        let closer = thread::spawn({
            let prepared = Arc::clone(&prepared);
            move || prepared.close()
        });
        close(&set);
        assert_eq!(left.load(SeqCst), 0);
        let started = starter.join().unwrap();
        closer.join().unwrap();
        assert_eq!(
            prepared.take().err(),
            Some(Gone::Closed),
            "started before: {started}"
        );
    });
}

#[test]
fn closing_an_executor_and_its_set_at_once_ends_its_commands_once_and_both_return() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let executor = set.part();
        let caller = thread::spawn({
            let (executor, left) = (Arc::clone(&executor), Arc::clone(&left));
            move || {
                if let Some(prepared) = prepare(&executor, &left) {
                    // Closed or ended; never both waited for and forgotten.
                    let _ = start(&prepared);
                }
            }
        });
        let releaser = thread::spawn({
            let (executor, left) = (Arc::clone(&executor), Arc::clone(&left));
            move || {
                close(&executor);
                assert_eq!(left.load(SeqCst), 0, "nothing outlives the release");
            }
        });
        close(&set);
        assert_eq!(left.load(SeqCst), 0, "nothing outlives the close");
        caller.join().unwrap();
        releaser.join().unwrap();
    });
}

/// As a set does it: the first closes, and all get what it found.
fn close_together(
    set: &Lifecycle,
    closed: &Completion<usize>,
    left: &AtomicUsize,
    finished: &AtomicUsize,
) -> usize {
    if set.begin_closing() {
        set.wait_until_idle();
        finished.fetch_add(1, SeqCst);
        closed.complete(left.load(SeqCst));
    }
    loop {
        if let Some(found) = closed.get() {
            return found;
        }
        thread::yield_now();
    }
}

#[test]
fn set_34_of_closes_that_meet_one_closes_and_none_returns_before_it() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let (closed, finished) = (Completion::default(), Arc::new(AtomicUsize::new(0)));
        let caller = thread::spawn({
            let (set, left) = (Arc::clone(&set), Arc::clone(&left));
            move || prepare(&set, &left).map(|prepared| start(&prepared))
        });
        let other = thread::spawn({
            let (set, left) = (Arc::clone(&set), Arc::clone(&left));
            let (closed, finished) = (closed.clone(), Arc::clone(&finished));
            move || close_together(&set, &closed, &left, &finished)
        });
        let found = close_together(&set, &closed, &left, &finished);
        assert_eq!(
            (found, left.load(SeqCst)),
            (0, 0),
            "nothing outlives either close"
        );
        assert_eq!(other.join().unwrap(), 0);
        assert_eq!(finished.load(SeqCst), 1);
        assert_ne!(caller.join().unwrap(), Some(Err(Gone::Taken)));
    });
}

/// A value of a key: which one, and a count of those that are left.
type Value = Arc<(usize, Left)>;

fn make(made: &AtomicUsize, left: &Arc<AtomicUsize>) -> Result<Value, Refused> {
    Ok(Arc::new((made.fetch_add(1, SeqCst), Left::new(left))))
}

#[test]
fn set_14_callers_of_one_key_get_one_executor_and_a_close_leaves_none() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let (memo, made) = (Arc::new(Memo::<Value>::new(1)), Arc::new(AtomicUsize::new(0)));
        let ask = {
            let (set, memo, made, left) = (
                Arc::clone(&set),
                Arc::clone(&memo),
                Arc::clone(&made),
                Arc::clone(&left),
            );
            move || {
                memo.get_or_make(&set, "a", || make(&made, &left))
                    .map(|value| value.0)
            }
        };
        let others = [thread::spawn(ask.clone()), thread::spawn(ask)];
        close(&set);
        drop(memo.take_all());
        assert_eq!(left.load(SeqCst), 0, "none outlives the close");
        for other in others {
            let got = other.join().unwrap();
            assert!(matches!(got, Ok(0) | Err(Refused::Closing)), "{got:?}");
        }
        assert!(made.load(SeqCst) <= 1);
        assert!(memo.keys().is_empty());
    });
}

#[test]
fn set_3_of_two_keys_for_one_place_one_is_refused() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let (memo, made) = (Arc::new(Memo::<Value>::new(1)), Arc::new(AtomicUsize::new(0)));
        let other = thread::spawn({
            let (set, memo, made, left) = (
                Arc::clone(&set),
                Arc::clone(&memo),
                Arc::clone(&made),
                Arc::clone(&left),
            );
            move || memo.get_or_make(&set, "a", || make(&made, &left)).err()
        });
        let refused = memo.get_or_make(&set, "b", || make(&made, &left)).err();
        let mut refusals = [refused, other.join().unwrap()];
        refusals.sort_by_key(Option::is_some);
        assert_eq!(refusals, [None, Some(Refused::Full { max: 1 })]);
        assert_eq!((left.load(SeqCst), memo.keys().len()), (1, 1));
    });
}

#[test]
fn set_15_what_fails_is_forgotten_and_nothing_is_made_twice() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let (memo, made) = (Arc::new(Memo::<Value>::new(1)), Arc::new(AtomicUsize::new(0)));
        let failing = thread::spawn({
            let (set, memo) = (Arc::clone(&set), Arc::clone(&memo));
            move || drop(memo.get_or_make(&set, "a", || Err(Refused::Closing)))
        });
        let making = thread::spawn({
            let (set, memo, made, left) = (
                Arc::clone(&set),
                Arc::clone(&memo),
                Arc::clone(&made),
                Arc::clone(&left),
            );
            move || memo.get_or_make(&set, "a", || make(&made, &left)).map(drop)
        });
        assert_eq!(making.join().unwrap(), Ok(()));
        failing.join().unwrap();
        let again = memo.get_or_make(&set, "a", || make(&made, &left));
        assert_eq!(again.map(|value| value.0), Ok(0), "made twice");
        assert_eq!(left.load(SeqCst), 1);
    });
}

#[test]
fn a_released_key_is_ended_before_it_is_made_anew() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let (memo, made) = (Arc::new(Memo::<Value>::new(1)), Arc::new(AtomicUsize::new(0)));
        drop(memo.get_or_make(&set, "a", || make(&made, &left)));
        let releasing = thread::spawn({
            let (set, memo) = (Arc::clone(&set), Arc::clone(&memo));
            move || {
                let Some(lease) = set.admit() else { return };
                memo.release(&lease, "a", drop);
            }
        });
        let asked = memo.get_or_make(&set, "a", || {
            assert_eq!(left.load(SeqCst), 0, "two of one key");
            make(&made, &left)
        });
        assert!(asked.is_ok_and(|value| value.0 <= 1));
        close(&set);
        drop(memo.take_all());
        assert_eq!(left.load(SeqCst), 0);
        releasing.join().unwrap();
    });
}

/// A command to which requests are made, and what of them arrived.
struct Requested {
    requests: Requests<()>,
    ended: AtomicBool,
    terminations: AtomicUsize,
    kills: AtomicUsize,
    interrupts: AtomicUsize,
}

impl Requested {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            requests: Requests::new(),
            ended: AtomicBool::default(),
            terminations: AtomicUsize::default(),
            kills: AtomicUsize::default(),
            interrupts: AtomicUsize::default(),
        })
    }

    /// Something arrives, which nothing may after the end.
    fn arrive(&self, at: &AtomicUsize) {
        assert!(!self.ended.load(SeqCst), "the command had ended");
        at.fetch_add(1, SeqCst);
    }

    fn interrupt(&self) -> Answer<()> {
        self.requests.pass(|| {
            self.arrive(&self.interrupts);
            Ok(())
        })
    }

    fn terminate(&self) -> Answer<()> {
        self.requests.terminate(|| {
            self.arrive(&self.terminations);
            Ok(())
        })
    }

    fn kill(&self) -> Answer<()> {
        self.requests.kill(|| self.arrive(&self.kills))
    }

    fn end(&self) {
        self.requests.end();
        self.ended.store(true, SeqCst);
    }

    fn arrived(&self) -> [usize; 3] {
        [&self.interrupts, &self.terminations, &self.kills].map(|count| count.load(SeqCst))
    }
}

/// Does it on a thread of its own.
fn aside<T: 'static>(
    on: &Arc<Requested>,
    does: impl FnOnce(&Requested) -> T + 'static,
) -> thread::JoinHandle<T> {
    let on = Arc::clone(on);
    thread::spawn(move || does(&on))
}

#[test]
fn sig_5_sig_9_of_requests_that_meet_one_of_a_kind_arrives_and_all_get_its_answer() {
    explore(|| {
        let command = Requested::new();
        let escalating = aside(&command, |command| [command.terminate(), command.kill()]);
        let killing = aside(&command, |command| [command.kill(), command.terminate()]);
        let [first, escalated] = escalating.join().unwrap();
        let [killed, second] = killing.join().unwrap();
        for mut answers in [[first, second], [escalated, killed]] {
            answers.sort_by_key(|answer| matches!(answer, Answer::DoneBefore(_)));
            assert_eq!(answers, [Answer::Done(Ok(())), Answer::DoneBefore(Ok(()))]);
        }
        assert_eq!(command.arrived(), [0, 1, 1]);
        assert!(command.requests.is_killed());
    });
}

#[test]
fn sig_2_sig_7_nothing_arrives_after_an_end_that_anything_meets() {
    explore(|| {
        let command = Requested::new();
        let ending = aside(&command, Requested::end);
        let asking = aside(&command, |command| {
            let asked = [command.interrupt(), command.terminate()];
            // The grace is over.
            (asked, command.kill())
        });
        let killed = command.kill();
        let ([interrupted, terminated], escalated) = asking.join().unwrap();
        ending.join().unwrap();
        let [interrupts, terminations, kills] = command.arrived();
        let arrived = |answer| usize::from(answer == Answer::Done(Ok(())));
        assert_eq!(
            (interrupts, terminations),
            (arrived(interrupted), arrived(terminated))
        );
        assert_eq!(kills, arrived(killed) + arrived(escalated));
        assert!(kills <= 1, "killed twice");
        for late in [command.interrupt(), command.terminate(), command.kill()] {
            assert_eq!(late, Answer::Ended);
        }
        assert_eq!(command.arrived(), [interrupts, terminations, kills]);
    });
}

#[test]
fn sig_9_closing_an_owner_and_the_end_of_a_grace_are_one_kill() {
    explore(|| {
        let (set, left) = (Arc::new(Lifecycle::default()), Arc::new(AtomicUsize::new(0)));
        let (prepared, command) = (prepare(&set, &left).unwrap(), Requested::new());
        let starter = aside(&command, {
            let command = Arc::clone(&command);
            move |_| {
                let Ok(capsule) = prepared.take() else { return };
                let owned = Arc::new(Owned(Arc::clone(&command)));
                capsule.lease.attach(&owned);
                // The caller's grace is over at any moment; the command ends when it was killed.
                command.kill();
                command.end();
            }
        });
        close(&set);
        starter.join().unwrap();
        assert_eq!(left.load(SeqCst), 0);
        assert!(command.arrived()[2] <= 1, "killed twice");
    });
}

/// A command that its owner kills.
struct Owned(Arc<Requested>);

impl Closable for Owned {
    fn close_for_owner(&self) {
        self.0.kill();
    }
}

// PRE-25, PRC-1
#[test]
fn prc_1_a_cancellation_that_meets_a_start_keeps_it_from_starting_or_ends_it() {
    explore(|| {
        let cancellation = Arc::new(Cancellation::<Running>::default());
        let cancelling = thread::spawn({
            let cancellation = Arc::clone(&cancellation);
            move || {
                for running in cancellation.cancel() {
                    running.ended.store(true, SeqCst);
                }
            }
        });
        let started = if cancellation.is_cancelled() {
            None
        } else {
            let running = Arc::new(Running::default());
            if !cancellation.add(&running) {
                running.ended.store(true, SeqCst);
            }
            Some(running)
        };
        cancelling.join().unwrap();
        assert!(
            started.is_none_or(|running| running.ended.load(SeqCst)),
            "it runs on"
        );
        assert!(cancellation.is_cancelled());
    });
}

/// A waiter, as a runtime has it.
#[derive(Default)]
struct Woken(AtomicBool);

impl std::task::Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

fn poll(completion: &mut Completion<u8>, woken: &Arc<Woken>) -> std::task::Poll<u8> {
    let waker = std::task::Waker::from(Arc::clone(woken));
    let mut context = std::task::Context::from_waker(&waker);
    std::pin::Pin::new(completion).poll(&mut context)
}

#[test]
fn prc_25_whoever_waits_gets_the_first_value_though_another_stops_waiting() {
    explore(|| {
        let completion = Completion::<u8>::default();
        let completing = [7, 8].map(|value| {
            let completion = completion.clone();
            thread::spawn(move || completion.complete(value))
        });
        let gives_up = thread::spawn({
            let mut completion = completion.clone();
            move || {
                let _ = poll(&mut completion, &Arc::default());
            }
        });
        let (mut waiting, woken) = (completion.clone(), Arc::new(Woken::default()));
        let early = poll(&mut waiting, &woken);
        completing.into_iter().for_each(|other| other.join().unwrap());
        gives_up.join().unwrap();
        let value = completion.get().unwrap();
        match early {
            std::task::Poll::Ready(early) => assert_eq!(early, value),
            std::task::Poll::Pending => assert!(woken.0.load(SeqCst), "nobody woke it"),
        }
        assert_eq!(poll(&mut waiting, &woken), std::task::Poll::Ready(value));
    });
}
