//! The policy of an executor: what it adds to its profile, what holds for its commands, and who enforces it.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

mod common;

use std::path::Path;
use std::sync::Arc;

use common::{Fixture, shell};
use ringfence::backend::direct::Direct;
use ringfence::backend::{Backend, CompileRequest, CompiledPolicy};
use ringfence::blocking::{Executor, ExecutorSet};
use ringfence::{
    Access, Axes, Capabilities, Discharge, Entry, ExecutorError, Guarantees, Home, Host, Level, Limits,
    Profile, ProfileConfig, Reach, Root, SetupFailed, Source, Stdio, Unavailable, Verdict,
};

/// A set whose caller has these variables.
fn set_of(fixture: &Fixture, config: &ProfileConfig, caller: &[(&str, &Path)]) -> ExecutorSet {
    let profile = Profile::new(config, &Host).unwrap();
    let caller = caller.iter().map(|(name, value)| (name.into(), value.into()));
    ringfence::ExecutorSet::builder(profile)
        .scratch_root(fixture.scratch.path())
        .max_executors(8)
        .environment(caller)
        .build()
        .unwrap()
        .into()
}

/// Whether shell text succeeds in the workspace.
fn works(executor: &Executor, text: &str) -> bool {
    let workspace = executor.profile().workspace().path.clone();
    executor.run_command(workspace, text).unwrap().success()
}

#[test]
fn pol_127_a_key_is_text_without_white_space_around_it() {
    let fixture = Fixture::new();
    let set = fixture.set();
    for good in ["a", "a b", "a\nb", "a\u{2003}b", "ä€", "/", "..", "\u{200b}"] {
        assert_eq!(set.executor(good).unwrap().key(), good);
    }
    for bad in [
        "",
        " ",
        "a ",
        "\na",
        "a\u{a0}",
        "\u{3000}a",
        "a\u{2028}",
        "\0",
        "a\0b",
    ] {
        let refused = set.executor(bad).unwrap_err();
        assert!(
            matches!(&refused, ExecutorError::Key { key, .. } if key == bad),
            "{refused}"
        );
    }
}

#[test]
fn pol_8_an_executor_adds_its_own_directories_and_no_others() {
    let fixture = Fixture::new();
    let callers = tempfile::tempdir().unwrap();
    std::fs::write(callers.path().join("kept"), "").unwrap();
    let temporary = std::env::temp_dir();
    for home in [Home::Isolated, Home::Real] {
        let config = ProfileConfig {
            home,
            ..fixture.config()
        };
        let caller = [("PATH", "/usr/bin:/bin".as_ref()), ("HOME", callers.path())];
        let set = set_of(&fixture, &config, &caller);
        let executor = set.executor("a").unwrap();
        let tree = executor.tree();
        let added = |source: Source| -> Vec<_> {
            let rules = tree.rules().iter().filter(|rule| rule.source == source);
            rules
                .map(|rule| (rule.path.as_path(), rule.reach, rule.axes))
                .collect()
        };
        let own = |path| vec![(path, Reach::Tree, Axes::from(Verdict::READ_WRITE))];
        assert_eq!(added(Source::Temporary), own(executor.temporary_directory()));
        assert_eq!(added(Source::Home), executor.home().map(own).unwrap_or_default());
        assert_eq!(executor.home().is_some(), home == Home::Isolated);
        // The profile by itself opens neither of them, nor a home, nor what all share for temporary files.
        let base = executor.profile().tree();
        for directory in [executor.temporary_directory(), callers.path(), &temporary] {
            assert_eq!(base.verdict(directory), Verdict::DENY);
        }
        let name = format!("rf-{}-{home:?}", std::process::id());
        let places = [&temporary, callers.path()].map(|place| place.join(&name));
        for place in &places {
            works(&executor, &format!("echo x > {}", place.display()));
        }
        assert!(places.iter().all(|place| !place.exists()));
        // With the real home the variable has its name, and nobody gets in by that.
        let seen = works(&executor, &format!("test $HOME = {}", callers.path().display()));
        assert_eq!(seen, home == Home::Real);
        assert!(!works(&executor, "cat $HOME/kept"));
    }
}

/// A program that a command left there would be what the next one runs.
#[test]
fn env_1_of_path_commands_get_what_they_can_not_replace() {
    let fixture = Fixture::new();
    let planted = fixture.path("bin");
    std::fs::create_dir(&planted).unwrap();
    let planted = planted.to_str().unwrap();
    let path_of = |config: &ProfileConfig, path: &str| {
        let set = set_of(&fixture, config, &[("PATH", path.as_ref())]);
        let executor = set.executor("a").unwrap();
        let mut path = executor.variables().iter().filter(|(name, _)| name == "PATH");
        path.next().map(|(_, value)| value.to_str().unwrap().to_owned())
    };
    let system = Some("/usr/bin:/bin".to_owned());
    let both = format!("{planted}:/usr/bin:/bin");
    assert_eq!(path_of(&fixture.config(), &both), system);
    // Where they may change the whole host, no directory of it is better than another.
    let open = ProfileConfig {
        host_access: Verdict::READ_WRITE,
        ..fixture.config()
    };
    assert_eq!(path_of(&open, &both), system);
    let unconfined = ProfileConfig::unconfined(fixture.workspace.path());
    assert_eq!(path_of(&unconfined, &both), Some(both.clone()));
    // An empty one would be the working directory.
    assert_eq!(path_of(&fixture.config(), planted), None);
}

// POL-2: what is compiled is never changed, so a command's own version of it is nobody else's.
#[test]
fn pol_2_what_is_changed_for_one_command_holds_for_no_other() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let before = (executor.variables().to_vec(), executor.tree(), executor.report());
    let text = "echo ${CI-none} ${TMPDIR-none} $(ulimit -n)";
    let plain = || executor.shell(text).output().unwrap().stdout.to_text();
    let usual = plain();
    let changed = executor
        .shell(text)
        .env("CI", "1")
        .env_remove("TMPDIR")
        .limits(Limits {
            open_files: Some(33),
            ..Limits::default()
        })
        .stdout(Stdio::Captured)
        .prepare()
        .unwrap();
    assert_eq!(plain(), usual, "while another one is prepared");
    let outcome = changed.start().unwrap().wait_all().unwrap();
    assert_eq!(outcome.stdout.to_text(), "1 none 33\n");
    assert_eq!(plain(), usual, "after it");
    let after = (executor.variables().to_vec(), executor.tree(), executor.report());
    assert_eq!(after, before);
}

#[test]
fn pol_68_what_is_closed_around_a_place_takes_nothing_from_it() {
    let gated = Verdict::new(Access::Gated, Access::Gated);
    for host_access in [Verdict::DENY, gated, Verdict::new(Access::Deny, Access::Gated)] {
        let fixture = Fixture::new();
        let around = tempfile::tempdir().unwrap();
        let at = |name: &str| around.path().join(name);
        for directory in ["closed", "closed/open"] {
            std::fs::create_dir(at(directory)).unwrap();
        }
        for file in ["closed/kept", "closed/secret", "closed/open/f"] {
            std::fs::write(at(file), "there\n").unwrap();
        }
        let set = fixture.set_with(&ProfileConfig {
            host_access,
            roots: vec![
                Root::directory(at("closed"), Verdict::DENY),
                Root::directory(at("closed/open"), Verdict::READ_WRITE),
                Root::file(at("closed/kept"), Verdict::READ_ONLY),
            ],
            ..fixture.config()
        });
        let executor = set.executor("a").unwrap();
        for place in [
            fixture.workspace.path().to_owned(),
            executor.home().unwrap().to_owned(),
            executor.temporary_directory().to_owned(),
            at("closed/open"),
        ] {
            let text = "echo 1 > new && mv new newer && mkdir d && mv newer d && cat d/newer && rm -r d";
            assert_eq!(shell(&executor, &place, text), "1\n");
        }
        // What is closed stays so, also beside a file that is open in it, and that one is not to be replaced.
        let open = at("closed/open").display().to_string();
        assert!(works(&executor, &format!("cat {open}/f {open}/../kept")));
        for line in [
            "cat ../secret",
            "echo x >> ../kept",
            "rm ../kept",
            "mv f ../kept",
            "ln f ../new",
        ] {
            assert!(!works(&executor, &format!("cd {open} && {line}")), "{line}");
        }
        assert_eq!(std::fs::read_to_string(at("closed/kept")).unwrap(), "there\n");
    }
}

// POL-50, POL-68: where the one can't be had without the other, that is said, and no executor is built.
#[test]
fn pol_50_a_place_to_be_written_and_not_read_is_that_or_nothing() {
    let write_only = Verdict::new(Access::Deny, Access::Allow);
    for host_access in [Verdict::DENY, Verdict::READ_ONLY] {
        for between in [None, Some(Verdict::DENY)] {
            let fixture = Fixture::new();
            let around = tempfile::tempdir().unwrap();
            let place = around.path().join("between/out");
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("f"), "secret\n").unwrap();
            let mut roots = vec![Root::directory(&place, write_only)];
            roots.extend(between.map(|access| Root::directory(around.path().join("between"), access)));
            let set = fixture.set_with(&ProfileConfig {
                host_access,
                roots,
                ..fixture.config()
            });
            match set.executor("a") {
                Ok(executor) => {
                    let place = place.display();
                    assert!(!works(&executor, &format!("cat {place}/f || ls {place}")));
                    assert!(works(
                        &executor,
                        &format!("echo x >> {place}/f && echo x > {place}/g")
                    ));
                }
                Err(ExecutorError::Unavailable(Unavailable::Guarantees { missing, entries })) => {
                    assert_eq!(missing, Guarantees::READ_BOUNDARY);
                    let told = |entry: &Entry| {
                        entry.obligation.region.as_ref() == Some(&place)
                            && matches!(entry.discharge, Discharge::Narrowed { .. })
                    };
                    assert!(entries.iter().any(told), "{entries:?}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn pol_121_what_confines_nothing_is_for_unconfined_profiles_whatever_was_asked_for() {
    let fixture = Fixture::new();
    let level = |config: &ProfileConfig| {
        let profile = Profile::new(config, &Host).unwrap();
        let set: ExecutorSet = ringfence::ExecutorSet::builder(profile)
            .scratch_root(fixture.scratch.path())
            .max_executors(1)
            .backend(Arc::new(Absent(Direct::default())))
            .build()
            .unwrap()
            .into();
        set.executor("a").map(|executor| executor.level())
    };
    let unconfined = ProfileConfig::unconfined(fixture.workspace.path());
    assert_eq!(level(&unconfined).unwrap(), Level::None);
    // Where nothing confines, nothing runs.
    let refused = level(&fixture.config()).unwrap_err();
    assert_eq!(refused.code(), "sandbox_unavailable");
    assert!(fixture.set().executor("a").unwrap().level() > Level::None);
}

/// A backend that can confine nothing.
#[derive(Debug)]
struct Absent(Direct);

impl Backend for Absent {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn private_directories(&self) -> &'static [&'static str] {
        &[]
    }

    fn advice(&self, _: &SetupFailed) -> String {
        String::new()
    }

    fn compile(&self, _: CompileRequest) -> Result<Arc<dyn CompiledPolicy>, Unavailable> {
        Err(Unavailable::NoBackend {
            why: "a test wants it so".to_owned(),
            advice: String::new(),
        })
    }
}

#[test]
fn nothing_is_looked_for_in_a_root_that_is_closed() {
    const DIRECTORIES: usize = 3_000;
    let fixture = Fixture::new();
    let closed = tempfile::tempdir().unwrap();
    for number in 0..DIRECTORIES {
        std::fs::create_dir(closed.path().join(number.to_string())).unwrap();
    }
    let ways = |access| {
        let config = ProfileConfig {
            roots: vec![Root::directory(closed.path(), access)],
            ..fixture.config()
        };
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let watches = watches();
        drop(executor);
        assert!(set.close().is_clean());
        watches
    };
    assert!(ways(Verdict::READ_ONLY) >= DIRECTORIES, "this counts nothing");
    assert!(ways(Verdict::DENY) < DIRECTORIES);
}

/// How many directories this process watches.
fn watches() -> usize {
    let lines = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let open = std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    open.map(|entry| {
        lines(entry.path())
            .lines()
            .filter(|line| line.starts_with("inotify "))
            .count()
    })
    .max()
    .unwrap_or_default()
}
