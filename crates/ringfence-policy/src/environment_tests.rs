use std::collections::BTreeSet;
use std::os::unix::ffi::OsStringExt;

use proptest::prelude::*;

use super::*;

fn pair((name, value): (&str, &str)) -> (OsString, OsString) {
    (name.into(), value.into())
}

fn assemble(rules: &EnvironmentRules, parent: &[(&str, &str)], forced: &[(&str, &str)]) -> Vec<String> {
    let forced = forced.iter().copied().map(pair).collect();
    let environment = rules.assemble(parent.iter().copied().map(pair), &forced);
    environment
        .iter()
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect()
}

#[test]
fn env_1_only_the_allowlist_is_inherited() {
    let parent = [
        ("GITHUB_TOKEN", "x"),
        ("PATH", "/bin"),
        ("ANTHROPIC_API_KEY", "x"),
        ("HOME", "/h"),
        ("TERM", "xterm"),
        ("LANG", "C"),
        ("LC_ALL", "C"),
        ("LC_", "C"),
        ("USER", "u"),
        ("LOGNAME", "u"),
        ("SHELL", "/bin/sh"),
        ("TZ", "UTC"),
        ("SSH_AUTH_SOCK", "x"),
        ("LD_PRELOAD", "x"),
        ("HTTPS_PROXY", "x"),
        ("path", "x"),
        ("PATHS", "x"),
        ("LC", "x"),
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
fn env_1_the_allowlist_has_no_redundant_and_no_unexplained_entry() {
    let names: Vec<_> = INHERITED.iter().map(|inherited| inherited.name).collect();
    let mut expected = vec![
        "PATH", "HOME", "TERM", "LANG", "LC_*", "USER", "LOGNAME", "SHELL", "TZ",
    ];
    assert_eq!(names, expected);
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(expected.len(), INHERITED.len());
    assert!(INHERITED.iter().all(|inherited| !inherited.reason.is_empty()));
}

#[test]
fn env_2_forced_values_replace_in_place_and_new_ones_follow_sorted() {
    let parent = [("HOME", "/real"), ("PATH", "/bin"), ("HOME", "/again")];
    let forced = [("TMPDIR", "/t"), ("HOME", "/private"), ("CI", "1")];
    assert_eq!(
        assemble(&EnvironmentRules::default(), &parent, &forced),
        ["HOME=/private", "PATH=/bin", "CI=1", "TMPDIR=/t"]
    );
}

#[test]
fn env_2_of_a_name_that_occurs_twice_the_last_value_counts() {
    let parent = [("PATH", "/one"), ("TZ", "UTC"), ("PATH", "/two")];
    assert_eq!(
        assemble(&EnvironmentRules::default(), &parent, &[]),
        ["PATH=/two", "TZ=UTC"]
    );
}

#[test]
fn env_5_more_names_and_prefixes_can_be_inherited() {
    let rules = EnvironmentRules::default()
        .inherit(VariableName::StartsWith("CARGO_".into()))
        .inherit(VariableName::Is("GO*".into()));
    let parent = [
        ("CARGO_HOME", "/c"),
        ("GITHUB_TOKEN", "x"),
        ("CARGO", "x"),
        ("GOPATH", "x"),
        ("GO*", "1"),
    ];
    assert_eq!(
        assemble(&rules, &parent, &[]),
        ["CARGO_HOME=/c", "GO*=1"],
        "no character is special"
    );
}

#[test]
fn env_6_nothing_means_everything() {
    let rules = EnvironmentRules::default()
        .inherit(VariableName::StartsWith(OsString::new()))
        .inherit(VariableName::Is(OsString::new()));
    assert!(assemble(&rules, &[("GITHUB_TOKEN", "x"), ("", "x")], &[]).is_empty());
}

#[test]
fn env_7_an_empty_environment_is_a_value() {
    let none: Vec<(OsString, OsString)> = Vec::new();
    assert_eq!(
        EnvironmentRules::default().assemble([pair(("SECRET", "x"))], &BTreeMap::new()),
        none
    );
}

#[test]
fn env_8_entries_without_a_usable_name_are_dropped() {
    let rules = EnvironmentRules::default().inherit(VariableName::StartsWith("A".into()));
    assert_eq!(
        assemble(
            &rules,
            &[("A=B", "x"), ("A\0", "x"), ("AB", "x")],
            &[("", "x"), ("C=", "x")]
        ),
        ["AB=x"]
    );
}

#[test]
fn values_are_bytes() {
    let value = OsString::from_vec(vec![0xff, b'=']);
    let parent = [("TZ".into(), value.clone())];
    assert_eq!(
        EnvironmentRules::default().assemble(parent.clone(), &BTreeMap::new()),
        parent
    );
}

prop_compose! {
    fn variable()(name in "[A=]{0,2}|PATH|LC_[AB]|TOKEN|TZ", value in "[a-z=]{0,3}") -> (OsString, OsString) {
        (name.into(), value.into())
    }
}

proptest! {
    /// No name twice, nothing that is neither inherited nor forced, every forced value as forced.
    #[test]
    fn env_2_the_result_has_each_name_once_and_every_forced_value(
        parent in prop::collection::vec(variable(), 0..12),
        forced in prop::collection::btree_map("[A-C]|PATH|TZ", "[a-z]{0,3}", 0..5),
    ) {
        let forced: BTreeMap<OsString, OsString> =
            forced.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let rules = EnvironmentRules::default();
        let environment = rules.assemble(parent.clone(), &forced);
        let names: BTreeSet<_> = environment.iter().map(|(name, _)| name).collect();
        prop_assert_eq!(names.len(), environment.len());
        for (name, value) in &environment {
            prop_assert!(forced.contains_key(name) || rules.inherits(name));
            prop_assert!(forced.get(name).is_none_or(|forced| forced == value));
        }
        prop_assert!(forced.keys().all(|name| names.contains(name)));
        let missing = parent.iter().filter(|(name, _)| rules.inherits(name) && !names.contains(name));
        prop_assert_eq!(missing.count(), 0);
    }
}
