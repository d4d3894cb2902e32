//! Which variables reach a command.

use crate::support::{Done, Place};

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

#[test]
fn env_3_what_ringfence_sets_can_not_be_taken_away() {
    let place = Place::new();
    let options = ["--env", "HOME=/", "--env-unset", "TMPDIR"];
    let done = run(&place, &options, r#"touch "$HOME/x" "$TMPDIR/x""#);
    done.succeeded();
}
