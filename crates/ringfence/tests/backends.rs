//! What sets ask of a backend, seen from a backend that confines nothing and counts.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

mod common;

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Fixture, eventually};
use ringfence::backend::direct::Direct;
use ringfence::backend::{
    Backend, Capabilities, CompileRequest, CompiledPolicy, Containment, Event, Launch, LaunchError, Notifier,
    ReleaseFailed, SetupFailed, Unavailable, Watch,
};
use ringfence::blocking::{ExecutorSet, Process};
use ringfence::{
    CancelToken, CloseProblem, Delivery, Ending, ExecutorError, Host, Isolation, Lifetime, Probe, Profile,
    RegionTree, Report, RunError, Signal, SignalError, Tty,
};

#[derive(Debug, Default)]
struct Counting {
    direct: Direct,
    counts: Arc<Counts>,
    /// Compiling says that it has begun, and goes on when it is told to.
    gate: Mutex<Option<(Sender<()>, Receiver<()>)>>,
}

#[derive(Debug, Default)]
struct Counts {
    compiled: AtomicUsize,
    released: AtomicUsize,
    bases: Mutex<Vec<PathBuf>>,
    refuses: AtomicBool,
    keeps: AtomicBool,
    /// Whether the first look at a compiled policy fails.
    fails: AtomicBool,
    /// Variables that each command was given.
    given: Mutex<Vec<usize>>,
    kills: AtomicUsize,
    /// How many kills have no effect.
    deaf: AtomicUsize,
    /// Whether launching fails.
    breaks: AtomicBool,
    /// Every signal that was to be delivered.
    signals: Mutex<Vec<Signal>>,
    /// What delivering one answers, in place of delivering it.
    answer: Mutex<Option<Result<(), SignalError>>>,
    /// Whether the end of a tree can't be proved.
    lingers: AtomicBool,
    notifier: Mutex<Option<Notifier>>,
    /// What went, in this order.
    gone: Mutex<Vec<&'static str>>,
}

impl Backend for Counting {
    fn capabilities(&self) -> &Capabilities {
        self.direct.capabilities()
    }

    fn private_directories(&self) -> &'static [&'static str] {
        &[]
    }

    fn advice(&self, _: &SetupFailed) -> String {
        String::new()
    }

    fn compile(&self, mut request: CompileRequest) -> Result<Arc<dyn CompiledPolicy>, Unavailable> {
        let gate = self.gate.lock().unwrap().take();
        if let Some((begun, go)) = gate {
            begun.send(()).unwrap();
            go.recv().unwrap();
        }
        self.counts.compiled.fetch_add(1, Ordering::SeqCst);
        self.counts.bases.lock().unwrap().push(request.base.clone());
        if self.counts.refuses.load(Ordering::SeqCst) {
            return Err(Unavailable::Path {
                path: "/x".into(),
                why: "a test wants it so".to_owned(),
            });
        }
        request.policy.isolation = Isolation::Unconfined;
        Ok(Arc::new(Counted {
            policy: self.direct.compile(request)?,
            counts: Arc::clone(&self.counts),
        }))
    }
}

#[derive(Debug)]
struct Counted {
    policy: Arc<dyn CompiledPolicy>,
    counts: Arc<Counts>,
}

impl CompiledPolicy for Counted {
    fn report(&self) -> Arc<Report> {
        self.policy.report()
    }

    fn tree(&self) -> Arc<RegionTree> {
        self.policy.tree()
    }

    fn warm_up(&self) -> Result<(), LaunchError> {
        if self.counts.fails.load(Ordering::SeqCst) {
            return Err(LaunchError::Released);
        }
        Ok(())
    }

    fn launch(&self, mut launch: Launch) -> Result<Box<dyn Containment>, LaunchError> {
        self.counts.given.lock().unwrap().push(launch.environment.len());
        if self.counts.breaks.load(Ordering::SeqCst) {
            return Err(LaunchError::Setup(SetupFailed {
                step: "a step of a test",
                errno: 5,
                path: None,
            }));
        }
        *self.counts.notifier.lock().unwrap() = Some(launch.notifier.clone());
        launch.environment.push(("ADDED".into(), "1".into()));
        Ok(Box::new(Deaf {
            containment: self.policy.launch(launch)?,
            counts: Arc::clone(&self.counts),
            empty: AtomicBool::new(false),
        }))
    }

    fn release(&self) -> Result<(), ReleaseFailed> {
        self.counts.released.fetch_add(1, Ordering::SeqCst);
        self.counts.gone.lock().unwrap().push("policy");
        if self.counts.keeps.load(Ordering::SeqCst) {
            return Err(ReleaseFailed {
                what: "a view".to_owned(),
                why: "it is busy".to_owned(),
            });
        }
        Ok(())
    }
}

/// A process tree that does not hear the first kills, or whose end can't be proved, if that is wanted.
#[derive(Debug)]
struct Deaf {
    containment: Box<dyn Containment>,
    counts: Arc<Counts>,
    /// Nothing is left, and nobody has been told.
    empty: AtomicBool,
}

impl Containment for Deaf {
    fn lifetime(&self) -> Lifetime {
        self.containment.lifetime()
    }

    fn report(&self) -> Arc<Report> {
        self.containment.report()
    }

    fn descriptors(&self, watch: Watch) -> Vec<BorrowedFd<'_>> {
        self.containment.descriptors(watch)
    }

    fn next_event(&self) -> Option<Event> {
        let is_empty = self.empty.load(Ordering::SeqCst);
        let event = if is_empty {
            Some(Event::Empty)
        } else {
            self.containment.next_event()
        };
        let keeps = event == Some(Event::Empty) && self.counts.lingers.load(Ordering::SeqCst);
        self.empty.store(keeps, Ordering::SeqCst);
        if event == Some(Event::Empty) && !keeps {
            self.counts.gone.lock().unwrap().push("tree");
        }
        event.filter(|_| !keeps)
    }

    fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        self.counts.signals.lock().unwrap().push(signal);
        let answer = *self.counts.answer.lock().unwrap();
        answer.unwrap_or_else(|| self.containment.signal(signal))
    }

    fn kill(&self) {
        if self.counts.kills.fetch_add(1, Ordering::SeqCst) >= count(&self.counts.deaf) {
            self.containment.kill();
        }
    }
}

/// A set over a counting backend, with what it counts.
fn counted(fixture: &Fixture, backend: Counting) -> (ExecutorSet, Arc<Counts>) {
    let counts = Arc::clone(&backend.counts);
    let profile = Profile::new(&fixture.config(), &Host).unwrap();
    let set = ringfence::ExecutorSet::builder(profile)
        .scratch_root(fixture.scratch.path())
        .max_executors(2)
        .backend(Arc::new(backend))
        .probe(Probe::AtFirstExecutor)
        .build()
        .unwrap();
    (set.into(), counts)
}

/// A backend whose first compilation says when it has begun, and waits to be let go on.
fn gated() -> (Counting, Receiver<()>, Sender<()>) {
    let (begun, has_begun) = channel();
    let (go, wait) = channel();
    let gate = Mutex::new(Some((begun, wait)));
    let backend = Counting {
        gate,
        ..Counting::default()
    };
    (backend, has_begun, go)
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}

// SET-6, SET-9
#[test]
fn set_6_set_9_one_backend_serves_all_and_compiles_only_when_asked() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    assert_eq!(count(&counts.compiled), 0);
    assert_eq!(set.keys(), Vec::<String>::new());
    set.executor("b").unwrap();
    set.executor("a").unwrap();
    set.executor("a").unwrap();
    assert_eq!(
        (count(&counts.compiled), set.keys()),
        (2, vec!["a".into(), "b".into()])
    );
    assert!(set.close().is_clean());
    assert_eq!(count(&counts.released), 2);
}

// SET-15, SET-16
#[test]
fn set_15_set_16_a_failed_construction_leaves_nothing_and_can_be_tried_again() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    counts.refuses.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        let error = set.executor("a").unwrap_err();
        assert!(matches!(error, ExecutorError::Unavailable(_)), "{error}");
    }
    let bases = counts.bases.lock().unwrap().clone();
    assert!(
        bases.len() == 3 && bases.iter().all(|base| !base.exists()),
        "{bases:?}"
    );
    assert!(set.keys().is_empty());
    counts.refuses.store(false, Ordering::SeqCst);
    set.executor("a").unwrap();
    set.executor("b").unwrap();
    let error = set.executor("c").unwrap_err();
    assert!(matches!(error, ExecutorError::Limit { max: 2 }), "{error}");
    assert!(set.close().is_clean());
}

// SET-16, SET-17, POL-119: what was compiled before the failure is released, once, and what that leaves is told.
#[test]
fn set_17_a_policy_that_turns_out_useless_is_released() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    counts.fails.store(true, Ordering::SeqCst);
    let error = set.executor("a").map(drop).unwrap_err();
    assert!(
        matches!(error, ExecutorError::Unavailable(Unavailable::Path { .. })),
        "{error:?}"
    );
    assert_eq!(count(&counts.released), 1);
    counts.keeps.store(true, Ordering::SeqCst);
    let error = set.executor("a").map(drop).unwrap_err();
    let ExecutorError::Residue { cause, problems } = &error else {
        panic!("{error:?}")
    };
    assert!(matches!(problems.as_slice(), [CloseProblem::Policy { key, .. }] if key == "a"));
    assert_eq!(error.code(), cause.code());
    assert!(error.to_string().contains("it is busy"), "{error}");
    assert_eq!((count(&counts.released), set.keys().len()), (2, 0));
    assert!(set.close().is_clean());
    assert_eq!(count(&counts.released), 2);
}

#[test]
fn exe_57_what_a_backend_does_to_a_launch_stays_with_that_launch() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    let executor = set.executor("a").unwrap();
    for _ in 0..2 {
        let outcome = executor.run_command(fixture.workspace.path(), "echo $ADDED");
        assert_eq!(outcome.unwrap().stdout.to_text(), "1\n");
    }
    let given = counts.given.lock().unwrap().clone();
    assert_eq!(given, [executor.variables().len() + 1; 2], "with PWD");
    assert!(set.close().is_clean());
}

#[test]
fn set_14_building_one_key_holds_up_no_other() {
    let fixture = Fixture::new();
    let (backend, has_begun, go) = gated();
    let (set, counts) = counted(&fixture, backend);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| set.executor("slow").unwrap());
        has_begun.recv().unwrap();
        let quick = set.executor("quick").unwrap();
        assert_eq!(set.executor("quick").unwrap().home(), quick.home());
        assert_eq!(count(&counts.compiled), 1);
        go.send(()).unwrap();
        slow.join().unwrap();
    });
    assert!(set.close().is_clean());
}

// SET-31, SET-38, PRC-15
#[test]
fn set_31_set_38_every_problem_of_closing_is_told_and_nothing_is_released_twice() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    set.executor("a").unwrap();
    set.executor("b").unwrap();
    counts.keeps.store(true, Ordering::SeqCst);
    let report = set.close();
    let mut keys: Vec<&str> = report
        .problems
        .iter()
        .map(|problem| match problem {
            CloseProblem::Policy { key, failed } if failed.what == "a view" => key.as_str(),
            _ => "",
        })
        .collect();
    keys.sort_unstable();
    assert_eq!(keys, ["a", "b"]);
    assert_eq!(set.close(), report);
    assert_eq!(count(&counts.released), 2);
    assert!(
        fixture.scratch_entries().is_empty(),
        "the directories are removed all the same"
    );
}

// SET-32, SET-41
#[test]
fn set_32_set_41_nothing_is_released_under_a_command_and_waiting_can_be_bounded() {
    let fixture = Fixture::new();
    let (backend, has_begun, go) = gated();
    let (set, counts) = counted(&fixture, backend);
    std::thread::scope(|scope| {
        let making = scope.spawn(|| set.executor("a"));
        has_begun.recv().unwrap();
        let still = set.close_within(Duration::from_millis(50)).unwrap_err();
        assert_eq!(still.alive, 1);
        assert_eq!(count(&counts.released), 0);
        assert!(matches!(set.executor("b"), Err(ExecutorError::SetClosed)));
        go.send(()).unwrap();
        // It was admitted before the closing began, so it is finished, and then closed like any other.
        let made = making.join().unwrap().unwrap();
        assert!(set.close_within(Duration::from_secs(30)).unwrap().is_clean());
        let late = made.run_command(fixture.workspace.path(), "true").unwrap_err();
        assert!(matches!(late, RunError::ExecutorClosed), "{late}");
    });
    assert_eq!((count(&counts.compiled), count(&counts.released)), (1, 1));
}

// SET-40, EXE-55
#[test]
fn set_40_a_failed_spawn_holds_up_no_close() {
    let fixture = Fixture::new();
    let (set, _) = counted(&fixture, Counting::default());
    let executor = set.executor("a").unwrap();
    let missing = executor.run_argv(fixture.workspace.path(), ["no-such-program"]);
    assert!(missing.is_err());
    assert!(set.close_within(Duration::from_secs(30)).unwrap().is_clean());
}

// EXE-48, EXE-53, EXE-54, PRC-48
#[test]
fn exe_54_a_tree_that_does_not_die_is_killed_again_and_nothing_is_released_before_it_has() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    counts.deaf.store(2, Ordering::SeqCst);
    let executor = set.executor("a").unwrap();
    let running = executor
        .shell("exec sleep 300")
        .current_dir(fixture.workspace.path());
    let running = running.spawn().unwrap();
    let still = set.close_within(Duration::from_millis(200)).unwrap_err();
    assert_eq!((still.alive, count(&counts.released)), (1, 0));
    assert_eq!(running.wait().unwrap().ended, Ending::OwnerClosed);
    assert!(set.close().is_clean());
    assert!(count(&counts.kills) >= 3 && count(&counts.released) == 1);
}

#[test]
fn exe_47_what_the_caller_wants_is_the_reason_and_not_what_the_owner_does() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    // Nothing ends before both have asked for it.
    counts.deaf.store(2, Ordering::SeqCst);
    let token = CancelToken::new();
    let executor = set.executor("a").unwrap();
    let command = executor
        .shell("exec sleep 300")
        .current_dir(fixture.workspace.path());
    let running = command.cancel_on(&token).spawn().unwrap();
    set.close_within(Duration::ZERO).unwrap_err();
    token.cancel();
    assert_eq!(running.wait().unwrap().ended, Ending::Cancelled);
    assert!(set.close().is_clean());
}

#[test]
fn a_released_key_ends_its_commands_and_makes_room() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    let (first, other) = (set.executor("a").unwrap(), set.executor("b").unwrap());
    let home = first.home().unwrap().to_owned();
    let running = first
        .shell("sleep 300")
        .current_dir(fixture.workspace.path())
        .spawn()
        .unwrap();
    assert!(set.release("a").unwrap().is_clean());
    assert!(!running.wait().unwrap().success());
    assert_eq!((count(&counts.released), home.exists()), (1, false));
    let late = first.run_command(fixture.workspace.path(), "true").unwrap_err();
    assert!(matches!(late, RunError::ExecutorClosed), "{late}");
    assert!(
        other
            .run_command(fixture.workspace.path(), "true")
            .unwrap()
            .success()
    );
    assert_eq!(set.keys(), ["b"]);
    set.executor("c").unwrap();
    assert!(set.release("never asked for").unwrap().is_clean());
    assert!(set.close().is_clean());
}

/// A set whose only command sleeps, with this answer to every signal.
fn sleeping(
    fixture: &Fixture,
    answer: Option<Result<(), SignalError>>,
    grace: Duration,
) -> (ExecutorSet, Arc<Counts>, Process) {
    let (set, counts) = counted(fixture, Counting::default());
    *counts.answer.lock().unwrap() = answer;
    let executor = set.executor("a").unwrap();
    let sleeper = executor.command("sleep").arg("300").terminate_grace(grace);
    let process = sleeper.spawn().unwrap();
    (set, counts, process)
}

fn signals(counts: &Counts) -> Vec<Signal> {
    counts.signals.lock().unwrap().clone()
}

const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(100);

// SIG-3, SIG-10: nobody is there to ask the command, so nothing follows; killing needs nobody.
#[test]
fn sig_3_without_an_adapter_a_signal_is_refused_and_nothing_follows() {
    let fixture = Fixture::new();
    let (set, counts, process) = sleeping(&fixture, Some(Err(SignalError::Unsupported)), SHORT);
    for signal in [Signal::Interrupt, Signal::Terminate, Signal::Terminate] {
        assert_eq!(process.signal(signal), Err(SignalError::Unsupported));
    }
    assert_eq!(SignalError::Unsupported.code(), "process_signal_unsupported");
    std::thread::sleep(SHORT * 4);
    assert_eq!((process.try_wait(), count(&counts.kills)), (None, 0));
    // Who asks for an end gets one, at once.
    let began = Instant::now();
    assert_eq!(process.shutdown(LONG).unwrap().ended, Ending::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(process.signal(Signal::Terminate), Ok(Delivery::Ended));

    let executor = set.executor("a").unwrap();
    let late = executor
        .command("sleep")
        .arg("300")
        .timeout(SHORT)
        .terminate_grace(LONG);
    assert_eq!(late.output().unwrap().ended, Ending::TimedOut);
    let killed = executor.command("sleep").arg("300").spawn().unwrap();
    assert_eq!(killed.signal(Signal::Kill), Ok(Delivery::Sent));
    assert_eq!(killed.wait().unwrap().ended, Ending::Cancelled);
}

// SIG-5, SIG-10: a termination that could not be delivered is not tried again, and the kill follows.
#[test]
fn sig_10_after_a_failed_termination_the_kill_follows_all_the_same() {
    let fixture = Fixture::new();
    let failed = SignalError::Failed { errno: 1 };
    let (_set, counts, process) = sleeping(&fixture, Some(Err(failed)), SHORT);
    assert_eq!(process.signal(Signal::Terminate), Err(failed));
    *counts.answer.lock().unwrap() = None;
    assert!(matches!(process.signal(Signal::Terminate), Err(again) if again == failed));
    assert_eq!(process.wait().unwrap().ended, Ending::Cancelled);
    assert_eq!(
        (signals(&counts), count(&counts.kills)),
        (vec![Signal::Terminate], 1)
    );
}

// SIG-4: whatever delivering it answers is the answer, each time.
#[test]
fn sig_4_an_interrupt_is_delivered_each_time_and_its_error_is_the_answer() {
    let fixture = Fixture::new();
    let failed = SignalError::Failed { errno: 1 };
    let (_set, counts, process) = sleeping(&fixture, Some(Err(failed)), SHORT);
    assert_eq!(process.signal(Signal::Interrupt), Err(failed));
    *counts.answer.lock().unwrap() = Some(Ok(()));
    assert_eq!(process.signal(Signal::Interrupt), Ok(Delivery::Sent));
    std::thread::sleep(SHORT * 3);
    assert_eq!((process.try_wait(), count(&counts.kills)), (None, 0));
    assert_eq!(signals(&counts), [Signal::Interrupt; 2]);
}

// SIG-6, SIG-7, SIG-9: one termination, one kill, whoever asks for them.
#[test]
fn sig_9_an_escalation_and_kills_are_one_kill() {
    let fixture = Fixture::new();
    for (grace, by_hand) in [(SHORT, false), (Duration::from_secs(1), true), (SHORT, true)] {
        let (_set, counts, process) = sleeping(&fixture, Some(Ok(())), grace);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| process.signal(Signal::Terminate).unwrap());
            }
        });
        if by_hand {
            std::thread::scope(|scope| {
                for _ in 0..32 {
                    scope.spawn(|| process.signal(Signal::Kill).unwrap());
                }
            });
        }
        assert_eq!(process.wait().unwrap().ended, Ending::Cancelled);
        process.wait_all().unwrap();
        std::thread::sleep(grace);
        assert_eq!(
            (signals(&counts), count(&counts.kills)),
            (vec![Signal::Terminate], 1)
        );
    }
}

// SIG-7: whoever ends in time is not killed.
#[test]
fn sig_7_no_kill_comes_after_the_end() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    *counts.answer.lock().unwrap() = Some(Ok(()));
    let executor = set.executor("a").unwrap();
    let process = executor
        .shell("sleep 0.1; exit 4")
        .terminate_grace(Duration::from_secs(2));
    let process = process.spawn().unwrap();
    assert_eq!(process.signal(Signal::Terminate), Ok(Delivery::Sent));
    assert_eq!(process.wait_all().unwrap().ended, Ending::Exited(4));
    std::thread::sleep(Duration::from_millis(2200));
    for signal in [Signal::Interrupt, Signal::Terminate, Signal::Kill] {
        assert_eq!(process.signal(signal), Ok(Delivery::Ended));
    }
    assert_eq!(
        (signals(&counts), count(&counts.kills)),
        (vec![Signal::Terminate], 0)
    );
}

// TTY-1, PRE-5: before anything else that could be wrong with it, and never with pipes instead.
#[test]
fn tty_1_where_there_is_no_terminal_it_is_refused_when_it_is_prepared() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    let executor = set.executor("a").unwrap();
    let wanted = || executor.command("").tty(Tty::default());
    let error = wanted().prepare().map(drop).unwrap_err();
    assert_eq!(
        (&error, error.code()),
        (&RunError::TtyUnsupported, "process_tty_unsupported")
    );
    assert_eq!(wanted().output().unwrap_err(), RunError::TtyUnsupported);
    assert_eq!(wanted().spawn().map(drop).unwrap_err(), RunError::TtyUnsupported);
    assert!(counts.given.lock().unwrap().is_empty(), "nothing was launched");
    assert!(set.close().is_clean());
}

// PRC-6, PRC-9, PRE-26: a failed start gives everything back and uses the preparation up.
#[test]
fn prc_6_a_failed_start_holds_nothing() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    let executor = set.executor("a").unwrap();
    counts.breaks.store(true, Ordering::SeqCst);
    let prepared = executor.command("true").prepare().unwrap();
    let failed = prepared.start().map(drop).unwrap_err();
    assert!(matches!(&failed, RunError::Setup(failed) if failed.step == "a step of a test"));
    assert_eq!(prepared.start().map(drop).unwrap_err(), RunError::AlreadyStarted);
    assert!(executor.command("true").output().is_err());
    counts.breaks.store(false, Ordering::SeqCst);
    for _ in 0..25 {
        let raced = executor.command("true").prepare().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| raced.start().map(drop));
            scope.spawn(|| raced.close());
        });
    }
    assert!(set.close_within(Duration::from_secs(30)).unwrap().is_clean());
    assert_eq!(count(&counts.released), 1);
}

// PRC-11, PRC-12, PRC-14, LIF-20, LIF-21, LIF-22, LIF-23: without a proof nothing is released, whoever waits for it,
// and with one everything is, once.
#[test]
fn lif_20_lif_22_nothing_is_released_before_the_tree_is_known_to_have_ended() {
    let fixture = Fixture::new();
    let (set, counts) = counted(&fixture, Counting::default());
    counts.lingers.store(true, Ordering::SeqCst);
    let executor = set.executor("a").unwrap();
    let home = executor.home().unwrap().to_owned();
    let process = executor.shell("exit 6").spawn().unwrap();
    assert_eq!(
        process.wait().unwrap().ended,
        Ending::Exited(6),
        "it holds up no waiter"
    );
    assert!(process.try_wait_all().is_none());
    assert!(set.executions()[0].exited && set.executions()[0].killed_for.is_none());

    let still = set.close_within(Duration::from_millis(100)).unwrap_err();
    assert_eq!((still.alive, still.survivors.len()), (1, 1));
    // It is tried again, and again.
    eventually("further kills", || count(&counts.kills) >= 2);
    let known = set.executions();
    assert!(known[0].killed_for > still.survivors[0].killed_for, "{known:?}");
    assert_eq!((count(&counts.released), home.exists()), (0, true));
    assert!(counts.gone.lock().unwrap().is_empty());

    counts.lingers.store(false, Ordering::SeqCst);
    counts.notifier.lock().unwrap().take().unwrap().notify();
    assert_eq!(process.wait_all().unwrap().ended, Ending::Exited(6));
    assert!(set.close().is_clean());
    assert_eq!(*counts.gone.lock().unwrap(), ["tree", "policy"]);
    assert_eq!((set.executions().len(), home.exists()), (0, false));
}
