//! Guards: what is closed inside of a writable workspace, each attack first without them.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests end by panicking"
)]

mod common;
#[path = "guards/repositories.rs"]
mod repositories;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use common::Fixture;
use ringfence::blocking::{Executor, ExecutorSet};
use ringfence::{
    Access, Axis, Clause, Device, Discharge, ExecutorError, Guarantees, Guard, Host, Mechanism,
    NewRepositories, Pattern, Presence, Preset, Profile, ProfileConfig, Protection, Root, Source, Stdio,
    Unavailable, Verdict,
};
use ringfence_linux::Linux;

/// An executor with the set that keeps it.
struct Owned {
    executor: Executor,
    set: ExecutorSet,
}

impl std::ops::Deref for Owned {
    type Target = Executor;

    fn deref(&self) -> &Executor {
        &self.executor
    }
}

fn executor(fixture: &Fixture, config: &ProfileConfig) -> Owned {
    owned(fixture.set_with(config))
}

/// An executor where names can only be kept by what occupies them.
fn occupying(fixture: &Fixture, config: &ProfileConfig) -> Owned {
    owned(fixture.set_without_broker(config))
}

fn owned(set: ExecutorSet) -> Owned {
    let executor = set.executor("a").unwrap();
    Owned { executor, set }
}

/// A profile without presets, and with these guards.
fn guarded(fixture: &Fixture, guards: Vec<Guard>) -> ProfileConfig {
    ProfileConfig {
        guards,
        presets: BTreeSet::new(),
        ..fixture.config()
    }
}

/// Whether the shell text succeeds in the workspace.
fn works(executor: &Executor, text: &str) -> bool {
    let workspace = executor.profile().workspace().path.clone();
    executor.run_command(workspace, text).unwrap().success()
}

/// Each line works in a workspace without guards and fails with them; then the workspace is as it was.
fn attacks(prepare: &dyn Fn(&Fixture), config: &dyn Fn(&Fixture) -> ProfileConfig, lines: &[&str]) {
    attacks_on(&executor, prepare, config, lines);
    attacks_on(&occupying, prepare, config, lines);
}

fn attacks_on(
    fence: &dyn Fn(&Fixture, &ProfileConfig) -> Owned,
    prepare: &dyn Fn(&Fixture),
    config: &dyn Fn(&Fixture) -> ProfileConfig,
    lines: &[&str],
) {
    for line in lines {
        let free = Fixture::new();
        prepare(&free);
        let open = executor(&free, &guarded(&free, Vec::new()));
        assert!(works(&open, line), "without guards `{line}` fails too");
        let fixture = Fixture::new();
        prepare(&fixture);
        let before = listing(fixture.workspace.path());
        let fenced = fence(&fixture, &config(&fixture));
        assert!(!works(&fenced, line), "`{line}` works");
        assert!(works(&fenced, "touch rest && rm rest"), "the rest is open");
        assert!(fenced.set.close().is_clean());
        let after = listing(fixture.workspace.path());
        let lost: Vec<_> = before.iter().filter(|entry| !after.contains(entry)).collect();
        assert!(lost.is_empty(), "after `{line}`: {lost:?}");
        let guards = config(&fixture)
            .guards
            .into_iter()
            .map(|guard| guard.subject.base().to_owned());
        for name in guards {
            let name = name
                .strip_prefix(fixture.workspace.path())
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let new = after
                .iter()
                .find(|entry| entry.starts_with(&name) && !before.contains(entry));
            assert_eq!(new, None, "after `{line}`");
        }
    }
}

/// Every path with its type and content.
fn listing(top: &Path) -> Vec<String> {
    let output = Command::new("sh")
        .args(["-c", "find . -printf '%P %y %l ' \\( -type f -exec sh -c 'cksum < \"$1\"' _ {} \\; -o -printf '\\n' \\) | sort"])
        .current_dir(top)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

/// A new repository whose commits have an author.
fn init(directory: &Path) {
    git(directory, "init -q .");
    git(directory, "config user.name n");
    git(directory, "config user.email e@x");
}

fn git(directory: &Path, arguments: &str) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@x",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments.split_whitespace())
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments}: {text}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn s_01_an_absent_name_can_not_be_taken_and_nothing_stays() {
    let config = |fixture: &Fixture| {
        let names = [".gitconfig", ".git", "deep/er/name"];
        guarded(
            fixture,
            names.map(|name| Guard::protect(fixture.path(name))).into(),
        )
    };
    attacks(
        &|_| {},
        &config,
        &[
            "echo x > .gitconfig",
            "mkdir .git",
            "mkdir -p deep/er && echo x > deep/er/name",
            "mkdir d && mv d .git",
            "ln -s /etc .git && test -d .git",
            "echo x > f && ln f .gitconfig",
        ],
    );
    let names = |fixture: &Fixture| -> Vec<_> {
        let entries = fs::read_dir(fixture.workspace.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    // Nothing is there, and everything else can be made.
    let fixture = Fixture::new();
    let fenced = executor(&fixture, &config(&fixture));
    assert!(works(
        &fenced,
        "test \"$(ls -A)\" = '' && mkdir -p .git2/.git deep2 && echo x > .gitconfi"
    ));
    assert_eq!(names(&fixture).len(), 3);
    let report = fenced.report();
    let closed = report.entries().iter().filter(|entry| match &entry.discharge {
        Discharge::Enforced { mechanism } => mechanism.contains(&Mechanism::Broker),
        _ => false,
    });
    assert!(closed.count() >= 3);
    // What the host makes there is closed to the next command.
    fs::write(fixture.path(".gitconfig"), "mine").unwrap();
    assert!(!works(&fenced, "echo x >> .gitconfig"));
    assert!(works(&fenced, "grep mine .gitconfig"));

    let fixture = Fixture::new();
    let fenced = occupying(&fixture, &config(&fixture));
    // While the executor lives there is something, but to whoever opens it there is nothing.
    let report = fenced.report();
    let artefacts = report
        .entries()
        .iter()
        .filter(|entry| matches!(entry.discharge, Discharge::HostArtefact { .. }));
    assert!(artefacts.count() >= 3);
    assert!(fixture.path(".git").is_symlink() && !fixture.path(".git").exists());
    assert!(works(&fenced, "test ! -e .git && test ! -e .gitconfig"));
    // The host uses the name meanwhile: it stays, and is protected as what it is.
    fs::remove_file(fixture.path(".gitconfig")).unwrap();
    fs::write(fixture.path(".gitconfig"), "mine").unwrap();
    assert!(!works(&fenced, "echo x >> .gitconfig"));
    assert!(works(&fenced, "grep mine .gitconfig"));
    assert!(fenced.set.close().is_clean());
    assert_eq!(names(&fixture), [".gitconfig"]);
}

#[test]
fn sets_with_different_scratch_roots_share_what_occupies_a_name() {
    let fixture = Fixture::new();
    let config = guarded(&fixture, vec![Guard::protect(fixture.path(".git"))]);
    let first = occupying(&fixture, &config);
    let there = fixture.path(".git").symlink_metadata().unwrap().ino();
    // As another process has it that was given another directory.
    let elsewhere = tempfile::tempdir().unwrap();
    let profile = Profile::new(&config, &Host).unwrap();
    let second: ExecutorSet = ringfence::ExecutorSet::builder(profile)
        .scratch_root(elsewhere.path())
        .backend(Arc::new(Linux::untried().without_broker()))
        .max_executors(1)
        .build()
        .unwrap()
        .into();
    second.executor("a").unwrap();
    assert!(second.close().is_clean());
    assert_eq!(fixture.path(".git").symlink_metadata().unwrap().ino(), there);
    assert!(first.set.close().is_clean());
    assert!(!fixture.path(".git").is_symlink());
}

#[test]
fn s_02_a_protected_link_to_a_directory_stays_and_so_does_what_it_leads_to() {
    attacks(
        &|fixture| {
            fs::create_dir(fixture.path("real")).unwrap();
            fs::write(fixture.path("real/f"), "x").unwrap();
            symlink("real", fixture.path(".agents")).unwrap();
        },
        &|fixture| guarded(fixture, vec![Guard::protect(fixture.path(".agents"))]),
        &[
            "echo y > real/f",
            "echo y > .agents/f",
            "rm .agents",
            "ln -sfn /etc .agents",
            "mv .agents x",
            "mv real x",
            "touch real/new",
        ],
    );
}

#[test]
fn s_03_a_protected_link_out_of_the_tree_can_not_be_replaced() {
    attacks(
        &|fixture| symlink("/etc/hostname", fixture.path(".bashrc")).unwrap(),
        &|fixture| guarded(fixture, vec![Guard::protect(fixture.path(".bashrc"))]),
        &[
            "rm .bashrc",
            "echo x > new && mv new .bashrc",
            "ln -sf /etc/passwd .bashrc",
            "mv .bashrc old",
        ],
    );
}

/// Names that are missing at the end of a path are closed where the links before them lead.
#[test]
fn pol_51_an_absent_name_behind_a_link_is_closed_where_the_link_leads() {
    let prepare = |fixture: &Fixture| {
        fs::create_dir(fixture.path("real")).unwrap();
        symlink("real", fixture.path("link")).unwrap();
        fs::write(fixture.path("f"), "mine").unwrap();
    };
    let config = |fixture: &Fixture| {
        let names = ["link/key", "link/deep/er/key"];
        guarded(
            fixture,
            names.map(|name| Guard::secret(fixture.path(name))).into(),
        )
    };
    let lines = [
        "echo x > link/key",
        "echo x > real/key",
        "mkdir real/key",
        "mv f real/key",
        "ln f real/key",
        "mkdir -p real/deep/er && echo x > real/deep/er/key",
        "mkdir d && touch d/key && rm link && mv d link",
        "mv real other && mkdir real && echo x > real/key",
    ];
    attacks(&prepare, &config, &lines);
    let fixture = Fixture::new();
    prepare(&fixture);
    let fenced = executor(&fixture, &config(&fixture));
    let real = fixture.path("real").canonicalize().unwrap();
    for name in ["key", "deep/er/key"] {
        assert_eq!(fenced.tree().verdict(&real.join(name)), Verdict::DENY);
    }
    for line in lines {
        works(&fenced, line);
    }
    assert!(fenced.set.close().is_clean());
    assert!(!real.join("key").exists() && !real.join("deep").exists());
}

#[test]
fn s_07_no_way_leads_to_a_protected_name() {
    attacks(
        &|fixture| {
            fs::create_dir_all(fixture.path(".git/hooks")).unwrap();
            fs::write(fixture.path(".git/hooks/pre-commit"), "old").unwrap();
            fs::write(fixture.path("x"), "new").unwrap();
        },
        &|fixture| {
            let guards =
                [".git/hooks", ".claude/settings.json"].map(|name| Guard::protect(fixture.path(name)));
            guarded(fixture, guards.into())
        },
        &[
            "mv x .git/hooks/pre-commit",
            "ln -f x .git/hooks/pre-commit",
            "ln -sf ../../x .git/hooks/pre-commit",
            "truncate -s 0 .git/hooks/pre-commit",
            "mv --exchange x .git/hooks/pre-commit 2>/dev/null || mv x .git/hooks/y",
            "mv .git other",
            "mv .git/hooks other",
            "mkdir -p .claude && echo {} > .claude/settings.json",
        ],
    );
}

#[test]
fn s_12_patterns_cover_thousands_of_files_and_a_whole_directory_costs_one_mount() {
    const FILES: usize = 20_000;
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("data")).unwrap();
    for number in 0..FILES {
        fs::write(fixture.path(&format!("data/{number}.parquet")), "").unwrap();
    }
    fs::write(fixture.path("keep.txt"), "fine").unwrap();
    let run = |executor: &Owned, text: &str| {
        let outcome = executor.run_command(fixture.workspace.path(), text).unwrap();
        (outcome.code(), outcome.stdout.to_text())
    };
    let mounts = |executor: &Owned| {
        let (_, count) = run(executor, "wc -l </proc/self/mountinfo");
        count.trim().parse::<usize>().unwrap()
    };
    let open = executor(&fixture, &guarded(&fixture, Vec::new()));
    assert!(works(&open, "cat data/7.parquet data/19999.parquet"));
    let without = mounts(&open);
    assert!(open.set.close().is_clean());

    let [directory, files] = ["data/**", "**/*.parquet"].map(|glob| {
        let pattern = Pattern::new(fixture.workspace.path(), glob).unwrap();
        Guard::matching(pattern, Protection::Secret)
    });
    let each = executor(&fixture, &guarded(&fixture, vec![files.clone()]));
    assert!(works(&each, "ls data >/dev/null && ! cat data/19999.parquet"));
    assert_eq!(mounts(&each) - without, FILES);
    assert!(each.set.close().is_clean());

    let fenced = executor(&fixture, &guarded(&fixture, vec![directory, files]));
    let (code, written) = run(&fenced, "echo hello; cat keep.txt; cat data/7.parquet");
    assert_eq!(code, Some(1));
    assert!(
        written.starts_with("hello\nfine") && written.contains("7.parquet: Permission denied"),
        "{written}"
    );
    assert!(!works(&fenced, "cat data/19999.parquet"));
    // However many patterns match in it, and however many files.
    assert_eq!(mounts(&fenced) - without, 1);
    let tree = fenced.tree();
    let name = fixture.path("data/7.parquet").canonicalize().unwrap();
    let decision = tree.decide(&name, Axis::Read);
    assert_eq!(decision.access, Access::Deny);
    assert!(matches!(decision.rule.unwrap().source, Source::Guard(_)));

    // One that the host makes while a command runs is denied to that one too, or the report says that it need not be.
    let text = "echo ready; read go; cat data/new.parquet";
    let command = fenced.shell(text).current_dir(fixture.workspace.path());
    let mut process = command.stdin(Stdio::Piped).spawn().unwrap();
    let (mut stdin, mut stdout) = (process.take_stdin().unwrap(), process.take_stdout().unwrap());
    stdout.read_exact(&mut [0; 6]).unwrap();
    fs::write(fixture.path("data/new.parquet"), "secret").unwrap();
    stdin.write_all(b"go\n").unwrap();
    let is_read = process.wait().unwrap().success();
    let report = fenced.report();
    let is_said = report.entries().iter().any(|entry| {
        entry.obligation.clause == Clause::Patterns && entry.obligation.to_string() == "patterns at start"
    });
    assert!(!is_read || is_said, "{report:?}");
    // And covered from the next command on.
    assert!(!works(&fenced, "cat data/new.parquet"));
    assert!(fenced.set.close().is_clean());
    assert_eq!(fs::read_dir(fixture.path("data")).unwrap().count(), FILES + 1);
    assert_eq!(fs::read_dir(fixture.workspace.path()).unwrap().count(), 2);
}

/// Whatever characters a pattern has, it is enforced as it is written; what means nothing is refused where it is made.
#[test]
fn pol_54_no_pattern_is_too_strange_to_be_enforced() {
    attacks(
        &|fixture| {
            fs::create_dir(fixture.path("x")).unwrap();
            fs::write(fixture.path("x/a\"b'c(1)$ \\.key"), "secret").unwrap();
        },
        &|fixture| {
            let pattern = Pattern::new(fixture.workspace.path(), "**/a\"b'c(?)$ \\.key").unwrap();
            guarded(fixture, vec![Guard::matching(pattern, Protection::Secret)])
        },
        &[
            "cat x/*.key",
            "cp x/*.key copy",
            "rm x/*.key",
            "for f in x/*.key; do echo x > \"$f\"; done",
        ],
    );
    for malformed in ["**/[z-a]", "a[/]b", "a\0b"] {
        assert!(Pattern::new("/w", malformed).is_err(), "{malformed:?}");
    }
}

#[test]
fn secrets_are_closed_to_every_use_and_a_command_may_make_its_own() {
    let prepare = |fixture: &Fixture| {
        fs::write(fixture.path(".env"), "KEY=1").unwrap();
        fs::create_dir_all(fixture.path("a[b]/c")).unwrap();
        fs::write(fixture.path("a[b]/c/.env.local"), "KEY=2").unwrap();
    };
    attacks(
        &prepare,
        &Fixture::config,
        &[
            "cat .env",
            "cp .env x",
            "cat a[[]b]/c/.env.local",
            "echo x > .env",
            "rm .env",
            "mv .env x",
        ],
    );
    let fixture = Fixture::new();
    fs::write(fixture.path(".env.example"), "KEY=").unwrap();
    let fenced = executor(&fixture, &fixture.config());
    assert!(works(
        &fenced,
        "cat .env.example && mkdir app && echo OWN=1 > app/.env && cat app/.env"
    ));
}

#[test]
fn a_literal_at_or_below_what_a_pattern_matches_outranks_it() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("x/.env/open")).unwrap();
    fs::write(fixture.path("x/.env/open/f"), "1").unwrap();
    fs::write(fixture.path("x/.env/g"), "2").unwrap();
    let config = ProfileConfig {
        roots: vec![Root::directory(fixture.path("x/.env/open"), Verdict::READ_WRITE)],
        ..fixture.config()
    };
    let fenced = executor(&fixture, &config);
    assert!(works(&fenced, "cat x/.env/open/f && echo y > x/.env/open/f"));
    assert!(!works(&fenced, "cat x/.env/g"));
    let decision = fenced.tree();
    let decision = decision.decide(&fixture.path("x/.env/g").canonicalize().unwrap(), Axis::Read);
    assert!(matches!(
        decision.rule.unwrap().source,
        Source::Preset {
            preset: Preset::Credentials,
            ..
        }
    ));
}

/// What is said of a place in it is said of that place alone.
#[test]
fn a_directory_closed_by_a_pattern_opens_only_what_is_named() {
    let fixture = Fixture::new();
    for path in ["data/a", "data/open/b", "data/open/deep/c"] {
        fs::create_dir_all(fixture.path(path).parent().unwrap()).unwrap();
        fs::write(fixture.path(path), "secret").unwrap();
    }
    let pattern = Pattern::new(fixture.workspace.path(), "data/**").unwrap();
    let guards = vec![Guard::matching(pattern, Protection::Secret)];
    let closed = executor(&fixture, &guarded(&fixture, guards.clone()));
    assert!(!works(
        &closed,
        "cat data/a || cat data/open/b || cat data/open/deep/c || echo x > data/new"
    ));
    drop(closed);
    // The place named is open itself, and what the pattern matches beneath it is still closed.
    let config = ProfileConfig {
        roots: vec![Root::directory(fixture.path("data/open"), Verdict::READ_ONLY)],
        ..guarded(&fixture, guards)
    };
    let named = executor(&fixture, &config);
    assert!(works(&named, "ls data/open"));
    assert!(!works(
        &named,
        "cat data/a || cat data/open/b || cat data/open/deep/c"
    ));
}

#[test]
fn a_link_that_leads_nowhere_yet_is_closed_where_it_leads() {
    let prepare = |fixture: &Fixture| {
        fs::create_dir(fixture.path("sub")).unwrap();
        symlink("later", fixture.path("sub/.env")).unwrap();
        symlink("/nowhere/at/all", fixture.path(".env")).unwrap();
    };
    attacks(
        &prepare,
        &Fixture::config,
        &["echo x > sub/later", "echo x > sub/.env"],
    );
    let fixture = Fixture::new();
    prepare(&fixture);
    let fenced = executor(&fixture, &fixture.config());
    assert!(works(&fenced, "echo fine > sub/other"));
    assert!(fenced.set.close().is_clean());
    assert!(!fixture.path("sub/later").is_symlink() && fixture.path("sub/.env").is_symlink());
}

#[test]
fn a_secret_with_a_second_name_is_no_secret() {
    let fixture = Fixture::new();
    fs::write(fixture.path(".env"), "secret").unwrap();
    fs::create_dir(fixture.path("conf")).unwrap();
    fs::hard_link(fixture.path(".env"), fixture.path("conf/prod")).unwrap();
    let open = executor(&fixture, &guarded(&fixture, Vec::new()));
    assert!(works(&open, "grep secret conf/prod"));
    drop(open);
    let one = vec![Guard::secret(fixture.path(".env"))];
    for workspace_access in [Verdict::READ_WRITE, Verdict::READ_ONLY] {
        let config = |guards| ProfileConfig {
            workspace_access,
            ..guarded(&fixture, guards)
        };
        let error = fixture
            .set_with(&config(one.clone()))
            .executor("a")
            .map(drop)
            .unwrap_err();
        let ExecutorError::Unavailable(Unavailable::Guarantees { missing, entries }) = &error else {
            panic!("{error:?}")
        };
        assert!(missing.contains(Guarantees::READ_BOUNDARY));
        let why = entries.iter().map(|entry| entry.discharge.to_string());
        assert!(
            why.into_iter().any(|why| why.contains("conf/prod")),
            "{entries:?}"
        );
        let both = [one.clone(), vec![Guard::secret(fixture.path("conf/prod"))]].concat();
        let fenced = executor(&fixture, &config(both));
        assert!(!works(&fenced, "cat .env || cat conf/prod"));
    }
}

#[test]
fn unguarded_paths_and_dropped_presets_are_open() {
    let fixture = Fixture::new();
    init(fixture.workspace.path());
    fs::write(fixture.path(".env"), "x").unwrap();
    let config = ProfileConfig {
        unguarded: vec![fixture.path(".git/config")],
        presets: [Preset::Git].into(),
        ..fixture.config()
    };
    let fenced = executor(&fixture, &config);
    assert!(works(
        &fenced,
        "git config user.name x && cat .env && mkdir .vscode"
    ));
    assert!(!works(&fenced, "echo x > .git/hooks/pre-commit"));
}

#[test]
fn pol_119_what_is_compiled_lives_until_its_set_is_closed_and_a_failure_leaves_nothing() {
    let fixture = Fixture::new();
    let names = || -> Vec<_> {
        let entries = fs::read_dir(fixture.workspace.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let set = fixture.set_without_broker(&fixture.config());
    let first = set.executor("a").unwrap();
    let occupied = names();
    assert!(!occupied.is_empty(), "this shows nothing");
    drop(first);
    for _ in 0..2 {
        let again = set.executor("a").unwrap();
        assert!(works(&again, "true"));
        assert_eq!(names(), occupied);
    }
    assert!(set.close().is_clean());
    assert!(names().is_empty());
    // Found missing when everything else is done.
    let refused = ProfileConfig {
        require: Guarantees::TARGET_NETWORK,
        ..fixture.config()
    };
    let set = fixture.set_without_broker(&refused);
    let error = set.executor("a").unwrap_err();
    assert_eq!(error.code(), "guarantees_missing");
    assert!(names().is_empty());
    assert!(set.close().is_clean());
    assert!(fixture.scratch_entries().is_empty());
}

/// What the host refuses to the user need not be closed; what the user could allow itself must be.
#[test]
fn a_workspace_that_the_host_closes_needs_no_placeholders() {
    if rustix::process::geteuid().is_root() {
        common::skip("closed workspaces", "root may write everywhere");
        return;
    }
    let fixture = Fixture::new();
    let closed = ProfileConfig {
        workspace: "/usr/share/doc".into(),
        ..fixture.config()
    };
    let fenced = executor(&fixture, &closed);
    assert!(works(&fenced, "test ! -e .git && ! mkdir .git"));
    assert!(!Path::new("/usr/share/doc/.git").is_symlink());

    let own = fixture.path(".");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o555)).unwrap();
    let set = fixture.set_without_broker(&fixture.config());
    let refused = set.executor("a").unwrap_err();
    assert!(set.close().is_clean());
    let fenced = executor(&fixture, &fixture.config());
    assert!(works(
        &fenced,
        "! mkdir x && chmod u+w . && mkdir x && ! mkdir .git"
    ));
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    let said = format!("{refused:?}");
    assert!(said.contains("it can't be occupied"), "{said}");
}

#[test]
fn s_11_devices_are_opened_by_name() {
    let fixture = Fixture::new();
    let device = Path::new("/dev/fuse");
    if fs::File::options().read(true).write(true).open(device).is_err() {
        common::skip("devices", "/dev/fuse can't be opened here");
        return;
    }
    let open = |path: &str, presence| Device {
        path: path.into(),
        presence,
    };
    let closed = executor(&fixture, &fixture.config());
    assert!(!works(&closed, "exec 3<>/dev/fuse"));
    let config = |devices| ProfileConfig {
        devices,
        ..fixture.config()
    };
    let some = vec![
        open("/dev/fuse", Presence::Required),
        open("/dev/no-such-device", Presence::Optional),
    ];
    let fenced = executor(&fixture, &config(some));
    assert!(works(&fenced, "exec 3<>/dev/fuse"));
    assert!(works(
        &fenced,
        "test ! -e /dev/kvm && test ! -e /dev/mem && test ! -e /dev/no-such-device"
    ));
    let required = config(vec![open("/dev/no-such-device", Presence::Required)]);
    match fixture.set_with(&required).executor("a") {
        Err(ExecutorError::Unavailable(Unavailable::Path { path, .. })) => {
            assert_eq!(path, Path::new("/dev/no-such-device"));
        }
        other => panic!("{other:?}"),
    }
}
