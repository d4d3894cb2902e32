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

/// S-31: a secret needs its very name, and that is said.
#[test]
fn s_31_a_variable_with_a_secret_is_passed_on_by_its_full_name_only_and_that_is_said() {
    let place = Place::new();
    let done = run(&place, &["-v", "--env", "BUILD_*"], SHOW).succeeded();
    assert_eq!(done.stdout, "release none C\n");
    assert!(
        done.stderr.contains("withheld: BUILD_API_TOKEN (holds a token"),
        "{done:?}"
    );
    let done = run(&place, &["-v", "--env", "BUILD_API_TOKEN"], SHOW).succeeded();
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
