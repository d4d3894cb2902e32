//! Commands of every kind, one after the other.

use std::time::{Duration, Instant};

use ringfence::blocking::{Executor, ExecutorSet, Process};
use ringfence::{CancelToken, Ending, Limits, RunError, Signal, Tty};

/// After so many an executor is made anew.
const OF_AN_EXECUTOR: usize = 64;

/// Runs the commands with these numbers.
pub(crate) fn work(set: &ExecutorSet, key: &str, numbers: impl Iterator<Item = usize>) {
    for (count, number) in numbers.enumerate() {
        if count > 0 && count.is_multiple_of(OF_AN_EXECUTOR) {
            assert!(set.release(key).unwrap().is_clean());
        }
        run(&set.executor(key).unwrap(), number);
    }
}

/// How many kinds there are.
pub(crate) const KINDS: usize = 14;

fn run(executor: &Executor, number: usize) {
    match number % KINDS {
        0 => ends(executor, "exit 3", &Ending::Exited(3)),
        1 => ends(executor, "kill -KILL $$", &signaled(9)),
        2 => ends(executor, "yes | head -c 200000", &Ending::Exited(0)),
        3 => ends(
            executor,
            "echo x >\"$TMPDIR/$$\"; mkdir -p \"$TMPDIR/a/b\"; echo x >~/$$",
            &Ending::Exited(0),
        ),
        4 => ends(
            executor,
            "(setsid sleep 600 </dev/null >/dev/null 2>&1 &); exit 5",
            &Ending::Exited(5),
        ),
        5 => {
            let killed = start(executor, "sleep 600 & (setsid sleep 600 &) ; sleep 600");
            killed.kill();
            assert_eq!(killed.wait_all().unwrap().ended, Ending::Cancelled);
        }
        6 => {
            let late = executor.shell("while :; do echo x >\"$TMPDIR/late\"; done");
            let outcome = late.timeout(Duration::from_millis(5)).output();
            assert!(
                matches!(&outcome, Ok(outcome) if outcome.ended == Ending::TimedOut)
                    || matches!(outcome, Err(RunError::DeadlineExceeded)),
                "{outcome:?}"
            );
        }
        7 => {
            let terminal = executor.command("cat").tty(Tty::default()).spawn().unwrap();
            terminal.close();
            terminal.wait_all().unwrap();
        }
        8 => drop(executor.shell("sleep 600").kill_on_drop(true).spawn().unwrap()),
        9 => drop(executor.command("true").prepare().unwrap()),
        10 => {
            let token = CancelToken::new();
            let cancelled = executor.shell("sleep 600").cancel_on(&token).spawn().unwrap();
            token.cancel();
            assert_eq!(cancelled.wait_all().unwrap().ended, Ending::Cancelled);
        }
        11 => {
            assert!(executor.command("no-such-program").spawn().is_err());
            assert!(
                executor
                    .command("true")
                    .deadline(Instant::now())
                    .output()
                    .is_err()
            );
        }
        12 => {
            let limits = Limits {
                processes: Some(20),
                open_files: Some(64),
                ..Limits::default()
            };
            let limited = executor.shell("(setsid sleep 600 &) ; exit 0").limits(limits);
            assert_eq!(limited.output().unwrap().ended, Ending::Exited(0));
        }
        _ => {
            let terminated = start(executor, "exec sleep 600");
            terminated.signal(Signal::Terminate).unwrap();
            assert_eq!(terminated.wait_all().unwrap().ended, signaled(15));
        }
    }
}

fn start(executor: &Executor, text: &str) -> Process {
    executor.shell(text).spawn().unwrap()
}

fn ends(executor: &Executor, text: &str, ending: &Ending) {
    let outcome = executor.shell(text).output().unwrap();
    assert_eq!(outcome.ended, *ending, "{text}");
}

const fn signaled(signal: i32) -> Ending {
    Ending::Signaled { signal, core: false }
}
