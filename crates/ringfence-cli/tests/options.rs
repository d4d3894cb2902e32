//! Each option of `ringfence run` opens or closes what it says and nothing beside it. Every case has its
//! opposite: what one option refuses, another lets through.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[path = "options/environment.rs"]
mod environment;
#[path = "options/guards.rs"]
mod guards;
#[path = "options/limits.rs"]
mod limits;
#[path = "options/profile.rs"]
mod profile;
#[path = "options/programs.rs"]
mod programs;
#[path = "options/reports.rs"]
mod reports;
mod support;

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};
use support::{Place, installed};

/// A file of the host that no default opens: the temporary directory is not the workspace.
struct Outside(tempfile::TempDir);

impl Outside {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), "outside\n").unwrap();
        Self(directory)
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    fn file(&self) -> String {
        format!("{}/file", self.path())
    }

    fn content(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }
}

#[test]
fn the_default_workspace_is_the_current_directory_and_writable() {
    let place = Place::new();
    let done = place.sh(&[], "pwd; echo written >new").succeeded();
    assert_eq!(Path::new(done.stdout.trim_end()), place.workspace());
    assert_eq!(fs::read_to_string(place.file("new")).unwrap(), "written\n");
}

#[test]
fn the_home_directory_is_another_one_with_nothing_but_settings_of_git() {
    let place = Place::new();
    let done = place
        .sh(&[], r#"echo "$HOME"; ls -A "$HOME"; touch "$HOME/x""#)
        .succeeded();
    let real = std::env::var("HOME").unwrap_or_default();
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(lines[0] != real && !lines[0].is_empty(), "{done:?}");
    assert_eq!(lines[1..], [".config", ".gitconfig"]);
}

#[test]
fn the_rest_of_the_host_can_neither_be_read_nor_written() {
    let (place, outside) = (Place::new(), Outside::new());
    for script in [
        format!("cat {}", outside.file()),
        format!("echo x >{}", outside.file()),
    ] {
        let done = place.sh(&[], &script);
        assert_ne!(done.status, 0, "{script}: {done:?}");
    }
    assert_eq!(outside.content(), "outside\n");
}

#[test]
fn workspace_names_another_directory() {
    let (place, other) = (Place::new(), Outside::new());
    let done = place
        .sh(
            &["--workspace", other.path()],
            "pwd; cat file; echo changed >file",
        )
        .succeeded();
    assert_eq!(done.stdout, format!("{}\noutside\n", other.path()));
    assert_eq!(other.content(), "changed\n");
    let here = place.workspace().display();
    let done = place.sh(&["--workspace", other.path()], &format!("echo x >{here}/new"));
    assert!(done.status != 0 && !place.file("new").exists(), "{done:?}");
}

/// The current directory is kept where it lies in the workspace.
#[test]
fn workspace_may_be_relative_and_above() {
    let place = Place::new();
    fs::create_dir(place.file("below")).unwrap();
    let mut command = place.command(["run", "--workspace", "..", "--", "sh", "-c", "pwd; touch ../new"]);
    command
        .current_dir(place.file("below"))
        .env("PWD", place.file("below"));
    let done = place.finish(command.spawn().unwrap()).succeeded();
    assert_eq!(Path::new(done.stdout.trim_end()), place.file("below"));
    assert!(place.file("new").exists());
}

#[test]
fn read_only_leaves_the_workspace_readable() {
    let place = Place::new();
    fs::write(place.file("old"), "old\n").unwrap();
    let done = place.sh(&["--read-only"], "cat old; echo new >old || mkdir new || rm old");
    assert_eq!(
        (done.status != 0, done.stdout.as_str()),
        (true, "old\n"),
        "{done:?}"
    );
    assert_eq!(fs::read_to_string(place.file("old")).unwrap(), "old\n");
    assert!(!place.file("new").exists());
    place
        .sh(&["--read-only"], r#"echo x >"$TMPDIR/x" && echo x >"$HOME/x""#)
        .succeeded();
}

#[test]
fn rw_opens_a_directory_for_reading_and_writing() {
    let (place, outside) = (Place::new(), Outside::new());
    let script = format!(
        "cd {} && cat file && echo changed >file && touch new",
        outside.path()
    );
    let done = place.sh(&["--rw", outside.path()], &script).succeeded();
    assert_eq!(
        (done.stdout.as_str(), outside.content().as_str()),
        ("outside\n", "changed\n")
    );
    assert!(outside.0.path().join("new").exists());
}

#[test]
fn rw_opens_a_single_file_and_not_what_lies_beside_it() {
    let (place, outside) = (Place::new(), Outside::new());
    let (file, beside) = (outside.file(), outside.0.path().join("beside"));
    place
        .sh(&["--rw", &file], &format!("echo changed >{file}"))
        .succeeded();
    assert_eq!(outside.content(), "changed\n");
    let done = place.sh(&["--rw", &file], &format!("echo x >{}", beside.display()));
    assert!(!beside.exists(), "{done:?}");
}

#[test]
fn ro_opens_for_reading_only() {
    let (place, outside) = (Place::new(), Outside::new());
    let done = place.sh(
        &["--ro", outside.path()],
        &format!("cd {} && cat file; echo x >file", outside.path()),
    );
    assert_eq!(
        (done.status != 0, done.stdout.as_str()),
        (true, "outside\n"),
        "{done:?}"
    );
    assert_eq!(outside.content(), "outside\n");
}

#[test]
fn rw_and_ro_can_be_repeated_and_relative() {
    let (place, one, two) = (Place::new(), Outside::new(), Outside::new());
    let relative = |outside: &Outside| {
        let name = outside.0.path().file_name().unwrap().to_str().unwrap();
        format!("../{name}")
    };
    let done = place
        .sh(
            &["--ro", &relative(&one), "--ro", &relative(&two)],
            &format!("cat {} {}", one.file(), two.file()),
        )
        .succeeded();
    assert_eq!(done.stdout, "outside\noutside\n");
}

#[test]
fn host_read_opens_the_host_for_reading() {
    let place = Place::new();
    for (options, readable) in [
        (&["--host-read", "deny"][..], false),
        (&["--host-read", "allow"], true),
        (&[], false),
    ] {
        let done = place.sh(options, "ls /var");
        assert_eq!(done.status == 0, readable, "{options:?}: {done:?}");
    }
    let name = format!(
        "/var/tmp/{}",
        place.workspace().file_name().unwrap().to_str().unwrap()
    );
    let done = place.sh(
        &["--host-read", "allow"],
        &format!("echo x >{name}; echo x >/etc/hosts"),
    );
    assert!(done.status != 0 && !Path::new(&name).exists(), "{done:?}");
}

#[test]
fn net_opens_the_hosts_network() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{}",
        listener.local_addr().unwrap().port()
    );
    if !installed("net_opens_the_hosts_network", &[&["bash", "-c", &script]]) {
        return;
    }
    for (options, reachable) in [
        (&["--net", "deny"][..], false),
        (&["--net", "allow"], true),
        (&[], false),
    ] {
        let done = place.ringfence([&["run"], options, &["--", "bash", "-c", &script]].concat());
        assert_eq!(done.status == 0, reachable, "{options:?}: {done:?}");
    }
}

#[test]
fn options_after_the_separator_belong_to_the_command() {
    let place = Place::new();
    let done = place
        .ringfence(["run", "--", "echo", "--read-only", "--", "-v"])
        .succeeded();
    assert_eq!(done.stdout, "--read-only -- -v\n");
    let done = place.ringfence(["run", "echo", "-v", "--help"]).succeeded();
    assert_eq!(done.stdout, "-v --help\n");
}

#[test]
fn dry_run_shows_the_regions_and_runs_nothing() {
    let place = Place::new();
    let done = place.sh(&["--dry-run"], "touch ran").succeeded();
    assert!(!place.file("ran").exists(), "the command ran");
    let workspace = format!("rwx     {:?}  (", place.workspace());
    for expected in [
        workspace.as_str(),
        "---     \"/\"  (",
        "r-x     \"/usr\"  (",
        "level: ",
        "guarantees: ",
    ] {
        assert!(
            done.stdout.contains(expected),
            "{expected:?} is missing: {}",
            done.stdout
        );
    }
    let read_only = place.sh(&["--dry-run", "--read-only"], "touch ran").succeeded();
    assert!(
        read_only.stdout.contains(&workspace.replace("rwx", "r-x")),
        "{}",
        read_only.stdout
    );
}

fn report(place: &Place) -> Value {
    serde_json::from_slice(&fs::read(place.file("report.json")).unwrap()).unwrap()
}

#[test]
fn json_report_says_what_was_enforced_and_how_it_ended() {
    let place = Place::new();
    let cases = [
        ("exit 3", json!({ "exited": 3 })),
        ("kill -KILL $$", json!({ "signaled": 9, "core": false })),
        ("sleep 60", json!("timed_out")),
    ];
    let options = ["--timeout", "500ms", "--json-report", "report.json"];
    for (script, ended) in cases {
        place.sh(&options, script);
        let report = report(&place);
        let result = &report["result"];
        assert_eq!(result["ended"], ended, "{script}");
        assert_eq!(result["lifetime"]["containment"], "enforced", "{script}");
        assert!(
            result["elapsed_ms"].as_u64().is_some_and(|ms| ms < 30_000),
            "{script}: {result}"
        );
        assert!(
            report["fingerprint"]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{report:#}"
        );
        let guarantees = report["guarantees"].as_array().unwrap();
        for name in ["read_boundary", "write_boundary", "network_boundary"] {
            assert!(guarantees.contains(&name.into()), "{name}: {guarantees:?}");
        }
        assert!(
            report["obligations"]
                .as_array()
                .is_some_and(|all| !all.is_empty()),
            "{report:#}"
        );
    }
}

#[test]
fn json_report_says_why_nothing_ran() {
    let place = Place::new();
    let done = place.ringfence(["run", "--json-report", "report.json", "--", "./missing"]);
    assert_eq!(done.status, 127, "{done:?}");
    let error = &report(&place)["result"]["error"];
    assert_eq!(error["code"], "setup_failed");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|text| text.contains("missing")),
        "{error}"
    );
}
