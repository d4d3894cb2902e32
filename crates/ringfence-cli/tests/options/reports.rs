//! What a run says about itself: `--dry-run`, `-v`, `--json-report`, `--require`.

use std::fs;

use serde_json::Value;

use crate::support::Place;

const CALLER: &[(&str, &str)] = &[
    ("BUILD_KIND", "kind-value"),
    ("BUILD_API_TOKEN", "token-value"),
    ("AWS_PROFILE", "profile-value"),
];

const OPTIONS: &[&str] = &[
    "--secret",
    "plans.txt",
    "--protect",
    "glob:**/*.lock",
    "--env",
    "BUILD_*",
    "--env",
    "AWS_PROFILE",
    "--env",
    "CI=ci-value",
    "--timeout",
    "90s",
    "--file-size",
    "64M",
];

#[test]
fn dry_run_shows_guards_variables_limits_and_bundles() {
    let place = Place::new();
    place.movable_repository("vendor");
    place.write("plans.txt", "plans\n");
    let done = place.ringfence_with(
        CALLER,
        &[&["run", "--dry-run"], OPTIONS, &["--", "touch", "ran"]].concat(),
    );
    let text = done.succeeded().stdout;
    let workspace = place.workspace().display();
    for expected in [
        format!("secret   \"{workspace}/plans.txt\"  (the profile's guard "),
        format!("protect  \"{workspace}/**/*.lock\"  (a pattern of the profile)"),
        format!("protect  \"{workspace}/.git\", absent  (the preset git (git would obey a repository"),
        "and what ".to_owned(),
        "placeholders on the host:\n".to_owned(),
        "environment:\n  passed on: ".to_owned(),
        "  withheld: BUILD_API_TOKEN (holds a token".to_owned(),
        "  at a risk: AWS_PROFILE is passed on: it holds".to_owned(),
        "limits:\n  wall time: 90s\n  file size: 64 MiB\n".to_owned(),
        "bundles:\n  base: ".to_owned(),
        "level: ".to_owned(),
    ] {
        assert!(text.contains(&expected), "{expected:?} is missing:\n{text}");
    }
    let set = text.lines().find(|line| line.starts_with("  set: ")).unwrap();
    for name in ["HOME", "TMPDIR", "CI"] {
        assert!(set.contains(name), "{set}");
    }
    assert!(!text.contains("-value"), "a value is shown:\n{text}");
    assert!(!place.file("ran").exists());
}

#[test]
fn verbose_is_concise_and_says_how_it_ended() {
    let place = Place::new();
    place.movable_repository("vendor");
    let done = place.ringfence_with(
        CALLER,
        &[&["run", "-v"], OPTIONS, &["--", "sh", "-c", "exit 3"]].concat(),
    );
    assert_eq!((done.status, done.stdout.as_str()), (3, ""), "{done:?}");
    for expected in [
        "level: ",
        "guarantees: ",
        "placeholders on the host while it runs: ",
        "environment: withheld: BUILD_API_TOKEN",
        "limit: wall time: 90s\n",
        "bundles: base",
        "the command exited with 3 after ",
    ] {
        assert!(
            done.stderr.contains(expected),
            "{expected:?} is missing: {done:#?}"
        );
    }
    assert!(
        done.stderr.lines().count() < 25 && !done.stderr.contains("-value"),
        "{done:#?}"
    );
}

#[test]
fn the_report_carries_the_plan_and_what_was_used() {
    let place = Place::new();
    place.movable_repository("vendor");
    place.write("plans.txt", "plans\n");
    let options = [&["run", "--json-report", "report.json"], OPTIONS, &["--", "true"]].concat();
    place.ringfence_with(CALLER, &options).succeeded();
    let text = fs::read_to_string(place.file("report.json")).unwrap();
    assert!(!text.contains("-value"), "a value is in the report:\n{text}");
    let report: Value = serde_json::from_str(&text).unwrap();
    let plans = place.file("plans.txt");
    let guards = report["guards"].as_array().unwrap();
    let guard = guards
        .iter()
        .find(|guard| guard["path"] == plans.to_str().unwrap())
        .unwrap();
    assert_eq!(
        (&guard["protection"], &guard["exists"]),
        (&"secret".into(), &true.into())
    );
    let regions = report["regions"].as_array().unwrap();
    let region = regions
        .iter()
        .find(|region| region["path"] == guard["path"])
        .unwrap();
    assert_eq!(region["access"]["read"], "deny");
    let environment = &report["environment"];
    assert_eq!(environment["withheld"][0]["name"], "BUILD_API_TOKEN");
    assert_eq!(environment["overridden"][0]["by"], "inherit");
    assert!(environment["set"].as_array().unwrap().contains(&"CI".into()));
    assert_eq!(report["limits"]["file_bytes"], 64 << 20);
    assert!(report["bundles"]["base"]["paths"].is_array());
    assert!(!report["placeholders"].as_array().unwrap().is_empty());
    assert!(!report["patterns"].as_array().unwrap().is_empty());
    assert_eq!(report["new_repositories"], "report");
    assert_eq!(report["nested_namespaces"], "refuse");
    let result = &report["result"];
    assert!(
        result["usage"].is_object() && result["new_repositories"].is_array(),
        "{result:#}"
    );
    assert_eq!(result["unsearched"], Value::Array(Vec::new()));
}

#[test]
fn the_report_names_the_limit_that_was_exceeded() {
    let place = Place::new();
    let options = ["--json-report", "report.json", "--output-limit", "10"];
    assert_eq!(place.sh(&options, "yes").status, 137);
    let report: Value = serde_json::from_slice(&fs::read(place.file("report.json")).unwrap()).unwrap();
    assert_eq!(report["result"]["ended"]["limit_exceeded"], "output");
}

/// It lands in the directory that was there at the beginning, wherever its path leads since.
#[test]
fn the_report_does_not_follow_what_the_command_makes_of_its_directory() {
    for replace in [
        "ln -s {} reports",
        "mkdir reports && echo forged > reports/report.json",
    ] {
        let (place, elsewhere) = (Place::new(), tempfile::tempdir().unwrap());
        let precious = elsewhere.path().join("report.json");
        fs::write(&precious, "precious\n").unwrap();
        place.write("reports/old", "");
        let replace = replace.replace("{}", elsewhere.path().to_str().unwrap());
        let script = format!("mv reports moved && {replace}; exit 3");
        let done = place.sh(&["--json-report", "reports/report.json"], &script);
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious\n");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
        let text = fs::read(place.file("moved/report.json")).unwrap();
        let report: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(report["result"]["ended"]["exited"], 3);
        // Whoever reads what is at the path now is told that it is something else.
        let expected = "ringfence: --json-report reports/report.json: its directory was replaced\n";
        assert!(done.stderr.starts_with(expected), "{done:?}");
        assert_eq!(done.status, 3, "{done:?}");
    }
}

#[test]
fn the_report_can_go_where_the_commands_output_goes() {
    let place = Place::new();
    let options = ["--json-report", "/dev/stdout"];
    let check = |text: &str| {
        let report = text.strip_prefix("output\n").unwrap();
        let report: Value = serde_json::from_str(report).unwrap();
        assert_eq!(report["result"]["ended"]["exited"], 0);
    };
    check(&place.sh(&options, "echo output").succeeded().stdout);
    let mut command = place.command(["run", options[0], options[1], "--", "echo", "output"]);
    let to_file = command.stdout(fs::File::create(place.file("all")).unwrap());
    place.finish(to_file.spawn().unwrap()).succeeded();
    check(&fs::read_to_string(place.file("all")).unwrap());
}

/// A guarantee nobody brings about can't be required.
#[test]
fn a_required_guarantee_that_is_missing_keeps_the_command_from_running() {
    let place = Place::new();
    place
        .sh(&["--require", "read_boundary,env_scrub"], "true")
        .succeeded();
    let done = place.sh(&["--require", "target_network"], "touch ran");
    assert_eq!(done.status, 125, "{done:?}");
    assert!(
        done.stderr.starts_with("ringfence: --require target_network: "),
        "{done:?}"
    );
    assert!(!place.file("ran").exists());
}
