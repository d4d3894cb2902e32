use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::meet_tests::three_rules_and_parent;
use super::super::tests::{inheriting, windows};
use super::super::{INHERITED, INHERITED_ON_WINDOWS, VariableName};
use super::*;

fn pair((name, value): (&str, &str)) -> (OsString, OsString) {
    (name.into(), value.into())
}

fn default(names: &[&str]) -> EnvironmentRules {
    inheriting(EnvironmentRules::default(), names)
}

fn environment(rules: &EnvironmentRules, parent: &[(&str, &str)], forced: &[(&str, &str)]) -> Environment {
    let forced = forced.iter().copied().map(pair).collect();
    rules.assemble(parent.iter().copied().map(pair), &forced)
}

/// The variables as `NAME=value`.
fn assemble(rules: &EnvironmentRules, parent: &[(&str, &str)], forced: &[(&str, &str)]) -> Vec<String> {
    let variables = environment(rules, parent, forced).variables;
    variables
        .iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect()
}

/// The names of what is withheld, each with the row that does it.
fn withheld(notes: &EnvironmentNotes) -> Vec<(&str, &str)> {
    let rows = notes.withheld.iter();
    rows.map(|row| (row.name.to_str().unwrap(), row.never.name))
        .collect()
}

fn overridden(notes: &EnvironmentNotes) -> Vec<(&str, Explicit, &str)> {
    let rows = notes.overridden.iter();
    rows.map(|row| (row.name.to_str().unwrap(), row.by, row.never.name))
        .collect()
}

const SECRETS: [(&str, &str); 5] = [
    ("OPENAI_API_KEY", "x"),
    ("GITHUB_TOKEN", "x"),
    ("AWS_SESSION_TOKEN", "x"),
    ("SSH_AUTH_SOCK", "x"),
    ("DOCKER_HOST", "x"),
];

#[test]
fn env_1_only_the_allowlist_is_inherited() {
    let parent = [
        ("GITHUB_TOKEN", "x"),
        ("PATH", "/bin"),
        ("HOME", "/h"),
        ("TERM", "xterm"),
        ("LANG", "C"),
        ("LC_ALL", "C"),
        ("LC_", "C"),
        ("USER", "u"),
        ("LOGNAME", "u"),
        ("SHELL", "/bin/sh"),
        ("TZ", "UTC"),
        ("LD_PRELOAD", "x"),
        ("HTTPS_PROXY", "x"),
        ("PATHS", "x"),
        ("LANGUAGE", "x"),
    ];
    assert_eq!(
        assemble(&EnvironmentRules::default(), &parent, &[]),
        [
            "PATH=/bin",
            "HOME=/h",
            "TERM=xterm",
            "LANG=C",
            "LC_ALL=C",
            "LC_=C",
            "USER=u",
            "LOGNAME=u",
            "SHELL=/bin/sh",
            "TZ=UTC",
        ]
    );
}

#[test]
fn env_2_set_then_forced_values_replace_in_place_and_new_ones_follow_sorted() {
    let parent = [
        ("HOME", "/real"),
        ("PATH", "/bin"),
        ("HOME", "/again"),
        ("TZ", "UTC"),
    ];
    let forced = [("TMPDIR", "/t"), ("HOME", "/private"), ("CARGO_HOME", "/c")];
    let rules = [("TZ", "CET"), ("CI", "1"), ("HOME", "/set"), ("B", "2")]
        .into_iter()
        .fold(EnvironmentRules::default(), |rules, (name, value)| {
            rules.set(name, value).unwrap()
        });
    assert_eq!(
        assemble(&rules, &parent, &forced),
        [
            "HOME=/private",
            "PATH=/bin",
            "TZ=CET",
            "B=2",
            "CI=1",
            "CARGO_HOME=/c",
            "TMPDIR=/t"
        ]
    );
}

#[test]
fn exe_23_of_a_name_that_occurs_twice_the_last_value_counts() {
    let parent = [("PATH", "/one"), ("TZ", "UTC"), ("PATH", "/two")];
    assert_eq!(
        assemble(&EnvironmentRules::default(), &parent, &[]),
        ["PATH=/two", "TZ=UTC"]
    );
}

#[test]
fn env_3_unset_takes_what_is_inherited_and_not_what_is_forced() {
    let rules = ["HOME", "LANG"]
        .into_iter()
        .fold(EnvironmentRules::default(), |rules, name| {
            rules.unset(name).unwrap()
        });
    let parent = [("HOME", "/real"), ("LANG", "C"), ("TZ", "UTC")];
    assert_eq!(
        assemble(&rules, &parent, &[("HOME", "/p")]),
        ["TZ=UTC", "HOME=/p"]
    );
}

// ENV-7, EXE-21
#[test]
fn env_7_exe_21_an_empty_environment_is_a_value() {
    let rules = EnvironmentRules::default();
    let empty = Environment {
        variables: Vec::new(),
        notes: EnvironmentNotes::default(),
    };
    assert_eq!(environment(&rules, &SECRETS, &[]), empty);
    // Also where nothing is left of what is inherited by default.
    let nothing = rules.unset("PATH").unwrap();
    assert_eq!(environment(&nothing, &[("PATH", "/bin")], &[]), empty);
}

#[test]
fn env_8_entries_without_a_usable_name_are_dropped() {
    assert_eq!(
        assemble(
            &default(&["A*"]),
            &[("A=B", "x"), ("A\0", "x"), ("", "x"), ("=C:", "x"), ("AB", "x")],
            &[("", "x"), ("C=", "x")]
        ),
        ["AB=x"]
    );
}

#[test]
fn s_31_no_secret_is_inherited_and_what_is_appears_by_name() {
    let parent = [SECRETS.as_slice(), &[("PATH", "/bin"), ("CARGO_HOME", "/c")]].concat();
    let rules = default(&["CARGO_*"]);
    assert_eq!(assemble(&rules, &parent, &[]), ["PATH=/bin", "CARGO_HOME=/c"]);
    let notes = environment(&rules, &parent, &[]).notes;
    assert_eq!(notes.inherited, ["PATH", "CARGO_HOME"]);
    assert_eq!((withheld(&notes), overridden(&notes)), (vec![], vec![]));
}

#[test]
fn s_31_what_a_family_would_have_passed_is_reported_as_withheld() {
    let parent = [SECRETS.as_slice(), &SECRETS, &[("DOCKER_BUILDKIT", "1")]].concat();
    let rules = default(&["GITHUB_*", "DOCKER_*", "SSH_*"]);
    assert_eq!(assemble(&rules, &parent, &[]), ["DOCKER_BUILDKIT=1"]);
    assert_eq!(
        withheld(&environment(&rules, &parent, &[]).notes),
        [
            ("GITHUB_TOKEN", "*TOKEN"),
            ("SSH_AUTH_SOCK", "SSH_AUTH_SOCK"),
            ("DOCKER_HOST", "DOCKER_HOST")
        ]
    );
    // What is unset or has another value is not missed.
    let rules = rules
        .unset("SSH_AUTH_SOCK")
        .and_then(|rules| rules.set("DOCKER_HOST", "y"))
        .unwrap();
    let notes = environment(&rules, &parent, &[]).notes;
    assert_eq!(withheld(&notes), [("GITHUB_TOKEN", "*TOKEN")]);
}

#[test]
fn s_32_passing_or_setting_what_runs_code_needs_its_name_and_is_reported() {
    let parent = [
        ("LD_PRELOAD", "/canary"),
        ("BASH_ENV", "/canary"),
        ("ENV", "/canary"),
        ("PYTHONSTARTUP", "/canary"),
        ("NODE_OPTIONS", "-r /canary"),
        ("GIT_SSH_COMMAND", "/canary"),
        ("GIT_AUTHOR_NAME", "me"),
    ];
    assert!(assemble(&EnvironmentRules::default(), &parent, &[]).is_empty());
    let families = default(&["LD_*", "BASH_*", "E*", "PYTHON*", "NODE_*", "GIT_*"]);
    assert_eq!(assemble(&families, &parent, &[]), ["GIT_AUTHOR_NAME=me"]);
    let named = inheriting(families, &["BASH_ENV", "LD_PRELOAD", "NODE_OPTIONS"])
        .set("NODE_OPTIONS", "--max-old-space-size=4096")
        .and_then(|rules| rules.set("EDITOR", "true"))
        .unwrap();
    let environment = environment(&named, &parent, &[("LD_PRELOAD", "/ours")]);
    assert_eq!(
        overridden(&environment.notes),
        [
            ("BASH_ENV", Explicit::Inherit, "BASH_ENV"),
            ("NODE_OPTIONS", Explicit::Set, "NODE_OPTIONS"),
            ("EDITOR", Explicit::Set, "*EDITOR"),
        ],
        "of those only that have the parent's or the profile's value"
    );
    assert_eq!(environment.notes.inherited, ["BASH_ENV", "GIT_AUTHOR_NAME"]);
}

#[test]
fn neither_notes_nor_debug_output_hold_a_value() {
    let rules = default(&["GITHUB_TOKEN", "AWS_*"])
        .set("NPM_TOKEN", "hunter2")
        .unwrap();
    let parent = [("GITHUB_TOKEN", "hunter2"), ("AWS_PROFILE", "hunter2")];
    let environment = environment(&rules, &parent, &[("TMPDIR", "hunter2")]);
    assert_eq!(environment.variables.len(), 3);
    let json = serde_json::to_string(&environment.notes).unwrap();
    let debug = format!("{environment:?}");
    assert!(!json.contains("hunter2") && !debug.contains("hunter2"));
    assert!(debug.contains("TMPDIR"));
    assert_eq!(
        json,
        concat!(
            r#"{"inherited":["GITHUB_TOKEN"],"withheld":[{"name":"AWS_PROFILE","never":{"name":"AWS_*","#,
            r#""reason":"holds or locates the keys of an AWS session, or chooses the account and endpoint"}}],"#,
            r#""overridden":[{"name":"GITHUB_TOKEN","by":"inherit","never":{"name":"*TOKEN","#,
            r#""reason":"holds a token, with which whoever reads it acts as the user"}},"#,
            r#"{"name":"NPM_TOKEN","by":"set","never":{"name":"*TOKEN","#,
            r#""reason":"holds a token, with which whoever reads it acts as the user"}}]}"#,
        )
    );
}

// ENV-10, EXE-27
#[test]
fn env_10_exe_27_on_windows_spellings_of_one_name_are_one_variable() {
    let rules = inheriting(windows(), &["Foo"]).set("tz", "CET").unwrap();
    let parent = [
        ("Path", r"C:\bin"),
        ("SystemRoot", r"C:\Windows"),
        ("TEMP", r"C:\Temp"),
        ("TZ", "UTC"),
        ("FOO", "1"),
        ("foo", "2"),
        ("PSModulePath", "x"),
    ];
    assert_eq!(
        assemble(
            &rules,
            &parent,
            &[("PATH", "forced"), ("TMP", "t"), ("Tmp", "last")]
        ),
        [
            "PATH=forced",
            r"SystemRoot=C:\Windows",
            "tz=CET",
            "foo=2",
            "Tmp=last"
        ]
    );
}

#[cfg(unix)]
#[test]
fn values_are_bytes() {
    use std::os::unix::ffi::OsStringExt;

    let parent = [("TZ".into(), OsString::from_vec(vec![0xff, b'=']))];
    let environment = EnvironmentRules::default().assemble(parent.clone(), &BTreeMap::new());
    assert_eq!(environment.variables, parent);
}

/// Whether a rule for the very name, or a rule or default for a family, names a variable. Written anew from the
/// documentation: names are ASCII, and are compared letter by letter.
fn named(rules: &EnvironmentRules, case: NameCase, name: &str) -> (bool, bool) {
    let fold = |text: &str| match case {
        NameCase::Sensitive => text.to_owned(),
        NameCase::Insensitive => text.to_ascii_uppercase(),
    };
    let name = fold(name);
    let windows = INHERITED_ON_WINDOWS
        .iter()
        .filter(|_| case == NameCase::Insensitive);
    let default = INHERITED.iter().chain(windows).any(|row| {
        let row = fold(row.name);
        row == name || row.strip_suffix('*').is_some_and(|start| name.starts_with(start))
    });
    let mut very = false;
    let mut family = false;
    for rule in rules.inherit_rules() {
        match rule {
            VariableName::Is(other) => very |= fold(other.to_str().unwrap()) == name,
            VariableName::StartsWith(start) => family |= name.starts_with(&fold(start.to_str().unwrap())),
        }
    }
    (very, family || default)
}

proptest! {
    /// Nothing outside the rules, no secret without a rule for its name, no name twice, each value the right one.
    // ENV-1, ENV-2
    #[test]
    fn env_1_env_2_nothing_appears_that_no_rule_names(
        ([rules, _, _], parent) in three_rules_and_parent(),
        forced in prop::collection::btree_map("[A-C]|PATH|LD_A", "[x-z]{3}", 0..3),
    ) {
        let case = rules.case;
        let forced: BTreeMap<OsString, OsString> =
            forced.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let environment = rules.assemble(parent.clone(), &forced);
        let mut names = BTreeSet::new();
        let unset = |name: &OsStr| rules.unset_names().iter().any(|other| case.same(other, name));
        let value_in = |map: &BTreeMap<OsString, OsString>, name: &OsStr| {
            map.iter().find(|(other, _)| case.same(other, name)).map(|(_, value)| value.clone())
        };
        for (name, value) in &environment.variables {
            prop_assert!(names.insert(case.key(name).into_owned()), "{name:?} twice");
            let expected = value_in(&forced, name).or_else(|| value_in(rules.set_values(), name));
            let is_inherited = environment.notes.inherited.contains(name);
            prop_assert_eq!(is_inherited, expected.is_none());
            if is_inherited {
                let (very, family) = named(&rules, case, name.to_str().unwrap());
                prop_assert!(very || (family && Never::of(name).is_none()));
                prop_assert!(!unset(name));
            }
            let last = parent.iter().rev().find(|(other, _)| case.same(other, name));
            prop_assert_eq!(expected.as_ref().or(last.map(|(_, value)| value)), Some(value));
        }
        let present = |name: &OsStr| names.contains(&*case.key(name));
        prop_assert!(forced.keys().chain(rules.set_values().keys()).all(|name| present(name)));
        // What is absent is so for a reason, and is reported if that is the never-list.
        for (name, _) in parent.iter().filter(|(name, _)| !present(name)) {
            let (very, family) = named(&rules, case, name.to_str().unwrap());
            let reported = environment.notes.withheld.iter().filter(|row| case.same(&row.name, name)).count();
            prop_assert_eq!(reported, usize::from(family && !unset(name)));
            prop_assert!(unset(name) || !very);
        }
    }
}
