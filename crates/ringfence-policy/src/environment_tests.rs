use super::*;

/// Rules as they are on Windows, on every system.
pub(super) fn windows() -> EnvironmentRules {
    EnvironmentRules {
        case: NameCase::Insensitive,
        ..EnvironmentRules::default()
    }
}

pub(super) fn inheriting(rules: EnvironmentRules, names: &[&str]) -> EnvironmentRules {
    names
        .iter()
        .fold(rules, |rules, name| rules.inherit(name.parse().unwrap()))
}

fn inherits(rules: &EnvironmentRules, names: &[&str]) -> Vec<bool> {
    names
        .iter()
        .map(|name| rules.inherits(OsStr::new(name)))
        .collect()
}

#[test]
fn env_1_nothing_is_inherited_but_the_allowlist() {
    let rules = EnvironmentRules::default();
    for row in INHERITED {
        assert!(
            rules.inherits(OsStr::new(&row.name.replace('*', "ALL"))),
            "{row:?}"
        );
    }
    let others = ["GITHUB_TOKEN", "PATHS", "PAT", "LC", "LANGUAGE", "CI", "EDITOR"];
    assert_eq!(inherits(&rules, &others), [false; 7]);
}

#[test]
fn env_5_a_rule_names_one_variable_or_a_family() {
    let rules = inheriting(EnvironmentRules::default(), &["CARGO_*", "GOPATH"]);
    assert_eq!(
        inherits(&rules, &["CARGO_HOME", "CARGO_", "CARGO", "GOPATH", "GOPATHS"]),
        [true, true, false, true, false]
    );
}

#[test]
fn env_5_no_character_of_a_built_name_is_special() {
    let rules = EnvironmentRules::default()
        .inherit(VariableName::Is("GO*".into()))
        .inherit(VariableName::StartsWith("A?[b]".into()));
    assert_eq!(
        inherits(&rules, &["GO*", "GOPATH", "A?[b]c", "AxbC"]),
        [true, false, true, false]
    );
}

// ENV-6, EXE-22
#[test]
fn env_6_exe_22_no_rule_means_everything() {
    let empty = EnvironmentRules::default()
        .inherit(VariableName::StartsWith(OsString::new()))
        .inherit(VariableName::Is(OsString::new()));
    assert_eq!(empty, EnvironmentRules::default());
    assert!(!empty.inherits(OsStr::new("GITHUB_TOKEN")));
    assert_eq!(
        "*".parse::<VariableName>().unwrap_err(),
        InvalidVariable::Everything
    );
}

#[test]
fn s_31_a_family_never_passes_a_secret_and_a_rule_for_the_very_name_does() {
    let family = inheriting(EnvironmentRules::default(), &["CARGO_*", "L*"]);
    let names = [
        "CARGO_HOME",
        "CARGO_REGISTRY_TOKEN",
        "LC_ALL",
        "LC_TOKEN",
        "LD_PRELOAD",
    ];
    assert_eq!(inherits(&family, &names), [true, false, true, false, false]);
    let named = inheriting(family, &["CARGO_REGISTRY_TOKEN", "LC_TOKEN"]);
    assert_eq!(inherits(&named, &names), [true, true, true, true, false]);
}

#[test]
fn what_is_unset_is_not_inherited_whoever_names_it() {
    let rules = inheriting(EnvironmentRules::default(), &["CARGO_HOME", "CARGO_*"])
        .unset("CARGO_HOME")
        .and_then(|rules| rules.unset("LANG"))
        .unwrap();
    assert_eq!(
        inherits(&rules, &["CARGO_HOME", "CARGO_X", "LANG"]),
        [false, true, false]
    );
}

#[test]
fn the_last_word_about_a_value_counts() {
    let set = |rules: EnvironmentRules, value| rules.set("CI", value).unwrap();
    let unset = set(EnvironmentRules::default(), "1").unset("CI").unwrap();
    assert!(unset.set_values().is_empty());
    assert_eq!(unset.unset_names(), &BTreeSet::from(["CI".into()]));
    let again = set(set(unset, "2"), "3");
    assert_eq!(again.set_values(), &BTreeMap::from([("CI".into(), "3".into())]));
    assert!(again.unset_names().is_empty());
}

#[test]
fn env_8_names_no_variable_can_have_are_refused() {
    let rules = EnvironmentRules::default;
    assert_eq!(rules().set("", "x").unwrap_err(), InvalidVariable::Empty);
    assert_eq!(
        rules().set("A=secret", "x").unwrap_err(),
        InvalidVariable::Equals { name: "A".into() }
    );
    assert_eq!(
        rules().unset("A\0").unwrap_err(),
        InvalidVariable::Nul { name: "A\0".into() }
    );
    assert_eq!(
        rules().set("A", "\0secret").unwrap_err(),
        InvalidVariable::ValueNul { name: "A".into() }
    );
    // Whatever is not one of these is a name, though nobody would choose it.
    assert!(
        rules()
            .set("*", "")
            .and_then(|rules| rules.set("ä b", "="))
            .is_ok()
    );
    assert!(!inheriting(rules(), &["A*"]).inherits(OsStr::new("A=B")));
}

#[test]
fn env_10_on_windows_case_makes_no_difference() {
    let rules = inheriting(windows(), &["Cargo_*", "goPath"])
        .unset("Lang")
        .and_then(|rules| rules.set("Ci", "1"))
        .and_then(|rules| rules.set("CI", "2"))
        .unwrap();
    let names = ["Path", "CARGO_HOME", "cargo_home", "GOPATH", "LANG", "lc_all"];
    assert_eq!(inherits(&rules, &names), [true, true, true, true, false, true]);
    assert_eq!(rules.set_values(), &BTreeMap::from([("CI".into(), "2".into())]));
    let baseline = [
        "SYSTEMROOT",
        "windir",
        "pathext",
        "ProgramFiles(x86)",
        "PSModulePath",
    ];
    assert_eq!(inherits(&rules, &baseline), [true, true, true, true, false]);
}

#[test]
fn env_10_elsewhere_case_makes_a_difference() {
    let rules = EnvironmentRules {
        case: NameCase::Sensitive,
        ..EnvironmentRules::default()
    };
    let rules = inheriting(rules, &["Cargo_*"]).unset("lang").unwrap();
    assert_eq!(
        inherits(
            &rules,
            &["Path", "CARGO_HOME", "Cargo_Home", "LANG", "SystemRoot"]
        ),
        [false, false, true, true, false]
    );
}

#[test]
fn env_14_rules_appear_in_json_as_written() {
    let rules = inheriting(EnvironmentRules::default(), &["GO*", "CI"])
        .set("GOFLAGS", "-mod=mod")
        .and_then(|rules| rules.unset("LANG"))
        .unwrap();
    assert_eq!(
        serde_json::to_string(&rules).unwrap(),
        concat!(
            r#"{"inherit":[{"is":"CI"},{"starts_with":"GO"}],"#,
            r#""set":[{"name":"GOFLAGS","value":"-mod=mod"}],"unset":["LANG"]}"#
        )
    );
}
