use super::*;

fn options(env: &[&str], unset: &[&str]) -> EnvironmentOptions {
    let texts = |texts: &[&str]| texts.iter().map(OsString::from).collect();
    EnvironmentOptions {
        env: texts(env),
        env_unset: texts(unset),
    }
}

fn written() -> EnvironmentRules {
    EnvironmentRules::default()
        .inherit("CARGO_*".parse().unwrap())
        .set("CI", "1")
        .unwrap()
        .unset("LANG")
        .unwrap()
}

#[test]
fn options_add_to_the_rules_of_a_file() {
    let rules = with(&written(), &options(&["A", "B_*", "C=x=y"], &["D"])).unwrap();
    let expected = written()
        .inherit("A".parse().unwrap())
        .inherit("B_*".parse().unwrap())
        .set("C", "x=y")
        .unwrap()
        .unset("D")
        .unwrap();
    assert_eq!(rules, expected);
}

#[test]
fn options_replace_what_a_file_says_of_the_same_name() {
    let rules = with(&written(), &options(&["LANG", "CI"], &[])).unwrap();
    assert!(rules.inherits("LANG".as_ref()) && rules.inherits("CI".as_ref()));
    assert!(rules.set_values().is_empty());
    let rules = with(&written(), &options(&["LANG=C"], &["CI"])).unwrap();
    assert_eq!(rules.set_values().len(), 1);
    assert!(rules.unset_names().contains(OsStr::new("CI")));
}

#[test]
fn what_is_unset_stays_unset_in_whatever_order_it_is_said() {
    let rules = with(
        &EnvironmentRules::default(),
        &options(&["A=1", "TERM"], &["A", "TERM"]),
    )
    .unwrap();
    assert!(rules.set_values().is_empty() && !rules.inherits("TERM".as_ref()));
}

#[test]
fn env_8_a_wrong_name_is_named_and_no_value_is() {
    for (env, unset) in [
        (&["=secret"][..], &[][..]),
        (&["*"], &[]),
        (&["A*B"], &[]),
        (&[""], &[]),
        (&[], &[""]),
        (&[], &["A=secret"]),
    ] {
        let failure = with(&EnvironmentRules::default(), &options(env, unset)).unwrap_err();
        assert!(failure.message.starts_with("--env"), "{failure:?}");
        assert!(!failure.hint.is_empty(), "{failure:?}");
        assert!(!failure.message.contains("secret"), "{failure:?}");
    }
}
