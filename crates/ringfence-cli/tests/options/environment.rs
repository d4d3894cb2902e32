//! Which variables reach a command.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::report;
use crate::support::{Done, Place, RINGFENCE};

const CALLER: &[(&str, &str)] = &[
    ("BUILD_KIND", "release"),
    ("BUILD_API_TOKEN", "secret-value"),
    ("LANG", "C"),
];

fn run(place: &Place, options: &[&str], script: &str) -> Done {
    place.ringfence_with(CALLER, &[&["run"], options, &["--", "sh", "-c", script]].concat())
}

const SHOW: &str = r#"echo "${BUILD_KIND-none} ${BUILD_API_TOKEN-none} ${LANG-none}""#;

#[test]
fn env_5_a_variable_is_passed_on_by_its_name_or_its_beginning() {
    let place = Place::new();
    for (options, shown) in [
        (&[][..], "none none C\n"),
        (&["--env", "BUILD_KIND"], "release none C\n"),
        (&["--env", "BUILD_*"], "release none C\n"),
        (&["--env", "BUILD_KIND=debug=1"], "debug=1 none C\n"),
        (&["--env", "BUILD_KIND="], " none C\n"),
        (
            &["--env", "BUILD_*", "--env-unset", "BUILD_KIND"],
            "none none C\n",
        ),
        (&["--env-unset", "LANG"], "none none none\n"),
    ] {
        let done = run(&place, options, SHOW).succeeded();
        assert_eq!(done.stdout, shown, "{options:?}");
    }
}

/// A secret needs its very name, and that is said.
#[test]
fn s_31_secrets_stay_with_the_caller_unless_named_in_full_and_that_is_said() {
    const SECRETS: [&str; 5] = [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SESSION_TOKEN",
        "SSH_AUTH_SOCK",
        "DOCKER_HOST",
    ];
    let place = Place::new();
    let variables: Vec<_> = SECRETS.map(|name| (name, "secret-value")).into();
    let unconfined = place.unconfined("env").envs(variables.clone()).output().unwrap();
    let unconfined = String::from_utf8_lossy(&unconfined.stdout).into_owned();
    let variables = [CALLER, &variables].concat();
    let run = |options: &[&str], command: &[&str]| {
        let arguments = [&["run"], options, &["--"], command].concat();
        place.ringfence_with(&variables, &arguments).succeeded()
    };
    let inside = run(&[], &["env"]).stdout;
    for name in SECRETS {
        let line = format!("{name}=secret-value\n");
        assert!(unconfined.contains(&line) && !inside.contains(&format!("{name}=")));
        let done = place.ringfence_with(&variables, &["explain", &format!("env:{name}"), "read"]);
        let said = [
            "denied: only a rule for its very name passes it on: it ",
            "environment: enforced by the environment's allowlist",
            &format!("to open it: --env {name}\n"),
        ];
        assert_eq!(done.status, 1, "{done:?}");
        assert!(said.iter().all(|said| done.stdout.contains(said)), "{done:?}");
    }
    assert!(!inside.contains("secret-value"), "{inside}");
    // What is passed on is listed before anything runs, by its name.
    let plan = run(&["--dry-run", "--env", "BUILD_*"], &["env"]).stdout;
    let passed = plan
        .lines()
        .find_map(|line| line.strip_prefix("  passed on: "))
        .unwrap();
    let passed: Vec<_> = passed.split(", ").collect();
    assert!(
        passed.contains(&"LANG") && passed.contains(&"BUILD_KIND"),
        "{passed:?}"
    );
    assert!(!SECRETS.iter().any(|name| passed.contains(name)), "{passed:?}");
    assert!(!plan.contains("secret-value"), "{plan}");

    let show = |options: &[&str]| run(options, &["sh", "-c", SHOW]);
    let done = show(&["-v", "--env", "BUILD_*"]);
    assert_eq!(done.stdout, "release none C\n");
    assert!(
        done.stderr.contains("withheld: BUILD_API_TOKEN (holds a token"),
        "{done:?}"
    );
    let done = show(&["-v", "--env", "BUILD_API_TOKEN"]);
    assert_eq!(done.stdout, "none secret-value C\n");
    assert!(
        done.stderr
            .contains("at a risk: BUILD_API_TOKEN is passed on: it holds"),
        "{done:?}"
    );
    assert!(!done.stderr.contains("secret-value"), "{done:?}");
}

/// What a command does not get as a variable it finds nowhere else: not with processes of the host, not with those of
/// its own that started from there, and not in a descriptor that was left open.
#[test]
fn env_13_where_the_environment_is_said_to_be_scrubbed_no_other_way_leads_to_the_callers() {
    let place = Place::new();
    place.write("left-open", "secret-value\n");
    // This shell, and then what it starts, has the variables and the descriptor.
    let from_a_shell = |arguments: &[&str]| {
        let mut command = place.unconfined("sh");
        command.args(["-c", "exec 9<left-open; \"$@\"; exit $?", "sh"]);
        command.args(arguments).envs(CALLER.iter().copied());
        place.finish(command.spawn().unwrap())
    };
    let parents = "tr '\\0' '\\n' </proc/$PPID/environ";
    for script in [parents, "cat <&9"] {
        let shown = from_a_shell(&["env", "-u", "BUILD_API_TOKEN", "sh", "-c", script]).succeeded();
        assert!(shown.stdout.contains("secret-value"), "the control, `{script}`");
    }
    let everywhere = "for process in /proc/[0-9]* /proc/self /proc/thread-self; do \
                          tr '\\0' '\\n' <$process/environ; \
                      done; ps axeww; cat <&9; cat /proc/self/fd/9; echo done";
    for host_read in ["deny", "allow"] {
        let options = [
            "run",
            "--host-read",
            host_read,
            "--json-report",
            "report.json",
            "--",
        ];
        let done = from_a_shell(&[&[RINGFENCE], &options[..], &["sh", "-c", everywhere]].concat());
        let done = done.succeeded();
        assert!(done.stdout.contains("\nTMPDIR=") && done.stdout.ends_with("done\n"));
        assert!(!done.stdout.contains("secret-value"), "{done:?}");
        let report = report(&place);
        let guarantees = report["guarantees"].as_array().unwrap();
        assert!(guarantees.contains(&"env_scrub".into()), "{report:#}");
    }
}

#[test]
fn env_3_what_ringfence_sets_can_not_be_taken_away() {
    let place = Place::new();
    let options = ["--env", "HOME=/", "--env-unset", "TMPDIR"];
    let done = run(&place, &options, r#"touch "$HOME/x" "$TMPDIR/x""#);
    done.succeeded();
}

#[test]
fn a_program_that_is_not_found_because_its_directory_is_writable_is_named() {
    let place = Place::new();
    place.write("bin/mytool", "#!/bin/sh\n");
    let tool = place.file("bin/mytool");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", place.file("bin").display());
    let done = place.ringfence_with(&[("PATH", &path)], &["run", "--", "mytool"]);
    assert_eq!(done.status, 127, "{done:?}");
    assert!(
        done.stderr
            .contains("bin/mytool\" is there, but commands can change"),
        "{done:?}"
    );
    place
        .ringfence_with(&[("PATH", &path)], &["run", "--", "bin/mytool"])
        .succeeded();
}
