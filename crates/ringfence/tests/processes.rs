//! Running commands: starting, waiting, dropping, closing.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::io::Read;
use std::path::PathBuf;
use std::sync::Barrier;
use std::time::{Duration, Instant, SystemTime};

use common::{Fixture, confined_or_not, eventually, own_seconds, processes_with, stops_growing};
use ringfence::blocking::{Executor, Process};
use ringfence::{CancelToken, Delivery, Ending, Execution, Exit, Limit, OutcomeError, RunError, Signal, Tty};

/// Nothing that is to happen at once takes this long.
const SOON: Duration = Duration::from_secs(10);

fn spawn(executor: &Executor, text: &str) -> Process {
    executor.shell(text).spawn().unwrap()
}

/// A text that writes on and on, with a process of its own session doing so as well.
const WRITES_ON: &str = "setsid sh -c 'trap \"\" HUP TERM; while :; do echo x >>log; sleep 0.02; done' &
    while :; do echo x >>log; sleep 0.02; done";

fn writing(executor: &Executor, fixture: &Fixture) -> Process {
    let _ = std::fs::remove_file(fixture.path("log"));
    let process = spawn(executor, WRITES_ON);
    let log = fixture.path("log");
    eventually("the first lines", || {
        log.metadata().is_ok_and(|log| log.len() > 10)
    });
    process
}

// PRC-8, PRC-6: an error and no process, or a result and no error.
#[test]
fn prc_8_what_does_not_start_is_an_error_and_what_exits_is_not() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        std::fs::write(fixture.path("not-executable"), "").unwrap();
        for (program, errno) in [
            ("no-such-program", rustix::io::Errno::NOENT),
            ("/no/such/program", rustix::io::Errno::NOENT),
            ("./not-executable", rustix::io::Errno::ACCESS),
        ] {
            let Err(RunError::Setup(failed)) = executor.command(program).spawn() else {
                panic!("{program} ran");
            };
            assert_eq!(
                (failed.is_execute(), failed.errno),
                (true, errno.raw_os_error()),
                "{program}"
            );
        }
        let missing = executor
            .command("true")
            .current_dir(fixture.path("missing"))
            .spawn();
        assert!(matches!(
            missing,
            Err(RunError::Invalid {
                field: "working directory",
                ..
            })
        ));
        assert!(set.executions().is_empty());
        assert_eq!(
            spawn(&executor, "exit 126").wait().unwrap().ended,
            Ending::Exited(126)
        );
        assert!(set.close_within(SOON).unwrap().is_clean());
    }
}

// PRC-1, PRC-4: a command that is being started when its set closes is refused or ended.
#[test]
fn prc_1_prc_4_a_start_that_meets_a_close_is_refused_or_ended() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        for round in 0..4 {
            let set = fixture.set_with(&config);
            let executor = set.executor("a").unwrap();
            let (seconds, start) = (own_seconds(), Barrier::new(9));
            let ended = std::thread::scope(|scope| {
                let starters = [0; 8].map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        executor.command("sleep").arg(&seconds).spawn()?.wait()
                    })
                });
                start.wait();
                std::thread::sleep(Duration::from_millis(round));
                assert!(set.close_within(SOON).unwrap().is_clean());
                assert_eq!(processes_with(&seconds), Vec::<u32>::new());
                starters.map(|starter| starter.join().unwrap())
            });
            for result in ended {
                match result {
                    Ok(exit) => assert_eq!(exit.ended, Ending::OwnerClosed),
                    Err(RunError::ExecutorClosed | RunError::ProcessClosed) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
}

// PRC-1: giving the start up ends it, having it does not depend on anybody.
#[tokio::test(flavor = "multi_thread")]
async fn prc_1_whoever_gives_a_start_up_leaves_no_command() {
    let fixture = Fixture::new();
    let profile = ringfence::Profile::new(&fixture.config(), &ringfence::Host).unwrap();
    let builder = ringfence::ExecutorSet::builder(profile).scratch_root(fixture.scratch.path());
    let set = builder.max_executors(1).build().unwrap();
    let executor = set.executor("a").await.unwrap();
    let seconds = own_seconds();
    // Cold and warm, and given up at different moments.
    for round in 0..12 {
        let prepared = executor.command("sleep").arg(&seconds).prepare().await.unwrap();
        let patience = Duration::from_micros(round * 200);
        match tokio::time::timeout(patience, prepared.start()).await {
            // Ours, and dropping it would leave it.
            Ok(started) => started.unwrap().kill(),
            Err(_) => assert_eq!(
                prepared.start().await.map(drop).unwrap_err(),
                RunError::AlreadyStarted
            ),
        }
    }
    let patience = Instant::now() + SOON;
    while !set.executions().is_empty() || !processes_with(&seconds).is_empty() {
        assert!(Instant::now() < patience, "{:?}", set.executions());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(set.close().await.is_clean());
}

// PRC-10, PRC-14: nobody has to wait.
#[test]
fn prc_10_a_command_that_nobody_waits_for_leaves_nothing() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let kept = spawn(&executor, "exit 3");
        let forgotten = spawn(&executor, "exit 3");
        std::mem::forget(forgotten);
        drop(spawn(&executor, "exit 3"));
        eventually("the end of all three", || set.executions().is_empty());
        assert_eq!(kept.try_wait().unwrap().unwrap().ended, Ending::Exited(3));
        assert!(kept.try_wait_all().unwrap().is_ok());
        assert!(set.close_within(SOON).unwrap().is_clean());
    }
}

// PRC-11: what the command leaves gets no grace.
#[test]
fn prc_11_whatever_a_command_leaves_is_killed_without_being_asked() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "setsid sh -c 'trap \"echo asked >asked; exit\" TERM HUP INT; touch ready; while :; do sleep 0.01; done' &
        while ! test -e ready; do sleep 0.01; done";
    let outcome = spawn(&executor, text).wait_all().unwrap();
    assert!(outcome.success());
    assert!(fixture.path("ready").exists() && !fixture.path("asked").exists());
}

// PRC-16, PRC-17, SET-36: piped ones, one with a terminal, ones that nobody reads, preparations, all of them at once.
#[test]
fn prc_16_prc_17_closing_a_set_ends_every_kind_of_command() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let other = set.executor("b").unwrap();
    let prepared = executor
        .command("touch")
        .arg(fixture.path("mark"))
        .prepare()
        .unwrap();
    let running = [
        writing(&executor, &fixture),
        spawn(&executor, "trap '' HUP INT TERM; while :; do sleep 0.05; done"),
        spawn(&executor, "yes"),
        spawn(&other, "sleep 60"),
        executor.shell("sleep 60").tty(Tty::default()).spawn().unwrap(),
        executor.shell("yes").tty(Tty::default()).spawn().unwrap(),
    ];
    let began = Instant::now();
    let closing = [0; 8].map(|_| {
        let set = set.clone();
        std::thread::spawn(move || set.close())
    });
    for close in closing {
        assert!(close.join().unwrap().is_clean());
        // Whoever comes back comes back after the last command.
        assert!(running.iter().all(|process| process.try_wait_all().is_some()));
    }
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    for process in &running {
        assert_eq!(process.wait().unwrap().ended, Ending::OwnerClosed);
        assert_eq!(
            process.wait_all().unwrap().error(),
            Some(OutcomeError::OwnerClosed)
        );
    }
    stops_growing(&fixture.path("log"));
    assert_eq!(prepared.start().map(drop).unwrap_err(), RunError::ProcessClosed);
    assert!(!fixture.path("mark").exists());
}

// PRC-25: any number of waiters, one answer.
#[test]
fn prc_25_every_waiter_gets_the_same_answer() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let process = spawn(&executor, "sleep 0.2; echo out; exit 5");
        let (exits, outcomes) = std::thread::scope(|scope| {
            let waiters = [0; 16].map(|_| scope.spawn(|| (process.wait(), process.wait_all())));
            waiters
                .map(|waiter| waiter.join().unwrap())
                .into_iter()
                .unzip::<_, _, Vec<_>, Vec<_>>()
        });
        let (first, whole) = (process.wait().unwrap(), process.wait_all().unwrap());
        assert_eq!(first.ended, Ending::Exited(5));
        assert!(exits.into_iter().all(|exit| exit.unwrap() == first));
        assert!(outcomes.into_iter().all(|outcome| outcome.unwrap() == whole));
        assert_eq!(
            (process.try_wait(), process.try_wait_all()),
            (Some(Ok(first)), Some(Ok(whole)))
        );
    }
}

// PRC-25: who stops waiting stops nothing else, and what is known already is told in any case.
#[tokio::test]
async fn prc_25_giving_up_waiting_ends_only_that() {
    let fixture = Fixture::new();
    let profile = ringfence::Profile::new(&fixture.config(), &ringfence::Host).unwrap();
    let builder = ringfence::ExecutorSet::builder(profile).scratch_root(fixture.scratch.path());
    let set = builder.max_executors(1).build().unwrap();
    let executor = set.executor("a").await.unwrap();
    let token = CancelToken::new();
    let process = executor
        .shell("read go; exit 6")
        .cancel_on(&token)
        .spawn()
        .await
        .unwrap();
    // Taken, or waiting would close it.
    let mut process = process;
    let stdin = process.take_stdin().unwrap();
    for _ in 0..3 {
        let given_up = tokio::time::timeout(Duration::from_millis(50), process.wait()).await;
        assert!(given_up.is_err());
        let given_up = tokio::time::timeout(Duration::from_millis(50), process.wait_all()).await;
        assert!(given_up.is_err() && process.try_wait().is_none());
    }
    drop(stdin);
    let exit = process.wait().await.unwrap();
    assert_eq!(exit.ended, Ending::Exited(6));
    process.wait_all().await.unwrap();
    // After the end, the token changes no result, and no patience is too short for it.
    token.cancel();
    let known = tokio::time::timeout(Duration::ZERO, process.wait())
        .await
        .unwrap();
    assert_eq!(known.unwrap(), exit);
    assert!(set.close().await.is_clean());
}

// PRC-26: nothing that could be taken for a number of a process.
#[test]
fn prc_26_a_result_says_when_and_how_long_and_names_no_process() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let before = SystemTime::now();
    let exit = spawn(&executor, "sleep 0.2; exit 1").wait().unwrap();
    assert!(before <= exit.started && exit.started <= SystemTime::now());
    assert!(
        exit.elapsed >= Duration::from_millis(200) && exit.elapsed < SOON,
        "{exit:?}"
    );
    assert_eq!(
        (exit.code(), exit.success(), exit.error()),
        (Some(1), false, None)
    );
    let Exit {
        ended: _,
        requested: _,
        started: _,
        elapsed: _,
        ..
    } = exit;
    let shown = format!("{exit:?}");
    assert!(!shown.contains("pid") && !shown.contains("process"), "{shown}");
}

// PRC-28, PRC-29: how it ended, and by whose doing.
#[test]
fn prc_28_prc_29_a_result_says_how_it_ended_and_who_wanted_that() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let signaled = |signal| Ending::Signaled { signal, core: false };
    let ends = |process: Process| {
        let exit = process.wait().unwrap();
        let outcome = process.wait_all().unwrap();
        assert_eq!((outcome.ended, outcome.requested), (exit.ended, exit.requested));
        (exit.ended, exit.requested)
    };
    assert_eq!(ends(spawn(&executor, "exit 255")), (Ending::Exited(255), None));
    assert_eq!(ends(spawn(&executor, "kill -USR1 $$")), (signaled(10), None));
    assert_eq!(ends(spawn(&executor, "kill -KILL $$")), (signaled(9), None));

    let asked = executor.command("sleep").arg("60").spawn().unwrap();
    assert_eq!(asked.signal(Signal::Terminate), Ok(Delivery::Sent));
    assert_eq!(ends(asked), (signaled(15), Some(Signal::Terminate)));
    let killed = executor.command("sleep").arg("60").spawn().unwrap();
    killed.kill();
    assert_eq!(ends(killed), (Ending::Cancelled, Some(Signal::Kill)));

    let late = executor
        .command("sleep")
        .arg("60")
        .timeout(Duration::from_millis(100));
    assert_eq!(ends(late.spawn().unwrap()), (Ending::TimedOut, None));
    let late = executor
        .command("sleep")
        .arg("60")
        .deadline(Instant::now() + Duration::from_secs(3));
    assert_eq!(ends(late.spawn().unwrap()), (Ending::TimedOut, None));
    let loud = executor
        .shell("yes")
        .stdout(ringfence::Stdio::Captured)
        .output_limit(1000);
    assert_eq!(
        ends(loud.spawn().unwrap()),
        (Ending::LimitExceeded(Limit::Output), None)
    );
    let token = CancelToken::new();
    let cancelled = executor
        .command("sleep")
        .arg("60")
        .cancel_on(&token)
        .spawn()
        .unwrap();
    token.cancel();
    assert_eq!(ends(cancelled), (Ending::Cancelled, None));
    let left = executor.command("sleep").arg("60").spawn().unwrap();
    assert!(set.close().is_clean());
    assert_eq!(ends(left), (Ending::OwnerClosed, None));
}

// PRC-47: a run that somebody else ended is no exit, whatever the command says.
#[test]
fn prc_47_a_run_that_was_ended_is_never_an_exit() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let token = CancelToken::new();
        let ended = |end: &(dyn Fn(&ringfence::blocking::ExecutorSet) + Sync)| {
            let set = fixture.set_with(&config);
            let executor = set.executor("a").unwrap();
            let _ = std::fs::remove_file(fixture.path("begun"));
            let text = "trap 'exit 0' TERM HUP INT; echo begun; touch begun; while :; do sleep 0.02; done";
            std::thread::scope(|scope| {
                let run = executor.shell(text).cancel_on(&token);
                let run = scope.spawn(|| run.output().unwrap());
                eventually("the start", || fixture.path("begun").exists());
                end(&set);
                let outcome = run.join().unwrap();
                assert_eq!(outcome.stdout.head(), b"begun\n");
                outcome.ended
            })
        };
        assert_eq!(ended(&|set| assert!(set.close().is_clean())), Ending::OwnerClosed);
        assert_eq!(ended(&|_| token.cancel()), Ending::Cancelled);
    }
}

#[test]
fn whether_dropping_a_handle_kills_is_the_callers_choice() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let start = |command: ringfence::blocking::Command| {
        let seconds = own_seconds();
        let text = format!("setsid sleep {seconds} & sleep {seconds}");
        let command = command.args(["-c", &text]);
        let process = command.spawn().unwrap();
        eventually("both", || processes_with(&seconds).len() == 2);
        drop(process);
        seconds
    };
    let (left, kept) = (
        start(executor.command("sh")),
        start(executor.command("sh").kill_on_drop(false)),
    );
    let killed = start(executor.command("sh").kill_on_drop(true));
    eventually("its end", || processes_with(&killed).is_empty());
    for seconds in [left, kept] {
        assert_eq!(processes_with(&seconds).len(), 2, "by default it goes on");
    }
    eventually("its execution's end", || set.executions().len() == 2);
    // One that has ended has nothing that could be killed.
    let over = executor.shell("exit 2").kill_on_drop(true).spawn().unwrap();
    assert_eq!(over.wait_all().unwrap().requested, None);
    drop(over);
    assert!(set.close().is_clean());
}

#[test]
fn shutting_down_asks_waits_and_kills() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let ready = |text: &str| {
        let mut process = spawn(&executor, text);
        let mut byte = [0];
        process.take_stdout().unwrap().read_exact(&mut byte).unwrap();
        process
    };
    let polite = ready("trap 'touch asked; exit 8' TERM; echo; while :; do sleep 0.02; done");
    let outcome = polite.shutdown(Duration::from_secs(60)).unwrap();
    assert_eq!(
        (outcome.ended, outcome.requested),
        (Ending::Exited(8), Some(Signal::Terminate))
    );
    assert!(fixture.path("asked").exists());

    let deaf = ready("trap '' TERM; echo; while :; do sleep 0.02; done");
    let began = Instant::now();
    let outcome = deaf.shutdown(Duration::from_millis(200)).unwrap();
    assert_eq!(outcome.ended, Ending::Cancelled);
    assert!(began.elapsed() >= Duration::from_millis(200) && began.elapsed() < SOON);
    // The grace is that of the call, and not the command's.
    let over = deaf.shutdown(Duration::from_secs(60)).unwrap();
    assert_eq!(over, outcome);
}

/// Puts a process into a group that is frozen, until it is dropped: not even SIGKILL ends it.
struct Frozen(PathBuf);

impl Frozen {
    /// `None` where this kernel or this user has no such groups.
    fn new(name: &str) -> Option<Self> {
        let group = PathBuf::from("/sys/fs/cgroup/freezer").join(format!("rf-{}-{name}", std::process::id()));
        std::fs::create_dir(&group).ok()?;
        Some(Self(group))
    }

    fn freeze(&self, process: u32) {
        std::fs::write(self.0.join("cgroup.procs"), process.to_string()).unwrap();
        std::fs::write(self.0.join("freezer.state"), "FROZEN").unwrap();
        let state = || std::fs::read_to_string(self.0.join("freezer.state")).unwrap();
        eventually("freezing", || state().trim() == "FROZEN");
    }

    fn thaw(&self) {
        std::fs::write(self.0.join("freezer.state"), "THAWED").unwrap();
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        let _ = std::fs::write(self.0.join("freezer.state"), "THAWED");
        // A process may still be on its way out.
        let patience = Instant::now() + SOON;
        while std::fs::remove_dir(&self.0).is_err() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

// PRC-18, PRC-30, LIF-22, LIF-23: a process that does not die holds up nobody but those who wait for it.
#[test]
fn prc_18_prc_30_a_process_that_does_not_die_is_told_and_waited_for() {
    let test = "prc_18_prc_30_a_process_that_does_not_die_is_told_and_waited_for";
    let Some(frozen) = Frozen::new("wait") else {
        common::skip(test, "no process can be frozen here");
        return;
    };
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let seconds = own_seconds();
    let text = format!("sleep {seconds} & touch begun; while ! test -e go; do sleep 0.01; done; exit 9");
    let process = executor.shell(text).execution_id("stuck").spawn().unwrap();
    eventually("the background process", || processes_with(&seconds).len() == 1);
    frozen.freeze(processes_with(&seconds)[0]);
    std::fs::write(fixture.path("go"), "").unwrap();

    let began = Instant::now();
    assert_eq!(process.wait().unwrap().ended, Ending::Exited(9));
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!(process.signal(Signal::Kill), Ok(Delivery::Ended));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(process.try_wait_all(), None);
    let [known]: [Execution; 1] = set.executions().try_into().unwrap();
    assert_eq!(
        (known.executor.as_str(), known.id.as_str(), known.exited),
        ("a", "stuck", true)
    );

    let still = set.close_within(Duration::from_millis(300)).unwrap_err();
    let [survivor] = still.survivors.as_slice() else {
        panic!("{still:?}")
    };
    assert_eq!((still.alive, survivor.executor.as_str()), (1, "a"));
    assert_eq!(
        (survivor.program.to_str(), survivor.exited),
        (Some("/bin/sh"), true)
    );
    assert!(
        survivor
            .killed_for
            .is_some_and(|time| time >= Duration::from_millis(200)),
        "{survivor:?}"
    );
    assert!(still.to_string().ends_with(": \"/bin/sh\" of \"a\""), "{still}");
    std::thread::sleep(Duration::from_millis(50));
    assert!(
        set.executions()[0].killed_for > survivor.killed_for,
        "it gets older"
    );
    assert_eq!(process.try_wait_all(), None);
    assert_eq!(processes_with(&seconds).len(), 1);

    frozen.thaw();
    // It exited before its owner closed.
    assert_eq!(process.wait_all().unwrap().ended, Ending::Exited(9));
    assert!(set.close().is_clean());
    assert_eq!((set.executions().len(), processes_with(&seconds).len()), (0, 0));
}
