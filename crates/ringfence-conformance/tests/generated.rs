//! Generated cases, five hundred of them (CON-51), in both kinds of places: beneath a directory of which commands have
//! their own, and outside of those. `ci/long` runs many more.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

use std::path::Path;

use ringfence_conformance::{Options, Summary, run};

/// Any; a change of the generator is a change of the cases.
const SEED: u64 = 1;

fn agrees(directory: &Path) -> Summary {
    let options = Options {
        cases: 250,
        seed: SEED,
        directory: directory.to_owned(),
        ..Options::default()
    };
    let summary = run(&options, &|_| true).unwrap();
    assert!(summary.is_clean(), "{summary}");
    let refused: u64 = summary.refused.values().sum();
    assert!(
        refused * 5 < summary.cases,
        "most of nothing was tried: {summary}"
    );
    // CON-3: what was claimed was borne out by refusals of what works without confinement.
    for claimed in ["write_boundary", "read_boundary", "network_boundary"] {
        assert!(summary.proven.get(claimed) > Some(&100), "{claimed}: {summary}");
    }
    summary
}

/// An operation that is never possible, or never refused, is not tried at all.
fn every_operation_was_seen_both_ways(summary: &Summary) {
    // An ordinary user can't open the devices of others in the first place, so that refusing them proves nothing.
    let one_way = [
        "open a device",
        "connect to an abstract socket",
        "socket",
        "read a file of the system",
    ];
    for (operation, agreed) in &summary.operations {
        // Those of the kernel's table and of other processes are never allowed.
        let about_files = agreed.allowed > 0;
        assert!(
            !about_files || agreed.denied > 0 || one_way.contains(&operation.as_str()),
            "{operation} was never refused: {summary}"
        );
    }
    for operation in [
        "read",
        "write",
        "append",
        "truncate",
        "create",
        "mkdir",
        "rename",
        "link",
        "unlink",
        "chmod",
        "utimes",
        "setxattr",
        "execute",
        "map executable",
        "bind a socket",
    ] {
        let agreed = summary.operations.get(operation).unwrap();
        assert!(agreed.allowed > 0 && agreed.denied > 0, "{operation}: {agreed:?}");
    }
}

#[test]
fn con_51_generated_cases_agree_in_a_private_directory() {
    every_operation_was_seen_both_ways(&agrees(&std::env::temp_dir()));
}

#[test]
fn con_51_generated_cases_agree_elsewhere() {
    every_operation_was_seen_both_ways(&agrees(Path::new(env!("CARGO_TARGET_TMPDIR"))));
}
