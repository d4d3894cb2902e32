//! Attacks on the limits of real control groups.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::attack::{Attack, MIB, PATIENCE, memory, processes, scope};
use super::{Cgroups, Limits, Place, Resource, Scope, Version};

/// Holds 64 MiB four times: `dd` fills its buffer and then waits for somebody to read.
const FOUR_TIMES_64_MIB: &str = "for i in 1 2 3 4; do \
    dd if=/dev/zero bs=67108864 count=1 2>/dev/null | sleep 60 & done; wait";
/// Starts 60 processes and says `x` for each.
const SIXTY: &str = "i=0; while [ $i -lt 60 ]; do sleep 60 >/dev/null & echo x; i=$((i+1)); done";

#[test]
fn s_47_a_fork_bomb_is_bounded() {
    const LIMIT: u64 = 64;
    let Some(scope) = scope(&processes(LIMIT)) else {
        return;
    };
    let mut attack = Attack::begin(scope, "b() { b | b & sleep 60; }; b");
    attack.until("the bomb was refused nothing", |scope| {
        scope.breaches().refused_processes.unwrap() > 10
    });
    let usage = attack.scope.usage();
    assert!(usage.peak_processes.is_none_or(|peak| peak <= LIMIT), "{usage:?}");
    attack.kill();
    // Whatever the bomb still holds, its output ends when all of it is dead.
    attack.lines(usize::MAX);
    let ended = attack.end();
    assert!(!ended.success());
}

#[test]
fn s_47_a_loop_of_forks_stops_at_the_limit_and_only_there() {
    for (limit, stopped) in [(20, true), (200, false)] {
        let Some(scope) = scope(&processes(limit)) else {
            return;
        };
        let mut attack = Attack::begin(scope, &format!("{SIXTY}; exec sleep 60"));
        let refused = |scope: &Scope| scope.breaches().refused_processes.unwrap();
        if stopped {
            attack.until("not refused", |scope| refused(scope) > 0);
            // The shell gives up; its children sleep on.
            assert_eq!(attack.child.wait().unwrap().code(), Some(2));
            attack.kill();
            assert!((1..60).contains(&attack.lines(usize::MAX)));
        } else {
            assert_eq!(attack.lines(60), 60);
            assert_eq!(refused(&attack.scope), 0);
            let usage = attack.scope.usage();
            assert!(usage.peak_processes.is_none_or(|peak| peak > 60), "{usage:?}");
        }
        attack.end();
    }
}

#[test]
fn s_47_memory_of_the_whole_tree_is_bounded() {
    const LIMIT: u64 = 128 * MIB;
    let Some(scope) = scope(&memory(LIMIT)) else {
        return;
    };
    let mut attack = Attack::begin(scope, FOUR_TIMES_64_MIB);
    attack.until("nobody was killed", |scope| {
        scope.breaches().memory_kills.unwrap() > 0
    });
    let usage = attack.scope.usage();
    let peak = usage.peak_memory_bytes.unwrap_or(LIMIT);
    assert!((LIMIT / 2..=LIMIT).contains(&peak), "{usage:?}");
    let cgroups = Cgroups::find();
    if cgroups.place(Resource::Memory).map(Place::version) == Ok(Version::V2) {
        // By the kernel, all of them.
        assert_eq!(attack.child.wait().unwrap().signal(), Some(9));
        assert_eq!(attack.lines(usize::MAX), 0);
    }
    assert_eq!(attack.end().signal(), Some(9));
}

#[test]
fn s_47_memory_below_the_limit_is_left_alone() {
    const LIMIT: u64 = 400 * MIB;
    let Some(scope) = scope(&memory(LIMIT)) else {
        return;
    };
    let attack = Attack::begin(scope, FOUR_TIMES_64_MIB);
    attack.until("the memory was not used", |_| attack.memory() > 256 * MIB);
    assert_eq!(attack.scope.breaches().memory_kills, Some(0));
    attack.end();
}

#[test]
fn s_47_cpu_time_is_counted_across_the_tree_and_ends_it() {
    const BUDGET: Duration = Duration::from_millis(400);
    let limits = Limits {
        cpu_time: Some(BUDGET),
        ..Limits::default()
    };
    let Some(scope) = scope(&limits) else {
        return;
    };
    let script = "for i in 1 2 3; do (while :; do :; done) & done; wait";
    let attack = Attack::begin(scope, script);
    assert_eq!(attack.scope.breaches().cpu_time_over, None);
    let (began, mut looks) = (Instant::now(), 0);
    loop {
        let pause = attack
            .scope
            .next_look(attack.scope.cpu_time_used().unwrap())
            .unwrap();
        if pause.is_zero() {
            break;
        }
        assert!(began.elapsed() < PATIENCE);
        looks += 1;
        sleep(pause);
    }
    attack.kill();
    let over = attack.scope.breaches().cpu_time_over.unwrap();
    assert!(over < 2 * BUDGET, "{over:?}");
    assert!(looks < 200, "{looks}");
    assert!(attack.scope.usage().cpu_time.unwrap() >= BUDGET);
    attack.end();
}

#[test]
fn time_of_processes_that_are_gone_stays_counted() {
    let Some(scope) = scope(&Limits::default()) else {
        return;
    };
    let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let mut attack = Attack::begin(scope, &format!("({busy}); ({busy})"));
    assert!(attack.child.wait().unwrap().success());
    let used = attack.scope.cpu_time_used().unwrap();
    assert!(used > Duration::from_millis(2), "{used:?}");
    assert_eq!(attack.scope.next_look(used), None);
    assert_eq!(attack.scope.breaches().cpu_time_over, None);
    attack.end();
}

#[test]
fn limits_can_follow_when_the_process_is_already_there() {
    let Some(scope) = scope(&processes(1)) else {
        return;
    };
    let mut attack = Attack::new(scope, &format!("{SIXTY}; exec sleep 60"));
    attack.scope.limit(&processes(100)).unwrap();
    attack.go();
    assert_eq!(attack.lines(60), 60);
    attack.scope.limit(&Limits::default()).unwrap();
    attack.end();
}

#[test]
fn a_limit_beyond_what_the_kernel_can_count_is_no_error() {
    let limits = Limits {
        memory_bytes: Some(u64::MAX),
        processes: Some(u64::MAX),
        cpu_time: Some(Duration::MAX),
    };
    let Some(scope) = scope(&limits) else {
        return;
    };
    assert_eq!(scope.next_look(Duration::MAX), Some(Duration::ZERO));
    let (directories, breaches): (Vec<_>, _) =
        (scope.directories().map(PathBuf::from).collect(), scope.breaches());
    assert_eq!(
        (breaches.memory_kills, breaches.refused_processes),
        (Some(0), Some(0))
    );
    drop(scope);
    assert!(directories.iter().all(|directory| !directory.exists()));
}
