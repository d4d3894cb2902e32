//! Nothing is left behind: not by many commands, and not by hosts that are killed. `ci/soak` does both at length.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;
#[path = "soak/ground.rs"]
mod ground;
#[path = "soak/random.rs"]
mod random;
#[path = "soak/traces.rs"]
mod traces;
#[path = "soak/work.rs"]
mod work;

use std::env;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{scope, sleep};
use std::time::Duration;

use common::shell;
use ground::Ground;
use random::Random;
use ringfence::blocking::{Executor, ExecutorSet, Process};
use ringfence::{Guard, ProfileConfig};
use rustix::process::{Signal, set_parent_process_death_signal};
use traces::{Traces, adopt_orphans, no_locks_are_left};
use work::{KINDS, work};

/// Both count what all of this process has.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How much to do, which `ci/soak` makes more.
fn size(variable: &str, otherwise: usize) -> usize {
    env::var(variable).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn nothing_is_left_of_many_commands() {
    const THREADS: usize = 4;
    /// Some of each kind, so that what the process makes once and keeps is there.
    const FIRST: usize = 2 * THREADS * KINDS;
    let spawns = size("RINGFENCE_SOAK_SPAWNS", 1_000);
    let _alone = alone();
    let ground = Ground::new();
    let run = |spawns: usize| {
        let set = ground.set(&ground.config());
        scope(|scope| {
            for thread in 0..THREADS {
                let set = &set;
                scope.spawn(move || work(set, &thread.to_string(), (thread..spawns).step_by(THREADS)));
            }
        });
        let report = set.close();
        assert!(report.is_clean(), "{report:?}");
    };
    run(FIRST);
    let before = Traces::settled(&ground);
    run(spawns);
    before.are_all(&ground, None, "after the close");
    no_locks_are_left(|| drop(ground.set(&ground.config())));
}

#[test]
fn nothing_is_left_of_hosts_that_are_killed_and_other_sets_go_on() {
    /// From its start to when it has opened and closed a few sets.
    const LONGEST_LIFE_MILLIS: u64 = 500;
    if let Some(ground) = Ground::given() {
        be_the_host(&ground);
    }
    let kills = size("RINGFENCE_SOAK_KILLS", 20);
    let _alone = alone();
    let mut random = Random::new(env::var("RINGFENCE_SOAK_SEED").ok());
    adopt_orphans();
    let ground = Ground::new();
    let next_set = || {
        let set = ground.set(&ground.config());
        for key in HOST_KEYS {
            let executor = set.executor(key).unwrap();
            assert_eq!(shell(&executor, &ground.workspace, "echo next"), "next\n");
        }
        assert!(set.close().is_clean());
    };
    // What is kept by intention, homes and their locks, is there from now on.
    next_set();
    Live::new(&ground).ends();
    let first = Traces::settled(&ground);
    let mut live = Live::new(&ground);
    for round in 0..kills {
        // What the live set has changes with its commands, and with its workspace.
        live.goes_on();
        let before = Traces::settled(&ground);
        let mut host = start_host(&ground);
        sleep(Duration::from_millis(random.below(LONGEST_LIFE_MILLIS)));
        host.kill().unwrap();
        assert_eq!(
            host.wait().unwrap().signal(),
            Some(9),
            "round {round}: it ended by itself"
        );
        // In the other rounds the next set comes while the kernel still ends processes.
        if random.below(2) == 0 {
            before.have_all_processes(&format!("round {round}, before the next set"));
        }
        next_set();
        before.are_all(&ground, Some(host.id()), &format!("round {round}"));
    }
    live.ends();
    first.are_all(&ground, None, "after the last set");
    no_locks_are_left(|| drop(ground.set(&ground.config())));
}

/// Of the executors of a host that is killed.
const HOST_KEYS: [&str; 3] = ["one", "two", "three"];

fn start_host(ground: &Ground) -> Child {
    let test = "nothing_is_left_of_hosts_that_are_killed_and_other_sets_go_on";
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture"])
        .stdout(Stdio::null());
    ground.give_to(&mut command).spawn().unwrap()
}

/// Opens sets, works with all that they have, and closes them, until it is killed.
fn be_the_host(ground: &Ground) -> ! {
    set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
    let mut random = Random::new(None);
    let config = ProfileConfig {
        // It has a placeholder that no other set has.
        guards: vec![Guard::protect(ground.workspace.join("of-the-host"))],
        ..ground.config()
    };
    loop {
        let set = ground.set(&config);
        let commands = usize::try_from(random.below(40)).unwrap();
        scope(|scope| {
            for (first, key) in HOST_KEYS.into_iter().enumerate() {
                let set = &set;
                scope.spawn(move || work(set, key, first..first + commands));
            }
        });
        if random.below(2) == 0 {
            assert!(set.close().is_clean());
        }
    }
}

/// A set that uses the same workspace all the time.
struct Live {
    set: ExecutorSet,
    executor: Executor,
    process: Process,
}

impl Live {
    fn new(ground: &Ground) -> Self {
        let set = ground.set(&ground.config());
        let executor = set.executor("live").unwrap();
        let process = executor.command("cat").spawn().unwrap();
        let names = ground.names();
        assert!(!names.is_empty(), "it has placeholders in the workspace");
        Self {
            set,
            executor,
            process,
        }
    }

    fn goes_on(&mut self) {
        let workspace = &self.executor.profile().workspace().path;
        assert_eq!(shell(&self.executor, workspace, "echo live"), "live\n");
        assert!(self.process.try_wait().is_none(), "its process runs on");
    }

    fn ends(mut self) {
        let (mut stdin, mut stdout) = (
            self.process.take_stdin().unwrap(),
            self.process.take_stdout().unwrap(),
        );
        stdin.write_all(b"still here").unwrap();
        stdin.close().unwrap();
        let mut read = String::new();
        stdout.read_to_string(&mut read).unwrap();
        assert_eq!(read, "still here");
        assert!(self.process.wait_all().unwrap().success());
        assert!(self.set.close().is_clean());
    }
}
