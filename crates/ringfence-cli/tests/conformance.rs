//! `ringfence conformance` compares, says what it found, and can be repeated.

#![cfg(target_os = "linux")]

mod support;

use std::os::unix::process::CommandExt;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use support::{Place, RINGFENCE};

/// CON-51: the generated cases of a short run agree, and the numbers say that they were no empty ones.
#[test]
fn a_run_agrees_and_tells_what_it_tried() {
    let done = Place::new()
        .ringfence(["conformance", "--cases", "4", "--seed", "5"])
        .succeeded();
    assert!(
        done.stdout.contains("cases                    4  (seed 5)"),
        "{done:?}"
    );
    assert!(done.stdout.contains("disagreements            0"), "{done:?}");
    assert!(done.stdout.ends_with("policy and reality agree\n"), "{done:?}");
    assert_eq!(done.stderr, "");
}

#[test]
fn a_seed_repeats_the_run() {
    let run = || {
        let arguments = ["conformance", "--cases", "3", "--seed", "11", "--json"];
        let done = Place::new().ringfence(arguments).succeeded();
        serde_json::from_str::<Value>(&done.stdout).unwrap()
    };
    let first = run();
    assert_eq!(
        (&first["agrees"], &first["seed"], &first["cases"]),
        (&true.into(), &11.into(), &3.into())
    );
    assert!(first["attempts"].as_u64() > Some(500), "{first}");
    assert!(first["agreed_denied"].as_u64() > Some(50), "{first}");
    assert!(first["proven"]["write_boundary"].as_u64() > Some(10), "{first}");
    assert_eq!(run(), first);
}

#[test]
fn without_a_seed_there_is_another_each_time() {
    let seed = || {
        let done = Place::new()
            .ringfence(["conformance", "--cases", "0", "--json"])
            .succeeded();
        serde_json::from_str::<Value>(&done.stdout).unwrap()["seed"].clone()
    };
    assert_ne!(seed(), seed());
}

/// A long run that somebody ends tells what it has found by then, and leaves nothing. At a terminal the signal goes to
/// everything that was started.
#[test]
fn a_run_that_is_ended_tells_what_it_has_found() {
    let place = Place::new();
    let arguments = ["conformance", "--cases", "100000", "--seed", "3", "--json"];
    // Whoever runs the tests may ignore the signal, and so would what they start.
    let mut env = place.unconfined("env");
    let child = env
        .args(["--default-signal=INT", RINGFENCE])
        .args(arguments)
        .process_group(0)
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(8));
    kill_process_group(Pid::from_child(&child), Signal::INT).unwrap();
    let done = place.finish(child);
    assert_eq!(done.status, 130, "{done:?}");
    let told: Value = serde_json::from_str(&done.stdout).unwrap();
    let cases = told["cases"].as_u64().unwrap();
    assert!((1..100_000).contains(&cases), "{told}");
    assert_eq!(told["agrees"], true, "{told}");
}
