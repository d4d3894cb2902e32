use ringfence_host::cgroup::Cgroups;
use ringfence_policy::{
    Isolation, Level, Limits, NestedNamespaces, NewRepositories, RegionTree, Rule, Verdict,
};

use super::*;
use crate::rights::Landlock;
use crate::seen::Seen;
use crate::view::{self, Extras};

const LANDLOCK: Landlock = Landlock {
    abi: Some(7),
    errata: 0,
};
const COMPLETE: Complete = Complete {
    sockets: true,
    patterns: true,
};
const WRITE_ONLY: Verdict = Verdict::new(Access::Deny, Access::Allow);

fn policy(rules: &[(&str, Verdict)], patterns: Guarantees) -> Policy {
    let rules = rules
        .iter()
        .map(|(path, verdict)| Rule::tree(*path, *verdict, Source::Root(0)));
    Policy {
        tree: RegionTree::new(rules.collect()).unwrap(),
        network: Access::Allow,
        isolation: Isolation::Sandboxed,
        workspace: "/w".into(),
        patterns,
        new_repositories: NewRepositories::default(),
        nested_namespaces: NestedNamespaces::default(),
        limits: Limits::default(),
        required: Guarantees::empty(),
    }
}

/// The report for a host on which every path is a directory.
fn report_of(policy: &Policy, complete: Complete) -> Report {
    let directories = |_: &Path| Ok(Some(Seen::fake(Kind::Directory)));
    let view = view::build(&policy.tree, LANDLOCK, &Extras::default(), 0, &directories).unwrap();
    let facts = HostFacts {
        landlock: LANDLOCK,
        proc: true,
        broker: true,
        devices: Vec::new(),
        cgroups: Cgroups::find(),
    };
    report(policy, &view, complete, &Absent::default(), &facts)
}

/// The axes of a region for which it is told that something was taken away.
fn narrowed(report: &Report, region: &str) -> Vec<Axis> {
    let entries = report.entries().iter().filter(|entry| {
        let about = entry.obligation.region.as_deref() == Some(Path::new(region));
        about && matches!(entry.discharge, Discharge::Narrowed { .. })
    });
    entries.filter_map(|entry| entry.obligation.axis).collect()
}

#[test]
fn pol_50_what_is_taken_away_is_told_and_clears_the_boundary() {
    let rules = [
        ("/", Verdict::READ_ONLY),
        ("/w", Verdict::DENY),
        ("/w/out", WRITE_ONLY),
    ];
    let hidden = report_of(&policy(&rules[..2], Guarantees::empty()), COMPLETE);
    assert!(hidden.guarantees().contains(Guarantees::READ_BOUNDARY));
    // It closes no more than the directory around it, and so nothing else would say it.
    let nested = report_of(&policy(&rules, Guarantees::empty()), COMPLETE);
    assert_eq!(narrowed(&nested, "/w/out"), [Axis::Read]);
    let open_around = [rules[0], rules[2]];
    let alone = report_of(&policy(&open_around, Guarantees::empty()), COMPLETE);
    assert_eq!(narrowed(&alone, "/w/out"), [Axis::Read, Axis::Execute]);
    for less in [nested, alone] {
        assert!(!less.guarantees().contains(Guarantees::READ_BOUNDARY));
        assert_eq!(less.level(), Level::Degraded);
    }
}

#[test]
fn pol_54_a_pattern_whose_matches_are_not_all_known_is_told_and_clears_its_boundaries() {
    let both = Guarantees::READ_BOUNDARY | Guarantees::WRITE_BOUNDARY;
    let policy = policy(&[("/", Verdict::READ_ONLY), ("/w", Verdict::DENY)], both);
    let told = |complete: Complete| -> (Guarantees, Vec<&'static str>) {
        let report = report_of(&policy, complete);
        let patterns = report
            .entries()
            .iter()
            .filter(|entry| entry.obligation.clause == Clause::Patterns);
        let told = patterns.map(|entry| entry.discharge.status()).collect();
        (report.guarantees() & both, told)
    };
    assert_eq!(told(COMPLETE), (both, vec!["enforced", "enforced"]));
    let incomplete = Complete {
        patterns: false,
        ..COMPLETE
    };
    assert_eq!(
        told(incomplete),
        (Guarantees::empty(), vec!["unenforced", "unenforced"])
    );
}
