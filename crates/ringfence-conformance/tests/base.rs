//! The base checks: real subjects pass, and one that claims too much does not (CON-50).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

use std::cell::RefCell;
use std::path::Path;

use ringfence::{
    Access, BundleName, ExecutorSet, Guarantees, Host, Level, Profile, ProfileConfig, Verdict, blocking,
};
use ringfence_conformance::base::{Held, PLANTED_VARIABLE, Ran, Scenario, Subject, check};

/// An executor with its set, which may claim other things than it does.
struct Made {
    executor: blocking::Executor,
    set: blocking::ExecutorSet,
    _scratch: tempfile::TempDir,
    claim: Claim,
}

/// What is claimed in place of what is true.
type Claim = fn(Level, Guarantees) -> (Level, Guarantees);

impl Subject for Made {
    fn shell(&self, directory: &Path, text: &str) -> Result<Ran, String> {
        Subject::shell(&self.executor, directory, text)
    }

    fn level(&self) -> Level {
        (self.claim)(self.executor.level(), self.executor.guarantees()).0
    }

    fn guarantees(&self) -> Guarantees {
        (self.claim)(self.executor.level(), self.executor.guarantees()).1
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        assert!(self.set.close().is_clean());
    }
}

fn made(config: &ProfileConfig, claim: Claim) -> Box<dyn Subject> {
    let scratch = tempfile::tempdir().unwrap();
    let (name, value) = PLANTED_VARIABLE;
    let set = ExecutorSet::builder(Profile::new(config, &Host).unwrap())
        .scratch_root(scratch.path())
        .max_executors(1)
        .bundles([BundleName::Base])
        .environment([
            (name.into(), value.into()),
            ("PATH".into(), "/usr/bin:/bin".into()),
        ])
        .build()
        .unwrap();
    let set = blocking::ExecutorSet::from(set);
    Box::new(Made {
        executor: set.executor("base").unwrap(),
        set,
        _scratch: scratch,
        claim,
    })
}

fn confined(workspace: &Path) -> ProfileConfig {
    ProfileConfig {
        workspace: workspace.to_owned(),
        workspace_access: Verdict::READ_WRITE,
        command: Access::Allow,
        ..ProfileConfig::default()
    }
}

const HELD: Held = Held {
    control: true,
    held: true,
    detail: String::new(),
};

/// Tries everything, with scenarios that hold for the guarantees that need one.
fn judge(make: &dyn Fn(&Path, &Path) -> Box<dyn Subject>) -> (Vec<String>, Vec<Guarantees>) {
    let called = RefCell::new(Vec::new());
    let others = [
        Guarantees::READ_BOUNDARY,
        Guarantees::PROCESS_BOUNDARY,
        Guarantees::NETWORK_BOUNDARY,
        Guarantees::ADDRESS_NETWORK,
        Guarantees::TARGET_NETWORK,
        Guarantees::RESOURCE_LIMITS,
    ];
    let runs = others.map(|guarantee| {
        let called = &called;
        move || {
            called.borrow_mut().push(guarantee);
            Ok(HELD)
        }
    });
    let scenarios: Vec<_> = others
        .iter()
        .zip(&runs)
        .map(|(guarantee, run)| Scenario {
            guarantee: *guarantee,
            run,
        })
        .collect();
    let ground = tempfile::tempdir().unwrap();
    let wrong = check(ground.path(), make, &scenarios).unwrap();
    assert_eq!(
        std::fs::read_dir(ground.path()).unwrap().count(),
        0,
        "something is left"
    );
    drop(scenarios);
    (wrong, called.take())
}

/// CON-1, CON-2, CON-10, CON-11, CON-12, CON-13, CON-14, CON-40, CON-50: the live backend passes every check.
#[test]
fn con_10_the_live_backend_conforms() {
    let (wrong, called) =
        judge(&|workspace, _| made(&confined(workspace), |level, claimed| (level, claimed)));
    assert_eq!(wrong, Vec::<String>::new());
    // CON-20, CON-21: a scenario runs once for what is claimed, and not for the rest.
    let expected = [
        Guarantees::READ_BOUNDARY,
        Guarantees::NETWORK_BOUNDARY,
        Guarantees::ADDRESS_NETWORK,
    ];
    assert!(
        expected
            .iter()
            .all(|one| called.iter().filter(|other| *other == one).count() == 1),
        "{called:?}"
    );
    assert!(!called.contains(&Guarantees::RESOURCE_LIMITS), "{called:?}");
}

/// CON-50: who confines nothing and claims nothing conforms, and so does who confines without claiming it.
#[test]
fn con_50_modest_subjects_conform() {
    let (wrong, called) = judge(&|workspace, _| {
        made(&ProfileConfig::unconfined(workspace), |level, claimed| {
            (level, claimed)
        })
    });
    assert_eq!((wrong, called), (Vec::new(), Vec::new()));
    let (wrong, called) = judge(&|workspace, _| {
        made(&confined(workspace), |_, _| {
            (Level::Degraded, Guarantees::empty())
        })
    });
    assert_eq!((wrong, called), (Vec::new(), Vec::new()));
}

/// CON-3, CON-4, CON-5: what is claimed and not brought about is found, each by its own check.
#[test]
fn con_3_whoever_claims_too_much_is_found_out() {
    let (wrong, _) = judge(&|workspace, _| {
        made(&ProfileConfig::unconfined(workspace), |_, _| {
            (Level::Full, Guarantees::all())
        })
    });
    for part in ["outside can be written", "outside can be read"] {
        assert!(wrong.iter().any(|what| what.contains(part)), "{part}: {wrong:?}");
    }
}

/// CON-14: claims that contradict each other are found without running anything.
#[test]
fn con_14_contradictory_claims_are_found() {
    let claims: [Claim; 4] = [
        |_, _| (Level::None, Guarantees::WRITE_BOUNDARY),
        |_, _| (Level::Degraded, Guarantees::ADDRESS_NETWORK),
        |_, _| (Level::Degraded, Guarantees::TARGET_NETWORK),
        |_, _| (Level::Full, Guarantees::empty()),
    ];
    for claim in claims {
        let (wrong, _) = judge(&move |workspace, _| made(&confined(workspace), claim));
        assert!(
            wrong.iter().any(|what| what.starts_with("implications")),
            "{wrong:?}"
        );
    }
}

/// CON-21, CON-22: a claim without a scenario, without a control, that does not hold, or can't be tried, is a failure.
#[test]
fn con_22_scenarios_must_show_that_a_claim_holds() {
    let run = |scenarios: &[Scenario<'_>]| {
        let ground = tempfile::tempdir().unwrap();
        let make = |workspace: &Path, _: &Path| {
            made(&confined(workspace), |level, _| {
                (level, Guarantees::READ_BOUNDARY)
            })
        };
        check(ground.path(), &make, scenarios).unwrap()
    };
    let with = |result: Result<Held, String>| {
        run(&[Scenario {
            guarantee: Guarantees::READ_BOUNDARY,
            run: &|| result.clone(),
        }])
    };
    assert_eq!(run(&[]).len(), 1);
    assert_eq!(
        with(Ok(Held {
            control: false,
            ..HELD
        }))
        .len(),
        1
    );
    assert_eq!(with(Ok(Held { held: false, ..HELD })).len(), 1);
    assert_eq!(with(Err("broken".to_owned())).len(), 1);
    assert_eq!(with(Ok(HELD)), Vec::<String>::new());
}
