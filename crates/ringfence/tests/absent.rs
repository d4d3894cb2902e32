//! Places of a profile with nothing there when it was made, and something later.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use common::Fixture;
use ringfence::blocking::Executor;
use ringfence::{Access, Guarantees, Guard, ProfileConfig, Root, RunError, Unavailable, Verdict};

/// Writable, and no programs.
const DATA: Verdict = Verdict::READ_WRITE.with_execute(Access::Deny);

/// What comes to be at a place.
#[derive(Clone, Copy, Debug)]
enum Comes {
    File,
    Directory,
}

impl Comes {
    fn to(self, place: &Path) {
        match self {
            Self::File => fs::write(place, "there\n").unwrap(),
            Self::Directory => {
                fs::create_dir(place).unwrap();
                fs::write(place.join("f"), "there\n").unwrap();
            }
        }
    }

    /// The file of it.
    fn file(self, place: &Path) -> PathBuf {
        match self {
            Self::File => place.to_owned(),
            Self::Directory => place.join("f"),
        }
    }
}

/// A profile of these roots where everybody's directory for temporary files, which the fixtures are in, is a closed part
/// of the host: commands would find one of their own there. Without presets, for which all of it would be searched.
fn config(fixture: &Fixture, workspace: Verdict, roots: Vec<Root>) -> ProfileConfig {
    let temporary = fs::canonicalize(std::env::temp_dir()).unwrap();
    ProfileConfig {
        workspace_access: workspace,
        roots: [roots, vec![Root::directory(temporary, Verdict::DENY)]].concat(),
        presets: [].into(),
        ..fixture.config()
    }
}

/// Whether shell text succeeds in the workspace.
fn works(executor: &Executor, text: &str) -> bool {
    let workspace = executor.profile().workspace().path.clone();
    executor.run_command(workspace, text).unwrap().success()
}

fn readable(executor: &Executor, file: &Path) -> bool {
    works(executor, &format!("cat {}", file.display()))
}

fn writable(executor: &Executor, file: &Path) -> bool {
    works(executor, &format!("echo more >> {}", file.display()))
}

fn each(test: impl Fn(Verdict, Comes)) {
    for around in [Verdict::DENY, Verdict::READ_ONLY] {
        for comes in [Comes::File, Comes::Directory] {
            test(around, comes);
        }
    }
}

#[test]
fn what_comes_before_the_executor_is_open_as_the_profile_says() {
    each(|around, comes| {
        for access in [Verdict::READ_WRITE, Verdict::READ_ONLY] {
            let (fixture, outside) = (Fixture::new(), tempfile::tempdir().unwrap());
            let place = outside.path().join("late");
            let roots = vec![
                Root::directory(outside.path(), around),
                Root::absent(&place, access),
            ];
            let set = fixture.set_with(&config(&fixture, Verdict::READ_WRITE, roots));
            comes.to(&place);
            let executor = set.executor("a").unwrap();
            let file = comes.file(&place);
            assert!(readable(&executor, &file), "{comes:?}");
            let may_write = access == Verdict::READ_WRITE;
            assert_eq!(writable(&executor, &file), may_write, "{comes:?}");
            assert!(set.close().is_clean());
        }
    });
}

#[test]
fn what_comes_after_it_is_open_to_the_next_command_as_the_profile_says() {
    each(|around, comes| {
        for inside in [false, true] {
            let (fixture, outside) = (Fixture::new(), tempfile::tempdir().unwrap());
            let place = if inside {
                fixture.path("late")
            } else {
                outside.path().join("late")
            };
            let roots = vec![
                Root::directory(outside.path(), around),
                Root::absent(&place, Verdict::READ_WRITE),
            ];
            let set = fixture.set_with(&config(&fixture, Verdict::READ_ONLY, roots));
            let executor = set.executor("a").unwrap();
            assert!(works(&executor, &format!("! test -e {}", place.display())));
            comes.to(&place);
            let file = comes.file(&place);
            assert!(
                readable(&executor, &file) && writable(&executor, &file),
                "{comes:?}"
            );
            assert_eq!(fs::read_to_string(&file).unwrap(), "there\nmore\n");
            // And gone once more.
            fs::rename(&place, fixture.scratch.path().join("gone")).unwrap();
            assert!(!writable(&executor, &file));
            fs::remove_dir_all(fixture.scratch.path().join("gone"))
                .or_else(|_| fs::remove_file(fixture.scratch.path().join("gone")))
                .unwrap();
            assert!(set.close().is_clean());
        }
    });
}

/// What presets close in a directory can't be in a file, nor in what a command puts there instead.
#[test]
fn a_file_may_come_where_presets_name_what_a_directory_would_contain() {
    let fixture = Fixture::new();
    let place = fixture.path("late");
    let set = fixture.set_with(&ProfileConfig {
        workspace_access: Verdict::READ_ONLY,
        roots: vec![Root::absent(&place, Verdict::READ_WRITE)],
        ..fixture.config()
    });
    let executor = set.executor("a").unwrap();
    assert!(!writable(&executor, &place));
    Comes::File.to(&place);
    assert!(writable(&executor, &place));
    assert!(works(
        &executor,
        "! rm late && ! mv late later && ! mkdir late/.vscode"
    ));
    fs::remove_file(&place).unwrap();
    Comes::Directory.to(&place);
    assert!(works(&executor, "touch late/f && ! mkdir late/.vscode"));
    assert!(set.close().is_clean());
}

/// Where no command could make it, nothing occupies the name: the host may.
#[test]
fn what_comes_at_a_closed_name_is_closed_to_the_next_command() {
    for comes in [Comes::File, Comes::Directory] {
        for (workspace, inside) in [(Verdict::READ_ONLY, true), (Verdict::READ_WRITE, false)] {
            let (fixture, outside) = (Fixture::new(), tempfile::tempdir().unwrap());
            let directory = if inside {
                fixture.workspace.path()
            } else {
                outside.path()
            };
            let [open, root, guard] = ["open", "root", "guard"].map(|name| directory.join(name));
            let roots = vec![
                Root::directory(outside.path(), Verdict::READ_ONLY),
                Root::absent(&root, Verdict::DENY),
            ];
            let set = fixture.set_with(&ProfileConfig {
                guards: vec![Guard::secret(&guard)],
                ..config(&fixture, workspace, roots)
            });
            let executor = set.executor("a").unwrap();
            assert!(works(&executor, "true"), "the view is made");
            for place in [&open, &root, &guard] {
                comes.to(place);
            }
            assert!(readable(&executor, &comes.file(&open)), "this shows nothing");
            for place in [&root, &guard] {
                assert!(!readable(&executor, &comes.file(place)), "{place:?} {comes:?}");
            }
            let report = executor.report();
            for place in [&root, &guard] {
                let mut entries = report.entries().iter();
                let told = entries.any(|entry| {
                    entry.obligation.region.as_ref() == Some(place)
                        && entry.discharge.to_string().contains("mount view")
                });
                assert!(told, "{place:?} {report:?}");
            }
            assert!(set.close().is_clean());
        }
    }
}

/// A second name of what has come is as good as the first.
#[test]
fn what_comes_at_a_closed_name_must_have_no_open_one() {
    let fixture = Fixture::new();
    let place = fixture.path("late");
    let roots = vec![Root::absent(&place, Verdict::DENY)];
    let set = fixture.set_with(&config(&fixture, Verdict::READ_ONLY, roots));
    let executor = set.executor("a").unwrap();
    assert!(works(&executor, "true"));
    fs::write(fixture.path("other"), "there\n").unwrap();
    fs::hard_link(fixture.path("other"), &place).unwrap();
    let refused = executor
        .run_command(fixture.workspace.path(), "true")
        .map(drop)
        .unwrap_err();
    let RunError::Unavailable(Unavailable::Guarantees { missing, .. }) = &refused else {
        panic!("{refused:?}")
    };
    assert!(missing.contains(Guarantees::READ_BOUNDARY));
    assert!(refused.hint().contains("other"), "{}", refused.hint());
    fs::remove_file(fixture.path("other")).unwrap();
    assert!(works(&executor, "! cat late"));
    assert!(set.close().is_clean());
}

/// A command may put a link at an open name: it opens nothing where it leads, and keeps no command from running.
#[test]
fn a_link_that_comes_opens_nothing() {
    let (fixture, outside) = (Fixture::new(), tempfile::tempdir().unwrap());
    let place = fixture.path("late");
    let program = "#!/bin/sh\ntrue\n";
    for directory in [fixture.workspace.path(), outside.path()] {
        fs::write(directory.join("run"), program).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(directory.join("run"), mode).unwrap();
    }
    let data_to_read = Verdict::READ_ONLY.with_execute(Access::Deny);
    let roots = vec![
        Root::absent(&place, Verdict::READ_WRITE),
        Root::directory(outside.path(), data_to_read),
    ];
    let set = fixture.set_with(&config(&fixture, DATA, roots));
    let executor = set.executor("a").unwrap();
    assert!(works(
        &executor,
        &format!("ln -s {} late", outside.path().display())
    ));
    assert!(
        works(&executor, "cat late/run"),
        "where it leads, reading is open"
    );
    for line in ["late/run", "./run", "echo x >> late/run", "echo x > late/new"] {
        assert!(!works(&executor, line), "{line}");
    }
    fs::remove_file(&place).unwrap();
    symlink("/etc", &place).unwrap();
    assert!(works(&executor, "! echo x > late/new"));
    // The place itself is what the profile says.
    fs::remove_file(&place).unwrap();
    assert!(works(&executor, "mkdir late && cp -p run late"));
    assert!(works(&executor, "late/run && ! ./run"));
    assert!(set.close().is_clean());
}
