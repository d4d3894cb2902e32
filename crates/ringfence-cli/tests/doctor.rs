//! `ringfence doctor` says what this host can enforce, for people and as JSON, from the same probe.

#![cfg(target_os = "linux")]

mod support;

use serde_json::Value;
use support::Place;

#[test]
fn people_read_the_tier_and_a_line_for_each_fact() {
    let done = Place::new().ringfence(["doctor"]).succeeded();
    let mut lines = done.stdout.lines();
    assert_eq!(
        lines.next(),
        Some("commands can be confined (tier: namespaces)"),
        "{done:?}"
    );
    for fact in ["kernel:", "user namespaces:", "system-call filter:", "Landlock:"] {
        assert!(done.stdout.contains(fact), "{fact} is missing: {done:?}");
    }
}

/// What a default run would achieve here, in the words of `--json-report`.
#[test]
fn the_guarantees_are_those_of_a_run() {
    let place = Place::new();
    place.sh(&["--json-report", "report.json"], "true").succeeded();
    let report: Value = serde_json::from_slice(&std::fs::read(place.file("report.json")).unwrap()).unwrap();
    let achieved = report["guarantees"].as_array().unwrap();
    assert!(!achieved.is_empty());
    let json = place.ringfence(["doctor", "--json"]).succeeded();
    let found: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(found["guarantees"], report["guarantees"]);
    let text = place.ringfence(["doctor"]).succeeded().stdout;
    for name in achieved {
        let name = name.as_str().unwrap();
        assert!(text.contains(name), "{name} is missing: {text}");
    }
}

#[test]
fn programs_read_the_same_facts() {
    let place = Place::new();
    let json = place.ringfence(["doctor", "--json"]).succeeded();
    let found: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&found["available"], &found["tier"]),
        (&true.into(), &"namespaces".into())
    );
    let text = place.ringfence(["doctor"]).succeeded().stdout;
    let facts = found["facts"].as_array().unwrap();
    assert!(facts.len() >= 5, "{facts:?}");
    for fact in facts {
        let (mark, state) = match (&fact["state"]["present"], &fact["state"]["absent"]) {
            (Value::String(detail), Value::Null) => ("yes", detail),
            (Value::Null, Value::String(detail)) => ("no ", detail),
            other => panic!("a fact is either present or absent: {other:?}"),
        };
        let line = format!("  {mark}  {}: {state}\n", fact["name"].as_str().unwrap());
        assert!(text.contains(&line), "{line:?} is not in {text}");
        if mark == "no " {
            let advice = fact["advice"].as_str().unwrap();
            assert!(!advice.is_empty(), "how to get {:?} is not said", fact["name"]);
            assert!(text.contains(advice), "{advice:?} is not in {text}");
        }
    }
}
