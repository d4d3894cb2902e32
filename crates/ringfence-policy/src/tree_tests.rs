use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::fake::{ALLOW, DENY, GATED, generate};
use crate::path::Link;
use crate::rule::{Axes, Source};

const RX: Axes = Axes {
    read: Some(ALLOW),
    execute: Some(ALLOW),
    write: None,
};
const W: Axes = Axes {
    read: None,
    execute: None,
    write: Some(ALLOW),
};

fn tree(rules: impl IntoIterator<Item = Rule>) -> RegionTree {
    RegionTree::new(rules.into_iter().collect()).unwrap()
}

fn over(path: &str, axes: impl Into<Axes>) -> Rule {
    Rule::tree(path, axes, Source::Workspace)
}

fn at(path: &str, axes: impl Into<Axes>) -> Rule {
    Rule::exact(path, axes, Source::Workspace)
}

/// The allowed axes of a path, such as `rx`.
fn open(tree: &RegionTree, path: &str) -> String {
    let verdict = tree.verdict(Path::new(path));
    let allowed = Axis::ALL
        .into_iter()
        .zip(["r", "x", "w"])
        .filter(|(axis, _)| verdict.get(*axis) == ALLOW);
    allowed.map(|(_, letter)| letter).collect()
}

#[test]
fn pol_20_without_a_rule_everything_is_denied_by_none() {
    let nothing = RegionTree::default();
    assert_eq!(
        nothing.decide(Path::new("/a"), Axis::Read),
        Decision {
            access: DENY,
            rule: None
        }
    );
    assert_eq!(
        open(&tree([over("/", RX)]), "/a"),
        "rx",
        "write is not mentioned, so it is denied"
    );
}

#[test]
fn pol_16_targets_are_cleaned_and_relative_ones_refused() {
    let tree = tree([over("/", Verdict::READ_ONLY), over("/ws", Verdict::READ_WRITE)]);
    assert_eq!(open(&tree, "/ws/./a/../b//"), "rxw");
    assert_eq!(open(&tree, "/ws/../etc"), "rx");
    assert_eq!(
        tree.decide(Path::new("ws"), Axis::Read),
        Decision {
            access: DENY,
            rule: None
        }
    );
    assert_eq!(open(&tree, ""), "");
}

#[test]
fn pol_18_the_deepest_path_wins_in_both_directions() {
    let tree = tree([
        over("/", Verdict::READ_ONLY),
        over("/ws", Verdict::READ_WRITE),
        over("/ws/.git", Verdict::READ_ONLY),
        over("/home/.ssh", Verdict::DENY),
        over("/home/.ssh/known", Verdict::READ_ONLY),
    ]);
    assert_eq!(open(&tree, "/etc/hosts"), "rx");
    assert_eq!(open(&tree, "/ws/src"), "rxw");
    assert_eq!(open(&tree, "/ws/.git/config"), "rx");
    assert_eq!(open(&tree, "/ws/.github"), "rxw");
    assert_eq!(open(&tree, "/home/.ssh/id"), "");
    assert_eq!(open(&tree, "/home/.sshrc"), "rx");
    assert_eq!(open(&tree, "/home/.ssh/known/x"), "rx");
}

#[test]
fn pol_17_axes_compete_apart() {
    let tree = tree([
        over("/", RX),
        over("/ws", W),
        over(
            "/ws/data",
            Axes {
                execute: Some(DENY),
                ..W
            },
        ),
    ]);
    assert_eq!(open(&tree, "/ws/a"), "rxw");
    assert_eq!(open(&tree, "/ws/data/a"), "rw");
    let decision = tree.decide(Path::new("/ws/data/a"), Axis::Read);
    assert_eq!(
        decision.rule.map(|rule| rule.path.as_path()),
        Some(Path::new("/"))
    );
}

#[test]
fn pol_19_a_true_tie_takes_the_stricter_and_unites_separate_axes() {
    assert_eq!(open(&tree([over("/a", RX), over("/a", W)]), "/a/b"), "rxw");
    assert_eq!(
        open(&tree([over("/a", RX), over("/a", Verdict::DENY)]), "/a/b"),
        ""
    );
    let gated = tree([
        over("/a", Verdict::READ_WRITE),
        over(
            "/a",
            Axes {
                write: Some(GATED),
                ..W
            },
        ),
    ]);
    assert_eq!(gated.decide(Path::new("/a"), Axis::Write).access, GATED);
}

#[test]
fn pol_13_a_rule_opens_some_axes_and_closes_others_and_one_without_access_closes_all() {
    let mixed = Axes {
        write: Some(DENY),
        ..RX
    };
    let open_above = || over("/", Verdict::READ_WRITE);
    assert_eq!(open(&tree([open_above(), over("/a", mixed)]), "/a/b"), "rx");
    for closing in [over("/a", Verdict::default()), at("/a", Verdict::default())] {
        let closed = tree([open_above(), closing]);
        assert_eq!(open(&closed, "/a"), "");
    }
    // What it does not mention is decided by others, and by nobody if there are none.
    let silent = over("/a", Axes::default());
    assert_eq!(open(&tree([open_above(), silent.clone()]), "/a"), "rxw");
    assert_eq!(open(&tree([silent]), "/a"), "");
}

// POL-14, POL-25
#[test]
fn pol_25_an_exact_rule_speaks_for_one_object_only() {
    let denied = tree([over("/a", Verdict::READ_WRITE), at("/a", Verdict::DENY)]);
    assert_eq!(
        (open(&denied, "/a"), open(&denied, "/a/b")),
        (String::new(), "rxw".into())
    );
    let restored = tree([over("/a", Verdict::DENY), at("/a/f", Verdict::READ_ONLY)]);
    assert_eq!(
        (open(&restored, "/a/f"), open(&restored, "/a/f/x")),
        ("rx".into(), String::new())
    );
    let outranked = tree([over("/a", Verdict::DENY), at("/a", RX)]);
    assert_eq!(
        (open(&outranked, "/a"), open(&outranked, "/a/b")),
        ("rx".into(), String::new())
    );
    // A longer path outranks an exact rule at a shorter one.
    assert_eq!(
        open(&tree([at("/a", Verdict::DENY), over("/a/b", RX)]), "/a/b"),
        "rx"
    );
}

#[test]
fn pol_26_literals_match_at_component_boundaries() {
    let repository = tree([over("/a/repo", Verdict::READ_WRITE)]);
    assert_eq!(
        ["/a/repo", "/a/repo/src", "/a/repository", "/a"].map(|path| open(&repository, path)),
        ["rxw", "rxw", "", ""]
    );
}

#[test]
fn pol_27_unix_paths_are_bytes() {
    let tree = tree([over("/a/B", Verdict::READ_WRITE)]);
    assert_eq!(open(&tree, "/a/b"), "");
    assert_eq!(open(&tree, "/a\\B"), "");
}

#[test]
fn pol_21_no_byte_of_a_path_is_a_pattern() {
    for name in [
        "a[b]",
        "[slug]",
        "x*",
        "q?",
        "**",
        "{a,b}",
        "new\nline",
        "back\\slash",
        "!x",
    ] {
        let path = format!("/ws/{name}");
        let tree = tree([over("/ws", Verdict::READ_WRITE), over(&path, Verdict::DENY)]);
        assert_eq!(open(&tree, &format!("{path}/child")), "", "{name}");
        for sibling in ["/ws/s", "/ws/ab", "/ws/xy", "/ws/qq", "/ws/x", "/ws/a"] {
            assert_eq!(open(&tree, sibling), "rxw", "{name} against {sibling}");
        }
    }
    let raw = |bytes: &'static [u8]| Path::new(OsStr::from_bytes(bytes));
    let rule = Rule::exact(raw(b"/ws/\xff"), Verdict::READ_ONLY, Source::Host);
    let tree = tree([rule]);
    assert_eq!(tree.verdict(raw(b"/ws/\xff")), Verdict::READ_ONLY);
    assert_eq!(tree.verdict(raw(b"/ws/\xfe")), Verdict::DENY);
}

#[test]
fn rules_that_are_relative_or_unclean_are_refused() {
    let refusal = |path: &str| RegionTree::new(vec![over("/", RX), over(path, RX)]).unwrap_err();
    assert_eq!(refusal("a"), TreeError::Relative { path: "a".into() });
    assert_eq!(refusal(""), TreeError::Relative { path: "".into() });
    for path in ["/a/", "/a/../b", "//a", "/./a"] {
        assert_eq!(refusal(path), TreeError::Unclean { path: path.into() });
    }
    let error = RegionTree::default().with([over("/a/", RX)]).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code()),
        (r#"the rule path "/a/" is not lexically clean"#, "rule_unclean")
    );
}

#[test]
fn rules_are_sorted_by_bytes_and_their_order_never_matters() {
    let rules = ["/a/b", "/a-b", "/", "/a", "/B"].map(|path| over(path, RX));
    let forward = tree(rules.clone());
    let paths: Vec<_> = forward
        .rules()
        .iter()
        .map(|rule| rule.path.to_str().unwrap())
        .collect();
    assert_eq!(paths, ["/", "/B", "/a", "/a-b", "/a/b"]);
    assert_eq!(forward, tree(rules.into_iter().rev()));
    assert_eq!(forward, tree([]).with(forward.rules().to_vec()).unwrap());
}

#[test]
fn regions_carry_what_was_found_and_every_rule_of_their_path() {
    let identity = Some(Identity {
        device: 1,
        inode: 2,
        birth: None,
        mount: None,
    });
    let links = vec![Link {
        path: "/link".into(),
        target: "/a".into(),
    }];
    let seen = Rule {
        identity,
        links,
        ..over("/a", Verdict::READ_ONLY)
    };
    let rules = [
        over("/", RX),
        at("/a", Verdict::DENY),
        seen.clone(),
        over("/a/b", W),
    ];
    let tree = tree(rules);
    let regions: Vec<_> = tree.regions().collect();
    let paths: Vec<_> = regions
        .iter()
        .map(|region| region.path.to_str().unwrap())
        .collect();
    assert_eq!(paths, ["/", "/a", "/a/b"]);
    assert_eq!(
        (regions[1].object, regions[1].subtree),
        (Verdict::DENY, Verdict::READ_ONLY)
    );
    assert_eq!(
        (regions[1].kind, regions[1].identity),
        (Kind::Directory, identity)
    );
    assert_eq!(regions[1].rules, [at("/a", Verdict::DENY), seen]);
    assert_eq!(
        regions[2].subtree,
        Verdict::READ_WRITE,
        "read and execute come from the parent"
    );
}

#[test]
fn five_thousand_rules_compile_and_answer_quickly() {
    let rules = (0..5_000).map(|n| over(&format!("/home/user/project/{}/{}/file{n}", n % 10, n % 100), RX));
    let rules: Vec<_> = rules.collect();
    let start = Instant::now();
    let tree = tree(rules);
    let compiled = start.elapsed();
    assert_eq!(
        tree.regions()
            .filter(|region| region.object == Verdict::READ_ONLY)
            .count(),
        5_000
    );
    // Far above what it takes (tens of milliseconds unoptimised), far below anything quadratic.
    assert!(compiled < Duration::from_millis(500), "{compiled:?}");
}

/// The rule of precedence as the specification writes it, without any of the tree's machinery.
fn oracle(rules: &[Rule], path: &Path, axis: Axis) -> Access {
    let competes = |rule: &&Rule| match rule.reach {
        Reach::Exact => rule.path == path,
        Reach::Tree => path.starts_with(&rule.path),
    };
    let rank = |rule: &Rule| 2 * rule.path.as_os_str().len() + usize::from(rule.reach == Reach::Exact);
    let said = rules
        .iter()
        .filter(competes)
        .filter_map(|rule| Some((rank(rule), rule.axes.get(axis)?)));
    let said: Vec<_> = said.collect();
    let highest = said.iter().map(|(rank, _)| *rank).max();
    said.iter()
        .filter(|(rank, _)| Some(*rank) == highest)
        .map(|(_, access)| *access)
        .min()
        .unwrap_or(DENY)
}

prop_compose! {
    fn any_rule()(
        path in generate::path(),
        reach in select(vec![Reach::Exact, Reach::Tree]),
        read in prop::option::of(generate::access()),
        execute in prop::option::of(generate::access()),
        write in prop::option::of(generate::access()),
        source in select(vec![Source::Host, Source::Workspace]),
    ) -> Rule {
        Rule { reach, ..Rule::tree(path, Axes { read, execute, write }, source) }
    }
}

proptest! {
    /// POL-16..20, POL-25: the tree agrees with the oracle everywhere, and the rule it names said so.
    #[test]
    fn pol_18_the_tree_agrees_with_a_brute_force_oracle(
        rules in prop::collection::vec(any_rule(), 0..12),
        paths in prop::collection::vec(generate::path(), 1..12),
    ) {
        let tree = tree(rules.clone());
        for path in paths.iter().chain(rules.iter().map(|rule| &rule.path)) {
            for axis in Axis::ALL {
                let decision = tree.decide(path, axis);
                prop_assert_eq!(decision.access, oracle(&rules, path, axis));
                if let Some(rule) = decision.rule {
                    prop_assert_eq!(rule.axes.get(axis), Some(decision.access));
                }
            }
        }
    }

    /// What a region says is what the oracle says about its path and about a name nobody declared in it.
    #[test]
    fn regions_agree_with_the_oracle(rules in prop::collection::vec(any_rule(), 0..12)) {
        for region in tree(rules.clone()).regions() {
            for axis in Axis::ALL {
                prop_assert_eq!(region.object.get(axis), oracle(&rules, region.path, axis));
                let stranger = region.path.join("stranger");
                prop_assert_eq!(region.subtree.get(axis), oracle(&rules, &stranger, axis));
            }
        }
    }

    /// The least access beneath a path is the least among its object, its regions and their strangers.
    #[test]
    fn least_within_agrees_with_the_oracle(
        rules in prop::collection::vec(any_rule(), 0..12),
        path in generate::path(),
    ) {
        let beneath = rules.iter().map(|rule| &rule.path).filter(|inner| inner.starts_with(&path));
        let places: Vec<_> = beneath.chain([&path]).flat_map(|place| [place.clone(), place.join("stranger")]).collect();
        for axis in Axis::ALL {
            let least = places.iter().map(|place| oracle(&rules, place, axis)).min();
            prop_assert_eq!(Some(tree(rules.clone()).least_within(&path, axis)), least);
        }
    }

    /// The order of rules never changes the tree, provenance included.
    #[test]
    fn order_never_matters(rules in prop::collection::vec(any_rule(), 0..12).prop_shuffle()) {
        let mut reversed = rules.clone();
        reversed.reverse();
        prop_assert_eq!(tree(rules), tree(reversed));
    }
}

#[test]
fn what_is_beneath_a_path_is_found_and_nothing_else() {
    let paths = ["/", "/a", "/a-b", "/a/b", "/a/b/c", "/a0", "/b"];
    let rules = paths.map(|path| Rule::tree(path, Verdict::READ_ONLY, Source::Host));
    let tree = RegionTree::new(rules.into()).unwrap();
    let beneath =
        |path: &str| -> Vec<&Path> { tree.beneath(Path::new(path)).map(|region| region.path).collect() };
    assert_eq!(beneath("/a"), [Path::new("/a/b"), Path::new("/a/b/c")]);
    assert_eq!(beneath("/").len(), paths.len() - 1);
    assert!(beneath("/b").is_empty() && beneath("/missing").is_empty());
}
