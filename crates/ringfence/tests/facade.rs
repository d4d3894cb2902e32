//! One crate to depend on: everything a consumer names is here, and errors keep their identity through every layer.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that fails says so by panicking")]

mod common;

use common::Fixture;
use ringfence::{
    Access, Acknowledgement, BuildError, Clause, Discharge, ExecutorError, Field, GuaranteeSet, Guarantees,
    Home, Host, InvalidProfile, Isolation, Kind, Level, Profile, ProfileConfig, Reason, Resolve, Root,
    RootKind, RunError, Settings, Unavailable, Verdict,
};

/// PRO-80, PRO-82: a profile is made, questioned, narrowed and run with names of this crate alone.
#[test]
fn pro_80_pro_82_one_crate_is_enough() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("sub")).unwrap();
    let config = ProfileConfig {
        roots: vec![Root::directory(fixture.path("sub"), Verdict::READ_ONLY)],
        require: Guarantees::WRITE_BOUNDARY,
        ..fixture.config()
    };
    let profile = Profile::new(&config, &Host).unwrap();
    let settings: Settings = profile.settings();
    assert_eq!(
        (settings.home, settings.isolation),
        (Home::Isolated, Isolation::Sandboxed)
    );
    assert_eq!(profile.roots()[0].kind, RootKind::Directory);
    assert_eq!(profile.access_for("command.execute", ""), Ok(Access::Allow));
    assert_eq!(
        Host.resolve(fixture.workspace.path()).unwrap().kind,
        Kind::Directory
    );
    let narrowed = profile.restrict(&profile).unwrap();
    assert_eq!(narrowed.fingerprint(), profile.fingerprint());

    let set = fixture.set_with(&config);
    let executor = set.executor("a").unwrap();
    assert!(GuaranteeSet::from(executor.guarantees()).write_boundary);
    assert_ne!(executor.level(), Level::None);
    let report = executor.report();
    let environment = report
        .entries()
        .iter()
        .find(|entry| entry.obligation.clause == Clause::Environment);
    assert!(matches!(
        environment.unwrap().discharge,
        Discharge::Enforced { .. }
    ));
    assert!(executor.command("true").output().unwrap().success());
}

/// PRO-81, PRO-83, EXE-6: a named error can be matched whichever layer raised it, and through any wrapping.
#[test]
fn pro_81_pro_83_named_errors_keep_their_identity() {
    let fixture = Fixture::new();
    let wrapped: Box<dyn std::error::Error> =
        Box::new(Profile::new(&ProfileConfig::default(), &Host).unwrap_err());
    let invalid = wrapped.downcast_ref::<InvalidProfile>().unwrap();
    assert!(
        invalid
            .problems
            .iter()
            .any(|problem| problem.field == Field::Workspace)
    );

    let unacknowledged = ProfileConfig {
        isolation: Isolation::Unconfined,
        acknowledgement: Acknowledgement::NotGiven,
        ..fixture.config()
    };
    let problems = Profile::new(&unacknowledged, &Host).unwrap_err().problems;
    assert!(
        problems
            .iter()
            .any(|problem| matches!(problem.reason, Reason::Unacknowledged)),
        "{problems:?}"
    );

    // Nothing restricts egress to targets without a route, so a guarantee that is insisted on is missing: the backend's
    // error arrives unchanged through the set.
    let config = ProfileConfig {
        require: Guarantees::TARGET_NETWORK,
        ..fixture.config()
    };
    let error = fixture.set_with(&config).executor("a").map(drop).unwrap_err();
    assert!(matches!(
        &error,
        ExecutorError::Unavailable(Unavailable::Guarantees { missing, .. }) if *missing == Guarantees::TARGET_NETWORK
    ));
    assert_eq!(error.code(), "guarantees_missing");
    assert!(!error.hint().is_empty());

    let error: BuildError = Unavailable::NoBackend {
        why: "x".to_owned(),
        advice: "y".to_owned(),
    }
    .into();
    assert_eq!(
        (error.code(), error.hint().as_str()),
        ("sandbox_unavailable", "y")
    );

    let set = fixture.set();
    let executor = set.executor("b").unwrap();
    assert!(set.close().is_clean());
    let wrapped: Box<dyn std::error::Error> = Box::new(executor.command("true").output().unwrap_err());
    assert_eq!(
        wrapped.downcast_ref::<RunError>(),
        Some(&RunError::ExecutorClosed)
    );
}
