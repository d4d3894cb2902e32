//! What becomes of a command's process tree, however it tries to get away.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use common::{Fixture, eventually, own_seconds, processes_with, shell, stops_growing};
use ringfence::blocking::{Command, Executor, ExecutorSet, Process};
use ringfence::{
    CancelToken, Ending, ExecutorError, HostDeath, LifetimeContainment, Limits, ProfileConfig, Signal,
};

const SOON: Duration = Duration::from_secs(10);

// LIF-1: the texts, the numbers, and one that stays what it is.
#[test]
fn lif_1_containment_has_three_names_and_does_not_change() {
    use LifetimeContainment as L;
    let texts = [L::Unspecified, L::Enforced, L::BestEffort].map(|value| (value as u8, value.to_string()));
    let expected = [(0, "unspecified"), (1, "enforced"), (2, "best-effort")];
    assert_eq!(texts, expected.map(|(number, text)| (number, text.to_owned())));
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let guarantees = executor.guarantees();
    let process = executor.command("cat").spawn().unwrap();
    let lifetime = process.lifetime();
    assert_eq!(process.lifetime_containment(), lifetime.containment);
    let outcome = process.wait_all().unwrap();
    assert!(set.close().is_clean());
    assert_eq!((process.lifetime(), outcome.lifetime), (lifetime, lifetime));
    // It is no guarantee about access.
    assert_eq!(outcome.achieved.guarantees, guarantees);
}

// LIF-2, LIF-3, LIF-6, LIF-19: what is claimed is told with its reason, and nothing is claimed without confinement.
#[test]
fn lif_2_lif_3_containment_is_enforced_and_without_confinement_nothing_is_claimed() {
    let fixture = Fixture::new();
    let lifetime = |config: &ProfileConfig| {
        let set = fixture.set_with(config);
        let executor = set.executor("a").unwrap();
        let process = executor.command("true").spawn().unwrap();
        let output = executor.command("true").output().unwrap();
        assert_eq!(
            process.lifetime(),
            output.lifetime,
            "the same for both kinds of run"
        );
        output.lifetime
    };
    let confined = lifetime(&fixture.config());
    assert_eq!(confined.containment, LifetimeContainment::Enforced);
    assert_eq!(confined.host_death, HostDeath::Killed);
    assert!(confined.reason.contains("pid namespace"), "{confined:?}");
    let unconfined = lifetime(&ProfileConfig::unconfined(fixture.workspace.path()));
    assert_eq!(unconfined.containment, LifetimeContainment::Unspecified);
    assert_eq!(unconfined.host_death, HostDeath::Survives);
    assert!(unconfined.reason.contains("process group"), "{unconfined:?}");
}

// LIF-7: a namespace for each command.
#[test]
fn lif_7_each_command_has_processes_of_its_own() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let namespace = || shell(&executor, fixture.workspace.path(), "readlink /proc/self/ns/pid");
    let ours = std::fs::read_link("/proc/self/ns/pid")
        .unwrap()
        .display()
        .to_string();
    let seconds = own_seconds();
    let other = executor.command("sleep").arg(&seconds).spawn().unwrap();
    let (one, another) = (namespace(), namespace());
    assert!(one != another && one.trim() != ours && another.trim() != ours);
    let seen = format!("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '^sleep {seconds}' ; true");
    assert_eq!(shell(&executor, fixture.workspace.path(), &seen), "0\n");
    assert_eq!(processes_with(&seconds).len(), 1, "the control");
    other.kill();
}

// LIF-8, S-27: process 1 is ours and reaps; the status is the command's.
#[test]
fn lif_8_s_27_process_1_reaps_orphans_and_passes_the_status_on() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "test $$ -ne 1 || exit 1
        i=0; while test $i -lt 1000; do (sh -c 'exit 3' &); i=$((i+1)); done
        left() { grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l; }
        i=0; while test $(left) -gt 0; do sleep 0.05; i=$((i+1)); test $i -lt 200 || exit 2; done
        (sleep 0.1; exit 3) &
        exit 5";
    let outcome = executor.shell(text).output().unwrap();
    assert_eq!(outcome.ended, Ending::Exited(5), "{}", outcome.stdout.to_text());
}

/// What tries to get away: out of the group, of the session, and of every parent, without any stream.
const ESCAPES: [&str; 4] = [
    "sleep TIME </dev/null >/dev/null 2>&1 &",
    "setsid sleep TIME </dev/null >/dev/null 2>&1 &",
    "(setsid sh -c '(setsid sleep TIME &)' </dev/null >/dev/null 2>&1 &)",
    "(trap '' HUP INT TERM; setsid sh -c 'trap \"\" HUP INT TERM; (sleep TIME; :) & wait' &)",
];

/// A command that keeps all of them, and one more.
fn escaping(executor: &Executor, rest: &str) -> (Command, String) {
    let seconds = own_seconds();
    let text = ESCAPES.join("\n").replace("TIME", &seconds);
    let log = "(setsid sh -c 'while :; do echo x >>log; sleep 0.02; done' &)";
    (executor.shell(format!("{text}\n{log}\n{rest}")), seconds)
}

fn got_away(fixture: &Fixture, command: Command, seconds: &str) -> Process {
    let log = fixture.path("log");
    let _ = std::fs::remove_file(&log);
    let process = command.spawn().unwrap();
    eventually("all escapes", || {
        let is_written = log.metadata().is_ok_and(|seen| seen.len() > 0);
        processes_with(seconds).len() == ESCAPES.len() && is_written
    });
    process
}

// S-24, LIF-2: whoever ends it and however, nobody is left when that is told.
#[test]
fn s_24_nobody_outlives_the_end_of_a_command() {
    type End = fn(&Process, &ExecutorSet, &CancelToken);
    let ends: [(&str, Ending, End); 8] = [
        ("deadline", Ending::TimedOut, |_, _, _| {}),
        ("kill", Ending::Cancelled, |process, _, _| process.kill()),
        ("cancel", Ending::Cancelled, |_, _, token| token.cancel()),
        (
            "terminate",
            Ending::Signaled {
                signal: 15,
                core: false,
            },
            |process, _, _| {
                process.signal(Signal::Terminate).unwrap();
            },
        ),
        (
            "shutdown",
            Ending::Signaled {
                signal: 15,
                core: false,
            },
            |process, _, _| {
                process.shutdown(Duration::from_secs(60)).unwrap();
            },
        ),
        ("release", Ending::OwnerClosed, |_, set, _| {
            assert!(set.release("a").unwrap().is_clean());
        }),
        ("close", Ending::OwnerClosed, |_, set, _| {
            assert!(set.close().is_clean());
        }),
        ("exit", Ending::Exited(0), |process, _, _| process.close()),
    ];
    for (name, ending, end) in ends {
        let fixture = Fixture::new();
        let set = fixture.set();
        let (executor, token) = (set.executor("a").unwrap(), CancelToken::new());
        let (command, seconds) = escaping(&executor, "read go; test -n \"$go\" || exit 0; sleep 60");
        let (command, seconds) = if name == "exit" {
            (command, seconds)
        } else {
            escaping(&executor, "exec sleep 60")
        };
        let command = command.cancel_on(&token).terminate_grace(Duration::from_secs(60));
        let command = if name == "deadline" {
            command.timeout(Duration::from_secs(5))
        } else {
            command
        };
        let process = got_away(&fixture, command, &seconds);
        let began = Instant::now();
        end(&process, &set, &token);
        assert_eq!(process.wait_all().unwrap().ended, ending, "{name}");
        assert!(began.elapsed() < SOON, "{name}: {:?}", began.elapsed());
        assert_eq!(processes_with(&seconds), Vec::<u32>::new(), "{name}");
        stops_growing(&fixture.path("log"));
    }
}

// LIF-7: even if it is killed from inside.
#[test]
fn lif_7_nobody_outlives_a_command_that_was_killed_from_inside() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let (command, seconds) = escaping(&executor, "read go; kill -KILL $$");
    let process = got_away(&fixture, command, &seconds);
    process.close();
    assert_eq!(
        process.wait_all().unwrap().ended,
        Ending::Signaled {
            signal: 9,
            core: false
        }
    );
    assert_eq!(processes_with(&seconds), Vec::<u32>::new());
    stops_growing(&fixture.path("log"));
}

// LIF-14: without confinement it is the group that ends, with the command and before that is told.
#[test]
fn lif_14_without_confinement_the_group_ends_with_the_command() {
    let fixture = Fixture::new();
    let set = fixture.set_with(&ProfileConfig::unconfined(fixture.workspace.path()));
    let executor = set.executor("a").unwrap();
    let seconds = own_seconds();
    let text = format!("trap '' HUP TERM; sleep {seconds} & (sleep {seconds} &) ; sleep {seconds} & read go");
    let process = executor.shell(text).spawn().unwrap();
    eventually("all of them", || processes_with(&seconds).len() == 3);
    process.close();
    process.wait().unwrap();
    eventually("their end", || processes_with(&seconds).is_empty());
    assert!(set.close_within(SOON).unwrap().is_clean());
}

/// The control groups of a process that have been made for it.
fn groups(process: u32) -> Vec<PathBuf> {
    let lines = std::fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap();
    let ours = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let own = lines
        .lines()
        .filter(|line| !ours.lines().any(|other| other == *line));
    own.filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let mounts = [controllers, "", "unified"].map(|name| PathBuf::from("/sys/fs/cgroup").join(name));
        mounts
            .into_iter()
            .map(|mount| mount.join(path))
            .find(|group| group.is_dir())
    })
    .collect()
}

// PRC-12, PRC-6: what was made for a command goes with its last process, whoever still holds its handle.
#[test]
fn prc_12_control_groups_are_gone_when_a_command_is() {
    let test = "prc_12_control_groups_are_gone_when_a_command_is";
    let fixture = Fixture::new();
    let limits = Limits {
        cpu_time: Some(Duration::from_secs(3600)),
        ..Limits::default()
    };
    let set = fixture.set_with(&ProfileConfig {
        limits,
        ..fixture.config()
    });
    let executor = match set.executor("a") {
        Ok(executor) => executor,
        Err(ExecutorError::Unavailable(_)) => {
            return common::skip(test, "this user can't make a control group");
        }
        Err(other) => panic!("{other}"),
    };
    let start = || {
        let seconds = own_seconds();
        let process = executor
            .shell(format!("sleep {seconds} & sleep {seconds}"))
            .spawn()
            .unwrap();
        eventually("both", || processes_with(&seconds).len() == 2);
        let groups = groups(processes_with(&seconds)[0]);
        assert!(
            !groups.is_empty() && groups.iter().all(|group| group.is_dir()),
            "{groups:?}"
        );
        (process, groups)
    };
    let (waited, groups) = start();
    waited.kill();
    let outcome = waited.wait_all().unwrap();
    assert_eq!(
        groups.iter().find(|group| group.exists()),
        None,
        "after the last process"
    );
    assert!(outcome.usage.cpu_time.is_some(), "it was counted before");
    let (held, groups) = start();
    assert!(set.close().is_clean());
    assert_eq!(
        groups.iter().find(|group| group.exists()),
        None,
        "after the close"
    );
    drop(held);
}
