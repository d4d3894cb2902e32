//! Attacks in steps: one command prepares what the next one profits from.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::Fixture;
use ringfence::{NewRepositories, ProfileConfig};

/// What an attacker wants to have run by the host's git; `EVIL` in a step is that program.
struct Attack {
    name: &'static str,
    prepare: fn(&Path),
    steps: &'static [&'static str],
    /// Where the host runs git afterwards.
    places: &'static [&'static str],
}

const FORGED: &str = "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = EVIL\\n'";

const ATTACKS: &[Attack] = &[
    Attack {
        name: "a repository without HEAD for a while",
        prepare: repository,
        steps: &[
            "mv .git/HEAD .git/H",
            "mkdir e && cp -r .git/objects .git/refs e && FORGED > e/config && echo ../e > .git/commondir",
            "mv .git/H .git/HEAD",
        ],
        places: &["."],
    },
    Attack {
        name: "a submodule's repository without HEAD for a while",
        prepare: submodule,
        steps: &[
            "mv .git/modules/sub/HEAD .git/modules/sub/H",
            "printf '[core]\\n\\tfsmonitor = EVIL\\n' >> .git/modules/sub/config",
            "mv .git/modules/sub/H .git/modules/sub/HEAD",
        ],
        places: &["sub"],
    },
    Attack {
        name: "a linked working tree without HEAD for a while",
        prepare: linked,
        steps: &[
            "mv .git/worktrees/wt/HEAD .git/worktrees/wt/H",
            "mkdir e && cp -r .git/objects .git/refs e && cp .git/HEAD e && FORGED > e/config && \
             echo ../../../e > .git/worktrees/wt/commondir",
            "mv .git/worktrees/wt/H .git/worktrees/wt/HEAD",
        ],
        places: &["wt"],
    },
    Attack {
        name: "settings of a linked working tree",
        prepare: linked,
        steps: &["printf '[core]\\n\\tfsmonitor = EVIL\\n' > .git/worktrees/wt/config.worktree"],
        places: &["wt"],
    },
    Attack {
        name: "a place that looks like a bare repository",
        prepare: nothing,
        steps: &[
            "echo ref: refs/heads/x > HEAD && mkdir -p objects",
            "rm -rf .git refs; git init -q . && git config core.fsmonitor 'EVIL'",
        ],
        places: &["."],
    },
];

fn git(directory: &Path, arguments: &str) {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=n", "-c", "user.email=e@x"])
        .args(arguments.split(' '))
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {arguments}: {output:?}");
}

fn nothing(_: &Path) {}

fn repository(workspace: &Path) {
    git(workspace, "init -q .");
    fs::write(workspace.join("f"), "1").unwrap();
    git(workspace, "add f");
    git(workspace, "commit -q -m one");
}

fn submodule(workspace: &Path) {
    repository(workspace);
    git(workspace, "clone -q --bare . .git/modules/sub");
    let worktree = workspace.join("sub");
    fs::create_dir(&worktree).unwrap();
    fs::write(worktree.join(".git"), "gitdir: ../.git/modules/sub\n").unwrap();
    let directory = workspace.join(".git/modules/sub");
    git(&directory, "config core.bare false");
    git(&directory, "config core.worktree ../../../sub");
}

fn linked(workspace: &Path) {
    repository(workspace);
    git(workspace, "config extensions.worktreeConfig true");
    git(workspace, "worktree add -q wt -b topic");
}

/// Runs the steps one after the other and then git on the host; whether that ran the attacker's program.
fn fires(attack: &Attack, presets: bool, executors: bool) -> bool {
    let fixture = Fixture::new();
    let workspace = fixture.path("w");
    fs::create_dir(&workspace).unwrap();
    (attack.prepare)(&workspace);
    let evil = fixture.path("evil");
    fs::write(
        &evil,
        format!("#!/bin/sh\ntouch {}\n", fixture.path("canary").display()),
    )
    .unwrap();
    let mut config = fixture.config();
    config.workspace.clone_from(&workspace);
    if !presets {
        config.presets = BTreeSet::new();
    }
    let mut set = fixture.set_with(&config);
    for step in attack.steps {
        let step = step.replace("FORGED", FORGED);
        // The program need not be there before the host is to run it.
        let step = step.replace("EVIL", &format!("sh {}", evil.display()));
        let outcome = set.executor("a").unwrap().run_command(&workspace, &step).unwrap();
        assert!(
            presets || outcome.success(),
            "{}: `{step}`: {outcome:?}",
            attack.name
        );
        if executors {
            assert!(set.close().is_clean());
            set = fixture.set_with(&config);
        }
    }
    assert!(set.close().is_clean());
    for place in attack.places {
        let mut status = Command::new("git");
        status.arg("status").current_dir(workspace.join(place));
        status.output().unwrap();
    }
    fixture.path("canary").exists()
}

#[test]
fn s_16_what_one_command_takes_away_opens_nothing_for_the_next() {
    for attack in ATTACKS {
        assert!(fires(attack, false, false), "without guards: {}", attack.name);
        assert!(!fires(attack, true, false), "in one executor: {}", attack.name);
        assert!(
            !fires(attack, true, true),
            "in one after the other: {}",
            attack.name
        );
    }
}

#[test]
fn s_16_another_repository_at_a_known_place_is_new_and_a_moved_one_is_not() {
    for wanted in [NewRepositories::Report, NewRepositories::Refuse] {
        let fixture = Fixture::new();
        repository(fixture.workspace.path());
        let dependency = fixture.path("dep");
        fs::create_dir(&dependency).unwrap();
        repository(&dependency);
        git(fixture.workspace.path(), "add dep");
        let config = ProfileConfig {
            new_repositories: wanted,
            ..fixture.config()
        };
        let set = fixture.set_with(&config);
        let text = "mv dep old && git init -q dep && cd dep && \
                    git -c user.name=x -c user.email=x@x commit -q --allow-empty -m i && \
                    git config core.fsmonitor \"touch $PWD/../canary\"";
        let executor = set.executor("a").unwrap();
        let outcome = executor.run_command(fixture.workspace.path(), text).unwrap();
        assert!(outcome.success(), "{outcome:?}");
        let found: Vec<&PathBuf> = outcome.new_repositories.iter().map(|new| &new.path).collect();
        assert_eq!(
            found,
            [&fixture.workspace.path().canonicalize().unwrap().join("dep")]
        );
        assert!(set.close().is_clean());
        let refused = wanted == NewRepositories::Refuse;
        assert!(fixture.path("old/.git/HEAD").exists());
        git(fixture.workspace.path(), "status");
        assert_eq!(fixture.path("canary").exists(), !refused);
    }
}

#[test]
fn secrets_stay_closed_in_what_a_command_makes_look_like_something_else() {
    let attacks: [(&str, &[&str], &str); 3] = [
        (
            "src/hooks",
            &["mkdir src/objects src/refs", "echo x > src/HEAD"],
            "cat src/hooks/.env",
        ),
        ("sub", &["chmod 0311 sub"], "cat sub/.env"),
        ("sub", &["chmod 0311 sub", "true"], "chmod 0755 sub; cat sub/.env"),
    ];
    for (directory, steps, attempt) in attacks {
        for presets in [false, true] {
            let fixture = Fixture::new();
            let directory = fixture.path(directory);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(".env"), "secret").unwrap();
            let mut config = fixture.config();
            if !presets {
                config.presets = BTreeSet::new();
            }
            let set = fixture.set_with(&config);
            let executor = set.executor("a").unwrap();
            for step in steps {
                executor.run_command(fixture.workspace.path(), step).unwrap();
            }
            let outcome = executor.run_command(fixture.workspace.path(), attempt).unwrap();
            let read = outcome.stdout.to_text().contains("secret");
            assert_eq!(read, !presets, "{attempt}: {outcome:?}");
            assert!(set.close().is_clean());
        }
    }
}
