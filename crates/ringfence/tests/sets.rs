//! Sets own their executors: options, keys, memoization, private directories, close.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use common::{Fixture, eventually, shell};
use ringfence::blocking::ExecutorSet;
use ringfence::{
    BuildError, Ending, ExecutorError, Home, Host, Level, Profile, ProfileConfig, RunError, Verdict,
};

#[test]
fn set_5_options_are_checked_before_anything_is_made() {
    let fixture = Fixture::new();
    let profile = Profile::new(&fixture.config(), &Host).unwrap();
    let builder = || ringfence::ExecutorSet::builder(profile.clone()).scratch_root(fixture.scratch.path());
    let code = |result: Result<ringfence::ExecutorSet, BuildError>| result.map(drop).unwrap_err().code();
    let missing = fixture.path("missing");
    let file = fixture.path("file");
    std::fs::write(&file, "").unwrap();

    let without_root = ringfence::ExecutorSet::builder(profile.clone()).max_executors(1);
    assert_eq!(code(without_root.build()), "scratch_root");
    assert_eq!(code(builder().build()), "max_executors");
    assert_eq!(
        code(builder().max_executors(1).grant_ttl(Duration::ZERO).build()),
        "grant_ttl"
    );
    for wrong in [missing.as_path(), file.as_path(), "relative".as_ref()] {
        let error = builder()
            .max_executors(1)
            .scratch_root(wrong)
            .build()
            .map(drop)
            .unwrap_err();
        assert!(
            matches!(&error, BuildError::ScratchRoot { path, .. } if path == wrong),
            "{error}"
        );
        assert!(!error.hint().is_empty());
    }
    assert_eq!(fixture.scratch_entries(), [""; 0].map(std::path::PathBuf::from));
}

#[test]
fn set_21_a_scratch_root_that_commands_can_write_is_refused() {
    let fixture = Fixture::new();
    let inside = fixture.path("scratch");
    std::fs::create_dir(&inside).unwrap();
    let profile = Profile::new(&fixture.config(), &Host).unwrap();
    let builder = ringfence::ExecutorSet::builder(profile)
        .max_executors(1)
        .scratch_root(&inside);
    let error = builder.build().map(drop).unwrap_err();
    assert!(error.to_string().contains("lets commands write"), "{error}");
    assert_eq!(std::fs::read_dir(&inside).unwrap().count(), 0);
}

#[test]
fn set_2_the_grant_lifetime_is_15_minutes_unless_given() {
    let fixture = Fixture::new();
    assert_eq!(fixture.set().grant_ttl(), Duration::from_secs(900));
}

#[test]
fn set_11_keys_are_checked_and_never_trimmed() {
    let fixture = Fixture::new();
    let set = fixture.set();
    for wrong in ["", " a", "a ", "\ta", "a\u{2003}", "a\0b"] {
        assert!(
            matches!(set.executor(wrong), Err(ExecutorError::Key { .. })),
            "{wrong:?} was accepted"
        );
    }
    assert_ne!(*set.executor("a b").unwrap(), *set.executor("a").unwrap());
}

// SET-12, SET-13
#[test]
fn set_12_set_13_a_repeated_key_is_the_same_executor_even_at_the_limit() {
    let fixture = Fixture::new();
    let profile = Profile::new(&fixture.config(), &Host).unwrap();
    let set: ExecutorSet = ringfence::ExecutorSet::builder(profile)
        .scratch_root(fixture.scratch.path())
        .max_executors(2)
        .build()
        .unwrap()
        .into();
    let (first, second) = (set.executor("a").unwrap(), set.executor("b").unwrap());
    assert_eq!(*first, *set.executor("a").unwrap());
    assert_ne!(*first, *second);
    assert_ne!(first.home(), second.home());
    assert_ne!(first.temporary_directory(), second.temporary_directory());
    assert_eq!(
        set.executor("c").map(drop).unwrap_err(),
        ExecutorError::Limit { max: 2 }
    );
    assert_eq!(*second, *set.executor("b").unwrap());
}

#[test]
fn set_14_concurrent_callers_of_one_key_get_one_executor() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executors: Vec<_> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| set.executor("a").unwrap()))
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    assert!(executors.windows(2).all(|pair| *pair[0] == *pair[1]));
}

/// Closing waits for what is in the making, and that gives up the search of a great workspace.
#[test]
fn closing_does_not_wait_for_the_search_of_the_workspace() {
    let fixture = Fixture::new();
    for number in 0..5000 {
        let directory = fixture.path(&format!("{}/{}", number / 100, number % 100));
        std::fs::create_dir_all(directory).unwrap();
    }
    let set = fixture.set();
    let owned = fixture.scratch_entries().remove(0);
    std::thread::scope(|scope| {
        let making = scope.spawn(|| set.executor("a").map(drop));
        let is_made = || std::fs::read_dir(&owned).is_ok_and(|entries| entries.count() > 1);
        eventually("the making of an executor", is_made);
        assert!(set.close().is_clean());
        assert_eq!(making.join().unwrap(), Err(ExecutorError::SetClosed));
    });
    assert_eq!(fixture.scratch_entries(), [""; 0].map(std::path::PathBuf::from));
}

// SET-9, SET-19
#[test]
fn set_9_set_19_home_and_tmpdir_are_private_writable_and_in_the_environment() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let owned = fixture.scratch_entries();
    assert_eq!(
        std::fs::read_dir(&owned[0]).unwrap().count(),
        1,
        "only the owner file before the first executor"
    );
    let executor = set.executor("a").unwrap();
    for directory in [executor.home().unwrap(), executor.temporary_directory()] {
        assert!(directory.starts_with(&owned[0]));
        assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o7777, 0o700);
    }
    let written = shell(
        &executor,
        fixture.workspace.path(),
        "echo x > $HOME/h && echo y > $TMPDIR/t && echo $HOME $TMPDIR",
    );
    let expected = format!(
        "{} {}\n",
        executor.home().unwrap().display(),
        executor.temporary_directory().display()
    );
    assert_eq!(written, expected);
    assert!(executor.home().unwrap().join("h").exists() && executor.temporary_directory().join("t").exists());
}

// SET-21, POL-9
#[test]
fn set_21_pol_9_one_key_cannot_reach_another_keys_directories() {
    let fixture = Fixture::new();
    let config = ProfileConfig {
        host_access: Verdict::READ_ONLY,
        ..fixture.config()
    };
    let set = fixture.set_with(&config);
    let (first, second) = (set.executor("a").unwrap(), set.executor("b").unwrap());
    let secret = first.home().unwrap().join("secret");
    std::fs::write(&secret, "s").unwrap();
    assert_eq!(
        shell(
            &first,
            fixture.workspace.path(),
            &format!("cat {}", secret.display())
        ),
        "s"
    );
    let outcome = second
        .run_argv(fixture.workspace.path(), ["cat".as_ref(), secret.as_os_str()])
        .unwrap();
    assert_eq!(outcome.code(), Some(1), "{}", outcome.stdout.to_text());
}

// SET-30, SET-35
#[test]
fn set_30_set_35_close_is_idempotent_and_final() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let level = executor.level();
    let prepared = executor.command("true").prepare().unwrap();
    let reports: Vec<_> = std::thread::scope(|scope| {
        let closers: Vec<_> = (0..4).map(|_| scope.spawn(|| set.close())).collect();
        closers.into_iter().map(|closer| closer.join().unwrap()).collect()
    });
    assert!(
        reports
            .iter()
            .all(|report| report.is_clean() && *report == reports[0])
    );
    assert_eq!(set.executor("a").map(drop).unwrap_err(), ExecutorError::SetClosed);
    assert_eq!(
        executor.command("true").output().unwrap_err(),
        RunError::ExecutorClosed
    );
    assert_eq!(prepared.start().map(drop).unwrap_err(), RunError::ProcessClosed);
    assert_eq!(executor.level(), level, "accessors keep answering");
    assert!(fixture.scratch_entries().is_empty() && fixture.scratch.path().exists());
}

#[test]
fn set_36_close_kills_what_runs_and_waits_for_it() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "setsid sh -c 'while :; do date >> log; sleep 0.05; done' & echo ready > ready; sleep 60";
    let process = executor
        .shell(text)
        .current_dir(fixture.workspace.path())
        .spawn()
        .unwrap();
    eventually("the command's start", || {
        fixture.path("ready").exists() && fixture.path("log").exists()
    });
    assert!(set.close().is_clean());
    assert_eq!(process.wait().unwrap().ended, Ending::OwnerClosed);
    let size = || std::fs::metadata(fixture.path("log")).unwrap().len();
    let before = size();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(before, size(), "a descendant survived the close");
}

#[test]
fn set_37_whatever_commands_leave_in_their_directories_is_removed() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "mkdir -p $HOME/a/b && ln -s / $HOME/a/b/link && chmod 0 $HOME/a/b && chmod 0555 $HOME/a";
    shell(&executor, fixture.workspace.path(), text);
    assert!(set.close().is_clean());
    assert!(fixture.scratch_entries().is_empty());
}

#[test]
fn dropping_a_set_without_close_kills_and_removes_too() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let process = executor.command("sleep").arg("60").spawn().unwrap();
    drop(set);
    assert_eq!(process.wait().unwrap().ended, Ending::OwnerClosed);
    assert!(fixture.scratch_entries().is_empty());
}

// SET-20, EXE-5
#[test]
fn set_20_exe_5_an_unconfined_set_has_the_same_environment_and_claims_nothing_else() {
    let fixture = Fixture::new();
    let config = ProfileConfig {
        home: Home::Isolated,
        ..ProfileConfig::unconfined(fixture.workspace.path())
    };
    let set = fixture.set_with(&config);
    let executor = set.executor("a").unwrap();
    assert_eq!(
        (executor.level(), executor.guarantees()),
        (Level::None, ringfence::Guarantees::ENV_SCRUB)
    );
    let home = shell(
        &executor,
        fixture.workspace.path(),
        "printf %s $HOME; echo x > made; exit 0",
    );
    assert_eq!(home, executor.home().unwrap().to_str().unwrap());
    assert!(fixture.path("made").exists());
    let outcome = executor
        .shell("kill -TERM $$")
        .current_dir(fixture.workspace.path())
        .output()
        .unwrap();
    assert_eq!(
        outcome.ended,
        Ending::Signaled {
            signal: 15,
            core: false
        }
    );
}
