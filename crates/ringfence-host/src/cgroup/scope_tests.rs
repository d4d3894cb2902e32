//! Life and death of real control groups.

use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;

use super::attack::{Attack, MIB, memory, pid, scope};
use super::{Cgroups, Limits, Resource, Usage, names};
use crate::testing::skip;

#[test]
fn all_limits_together_hold_for_a_process_that_detaches() {
    let limits = Limits {
        memory_bytes: Some(256 * MIB),
        processes: Some(100),
        cpu_time: Some(Duration::from_secs(100)),
    };
    let Some(scope) = scope(&limits) else {
        return;
    };
    let mut attack = Attack::begin(scope, "(setsid sleep 60 &) & echo started; exec >/dev/null");
    assert!(attack.child.wait().unwrap().success());
    let error = attack.scope.remove().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    attack.kill();
    // Held open by the detached process alone.
    attack.lines(usize::MAX);
    attack.end();
}

#[test]
fn a_dropped_scope_takes_its_processes_with_it() {
    let Some(scope) = scope(&Limits::default()) else {
        return;
    };
    let attack = Attack::begin(scope, "sleep 60");
    let Attack {
        mut child,
        scope,
        directories,
    } = attack;
    drop(scope);
    assert!(directories.iter().all(|directory| !directory.exists()));
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

#[test]
fn a_removed_scope_counts_nothing_and_takes_nobody() {
    let Some(scope) = scope(&Limits::default()) else {
        return;
    };
    assert_eq!(scope.cpu_time_used().unwrap(), Duration::ZERO);
    scope.remove().unwrap();
    scope.remove().unwrap();
    scope.kill().unwrap();
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let error = scope.add(pid(&child)).unwrap_err();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(error.errno(), Some(Errno::NOENT.raw_os_error()), "{error}");
    assert!(scope.cpu_time_used().is_err());
    assert_eq!(scope.usage(), Usage::default());
}

#[test]
fn a_dead_process_cannot_be_added() {
    let Some(scope) = scope(&Limits::default()) else {
        return;
    };
    let mut child = Command::new("true").spawn().unwrap();
    let dead = pid(&child);
    child.wait().unwrap();
    let error = scope.add(dead).unwrap_err();
    assert_eq!(error.errno(), Some(Errno::SRCH.raw_os_error()), "{error}");
}

#[test]
fn a_process_that_hops_from_child_to_child_is_killed() {
    let Some(scope) = scope(&memory(256 * MIB)) else {
        return;
    };
    let mut attack = Attack::begin(scope, "f() { f & }; f");
    assert!(attack.child.wait().unwrap().success());
    sleep(Duration::from_millis(20));
    let error = attack.scope.remove().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    attack.kill();
    attack.lines(usize::MAX);
    attack.end();
}

#[test]
fn lif_19_what_a_dead_process_left_is_swept() {
    let cgroups = Cgroups::find();
    let Ok(place) = cgroups.place(Resource::CpuTime) else {
        return skip("no control group for CPU time can be made here");
    };
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let name = names::new().unwrap();
    let mut fields: Vec<_> = name.split('-').map(str::to_owned).collect();
    fields[2] = child.id().to_string();
    let left = place.directory().join(fields.join("-"));
    std::fs::create_dir(&left).unwrap();
    assert!(cgroups.sweep() > 0);
    assert!(!left.exists());
}

#[test]
fn s_20_what_is_found_is_true() {
    let cgroups = Cgroups::find();
    for resource in Resource::ALL {
        match cgroups.place(resource) {
            Ok(place) => assert!(place.directory().is_dir(), "{place}"),
            Err(reason) => assert!(!reason.hint().is_empty(), "{reason}"),
        }
    }
}
