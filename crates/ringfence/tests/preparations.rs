//! Preparations: what is checked and reserved before there is a process, and how that is given back.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use common::{Fixture, confined_or_not};
use ringfence::blocking::{Command, Executor, PreparedProcess};
use ringfence::{
    Access, CancelToken, EffectiveAccess, Ending, Execution, ProfileConfig, Root, RunError, Tty, Verdict,
};

/// A command that leaves a mark.
fn marking(executor: &Executor, fixture: &Fixture) -> Command {
    executor.command("touch").arg(fixture.path("mark"))
}

fn refusal(prepared: Result<PreparedProcess, RunError>) -> RunError {
    prepared.map(drop).unwrap_err()
}

fn starts(prepared: &PreparedProcess) -> Result<(), RunError> {
    prepared.start().map(drop)
}

// PRE-1, PRE-8
#[test]
fn pre_1_pre_8_before_its_start_a_preparation_has_no_effect() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let prepared = marking(&executor, &fixture).prepare().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert!(!fixture.path("mark").exists());
        assert_eq!(set.executions(), Vec::<Execution>::new());
        let process = prepared.start().unwrap();
        assert!(process.wait_all().unwrap().success());
        std::fs::remove_file(fixture.path("mark")).unwrap();
        assert!(set.close().is_clean());
    }
}

// PRE-2: a token that was cancelled before is not a deadline that has passed.
#[test]
fn pre_2_what_was_cancelled_before_is_not_prepared() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let token = CancelToken::new();
    token.cancel();
    let cancelled = marking(&executor, &fixture).cancel_on(&token).prepare();
    assert_eq!(refusal(cancelled), RunError::Cancelled);
    let late = marking(&executor, &fixture).deadline(Instant::now()).prepare();
    assert_eq!(refusal(late), RunError::DeadlineExceeded);
    assert!(!fixture.path("mark").exists());
    assert!(set.executions().is_empty());
    // Neither holds up a close.
    assert!(set.close_within(Duration::from_secs(30)).unwrap().is_clean());
}

// PRE-3: the directory that counts is the canonical one, of the moment when it was prepared.
#[test]
fn pre_3_the_directory_is_the_one_that_a_link_led_to() {
    let fixture = Fixture::new();
    let (there, elsewhere, link) = (
        fixture.path("there"),
        fixture.path("elsewhere"),
        fixture.path("link"),
    );
    std::fs::create_dir(&there).unwrap();
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&there, &link).unwrap();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let prepared = executor.shell("touch here").current_dir(&link).prepare().unwrap();
        std::fs::remove_file(&link).unwrap();
        symlink(&elsewhere, &link).unwrap();
        assert!(prepared.start().unwrap().wait().unwrap().success());
        std::fs::remove_file(there.join("here")).unwrap();
        assert!(!elsewhere.join("here").exists());
        std::fs::remove_file(&link).unwrap();
        symlink(&there, &link).unwrap();
    }
}

// PRE-4
#[test]
fn pre_4_an_execution_has_the_callers_id_or_one_that_nobody_can_guess() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let fresh = || {
        executor
            .command("true")
            .prepare()
            .unwrap()
            .execution_id()
            .to_owned()
    };
    let (one, other) = (fresh(), fresh());
    assert_ne!(one, other);
    for id in [one, other] {
        assert!(
            id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{id}"
        );
    }
    let given = executor.command("cat").execution_id("run 7").prepare().unwrap();
    let process = given.start().unwrap();
    assert_eq!((given.execution_id(), process.execution_id()), ("run 7", "run 7"));
    let seen: Vec<String> = set
        .executions()
        .into_iter()
        .map(|execution| execution.id)
        .collect();
    assert_eq!(seen, ["run 7"]);
    for wrong in ["", " run", "run\t", "r\0n"] {
        let error = refusal(executor.command("true").execution_id(wrong).prepare());
        assert!(
            matches!(
                &error,
                RunError::Invalid {
                    field: "execution id",
                    ..
                }
            ),
            "{wrong:?}: {error}"
        );
    }
}

// PRE-4a: arguments for no shell, or a text for one.
#[test]
fn pre_4a_arguments_and_shell_texts_can_be_prepared() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let ends = |command: Command| command.prepare().unwrap().start().unwrap().wait().unwrap().ended;
    assert_eq!(ends(executor.shell("x=7; exit $x")), Ending::Exited(7));
    assert_eq!(
        ends(executor.command("test").args(["$x", "=", "$x"])),
        Ending::Exited(0)
    );
}

// PRE-5, PRE-7: the first thing that is wrong is the one that is told. What the profile says of commands comes before
// anything about the directory (EXE-32).
#[test]
fn pre_5_the_first_problem_is_the_one_that_is_told() {
    let fixture = Fixture::new();
    let denied = ProfileConfig {
        command: Access::Deny,
        ..fixture.config()
    };
    let (set, token) = (fixture.set_with(&denied), CancelToken::new());
    let executor = set.executor("a").unwrap();
    token.cancel();
    let missing = fixture.path("missing");
    let nul = || {
        executor
            .command("a\0b")
            .current_dir(&missing)
            .deadline(Instant::now())
    };
    let field = |error: RunError| match error {
        RunError::Invalid { field, .. } => field,
        other => panic!("{other}"),
    };
    assert_eq!(refusal(nul().cancel_on(&token).prepare()), RunError::Cancelled);
    assert_eq!(field(refusal(nul().execution_id("").prepare())), "command");
    let named = |executor: &Executor| {
        executor
            .command("true")
            .current_dir(&missing)
            .deadline(Instant::now())
    };
    assert_eq!(
        field(refusal(named(&executor).execution_id("").prepare())),
        "execution id"
    );
    assert_eq!(refusal(named(&executor).prepare()), RunError::GrantDenied);
    let allowed = fixture.set();
    let free = allowed.executor("a").unwrap();
    assert_eq!(field(refusal(named(&free).prepare())), "working directory");
    let late = free.command("true").deadline(Instant::now()).prepare();
    assert_eq!(refusal(late), RunError::DeadlineExceeded);
    // Closed comes before all of it but the token.
    assert!(set.close().is_clean());
    assert_eq!(
        refusal(nul().execution_id("").tty(Tty::default()).prepare()),
        RunError::ExecutorClosed
    );
}

// PRE-6: at the start it is too late, later it ends the command, whether or not anybody waits.
#[test]
fn pre_6_a_deadline_counts_before_at_and_after_the_start() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let soon = Instant::now() + Duration::from_secs(1);
    let late = marking(&executor, &fixture).deadline(soon).prepare().unwrap();
    std::thread::sleep(Duration::from_millis(1050));
    assert_eq!(starts(&late), Err(RunError::DeadlineExceeded));
    // It is used up, and gone.
    assert_eq!(starts(&late), Err(RunError::AlreadyStarted));
    assert!(!fixture.path("mark").exists() && set.executions().is_empty());

    let began = Instant::now();
    let sleeper = executor
        .command("sleep")
        .arg("60")
        .deadline(began + Duration::from_secs(3));
    let process = sleeper.spawn().unwrap();
    common::eventually("the end", || process.try_wait().is_some());
    assert!(began.elapsed() >= Duration::from_secs(3));
    assert_eq!(process.wait().unwrap().ended, Ending::TimedOut);
    let far = began + Duration::from_secs(3600);
    let in_time = executor.command("true").deadline(far).output().unwrap();
    assert!(in_time.success());
}

// PRE-7: without grants.
#[test]
fn pre_7_the_profile_decides_whether_commands_are_admitted() {
    let fixture = Fixture::new();
    for (command, refused) in [
        (Access::Allow, None),
        (Access::Gated, Some(RunError::GrantRequired)),
        (Access::Deny, Some(RunError::GrantDenied)),
    ] {
        let set = fixture.set_with(&ProfileConfig {
            command,
            ..fixture.config()
        });
        let executor = set.executor("a").unwrap();
        assert_eq!(marking(&executor, &fixture).prepare().map(drop).err(), refused);
        assert!(set.close().is_clean());
        let closed = marking(&executor, &fixture).prepare();
        assert_eq!(refusal(closed), RunError::ExecutorClosed, "before anything else");
    }
    assert!(!fixture.path("mark").exists());
}

// PRE-13, PRC-6: the directory is pinned.
#[test]
fn pre_13_in_another_directory_of_that_name_nothing_runs() {
    let fixture = Fixture::new();
    let (meant, aside) = (fixture.path("meant"), fixture.path("aside"));
    let put_back = || {
        if meant.is_symlink() {
            std::fs::remove_file(&meant).unwrap();
        } else {
            std::fs::remove_dir(&meant).unwrap();
        }
        std::fs::rename(&aside, &meant).unwrap();
    };
    std::fs::create_dir(&meant).unwrap();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let prepare = || {
            marking(&executor, &fixture)
                .current_dir(&meant)
                .prepare()
                .unwrap()
        };
        let changed = Err(RunError::Changed { path: meant.clone() });

        let prepared = prepare();
        std::fs::rename(&meant, &aside).unwrap();
        std::fs::create_dir(&meant).unwrap();
        let started = starts(&prepared);
        assert_eq!(started, changed);
        assert_eq!(started.unwrap_err().code(), "target_changed");
        put_back();

        let prepared = prepare();
        std::fs::rename(&meant, &aside).unwrap();
        symlink(fixture.workspace.path(), &meant).unwrap();
        assert_eq!(starts(&prepared), changed);
        put_back();

        let prepared = prepare();
        std::fs::rename(&meant, &aside).unwrap();
        let gone = starts(&prepared).unwrap_err();
        assert!(
            matches!(gone, RunError::Setup(_) | RunError::Changed { .. }),
            "{gone}"
        );
        std::fs::rename(&aside, &meant).unwrap();

        assert!(!fixture.path("mark").exists() && set.executions().is_empty());
        // The control: there and back again it is the one that was meant.
        let prepared = prepare();
        std::fs::rename(&meant, &aside).unwrap();
        std::fs::rename(&aside, &meant).unwrap();
        assert!(prepared.start().unwrap().wait().unwrap().success());
        std::fs::remove_file(fixture.path("mark")).unwrap();
        assert!(set.close().is_clean());
    }
}

/// What an executor of this profile can write.
fn access(fixture: &Fixture, config: &ProfileConfig) -> EffectiveAccess {
    let set = fixture.set_with(config);
    let executor = set.executor("a").unwrap();
    executor.command("true").prepare().unwrap().effective_access()
}

fn scoped(paths: &[&str], trees: &[&str], fixture: &Fixture) -> EffectiveAccess {
    let under = |names: &[&str]| names.iter().map(|name| fixture.path(name)).collect();
    EffectiveAccess::ScopedWrite {
        paths: under(paths),
        trees: under(trees),
    }
}

fn writing(write: Access) -> Verdict {
    Verdict::new(Access::Allow, write)
}

// PRE-19, PRE-20: what can be written decides the kind.
#[test]
fn pre_19_the_access_is_none_some_or_all_of_it() {
    let fixture = Fixture::new();
    let of = |workspace_access, host_access| {
        let config = ProfileConfig {
            workspace_access,
            host_access,
            ..fixture.config()
        };
        access(&fixture, &config)
    };
    let nothing = scoped(&[], &[], &fixture);
    assert_eq!(
        of(writing(Access::Deny), Verdict::DENY),
        EffectiveAccess::ReadOnly
    );
    assert_eq!(of(writing(Access::Gated), Verdict::DENY), nothing);
    assert_eq!(
        of(writing(Access::Allow), Verdict::DENY),
        EffectiveAccess::BroadWrite
    );
    assert_eq!(of(writing(Access::Deny), writing(Access::Gated)), nothing);
    assert_eq!(
        of(writing(Access::Deny), writing(Access::Allow)),
        EffectiveAccess::BroadWrite
    );
    let unconfined = ProfileConfig::unconfined(fixture.workspace.path());
    assert_eq!(access(&fixture, &unconfined), EffectiveAccess::BroadWrite);
    let number = |access: &EffectiveAccess| match access {
        EffectiveAccess::ReadOnly => 1,
        EffectiveAccess::ScopedWrite { .. } => 2,
        EffectiveAccess::BroadWrite => 3,
    };
    assert_eq!(
        [&EffectiveAccess::ReadOnly, &nothing, &EffectiveAccess::BroadWrite].map(number),
        [1, 2, 3]
    );
}

// PRE-21, PRE-22: roots that can be written are named by their canonical paths; those that can be read are not.
#[test]
fn pre_21_pre_22_files_and_directories_that_can_be_written_are_named() {
    let fixture = Fixture::new();
    for name in ["tree", "other", "readable"] {
        std::fs::create_dir(fixture.path(name)).unwrap();
    }
    for name in ["file", "readable-file"] {
        std::fs::write(fixture.path(name), "").unwrap();
    }
    symlink(fixture.path("other"), fixture.path("link")).unwrap();
    let (read_write, read_only) = (Verdict::READ_WRITE, Verdict::READ_ONLY);
    let config = ProfileConfig {
        workspace_access: read_only,
        roots: vec![
            Root::directory(fixture.path("tree"), read_write),
            Root::directory(fixture.path("link"), read_write),
            Root::file(fixture.path("file"), read_write),
            Root::directory(fixture.path("readable"), read_only),
            Root::file(fixture.path("readable-file"), read_only),
        ],
        ..fixture.config()
    };
    assert_eq!(
        access(&fixture, &config),
        scoped(&["file"], &["other", "tree"], &fixture)
    );
    // What can be written anyway is not named.
    let broad = ProfileConfig {
        workspace_access: read_write,
        ..config
    };
    assert_eq!(access(&fixture, &broad), EffectiveAccess::BroadWrite);
}

// PRE-23, PRE-24: nobody's changes reach it, and it stays what it was.
#[test]
fn pre_23_pre_24_the_access_is_the_callers_own_and_frozen() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("tree")).unwrap();
    let config = ProfileConfig {
        workspace_access: Verdict::READ_ONLY,
        roots: vec![Root::directory(fixture.path("tree"), Verdict::READ_WRITE)],
        ..fixture.config()
    };
    let set = fixture.set_with(&config);
    let executor = set.executor("a").unwrap();
    let prepared = executor.command("cat").prepare().unwrap();
    let expected = scoped(&[], &["tree"], &fixture);
    let mut mine = prepared.effective_access();
    if let EffectiveAccess::ScopedWrite { trees, .. } = &mut mine {
        trees.push(fixture.path("more"));
    }
    assert_ne!(mine, expected);
    assert_eq!(prepared.effective_access(), expected, "before the start");
    let process = prepared.start().unwrap();
    std::fs::rename(fixture.path("tree"), fixture.path("moved")).unwrap();
    assert_eq!(prepared.effective_access(), expected, "after the start");
    assert!(process.wait_all().unwrap().success());
    assert_eq!(prepared.effective_access(), expected, "after the end");
    prepared.close();
    assert!(set.close().is_clean());
    assert_eq!(prepared.effective_access(), expected, "after the close");
}

// PRE-25, PRC-9: its whole table.
#[test]
fn pre_25_prc_9_a_preparation_is_good_for_one_start() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let prepare = |command: Command| command.prepare().unwrap();

    let twice = prepare(executor.command("true"));
    let process = twice.start().unwrap();
    assert_eq!(starts(&twice), Err(RunError::AlreadyStarted));
    assert!(process.wait().unwrap().success());
    twice.close();
    twice.close();
    assert_eq!(starts(&twice), Err(RunError::ProcessClosed));

    // A start that fails uses it up as well.
    let failing = prepare(executor.command("no-such-program"));
    assert!(matches!(starts(&failing), Err(RunError::Setup(_))));
    assert_eq!(starts(&failing), Err(RunError::AlreadyStarted));

    let closed = prepare(marking(&executor, &fixture));
    closed.close();
    closed.close();
    assert_eq!(starts(&closed), Err(RunError::ProcessClosed));

    // A cancelled one does not: it is asked for first.
    let token = CancelToken::new();
    let cancelled = prepare(marking(&executor, &fixture).cancel_on(&token));
    token.cancel();
    assert_eq!(starts(&cancelled), Err(RunError::Cancelled));
    assert_eq!(starts(&cancelled), Err(RunError::Cancelled), "it was not used up");
    cancelled.close();
    assert_eq!(
        starts(&cancelled),
        Err(RunError::Cancelled),
        "the token comes first"
    );
    assert!(!fixture.path("mark").exists());
}

// PRE-26: whichever is first, the other has no error and nothing is left.
#[test]
fn pre_26_a_start_and_a_close_may_meet() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    for _ in 0..25 {
        let prepared = executor.command("true").prepare().unwrap();
        std::thread::scope(|scope| {
            let starter = scope.spawn(|| prepared.start());
            let closer = scope.spawn(|| prepared.close());
            closer.join().unwrap();
            match starter.join().unwrap() {
                Ok(process) => assert!(process.wait_all().unwrap().success()),
                Err(error) => assert_eq!(error, RunError::ProcessClosed),
            }
        });
        assert_eq!(starts(&prepared), Err(RunError::ProcessClosed));
    }
    assert!(set.executions().is_empty());
    assert!(set.close_within(Duration::from_secs(30)).unwrap().is_clean());
}

// PRE-27, PRE-28: one that was forgotten, one that was dropped.
#[test]
fn pre_27_pre_28_preparations_that_nobody_starts_hold_nothing_up() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let kept = marking(&executor, &fixture).prepare().unwrap();
    let forgotten = marking(&executor, &fixture).prepare().unwrap();
    std::mem::forget(forgotten);
    drop(marking(&executor, &fixture).prepare().unwrap());
    assert!(set.close_within(Duration::from_secs(30)).unwrap().is_clean());
    assert_eq!(starts(&kept), Err(RunError::ProcessClosed));
    assert_eq!(
        refusal(marking(&executor, &fixture).prepare()),
        RunError::ExecutorClosed
    );
    assert!(!fixture.path("mark").exists());
}
