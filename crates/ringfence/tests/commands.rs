//! Commands: what they are given, what comes back, how they end.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

mod common;

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Fixture, confined_or_not, eventually, shell};
use ringfence::{
    Access, CancelToken, Delivery, Ending, LifetimeContainment, Limit, OutcomeError, ProfileConfig, RunError,
    Signal, Stdio,
};

/// Writes a file that can be executed.
fn program(path: &Path, content: &str) {
    std::fs::write(path, content).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn exe_30_exits_are_outcomes_and_everything_else_has_a_named_error() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let run = |text: &str| {
        executor
            .shell(text)
            .current_dir(fixture.workspace.path())
            .output()
            .unwrap()
    };
    let (zero, seven, killed) = (run("exit 0"), run("exit 7"), run("kill -SEGV $$"));
    assert!(zero.success() && zero.error().is_none());
    assert_eq!((seven.code(), seven.error()), (Some(7), None));
    assert_eq!(
        killed.ended,
        Ending::Signaled {
            signal: 11,
            core: false
        }
    );
    assert_eq!(
        killed.error(),
        Some(OutcomeError::Signaled {
            signal: 11,
            core: false
        })
    );
    assert_eq!(killed.lifetime.containment, LifetimeContainment::Enforced);
}

#[test]
fn exe_34_arguments_are_not_interpreted() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let outcome = executor
        .run_argv(
            fixture.workspace.path(),
            ["printf", "%s|", "a b", "$HOME", "*", ""],
        )
        .unwrap();
    assert_eq!(outcome.stdout.to_text(), "a b|$HOME|*||");
    let none: [&str; 0] = [];
    let error = executor.run_argv(fixture.workspace.path(), none).unwrap_err();
    assert!(matches!(error, RunError::Invalid { field: "command", .. }));
    let error = executor.command("a\0b").output().unwrap_err();
    assert!(matches!(error, RunError::Invalid { field: "command", .. }));
}

/// Which shell there is decides neither a variable nor what lies in `PATH`, and without a wish for one there is none.
#[test]
fn pol_125_a_text_is_for_the_shell_of_the_system_and_arguments_are_for_none() {
    let fixture = Fixture::new();
    program(&fixture.path("sh"), "#!/bin/sh\necho planted");
    program(&fixture.path("no-interpreter"), "echo interpreted");
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        // The last of several commands is one that the shell does not become itself.
        let text = "tr '\\0' '|' </proc/$$/cmdline; :";
        let shown = executor
            .shell(text)
            .env("SHELL", fixture.path("sh"))
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", fixture.workspace.path().display()),
            )
            .output()
            .unwrap();
        assert_eq!(shown.stdout.to_text(), format!("/bin/sh|-c|{text}|"));
        let plain = executor
            .run_argv(fixture.workspace.path(), ["printf", "%s", "$(echo x); echo y"])
            .unwrap();
        assert_eq!(plain.stdout.to_text(), "$(echo x); echo y");
        // Not even for a file that the kernel can't execute.
        let refused = executor.command(fixture.path("no-interpreter")).output();
        let Err(RunError::Setup(failed)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(failed.errno, rustix::io::Errno::NOEXEC.raw_os_error());
    }
}

#[test]
fn exe_36_the_directory_must_exist_and_be_one() {
    let fixture = Fixture::new();
    std::fs::write(fixture.path("file"), "").unwrap();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    for wrong in [fixture.path("missing"), fixture.path("file"), "relative".into()] {
        let error = executor.command("true").current_dir(&wrong).output().unwrap_err();
        assert!(
            matches!(
                error,
                RunError::Invalid {
                    field: "working directory",
                    ..
                }
            ),
            "{error}"
        );
    }
    assert_eq!(
        shell(&executor, fixture.workspace.path(), "pwd").trim(),
        fixture.workspace.path().to_str().unwrap()
    );
}

#[test]
fn exe_32_command_access_decides_before_anything_happens() {
    let fixture = Fixture::new();
    for (access, expected) in [
        (Access::Gated, RunError::GrantRequired),
        (Access::Deny, RunError::GrantDenied),
    ] {
        let set = fixture.set_with(&ProfileConfig {
            command: access,
            ..fixture.config()
        });
        let executor = set.executor("a").unwrap();
        let outcome = executor.command("touch").arg(fixture.path("made")).output();
        assert_eq!(outcome.unwrap_err(), expected);
    }
    assert!(!fixture.path("made").exists());
}

#[test]
fn exe_37_streams_are_captured_apart_or_as_one() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "echo 1; echo 2 >&2; echo 3; cat";
    let apart = executor
        .shell(text)
        .current_dir(fixture.workspace.path())
        .output()
        .unwrap();
    assert_eq!(
        (apart.stdout.head(), apart.stderr.head()),
        (&b"1\n3\n"[..], &b"2\n"[..])
    );
    assert_eq!(shell(&executor, fixture.workspace.path(), text), "1\n2\n3\n");
}

/// Commands could put a link there, and the next set would open where it leads.
#[test]
fn a_variable_that_names_what_commands_can_write_opens_nothing() {
    let fixture = Fixture::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let names_java = |home: &Path| {
        std::fs::create_dir_all(home.join("bin")).unwrap();
        std::fs::copy("/bin/true", home.join("bin/java")).unwrap();
        let profile = ringfence::Profile::new(&fixture.config(), &ringfence::Host).unwrap();
        let caller = [
            ("PATH", "/usr/bin:/bin".as_ref()),
            ("JAVA_HOME", home.as_os_str()),
        ];
        let set: ringfence::blocking::ExecutorSet = ringfence::ExecutorSet::builder(profile)
            .scratch_root(fixture.scratch.path())
            .max_executors(1)
            .environment(caller.map(|(name, value)| (name.into(), value.into())))
            .build()
            .unwrap()
            .into();
        let executor = set.executor("a").unwrap();
        let text = "test -n \"$JAVA_HOME\" && \"$JAVA_HOME/bin/java\"";
        executor.shell(text).output().unwrap().success()
    };
    let workspace = fixture.workspace.path();
    std::os::unix::fs::symlink(elsewhere.path(), workspace.join("link")).unwrap();
    assert!(names_java(&elsewhere.path().join("jdk")));
    assert!(!names_java(&workspace.join("jdk")));
    assert!(!names_java(&workspace.join("link/jdk")));
}

// ENV-1, ENV-2, EXE-26
#[test]
fn env_1_env_2_the_environment_is_the_allowed_one_with_the_commands_changes() {
    let fixture = Fixture::new();
    let profile = ringfence::Profile::new(&fixture.config(), &ringfence::Host).unwrap();
    let caller = [
        ("PATH", "/usr/bin:/bin"),
        ("LC_TIME", "C"),
        ("SECRET_TOKEN", "s"),
        ("LD_PRELOAD", "x.so"),
    ];
    let set: ringfence::blocking::ExecutorSet = ringfence::ExecutorSet::builder(profile)
        .scratch_root(fixture.scratch.path())
        .max_executors(1)
        .environment(caller.map(|(name, value)| (name.into(), value.into())))
        .build()
        .unwrap()
        .into();
    let executor = set.executor("a").unwrap();
    let outcome = executor
        .command("env")
        .env("CI", "1")
        .env_remove("LC_TIME")
        .output()
        .unwrap();
    let mut names: Vec<String> = outcome
        .stdout
        .to_text()
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0.to_owned()))
        .collect();
    names.sort();
    // User id 0 can't give files away inside, and has to be told.
    names.retain(|name| name != "TAR_OPTIONS" || !rustix::process::geteuid().is_root());
    assert_eq!(names, ["CI", "HOME", "PATH", "PWD", "TMPDIR"]);
    let error = executor.command("env").env("A=B", "1").output().unwrap_err();
    assert!(matches!(
        error,
        RunError::Invalid {
            field: "environment variable",
            ..
        }
    ));
}

/// Nothing in its place, least of all the caller's (PRE-11).
#[test]
fn env_7_a_command_without_any_variable_has_none() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let names = executor.variables().iter().map(|(name, _)| name.as_os_str());
        let names = names.chain(["PWD".as_ref()]);
        let bare = names.fold(executor.command("/usr/bin/env"), |command, name| {
            command.env_remove(name)
        });
        let outcome = bare.output().unwrap();
        assert!(outcome.success());
        assert_eq!(outcome.stdout.to_text(), "");
    }
}

#[test]
fn s_26_capture_keeps_head_and_tail_and_the_command_runs_on() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "echo first; yes | head -c 5000000; echo last; exit 3";
    let outcome = executor.shell(text).capture_limit(1000).output().unwrap();
    assert_eq!(outcome.code(), Some(3));
    assert!(outcome.stdout.head().starts_with(b"first\ny\n"));
    assert!(outcome.stdout.tail().ends_with(b"y\nlast\n"));
    assert_eq!(outcome.stdout.dropped_bytes(), 5_000_000 + 11 - 1000);
}

#[test]
fn exe_42_exe_43_the_output_limit_keeps_an_exact_prefix_and_kills() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let exact = executor
        .shell("printf 12345; printf 678 >&2")
        .output_limit(8)
        .output()
        .unwrap();
    assert!(exact.success());
    let began = Instant::now();
    let over = executor
        .shell("setsid yes & yes")
        .output_limit(100_000)
        .output()
        .unwrap();
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(over.ended, Ending::LimitExceeded(Limit::Output));
    assert_eq!(over.error(), Some(OutcomeError::LimitExceeded(Limit::Output)));
    assert_eq!(over.stdout.head().len() + over.stderr.head().len(), 100_000);
    assert!(over.stdout.is_complete());
    // EXE-42: nothing can run within none at all, so nothing does.
    let none = executor.command("touch").arg(fixture.path("ran")).output_limit(0);
    let error = none.output().unwrap_err();
    assert!(
        matches!(
            error,
            RunError::Invalid {
                field: "output limit",
                ..
            }
        ),
        "{error}"
    );
    assert!(!fixture.path("ran").exists());
}

#[test]
fn s_24_a_timeout_reaches_every_descendant() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "setsid sh -c 'trap \"\" TERM; while :; do date >> log; sleep 0.05; done' & sleep 60";
    let began = Instant::now();
    let outcome = executor
        .shell(text)
        .current_dir(fixture.workspace.path())
        .timeout(Duration::from_millis(500))
        .output()
        .unwrap();
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(
        (outcome.ended, outcome.error()),
        (Ending::TimedOut, Some(OutcomeError::TimedOut))
    );
    let size = || std::fs::metadata(fixture.path("log")).unwrap().len();
    let before = size();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(before, size(), "a descendant survived the time-out");
}

#[test]
fn a_command_that_ignores_termination_is_killed_after_the_grace() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let began = Instant::now();
    let outcome = executor
        .shell("trap '' TERM; while :; do sleep 0.05; done")
        .timeout(Duration::from_millis(200))
        .terminate_grace(Duration::from_millis(300))
        .output()
        .unwrap();
    assert_eq!(outcome.ended, Ending::TimedOut);
    let elapsed = began.elapsed();
    assert!(
        elapsed >= Duration::from_millis(500) && elapsed < Duration::from_secs(5),
        "{elapsed:?}"
    );
}

// EXE-45, EXE-46
#[test]
fn exe_45_exe_46_cancellation_before_and_during_a_run() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let token = CancelToken::new();
    std::thread::scope(|scope| {
        let text = "echo begun; touch begun; sleep 60";
        let command = executor
            .shell(text)
            .current_dir(fixture.workspace.path())
            .cancel_on(&token);
        let running = scope.spawn(|| command.output().unwrap());
        eventually("the command's start", || fixture.path("begun").exists());
        token.cancel();
        let outcome = running.join().unwrap();
        assert_eq!(
            (outcome.ended, outcome.stdout.head()),
            (Ending::Cancelled, &b"begun\n"[..])
        );
    });
    let late = executor
        .command("touch")
        .arg(fixture.path("late"))
        .cancel_on(&token)
        .output();
    assert_eq!(late.unwrap_err(), RunError::Cancelled);
    assert!(!fixture.path("late").exists());
}

#[test]
fn s_23_a_background_process_does_not_hold_the_outcome() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    for text in ["sleep 30 & echo done", "setsid sleep 30 & echo done"] {
        let began = Instant::now();
        let outcome = executor.shell(text).output().unwrap();
        assert!(began.elapsed() < Duration::from_secs(3));
        assert_eq!((outcome.code(), outcome.stdout.head()), (Some(0), &b"done\n"[..]));
    }
}

#[test]
fn a_process_has_pipes_signals_and_one_outcome_for_all_waiters() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut process = executor.command("cat").spawn().unwrap();
    let (mut stdin, mut stdout) = (process.take_stdin().unwrap(), process.take_stdout().unwrap());
    assert!(process.take_stdin().is_none());
    assert!(process.try_wait().is_none());
    stdin.write_all(b"through\n").unwrap();
    drop(stdin);
    let mut text = String::new();
    stdout.read_to_string(&mut text).unwrap();
    assert_eq!(text, "through\n");
    let first = process.wait().unwrap();
    assert_eq!((first.ended, first), (Ending::Exited(0), process.wait().unwrap()));
    assert_eq!(process.signal(Signal::Terminate), Ok(Delivery::Ended));

    let process = executor.shell("trap 'exit 9' TERM; touch ready; while :; do sleep 0.05; done");
    let process = process.current_dir(fixture.workspace.path()).spawn().unwrap();
    eventually("the trap", || fixture.path("ready").exists());
    process.signal(Signal::Terminate).unwrap();
    assert_eq!(process.wait().unwrap().ended, Ending::Exited(9));
}

#[test]
fn output_refuses_pipes_that_nobody_holds_and_waiting_closes_an_unused_stdin() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    for command in [
        executor.command("cat").stdin(Stdio::Piped),
        executor.command("cat").stdout(Stdio::Piped),
        executor.command("cat").stdin(Stdio::Captured),
        executor.command("cat").stdout(Stdio::Merged),
    ] {
        assert!(
            matches!(command.output(), Err(RunError::Invalid { field, .. }) if field.starts_with("standard "))
        );
    }
    assert!(executor.command("cat").spawn().unwrap().wait().unwrap().success());
}

#[test]
fn pro_67_a_guarantee_that_the_host_takes_away_later_is_not_claimed() {
    let fixture = Fixture::new();
    let (protected, other) = (fixture.path("protected"), fixture.path("other"));
    std::fs::write(&protected, "before").unwrap();
    let root = ringfence::Root::file(&protected, ringfence::Verdict::READ_ONLY);
    let set = fixture.set_with(&ProfileConfig {
        roots: vec![root],
        ..fixture.config()
    });
    let executor = set.executor("a").unwrap();
    let write = || {
        executor
            .shell("echo after > other")
            .current_dir(fixture.workspace.path())
            .output()
    };
    assert!(
        executor
            .command("true")
            .output()
            .unwrap()
            .achieved
            .guarantees
            .contains(ringfence::Guarantees::WRITE_BOUNDARY)
    );
    // A write to its second name is a write to the protected file.
    std::fs::hard_link(&protected, &other).unwrap();
    assert!(matches!(write(), Err(RunError::Unavailable(_))));
    assert_eq!(std::fs::read_to_string(&protected).unwrap(), "before");
}

#[test]
fn endless_durations_are_as_good_as_none() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    assert!(
        executor
            .command("true")
            .timeout(Duration::MAX)
            .output()
            .unwrap()
            .success()
    );
    let short = executor
        .command("sleep")
        .arg("60")
        .timeout(Duration::from_millis(50));
    assert_eq!(
        short.terminate_grace(Duration::MAX).output().unwrap().ended,
        Ending::TimedOut
    );
}

#[test]
fn pre_25_a_preparation_runs_nothing_and_starts_once() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let prepared = executor
        .command("touch")
        .arg(fixture.path("made"))
        .prepare()
        .unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(!fixture.path("made").exists());
    let process = prepared.start().unwrap();
    assert_eq!(prepared.start().map(drop).unwrap_err(), RunError::AlreadyStarted);
    prepared.close();
    assert_eq!(prepared.start().map(drop).unwrap_err(), RunError::ProcessClosed);
    assert!(process.wait().unwrap().success());
    assert!(fixture.path("made").exists());
    let closed = executor.command("true").prepare().unwrap();
    closed.close();
    assert_eq!(closed.start().map(drop).unwrap_err(), RunError::ProcessClosed);
}

#[test]
fn a_missing_program_is_an_error_and_not_an_exit_code() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    for command in [
        executor.command("no-such-program"),
        executor.command("/no/such/program"),
    ] {
        let error = command.output().unwrap_err();
        assert!(
            matches!(&error, RunError::Setup(failed) if failed.errno == 2),
            "{error}"
        );
    }
    assert!(matches!(
        executor.command("no-such-program").spawn(),
        Err(RunError::Setup(_))
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn futures_work_on_a_runtime_and_dropping_one_kills_its_command() {
    use tokio::io::AsyncReadExt;
    let fixture = Fixture::new();
    let profile = ringfence::Profile::new(&fixture.config(), &ringfence::Host).unwrap();
    let builder = ringfence::ExecutorSet::builder(profile).scratch_root(fixture.scratch.path());
    let set = builder.max_executors(1).build().unwrap();
    let executor = set.executor("a").await.unwrap();

    let runs = (0..20).map(|n| {
        let command = executor.command("printf").arg(n.to_string());
        tokio::spawn(async move { command.output().await.unwrap().stdout.to_text() })
    });
    for (n, run) in runs.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(run.await.unwrap(), n.to_string());
    }

    let mut process = executor
        .command("echo")
        .arg("hello")
        .stdout(Stdio::Piped)
        .spawn()
        .await
        .unwrap();
    let mut text = String::new();
    process
        .take_stdout()
        .unwrap()
        .into_async()
        .unwrap()
        .read_to_string(&mut text)
        .await
        .unwrap();
    assert_eq!(text, "hello\n");
    assert!(process.wait().await.unwrap().success());

    let text = "touch begun; while :; do date >> log; sleep 0.05; done";
    let endless = executor
        .shell(text)
        .current_dir(fixture.workspace.path())
        .output();
    let cut = tokio::time::timeout(Duration::from_millis(700), endless).await;
    assert!(cut.is_err() && fixture.path("begun").exists());
    tokio::time::sleep(Duration::from_millis(100)).await;
    let size = || std::fs::metadata(fixture.path("log")).unwrap().len();
    let before = size();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(before, size(), "the command outlived its future");
    assert!(set.close().await.is_clean());
}
