use super::*;
use crate::access::Axis;
use crate::limit::Limit;
use crate::obligation::Mechanism;

fn entry(obligation: Obligation, discharge: Discharge) -> Entry {
    Entry {
        obligation,
        discharge,
    }
}

fn write(region: &str, discharge: Discharge) -> Entry {
    entry(Obligation::file(Axis::Write, region), discharge)
}

fn enforced() -> Discharge {
    Discharge::enforced([Mechanism::MountView])
}

fn narrowed() -> Discharge {
    Discharge::Narrowed {
        what: "no new files".into(),
    }
}

fn artefact() -> Discharge {
    Discharge::HostArtefact {
        what: "an empty file".into(),
    }
}

fn unenforced() -> Discharge {
    Discharge::Unenforced {
        why: "no Landlock".into(),
    }
}

#[test]
fn pro_72_a_guarantee_holds_when_every_obligation_of_it_is_met() {
    let holds = |entries: Vec<Entry>| Report::new(entries).guarantees() == Guarantees::WRITE_BOUNDARY;
    for met in [enforced(), artefact(), Discharge::Vacuous] {
        assert!(
            holds(vec![write("/", enforced()), write("/a", met.clone())]),
            "{met:?}"
        );
    }
    for unmet in [narrowed(), unenforced()] {
        assert!(
            !holds(vec![write("/", enforced()), write("/a", unmet.clone())]),
            "{unmet:?}"
        );
        assert!(!holds(vec![write("/a", unmet), write("/", enforced())]));
    }
}

#[test]
fn pol_47_no_bit_is_earned_without_an_obligation_or_by_somebody_elses() {
    assert_eq!(Report::new(Vec::new()).guarantees(), Guarantees::empty());
    let read = entry(Obligation::file(Axis::Execute, "/"), unenforced());
    let report = Report::new(vec![read, write("/", enforced())]);
    assert_eq!(report.guarantees(), Guarantees::WRITE_BOUNDARY);
}

#[test]
fn pol_48_the_read_boundary_means_that_every_closed_region_is_closed_and_each_is_told_apart() {
    let regions = [
        (Axis::Read, "/"),
        (Axis::Execute, "/"),
        (Axis::Read, "/ws/key"),
        (Axis::Execute, "/data"),
    ];
    let report = |open: Option<usize>| {
        let entries = regions.iter().enumerate().map(|(index, (axis, region))| {
            let discharge = if open == Some(index) {
                unenforced()
            } else {
                enforced()
            };
            entry(Obligation::file(*axis, *region), discharge)
        });
        Report::new(entries.collect())
    };
    assert_eq!(report(None).guarantees(), Guarantees::READ_BOUNDARY);
    for (index, (axis, region)) in regions.into_iter().enumerate() {
        let one_open = report(Some(index));
        assert_eq!(one_open.guarantees(), Guarantees::empty(), "{region}");
        let missing = one_open.missing(Guarantees::READ_BOUNDARY);
        let named: Vec<_> = missing.iter().map(|entry| &entry.obligation).collect();
        assert_eq!(named, [&Obligation::file(axis, region)]);
    }
}

#[test]
fn pro_74_the_level_follows_from_the_answers() {
    let level = |entries| Report::new(entries).level();
    assert_eq!(
        level(vec![write("/", enforced()), write("/a", Discharge::Vacuous)]),
        Level::Full
    );
    for less in [narrowed(), artefact(), unenforced()] {
        assert_eq!(
            level(vec![write("/", enforced()), write("/a", less)]),
            Level::Degraded
        );
    }
    assert_eq!(level(Vec::new()), Level::None);
}

#[test]
fn pro_74_without_confinement_the_level_is_none_and_only_the_environment_is_claimed() {
    let direct = Report::direct(Discharge::enforced([Mechanism::EnvironmentAllowlist]));
    assert_eq!(
        (direct.level(), direct.guarantees()),
        (Level::None, Guarantees::ENV_SCRUB)
    );
    assert_eq!(Report::direct(unenforced()).guarantees(), Guarantees::empty());
}

#[test]
fn pro_67_what_is_missing_names_the_entries_behind_it() {
    let open = write("/a", unenforced());
    let network = entry(
        Obligation::of(Guarantees::NETWORK_BOUNDARY, Clause::Network),
        narrowed(),
    );
    let report = Report::new(vec![write("/", enforced()), open.clone(), network.clone()]);
    assert_eq!(report.missing(Guarantees::WRITE_BOUNDARY), [&open]);
    assert_eq!(report.missing(Guarantees::all()), [&open, &network]);
    assert!(report.missing(Guarantees::READ_BOUNDARY).is_empty());
    assert!(
        !report.guarantees().contains(Guarantees::READ_BOUNDARY),
        "nothing to show, yet not held"
    );
}

#[test]
fn pro_73_reports_keep_their_order_and_every_entry_has_its_three_texts() {
    let statuses = [
        enforced(),
        narrowed(),
        artefact(),
        unenforced(),
        Discharge::Vacuous,
    ];
    let entries: Vec<_> = statuses
        .into_iter()
        .map(|discharge| write("/a", discharge))
        .collect();
    let report = Report::new(entries.clone());
    assert_eq!(report.entries(), entries);
    // PRO-75: the status is one of a closed set of words, the same in every place.
    let words = ["enforced", "narrowed", "host_artefact", "unenforced", "vacuous"];
    for (entry, word) in report.entries().iter().zip(words) {
        assert_eq!(entry.obligation.to_string(), r#"file access, write, "/a""#);
        assert_eq!(entry.discharge.status(), word);
        assert!(serde_json::to_string(&entry.discharge).unwrap().contains(word));
    }
}

#[test]
fn pro_76_clauses_are_a_closed_set_of_distinct_words() {
    let clauses = [
        Clause::FileAccess,
        Clause::HardLinks,
        Clause::ProcessIsolation,
        Clause::Privilege,
        Clause::Descriptors,
        Clause::Terminal,
        Clause::HostSockets,
        Clause::AbstractSockets,
        Clause::KernelSurface,
        Clause::Lifetime,
        Clause::Environment,
        Clause::Network,
        Clause::Patterns,
        Clause::NewRepositories,
    ];
    let mut words: Vec<_> = clauses
        .map(|clause| serde_json::to_string(&clause).unwrap())
        .to_vec();
    for (word, clause) in words.iter().zip(clauses) {
        assert_eq!(word.trim_matches('"').replace('_', " "), clause.to_string());
    }
    words.sort();
    words.dedup();
    assert_eq!(words.len(), clauses.len());
    let limit = Clause::Limit(Limit::CpuTime);
    assert_eq!(limit.to_string(), "limit of CPU time");
    assert_eq!(serde_json::to_string(&limit).unwrap(), r#"{"limit":"cpu_time"}"#);
}

#[test]
fn reports_read_as_json() {
    let report = Report::new(vec![
        write(
            "/",
            Discharge::enforced([Mechanism::MountView, Mechanism::Landlock { abi: 7 }]),
        ),
        entry(
            Obligation::of(Guarantees::ENV_SCRUB, Clause::Environment),
            unenforced(),
        ),
    ]);
    let expected = serde_json::json!({
        "level": "degraded",
        "guarantees": ["write_boundary"],
        "entries": [
            {
                "obligation": {
                    "guarantee": "write_boundary", "clause": "file_access", "axis": "write", "region": "/",
                },
                "discharge": { "enforced": { "mechanism": ["mount_view", { "landlock": { "abi": 7 } }] } },
            },
            {
                "obligation": {
                    "guarantee": "env_scrub", "clause": "environment", "axis": null, "region": null,
                },
                "discharge": { "unenforced": { "why": "no Landlock" } },
            },
        ],
    });
    assert_eq!(serde_json::to_value(&report).unwrap(), expected);
}
