//! Executors: what they are made of, what their commands get, and what they answer.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

mod common;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::{Fixture, shell, skip};
use ringfence::backend::direct::Direct;
use ringfence::blocking::{Command, ExecutorSet};
use ringfence::{
    Access, BuildError, Commands, Ending, ExecutorError, Guarantees, Home, Host, Level, Profile,
    ProfileConfig, RunError, SetupFailed, Unavailable, WindowsSandboxMode,
};

fn builder(fixture: &Fixture, config: &ProfileConfig) -> ringfence::ExecutorSetBuilder {
    let profile = Profile::new(config, &Host).unwrap();
    ringfence::ExecutorSet::builder(profile)
        .scratch_root(fixture.scratch.path())
        .max_executors(4)
}

/// A program in the workspace that prints this.
fn program(fixture: &Fixture, name: &str, says: &str) {
    let path = fixture.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("#!/bin/sh\necho {says}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn exe_1_an_executor_stays_what_it_was_made_as() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let (report, tree) = (executor.report(), executor.tree());
    let before = (
        executor.variables().to_vec(),
        executor.home().map(Path::to_owned),
        executor.profile().fingerprint(),
    );
    set.executor("b").unwrap();
    let changed = executor.command("env").env("LANG", "x").env_remove("PATH");
    drop(changed.output());
    shell(
        &executor,
        fixture.workspace.path(),
        "echo x > \"$HOME/f\"; echo x > new",
    );
    let after = (
        executor.variables().to_vec(),
        executor.home().map(Path::to_owned),
        executor.profile().fingerprint(),
    );
    assert_eq!(after, before);
    assert!(Arc::ptr_eq(&executor.report(), &report) && Arc::ptr_eq(&executor.tree(), &tree));
}

#[test]
fn exe_3_every_line_of_the_report_says_what_and_how() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let report = executor.report();
    assert!(report.entries().len() > 10);
    for entry in report.entries() {
        let (obligation, discharge) = (entry.obligation.to_string(), entry.discharge.to_string());
        assert!(
            !obligation.trim().is_empty() && !discharge.trim().is_empty(),
            "{entry:?}"
        );
    }
    assert_eq!(executor.guarantees(), report.guarantees());
    assert_eq!(executor.level(), report.level());
    assert_ne!(executor.level(), Level::None);
}

// EXE-4, EXE-66: these numbers are stored and compared by others.
#[test]
fn exe_4_guarantees_keep_their_numbers() {
    let numbers = [
        (Guarantees::PROCESS_BOUNDARY, 1),
        (Guarantees::WRITE_BOUNDARY, 2),
        (Guarantees::READ_BOUNDARY, 4),
        (Guarantees::ENV_SCRUB, 8),
        (Guarantees::NETWORK_BOUNDARY, 16),
        (Guarantees::ADDRESS_NETWORK, 32),
        (Guarantees::RESOURCE_LIMITS, 64),
        (Guarantees::TARGET_NETWORK, 128),
    ];
    for (guarantee, number) in numbers {
        assert_eq!(guarantee.bits(), number);
        let named = ringfence::GuaranteeSet::from(guarantee);
        assert_eq!(Guarantees::from(named), guarantee);
    }
    assert_eq!(
        [Level::None as u8, Level::Degraded as u8, Level::Full as u8],
        [0, 1, 2]
    );
    // All that a suite of checks needs of its subject.
    let fixture = Fixture::new();
    let set = fixture.set();
    let subject = set.executor("subject").unwrap();
    let here = fixture.workspace.path();
    assert!(subject.run_command(here, "exit 0").unwrap().success());
    assert!(subject.run_argv(here, ["true"]).unwrap().success());
    assert_ne!(subject.guarantees().bits() & Guarantees::WRITE_BOUNDARY.bits(), 0);
}

#[test]
fn exe_8_commands_at_the_same_time_see_only_what_is_theirs() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    std::thread::scope(|scope| {
        for number in 0..12 {
            let (executor, here) = (&executor, fixture.workspace.path());
            scope.spawn(move || {
                let command = executor
                    .shell("sleep 0.1; env | grep ^MINE_; ls /proc/self/fd | tr '\\n' ' '")
                    .current_dir(here)
                    .env(format!("MINE_{number}"), "x");
                let printed = command.output().unwrap().stdout.to_text();
                assert_eq!(printed, format!("MINE_{number}=x\n0 1 2 3 "));
            });
        }
    });
}

#[test]
fn exe_31_whether_it_is_closed_comes_before_what_the_profile_says() {
    let fixture = Fixture::new();
    let config = ProfileConfig {
        command: Access::Deny,
        ..fixture.config()
    };
    let set = fixture.set_with(&config);
    let executor = set.executor("a").unwrap();
    let run = || {
        executor
            .run_argv(fixture.path("missing"), ["no-such-program"])
            .unwrap_err()
    };
    assert_eq!(run(), RunError::GrantDenied);
    assert!(set.close().is_clean());
    assert_eq!(run(), RunError::ExecutorClosed);
}

#[test]
fn exe_33_shell_text_is_for_the_shell_of_the_system() {
    let fixture = Fixture::new();
    program(&fixture, "sh", "fake");
    for config in [
        fixture.config(),
        ProfileConfig::unconfined(fixture.workspace.path()),
    ] {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let path = format!("{}:/usr/bin:/bin", fixture.workspace.path().display());
        let here = |command: Command| command.current_dir(fixture.workspace.path()).env("PATH", &path);
        let looked_up = here(executor.command("sh")).output().unwrap();
        assert_eq!(looked_up.stdout.to_text(), "fake\n");
        let text = here(executor.shell("echo real")).output().unwrap();
        assert_eq!(text.stdout.to_text(), "real\n");
    }
}

#[test]
fn exe_35_programs_are_looked_up_where_the_command_would_look() {
    let fixture = Fixture::new();
    program(&fixture, "bin/mine", "bin");
    program(&fixture, "mine", "here");
    for config in [
        fixture.config(),
        ProfileConfig::unconfined(fixture.workspace.path()),
    ] {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let with = |program: &str, path: &str| {
            let command = executor.command(program).current_dir(fixture.workspace.path());
            let outcome = command.env("PATH", path).output();
            outcome.map(|outcome| outcome.stdout.to_text())
        };
        let bin = fixture.path("bin").display().to_string();
        assert_eq!(with("mine", &bin).unwrap(), "bin\n");
        assert_eq!(with("mine", &format!("/nowhere::{bin}")).unwrap(), "here\n");
        assert_eq!(with("./mine", &bin).unwrap(), "here\n");
        // This process has a PATH that leads to it.
        let failures = [
            with("true", &bin),
            with("true", "/nowhere"),
            executor
                .command("true")
                .current_dir(fixture.workspace.path())
                .env_remove("PATH")
                .output()
                .map(|_| String::new()),
        ];
        for failure in failures {
            let error = failure.unwrap_err();
            assert!(
                matches!(&error, RunError::Setup(failed) if failed.step == SetupFailed::EXECUTE),
                "{error}"
            );
        }
    }
}

// EXE-38, PRC-23
#[test]
fn exe_38_a_command_gets_three_streams_and_no_other_descriptor() {
    let fixture = Fixture::new();
    let secret = std::fs::File::open("/proc/self/exe").unwrap();
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).unwrap();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let here = fixture.workspace.path();
    // The fourth is how the list is read.
    assert_eq!(
        shell(&executor, here, "ls /proc/self/fd | tr '\\n' ' '"),
        "0 1 2 3 "
    );
    // The ends that are the command's are closed here: else this would wait for ever.
    assert_eq!(shell(&executor, here, "cat; echo end"), "end\n");
}

#[test]
fn exe_39_what_a_command_left_running_is_gone_when_it_returns() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let text = "(setsid sh -c 'while :; do date +%N > beat; sleep 0.02; done' >/dev/null 2>&1 &) ; \
                while ! test -s beat; do sleep 0.01; done; echo started";
    assert_eq!(shell(&executor, fixture.workspace.path(), text), "started\n");
    let last = std::fs::read(fixture.path("beat")).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(std::fs::read(fixture.path("beat")).unwrap(), last);
}

// EXE-58, EXE-60: there is no way from a sandboxed profile to a command that is not.
#[test]
fn exe_60_a_sandboxed_profile_never_runs_directly() {
    let fixture = Fixture::new();
    let direct = Arc::new(Direct::default());
    let set: ExecutorSet = builder(&fixture, &fixture.config())
        .backend(direct)
        .build()
        .unwrap()
        .into();
    let error = set.executor("a").map(drop).unwrap_err();
    assert!(
        matches!(error, ExecutorError::Unavailable(Unavailable::NoBackend { .. })),
        "{error:?}"
    );
    assert!(set.keys().is_empty() && set.close().is_clean());
}

// SET-4, EXE-61
#[test]
fn set_4_options_for_windows_are_refused_here_whatever_the_profile() {
    let fixture = Fixture::new();
    for config in [
        fixture.config(),
        ProfileConfig::unconfined(fixture.workspace.path()),
    ] {
        let refused = [
            builder(&fixture, &config).windows_sandbox_mode(WindowsSandboxMode::Elevated),
            builder(&fixture, &config).windows_state_root("/state"),
        ];
        for builder in refused {
            assert_eq!(builder.build().map(drop).unwrap_err(), BuildError::WindowsOption);
        }
        let defaults = builder(&fixture, &config)
            .windows_sandbox_mode(WindowsSandboxMode::Auto)
            .windows_state_root("");
        assert!(ExecutorSet::from(defaults.build().unwrap()).close().is_clean());
    }
}

#[test]
fn set_1_the_last_option_of_a_kind_counts_and_is_copied() {
    let fixture = Fixture::new();
    let mut variables: Vec<(OsString, OsString)> = vec![("TERM".into(), "first".into())];
    let options = builder(&fixture, &fixture.config())
        .grant_ttl(Duration::ZERO)
        .grant_ttl(Duration::from_secs(7))
        .max_executors(9)
        .max_executors(1)
        .environment(variables.clone());
    variables.clear();
    let set: ExecutorSet = options.build().unwrap().into();
    assert_eq!(set.grant_ttl(), Duration::from_secs(7));
    let executor = set.executor("a").unwrap();
    assert_eq!(
        set.executor("b").map(drop).unwrap_err(),
        ExecutorError::Limit { max: 1 }
    );
    assert!(executor.variables().contains(&("TERM".into(), "first".into())));
}

#[test]
fn set_18_the_real_home_is_a_name_and_no_permission() {
    let fixture = Fixture::new();
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("secret"), "s").unwrap();
    let config = ProfileConfig {
        home: Home::Real,
        ..fixture.config()
    };
    let variables = [
        ("PATH", "/usr/bin:/bin".into()),
        ("HOME", home.path().as_os_str().to_owned()),
    ];
    let variables = variables.map(|(name, value)| (OsString::from(name), value));
    let set: ExecutorSet = builder(&fixture, &config)
        .environment(variables)
        .build()
        .unwrap()
        .into();
    let executor = set.executor("a").unwrap();
    assert_eq!(executor.home(), None);
    let text = "echo \"$HOME\"; cat \"$HOME/secret\" 2>/dev/null || echo unread; \
                { echo x > \"$HOME/new\"; } 2>/dev/null || echo unwritten; \
                echo x > /tmp/ringfence-shared && echo private";
    let printed = shell(&executor, fixture.workspace.path(), text);
    let expected = format!("{}\nunread\nunwritten\nprivate\n", home.path().display());
    assert_eq!(printed, expected);
    assert!(!home.path().join("new").exists() && !Path::new("/tmp/ringfence-shared").exists());
}

// SET-0, SET-0a: every refusal can be told apart by its type and by a stable word, and equals itself.
#[test]
fn set_0_errors_are_distinct_named_values() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut errors = vec![
        set.executor("").map(drop).unwrap_err(),
        ExecutorError::Limit { max: 1 },
    ];
    assert!(set.close().is_clean());
    errors.push(set.executor("a").map(drop).unwrap_err());
    for (index, error) in errors.iter().enumerate() {
        assert_eq!(error, &error.clone());
        let others = errors.iter().skip(index + 1);
        assert!(
            others
                .clone()
                .all(|other| other != error && other.code() != error.code())
        );
        assert!(!error.to_string().is_empty());
    }
    let prepared = executor.command("true").prepare();
    assert_eq!(prepared.map(drop).unwrap_err(), RunError::ExecutorClosed);
    let runs = [
        RunError::ExecutorClosed,
        RunError::ProcessClosed,
        RunError::AlreadyStarted,
        RunError::GrantRequired,
        RunError::GrantDenied,
        RunError::Cancelled,
    ];
    let codes: BTreeSet<&str> = runs.iter().map(RunError::code).collect();
    assert_eq!(codes.len(), runs.len());
}

#[test]
fn exe_56_a_command_never_releases_what_the_next_one_needs() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    for _ in 0..3 {
        shell(&executor, fixture.workspace.path(), "exit 0");
        let missing = executor.run_argv(fixture.workspace.path(), ["no-such-program"]);
        assert!(missing.is_err());
    }
    let running = executor.shell("sleep 300").current_dir(fixture.workspace.path());
    let running = running.spawn().unwrap();
    shell(&executor, fixture.workspace.path(), "exit 0");
    assert!(set.close().is_clean());
    assert_eq!(running.wait().unwrap().ended, Ending::OwnerClosed);
    assert!(fixture.scratch_entries().is_empty());
}

/// What is not watched is looked at.
#[test]
fn an_executor_that_expects_one_command_runs_others_all_the_same() {
    let fixture = Fixture::new();
    let set: ExecutorSet = builder(&fixture, &fixture.config())
        .commands(Commands::One)
        .build()
        .unwrap()
        .into();
    let executor = set.executor("a").unwrap();
    let run = |text| executor.run_command(fixture.workspace.path(), text).unwrap();
    assert!(run("mkdir sub && echo x > sub/file").success());
    // The host's, between two commands.
    std::fs::write(fixture.path("sub/.env"), "secret").unwrap();
    for _ in 0..3 {
        let outcome = run("cat sub/file; cat sub/.env 2>/dev/null");
        assert_eq!(outcome.stdout.to_text(), "x\n", "{outcome:?}");
    }
    assert!(set.close().is_clean());
}

/// The view of an executor that has not run anything yet is not kept.
#[test]
fn what_the_host_mounts_before_the_first_command_is_seen() {
    use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
    struct Mounted(std::path::PathBuf);
    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = unmount(&self.0, UnmountFlags::DETACH);
        }
    }
    let fixture = Fixture::new();
    let place = fixture.path("mount");
    std::fs::create_dir(&place).unwrap();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    std::thread::sleep(Duration::from_millis(1_200));
    if mount("tmpfs", &place, "tmpfs", MountFlags::empty(), None).is_err() {
        return skip(
            "what_the_host_mounts_before_the_first_command_is_seen",
            "mounts can't be made",
        );
    }
    let mounted = Mounted(place.clone());
    std::fs::write(place.join("fresh"), "").unwrap();
    assert_eq!(shell(&executor, fixture.workspace.path(), "ls mount"), "fresh\n");
    assert!(set.close().is_clean());
    drop(mounted);
}
