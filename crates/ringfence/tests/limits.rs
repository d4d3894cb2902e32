//! Limits: attacks first without one, then with it.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests end by panicking and say what they skip"
)]

mod common;

use std::time::{Duration, Instant};

use common::Fixture;
use ringfence::blocking::{Executor, ExecutorSet};
use ringfence::{
    Clause, Discharge, Ending, ExecutorError, Guarantees, Limit, Limits, Outcome, ProfileConfig, RunError,
    Unavailable,
};

/// An executor with the set that keeps it.
struct Owned {
    executor: Executor,
    _set: ExecutorSet,
}

impl std::ops::Deref for Owned {
    type Target = Executor;

    fn deref(&self) -> &Executor {
        &self.executor
    }
}

fn executor(fixture: &Fixture, config: &ProfileConfig) -> Result<Owned, ExecutorError> {
    let set = fixture.set_with(config);
    let executor = set.executor("a")?;
    Ok(Owned { executor, _set: set })
}

fn free(fixture: &Fixture) -> Owned {
    executor(fixture, &fixture.config()).unwrap()
}

/// An executor whose profile has these limits; `None`, said aloud, where nothing keeps one of them.
fn limited(fixture: &Fixture, test: &str, limits: Limits) -> Option<Owned> {
    let config = ProfileConfig {
        limits,
        ..fixture.config()
    };
    match executor(fixture, &config) {
        Ok(executor) => {
            let guarantees = executor.guarantees();
            assert!(guarantees.contains(Guarantees::RESOURCE_LIMITS), "{guarantees}");
            Some(executor)
        }
        // S-20: an explicit limit without a mechanism is refused, with what was tried.
        Err(ExecutorError::Unavailable(Unavailable::Guarantees { missing, entries })) => {
            assert_eq!(missing, Guarantees::RESOURCE_LIMITS);
            assert!(
                entries.iter().all(|entry| {
                    let Discharge::Unenforced { why } = &entry.discharge else {
                        return false;
                    };
                    matches!(entry.obligation.clause, Clause::Limit(_)) && why.contains("control group")
                }),
                "{entries:?}"
            );
            common::skip(test, "this user can't make a control group");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

fn run(executor: &Executor, text: &str) -> Outcome {
    executor
        .run_command(executor.profile().workspace().path.clone(), text)
        .unwrap()
}

/// Each of four children fills this many MiB.
fn hog(mebibytes: u32) -> String {
    let fill = format!("head -c {mebibytes}m /dev/zero | tail -c {mebibytes}m >/dev/null");
    format!("for i in 1 2 3 4; do {{ {fill}; echo done $i; }} & done; wait")
}

#[test]
fn s_47_memory_is_limited_for_the_whole_tree() {
    let fixture = Fixture::new();
    let free = free(&fixture);
    assert_eq!(run(&free, &hog(48)).stdout.to_text().matches("done").count(), 4);
    let limits = Limits {
        memory_bytes: Some(96 << 20),
        ..Limits::default()
    };
    let Some(executor) = limited(&fixture, "limit of memory", limits) else {
        return;
    };
    assert!(run(&executor, "echo fine").success());
    let outcome = run(&executor, &hog(48));
    assert_eq!(outcome.ended, Ending::LimitExceeded(Limit::Memory));
    let peak = outcome.usage.peak_memory_bytes.unwrap();
    assert!(peak > 64 << 20 && peak <= 97 << 20, "{peak}");
    // One child within the limit is fine.
    assert!(run(&executor, "head -c 48m /dev/zero | tail -c 48m >/dev/null").success());
}

#[test]
fn s_47_a_fork_bomb_is_bounded_and_the_host_stays_responsive() {
    let fixture = Fixture::new();
    // A line for each process that could be started; the shell gives up at the first one that can't.
    let bomb = "i=0; while [ $i -lt 200 ]; do sleep 60 & echo; i=$((i+1)); done 2>/dev/null";
    let started = |executor: &Executor| {
        let outcome = run(executor, bomb);
        (outcome.stdout.head().len(), outcome.usage)
    };
    assert_eq!(started(&free(&fixture)).0, 200);
    let limits = Limits {
        processes: Some(32),
        ..Limits::default()
    };
    let executor = limited(&fixture, "limit of processes", limits).expect("every user can limit processes");
    let (count, usage) = started(&executor);
    assert!(count > 20 && count < 40, "{count}");
    let again = run(&executor, "echo still works");
    assert!(again.success(), "{again:?}");
    if let Some(peak) = usage.peak_processes {
        assert!(peak <= 32, "{peak}");
        assert_eq!(usage.touched, [Limit::Processes]);
    }
}

#[test]
fn cpu_time_is_counted_for_the_whole_tree() {
    let fixture = Fixture::new();
    let limits = Limits {
        cpu_time: Some(Duration::from_millis(500)),
        ..Limits::default()
    };
    let Some(executor) = limited(&fixture, "limit of CPU time", limits) else {
        return;
    };
    // Sleeping costs nothing.
    assert!(run(&executor, "sleep 1").success());
    let began = Instant::now();
    // No one process uses up the limit before the tree has.
    let outcome = run(
        &executor,
        "for i in 1 2 3 4; do (while :; do :; done) & done; wait",
    );
    assert_eq!(outcome.ended, Ending::LimitExceeded(Limit::CpuTime));
    let used = outcome.usage.cpu_time.unwrap();
    assert!(
        used >= Duration::from_millis(500) && used < Duration::from_secs(3),
        "{used:?}"
    );
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn open_files_and_file_sizes_are_limited_for_each_process() {
    let fixture = Fixture::new();
    let limits = Limits {
        open_files: Some(16),
        file_bytes: Some(4096),
        ..Limits::default()
    };
    let executor = limited(&fixture, "limits of a process", limits).unwrap();
    assert_eq!(
        run(&executor, "ulimit -n; ulimit -Hn").stdout.to_text(),
        "16\n16\n"
    );
    let open = "i=3; while [ $i -lt 30 ]; do eval \"exec $i</dev/null\" || exit 9; i=$((i+1)); done";
    assert!(
        !run(&executor, &open.replace("exec $i", "exec 1$i")).success() || cfg!(not(target_os = "linux"))
    );
    let outcome = run(&executor, "exec head -c 1m /dev/zero > big");
    assert_eq!(outcome.ended, Ending::LimitExceeded(Limit::FileSize));
    assert_eq!(std::fs::metadata(fixture.path("big")).unwrap().len(), 4096);
    assert!(run(&executor, "head -c 4096 /dev/zero > small").success());
}

#[test]
fn time_and_output_limits_of_the_profile_end_a_command() {
    let fixture = Fixture::new();
    let limits = Limits {
        wall_time: Some(Duration::from_millis(200)),
        output_bytes: Some(10),
        private_bytes: Some(1 << 20),
        ..Limits::default()
    };
    let executor = limited(&fixture, "limits of the supervisor", limits).unwrap();
    assert_eq!(run(&executor, "sleep 30").ended, Ending::TimedOut);
    let outcome = run(&executor, "while :; do echo 0123456789; done");
    assert_eq!(outcome.ended, Ending::LimitExceeded(Limit::Output));
    assert_eq!(outcome.stdout.head(), b"0123456789");
    let outcome = run(
        &executor,
        "head -c 2m /dev/zero > /tmp/x 2>/dev/null; stat -c %s /tmp/x | head -c 9",
    );
    let size: u64 = outcome.stdout.to_text().trim().parse().unwrap();
    assert!(size <= 1 << 20, "{size}");
}

#[test]
fn a_command_can_narrow_the_limits_and_not_widen_them() {
    let fixture = Fixture::new();
    let open = |open_files| Limits {
        open_files: Some(open_files),
        ..Limits::default()
    };
    let executor = limited(&fixture, "limits of a command", open(64)).unwrap();
    let shown = |limits| {
        let outcome = executor.shell("ulimit -n").limits(limits).output().unwrap();
        outcome.stdout.to_text().trim().to_owned()
    };
    assert_eq!(shown(open(32)), "32");
    assert_eq!(shown(open(128)), "64");
}

#[test]
fn a_limit_without_a_mechanism_is_refused_for_one_command_too() {
    let fixture = Fixture::new();
    let limits = Limits {
        memory_bytes: Some(64 << 20),
        ..Limits::default()
    };
    let executor = free(&fixture);
    match executor.shell("echo ran > ran").limits(limits).output() {
        Ok(outcome) => assert!(outcome.usage.peak_memory_bytes.is_some()),
        Err(RunError::Unavailable(Unavailable::Guarantees { missing, .. })) => {
            assert_eq!(missing, Guarantees::RESOURCE_LIMITS);
            assert!(!fixture.path("ran").exists());
        }
        Err(other) => panic!("{other}"),
    }
}
