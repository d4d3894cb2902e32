use proptest::prelude::*;
use proptest::sample::select;

use super::tests::{inheriting, windows};
use super::*;

fn default(names: &[&str]) -> EnvironmentRules {
    inheriting(EnvironmentRules::default(), names)
}

#[test]
fn inherited_is_only_what_both_inherit() {
    let ours = default(&["GO*", "CI", "CARGO_HOME", "NODE_ENV"]);
    let theirs = default(&["GOPATH", "GOC*", "CI", "CARGO_*", "RUST_LOG"]);
    assert_eq!(
        ours.meet(&theirs),
        default(&["GOPATH", "GOC*", "CI", "CARGO_HOME"])
    );
}

#[test]
fn a_family_is_no_leave_for_a_secret_of_it() {
    let named = default(&["CARGO_REGISTRY_TOKEN", "CARGO_HOME"]);
    let met = named.meet(&default(&["CARGO_*"]));
    assert_eq!(met, default(&["CARGO_HOME"]));
    assert_eq!(named.meet(&named), named);
}

#[test]
fn a_name_set_to_different_values_is_unset() {
    let set = |pairs: &[(&str, &str)]| {
        let rules = EnvironmentRules::default();
        pairs
            .iter()
            .fold(rules, |rules, (name, value)| rules.set(*name, *value).unwrap())
    };
    let met = set(&[("A", "1"), ("B", "1"), ("C", "1")]).meet(&set(&[("B", "1"), ("C", "2"), ("D", "1")]));
    assert_eq!(
        met,
        set(&[("A", "1"), ("B", "1"), ("D", "1")]).unset("C").unwrap()
    );
}

#[test]
fn unset_wins() {
    let set = default(&["CI"]).set("A", "1").unwrap();
    let unset = default(&["CI"])
        .unset("A")
        .and_then(|rules| rules.unset("CI"))
        .unwrap();
    let met = set.meet(&unset);
    assert_eq!(met, unset);
    assert!(!met.inherits(OsStr::new("CI")));
}

#[test]
fn env_10_on_windows_spellings_of_one_name_meet() {
    let ours = inheriting(windows(), &["goPath"]).set("ci", "1").unwrap();
    let theirs = inheriting(windows(), &["GO*"]).set("CI", "1").unwrap();
    let met = ours.meet(&theirs);
    assert_eq!(met, theirs.meet(&ours));
    assert_eq!(met, inheriting(windows(), &["GOPATH"]).set("CI", "1").unwrap());
    let other = windows().set("Ci", "2").unwrap();
    assert_eq!(met.meet(&other).unset_names(), &BTreeSet::from(["CI".into()]));
}

/// Few names, so that they collide: harmless ones, secrets, names in two spellings, names inherited by default.
fn name() -> impl Strategy<Value = &'static str> {
    select(vec![
        "PATH", "Path", "LC_ALL", "LC_KEY", "A", "a", "A_B", "A_TOKEN", "LD_A", "B",
    ])
}

fn rule() -> impl Strategy<Value = VariableName> {
    let start = select(vec!["A", "a", "A_", "A_T", "L", "LC_", "LD_", "P"]);
    prop_oneof![
        name().prop_map(|name| VariableName::Is(name.into())),
        start.prop_map(|start| VariableName::StartsWith(start.into())),
    ]
}

fn rules(case: NameCase) -> impl Strategy<Value = EnvironmentRules> {
    let inherit = prop::collection::vec(rule(), 0..5);
    let set = prop::collection::vec((name(), select(vec!["1", "2"])), 0..3);
    let unset = prop::collection::vec(name(), 0..2);
    (inherit, set, unset).prop_map(move |(inherit, set, unset)| {
        let rules = EnvironmentRules {
            case,
            ..EnvironmentRules::default()
        };
        let rules = inherit.into_iter().fold(rules, EnvironmentRules::inherit);
        let rules = unset
            .into_iter()
            .fold(rules, |rules, name| rules.unset(name).unwrap());
        set.into_iter()
            .fold(rules, |rules, (name, value)| rules.set(name, value).unwrap())
    })
}

fn parent() -> impl Strategy<Value = Vec<(OsString, OsString)>> {
    prop::collection::vec((name(), "[a-z]{0,2}"), 0..10).prop_map(|variables| {
        let variables = variables.into_iter();
        variables
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    })
}

/// Rules of one system, and a parent.
pub(super) fn three_rules_and_parent()
-> impl Strategy<Value = ([EnvironmentRules; 3], Vec<(OsString, OsString)>)> {
    select(vec![NameCase::Sensitive, NameCase::Insensitive]).prop_flat_map(|case| {
        let three = (rules(case), rules(case), rules(case)).prop_map(|(a, b, c)| [a, b, c]);
        (three, parent())
    })
}

proptest! {
    #[test]
    fn meet_is_idempotent_commutative_and_associative(([a, b, c], _) in three_rules_and_parent()) {
        prop_assert_eq!(a.meet(&a), a.clone());
        prop_assert_eq!(a.meet(&b), b.meet(&a));
        prop_assert_eq!(a.meet(&b).meet(&c), a.meet(&b.meet(&c)));
    }

    /// It passes exactly those variables of the parent that each side alone would pass.
    #[test]
    fn meet_never_passes_what_either_side_withholds(([a, b, _], parent) in three_rules_and_parent()) {
        let inherited = |rules: &EnvironmentRules| {
            let environment = rules.assemble(parent.clone(), &BTreeMap::new());
            BTreeSet::from_iter(environment.notes.inherited)
        };
        prop_assert_eq!(inherited(&a.meet(&b)), &inherited(&a) & &inherited(&b));
    }
}
