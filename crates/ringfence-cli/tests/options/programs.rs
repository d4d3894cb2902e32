//! Bundles of programs, and home directories and caches that are kept.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{Done, Place};

/// What a run shows as its plan, as JSON.
fn plan(place: &Place, options: &[&str]) -> Value {
    let report = [
        &["run", "--dry-run", "--json-report", "plan.json"],
        options,
        &["--", "true"],
    ]
    .concat();
    place.ringfence(report).succeeded();
    serde_json::from_slice(&fs::read(place.file("plan.json")).unwrap()).unwrap()
}

#[test]
fn a_selection_of_bundles_replaces_the_default_one() {
    let place = Place::new();
    let all = plan(&place, &[]);
    let paths = |plan: &Value, bundle: &str| -> Vec<String> {
        let paths = plan["bundles"][bundle]["paths"].as_array();
        let paths = paths.into_iter().flatten();
        paths.map(|path| path.as_str().unwrap().to_owned()).collect()
    };
    assert!(!paths(&all, "base").is_empty(), "{all:#}");
    let some = plan(&place, &["--bundle", "base,tz"]);
    let names: Vec<_> = some["bundles"].as_object().unwrap().keys().collect();
    assert!(
        names.iter().all(|name| ["base", "tz"].contains(&name.as_str())),
        "{names:?}"
    );
    // A file of another bundle can be read by default only.
    let others = ["tls", "locale", "git"]
        .into_iter()
        .flat_map(|bundle| paths(&all, bundle));
    let file = others
        .filter(|path| Path::new(path).is_file())
        .find(|path| fs::File::open(path).is_ok());
    let file = file.expect("a file of a bundle");
    place.sh(&[], &format!("cat {file}")).succeeded();
    for options in [
        &["--bundle", "base,tz"][..],
        &["--bundle", "base", "--bundle", "tz"],
    ] {
        let done = place.sh(options, &format!("cat {file}"));
        assert!(!matches!(done.status, 0 | 125), "{done:?}");
    }
}

fn with_data(place: &Place, data: &Path, options: &[&str], script: &str) -> Done {
    let variables = [
        ("XDG_DATA_HOME", data.to_str().unwrap()),
        ("XDG_CACHE_HOME", data.to_str().unwrap()),
    ];
    place.ringfence_with(
        &variables,
        &[&["run"], options, &["--", "sh", "-c", script]].concat(),
    )
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_home_directory_with_a_name_is_kept_for_its_name() {
    let (place, data) = (Place::new(), tempfile::tempdir().unwrap());
    let run = |options: &[&str], script: &str| with_data(&place, data.path(), options, script);
    let look = r#"ls "$HOME""#;
    for (options, kept) in [
        (&["--home", "one"][..], "kept\n"),
        (&["--home", "isolated"], ""),
        (&[], ""),
    ] {
        run(options, r#"touch "$HOME/kept""#).succeeded();
        assert_eq!(run(options, look).succeeded().stdout, kept, "{options:?}");
    }
    assert_eq!(run(&["--home", "two"], look).succeeded().stdout, "");
    let homes = data.path().join("ringfence/homes");
    for path in [data.path().join("ringfence"), homes.clone(), homes.join("one")] {
        assert_eq!(mode(&path), 0o700, "{}", path.display());
    }
}

#[test]
fn whoever_only_looks_leaves_nothing() {
    let (place, data) = (Place::new(), tempfile::tempdir().unwrap());
    let options = ["--home", "one", "--cache", "cargo"];
    for task in [&["run", "--dry-run"][..], &["explain"]] {
        let mut command = place.command([task, &options].concat());
        command
            .env("XDG_DATA_HOME", data.path())
            .env("XDG_CACHE_HOME", data.path());
        command.args(if task.len() == 2 {
            &["--", "true"][..]
        } else {
            &["file"]
        });
        let done = command.output().unwrap();
        assert!(!done.stdout.is_empty(), "{done:?}");
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0, "{task:?}");
    }
}

#[test]
fn a_home_directory_with_a_name_has_one_run_at_a_time() {
    let (place, data) = (Place::new(), tempfile::tempdir().unwrap());
    let mut command = place.command(["run", "--home", "one", "--", "sh", "-c", "echo; exec cat"]);
    command.env("XDG_DATA_HOME", data.path()).stdin(Stdio::piped());
    let mut first = command.spawn().unwrap();
    let mut line = [0];
    std::io::Read::read_exact(first.stdout.as_mut().unwrap(), &mut line).unwrap();
    let variables = [("XDG_DATA_HOME", data.path().to_str().unwrap())];
    let second = place.command(["run", "--home", "one", "--", "touch", "ran"]);
    let second = { second }.envs(variables).output().unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(125), "{said}");
    assert!(
        said.starts_with("ringfence: --home one: ") && said.contains("another executor uses it"),
        "{said}"
    );
    assert!(said.contains("hint: wait for the run that uses it"), "{said}");
    assert!(!place.file("ran").exists());
    drop(first.stdin.take());
    place.finish(first).succeeded();
}

#[test]
fn the_real_home_directory_is_named_and_not_opened() {
    let (place, home) = (Place::new(), tempfile::tempdir().unwrap());
    fs::write(home.path().join("file"), "mine\n").unwrap();
    let name = home.path().to_str().unwrap();
    let arguments = [
        "run",
        "--home",
        "real",
        "--",
        "sh",
        "-c",
        r#"echo "$HOME"; cat "$HOME/file""#,
    ];
    let done = place.ringfence_with(&[("HOME", name)], &arguments);
    assert_ne!(done.status, 0, "{done:?}");
    assert_eq!(done.stdout, format!("{name}\n"));
}

/// The directory of the caller's `HOME` is one whose credentials presets close, wherever it is.
#[test]
fn presets_know_the_home_directory_that_the_variable_names() {
    let (place, home) = (Place::new(), tempfile::tempdir().unwrap());
    fs::create_dir(home.path().join(".ssh")).unwrap();
    fs::write(home.path().join(".ssh/id"), "key\n").unwrap();
    fs::write(home.path().join("file"), "mine\n").unwrap();
    let name = home.path().to_str().unwrap();
    for (file, readable) in [("file", true), (".ssh/id", false)] {
        let arguments = ["run", "--ro", name, "--", "cat", &format!("{name}/{file}")];
        let done = place.ringfence_with(&[("HOME", name)], &arguments);
        assert_eq!(done.status == 0, readable, "{done:?}");
    }
}

#[test]
fn a_cache_is_kept_and_nothing_but_the_cache() {
    let (place, data) = (Place::new(), tempfile::tempdir().unwrap());
    let run = |options: &[&str], script: &str| with_data(&place, data.path(), options, script);
    let fill = r#"mkdir -p "$CARGO_HOME/registry/x" "$CARGO_HOME/bin/y" && ls "$CARGO_HOME""#;
    let look = r#"ls "$CARGO_HOME""#;
    let options = ["--cache", "cargo,pip"];
    run(&options, fill).succeeded();
    assert_eq!(run(&options, look).succeeded().stdout, "registry\n");
    let caches = data.path().join("ringfence/caches");
    assert!(caches.join("cargo/registry/x").is_dir() && caches.join("pip").is_dir());
    assert!(!caches.join("npm").exists());
    assert_eq!(mode(&caches), 0o700);
    // Without the option nothing of it is seen.
    let path = caches.join("cargo/registry");
    let done = run(&[], &format!("ls {}", path.display()));
    assert_ne!(done.status, 0, "{done:?}");
}

#[test]
fn a_kept_directory_must_be_ones_own_and_out_of_reach() {
    let (place, data) = (Place::new(), tempfile::tempdir().unwrap());
    let homes = data.path().join("ringfence/homes");
    fs::create_dir_all(&homes).unwrap();
    fs::set_permissions(&homes, fs::Permissions::from_mode(0o755)).unwrap();
    let done = with_data(&place, data.path(), &["--home", "one"], "touch ran");
    assert_eq!(done.status, 125, "{done:?}");
    assert!(done.stderr.starts_with("ringfence: --home: "), "{done:?}");
    // Where the command writes, it could replace what is kept.
    let done = with_data(&place, place.workspace(), &["--cache", "go"], "touch ran");
    assert_eq!(done.status, 125, "{done:?}");
    assert!(done.stderr.starts_with("ringfence: --cache: "), "{done:?}");
    assert!(done.stderr.contains("hint: set XDG_CACHE_HOME"), "{done:?}");
    assert!(!place.file("ran").exists());
}
