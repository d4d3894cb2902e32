//! `--profile`: a file says what is open, and options have the last word.

use std::fs;

use crate::Outside;
use crate::support::Place;

const OPEN: &str = "workspace_access = \"read-write\"\ncommand = \"allow\"\n";

fn with(place: &Place, text: &str) {
    place.write("profile.toml", text);
}

#[test]
fn a_file_says_what_is_open_and_the_rest_is_denied() {
    let place = Place::new();
    let options = ["--profile", "profile.toml"];
    with(&place, "command = \"allow\"\nworkspace_access = \"read-only\"\n");
    place.sh(&options, "cat profile.toml").succeeded();
    let done = place.sh(&options, "touch new");
    assert!(done.status != 0 && !place.file("new").exists(), "{done:?}");
    with(&place, OPEN);
    place.sh(&options, "touch new").succeeded();
    // What a file does not say is not open: not even commands.
    with(&place, "");
    let done = place.sh(&options, "touch ran");
    assert_eq!(done.status, 125, "{done:?}");
    assert!(!place.file("ran").exists());
}

#[test]
fn the_examples_of_the_repository_run() {
    let place = Place::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/profiles");
    let default = format!("{examples}/default.toml");
    place.sh(&["--profile", &default], "touch new").succeeded();
    let plain = place.sh(&["--dry-run"], "true").succeeded();
    let spelled = place
        .sh(&["--dry-run", "--profile", &default], "true")
        .succeeded();
    let lines = |text: &str| -> Vec<String> {
        let own = |line: &&str| !line.contains("/ringfence-") && !line.contains("/default.toml");
        text.lines().filter(own).map(str::to_owned).collect()
    };
    assert_eq!(lines(&plain.stdout), lines(&spelled.stdout));
}

#[test]
fn an_option_that_can_be_given_once_replaces_what_the_file_says() {
    let place = Place::new();
    let options = ["--profile", "profile.toml"];
    with(
        &place,
        &format!("{OPEN}host_access = \"read-only\"\n[limits]\nwall_time = \"200ms\"\n"),
    );
    place.sh(&options, "ls /var").succeeded();
    let closed = place.sh(&[&options[..], &["--host-read", "deny"]].concat(), "ls /var");
    assert!(!matches!(closed.status, 0 | 125), "{closed:?}");
    assert_eq!(place.sh(&options, "sleep 5").status, 124);
    place
        .sh(&[&options[..], &["--timeout", "60s"]].concat(), "sleep 0.5")
        .succeeded();
    let done = place.sh(&[&options[..], &["--read-only"]].concat(), "touch new");
    assert!(done.status != 0 && !place.file("new").exists(), "{done:?}");
}

#[test]
fn an_option_that_can_be_repeated_adds_to_what_the_file_says() {
    let place = Place::new();
    let outside = Outside::new();
    place.write("one", "one\n");
    place.write("two", "two\n");
    let root = format!(
        "[[roots]]\npath = \"{}\"\naccess = \"read-only\"\n",
        outside.path()
    );
    with(&place, &format!("{OPEN}secret = [\"one\"]\n{root}"));
    let options = ["--profile", "profile.toml", "--secret", "two"];
    for name in ["one", "two"] {
        let done = place.sh(&options, &format!("cat {name}"));
        assert!(!matches!(done.status, 0 | 125), "{done:?}");
    }
    place.sh(&options[..2], "cat two").succeeded();
    // The same path: the option counts.
    let write = format!("cat {0} && echo changed >{0}", outside.file());
    let done = place.sh(&options, &write);
    assert!(done.status != 0 && outside.content() == "outside\n", "{done:?}");
    place
        .sh(&[&options[..], &["--rw", outside.path()]].concat(), &write)
        .succeeded();
    assert_eq!(outside.content(), "changed\n");
}

#[test]
fn variables_bundles_and_homes_of_a_file_are_those_of_the_run() {
    let (place, data) = (Place::new(), tempfile::tempdir().unwrap());
    let text = "home = { name = \"mine\" }\nbundles = [\"base\"]\n[environment]\ninherit = [\"KIND\"]\nset = { CI = \"1\" }\n";
    with(&place, &format!("{OPEN}{text}"));
    let variables = [("XDG_DATA_HOME", data.path().to_str().unwrap()), ("KIND", "x")];
    let run = |options: &[&str], script: &str| {
        let arguments = [
            &["run", "--profile", "profile.toml"],
            options,
            &["--", "sh", "-c", script],
        ]
        .concat();
        place.ringfence_with(&variables, &arguments)
    };
    let show = r#"echo "${KIND-none} ${CI-none}"; touch "$HOME/kept""#;
    assert_eq!(run(&[], show).succeeded().stdout, "x 1\n");
    assert!(data.path().join("ringfence/homes/mine/kept").exists());
    let options = ["--env-unset", "KIND", "--env", "CI=2", "--home", "isolated"];
    assert_eq!(
        run(&options, &format!("{show}; ls \"$HOME\"")).succeeded().stdout,
        "none 2\nkept\n"
    );
    let names = |options: &[&str]| {
        run(&[options, &["--dry-run"]].concat(), "true")
            .succeeded()
            .stdout
    };
    assert!(
        !names(&[]).contains("\n  locale: ") && names(&["--bundle", "base,locale"]).contains("\n  locale: ")
    );
}

/// What a command can write does not decide what the next one may do.
#[test]
fn a_profile_is_out_of_reach_of_the_commands_it_is_for() {
    let place = Place::new();
    with(&place, OPEN);
    let widen = "echo 'network = \"allow\"' >>profile.toml";
    place.sh(&[], widen).succeeded();
    with(&place, OPEN);
    std::os::unix::fs::symlink("profile.toml", place.file("link.toml")).unwrap();
    for options in [["--profile", "profile.toml"], ["--profile", "link.toml"]] {
        let named = format!("rm {}", options[1]);
        for script in [
            widen,
            "mv profile.toml x && cp x profile.toml",
            "rm profile.toml",
            &named,
        ] {
            let done = place.sh(&options, script);
            assert!(!matches!(done.status, 0 | 125), "{done:?}");
            assert_eq!(
                fs::read_to_string(place.file("profile.toml")).unwrap(),
                OPEN,
                "{script}"
            );
        }
    }
    let through_a_pipe = format!(
        "cat profile.toml | {} run --profile /dev/stdin -- true",
        crate::support::RINGFENCE
    );
    let mut shell = place.unconfined("sh");
    let child = shell.args(["-c", &through_a_pipe]).spawn().unwrap();
    let _ = place.finish(child).succeeded();
}

/// The paths of a file are beneath its own workspace; another one would leave its secrets behind.
#[test]
fn a_workspace_besides_the_files_own_is_refused() {
    let place = Place::new();
    let other = Outside::new();
    with(&place, &format!("{OPEN}workspace = \"{}\"\n", other.path()));
    place
        .sh(&["--profile", "profile.toml"], "test -e file")
        .succeeded();
    let done = place.sh(&["--profile", "profile.toml", "--workspace", "."], "touch ran");
    assert_eq!(done.status, 125, "{done:?}");
    assert!(done.stderr.starts_with("ringfence: --workspace .: "), "{done:?}");
    with(
        &place,
        &format!("{OPEN}workspace = \"${{workspace}}\"\nsecret = [\"file\"]\n"),
    );
    let options = ["--profile", "profile.toml", "--workspace", other.path()];
    let done = place.sh(&options, "touch new; cat file");
    assert!(!matches!(done.status, 0 | 125), "{done:?}");
    assert!(fs::exists(other.0.path().join("new")).unwrap());
}
