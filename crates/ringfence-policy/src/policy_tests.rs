use proptest::prelude::*;

use super::*;
use crate::fake::generate::{any_profile, path, verdict};
use crate::fake::{ALLOW, DENY, FakeHost, GATED, config, profile, writable};
use crate::rule::{Axes, Reach};
use crate::{Field, Guard, Pattern, ProfileConfig, Root};

const READ: Axes = Axes {
    read: Some(ALLOW),
    execute: None,
    write: None,
};

fn compile(config: &ProfileConfig, additions: Vec<Rule>) -> Policy {
    Policy::compile(&profile(config), additions).unwrap()
}

/// The file obligations of a policy, such as `write /ws`.
fn files(policy: &Policy) -> Vec<String> {
    let obligations = policy.obligations();
    let files = obligations.iter().filter_map(|obligation| {
        Some(format!(
            "{} {}",
            obligation.axis?.name(),
            obligation.region.as_ref()?.display()
        ))
    });
    files.collect()
}

/// The obligations of a policy that concern the whole command.
fn others(policy: &Policy) -> Vec<(Guarantees, Clause)> {
    let obligations = policy.obligations();
    let others = obligations
        .iter()
        .filter(|obligation| obligation.clause != Clause::FileAccess);
    others
        .map(|obligation| (obligation.guarantee, obligation.clause))
        .collect()
}

#[test]
fn pol_1_a_policy_holds_all_that_a_backend_has_to_enforce() {
    let limits = Limits {
        processes: Some(7),
        ..Limits::default()
    };
    let pattern = Pattern::new("/ws", "**/key").unwrap();
    let profile = profile(&ProfileConfig {
        network: GATED,
        guards: vec![Guard::matching(pattern, Protection::Protect)],
        new_repositories: NewRepositories::Refuse,
        nested_namespaces: NestedNamespaces::Allow,
        limits,
        ..writable()
    });
    let bundle = Rule::tree("/usr", READ, runtime("base"));
    // Taken apart, so that what is added to it is looked at here. The environment is no part of it: an executor makes
    // that, and each launch carries it whole.
    let Policy {
        tree,
        network,
        isolation,
        workspace,
        patterns,
        new_repositories,
        nested_namespaces,
        limits: enforced,
        required,
    } = Policy::compile(&profile, vec![bundle.clone()]).unwrap();
    assert_eq!(tree, profile.tree().with([bundle]).unwrap());
    let paths: Vec<_> = tree.rules().iter().map(|rule| rule.path.as_path()).collect();
    assert_eq!(paths, ["/", "/usr", "/ws"].map(Path::new));
    assert_eq!((network, isolation), (GATED, Isolation::Sandboxed));
    assert_eq!(workspace, Path::new("/ws"));
    assert_eq!(patterns, Guarantees::WRITE_BOUNDARY);
    assert_eq!((new_repositories, enforced), (NewRepositories::Refuse, limits));
    assert_eq!(nested_namespaces, NestedNamespaces::Allow);
    assert_eq!(required, profile.required());
}

#[test]
fn pol_3_without_a_profile_that_was_checked_there_is_no_policy() {
    // Nothing but the check makes a profile, so what it refuses can't be compiled.
    let refused = |config: &ProfileConfig| {
        let compiled =
            Profile::new(config, &FakeHost::new()).map(|profile| Policy::compile(&profile, Vec::new()));
        compiled.unwrap_err().problems[0].field
    };
    assert_eq!(refused(&ProfileConfig::default()), Field::Workspace);
    let unacknowledged = ProfileConfig {
        isolation: Isolation::Unconfined,
        ..config()
    };
    assert_eq!(refused(&unacknowledged), Field::Acknowledgement);
}

#[test]
fn pol_4_unconfined_is_one_rule_that_allows_everything() {
    let bundle = Rule::tree("/usr", READ, runtime("base"));
    let unconfined = compile(&ProfileConfig::unconfined("/ws"), vec![bundle]);
    assert_eq!(
        unconfined.tree.rules(),
        [Rule::tree("/", Verdict::READ_WRITE, Source::Host)]
    );
    assert_eq!(
        (unconfined.network, unconfined.isolation),
        (ALLOW, Isolation::Unconfined)
    );
    // PRO-61: the environment is all there is to answer for.
    assert_eq!(
        unconfined.obligations(),
        [Obligation::of(Guarantees::ENV_SCRUB, Clause::Environment)]
    );
}

#[test]
fn pol_5_a_sandboxed_policy_is_the_profile_with_its_additions() {
    let additions = vec![
        Rule::tree("/usr", READ, runtime("base")),
        Rule::exact("/dev/null", Verdict::new(ALLOW, ALLOW), Source::Device),
    ];
    let policy = compile(
        &ProfileConfig {
            workspace_access: Verdict::READ_WRITE,
            ..config()
        },
        additions,
    );
    let sources: Vec<_> = policy
        .tree
        .rules()
        .iter()
        .map(|rule| rule.source.clone())
        .collect();
    assert_eq!(
        sources,
        [Source::Host, Source::Device, runtime("base"), Source::Workspace]
    );
    assert_eq!(policy.workspace, Path::new("/ws"));
    assert_eq!(policy.required, profile(&config()).required());
    let unclean = vec![Rule::tree("usr", READ, Source::System)];
    assert!(Policy::compile(&profile(&config()), unclean).is_err());
}

#[test]
fn pol_6_each_root_is_one_rule_for_all_that_is_beneath_it() {
    let reads = Verdict::new(ALLOW, GATED);
    let writes = Verdict::new(DENY, ALLOW);
    let policy = compile(
        &ProfileConfig {
            roots: vec![
                Root::directory("/reads", reads),
                Root::directory("/writes", writes),
            ],
            ..writable()
        },
        Vec::new(),
    );
    let rules: Vec<_> = policy
        .tree
        .rules()
        .iter()
        .map(|rule| (rule.path.to_str().unwrap(), rule.reach, rule.axes))
        .collect();
    let beneath = |path, verdict: Verdict| (path, Reach::Tree, Axes::from(verdict));
    assert_eq!(
        rules,
        [
            beneath("/", Verdict::READ_ONLY),
            beneath("/reads", reads),
            beneath("/writes", writes),
            beneath("/ws", Verdict::READ_WRITE),
        ]
    );
    // Running follows reading.
    let run = |path: &str| policy.tree.decide(Path::new(path), Axis::Execute).access;
    assert_eq!((run("/reads/a"), run("/writes/a")), (ALLOW, DENY));
}

/// Where paths have no volumes, there is one root of the host.
#[test]
fn pol_7_the_root_directory_is_the_only_root_of_the_host() {
    let of_host = |config: &ProfileConfig| -> Vec<_> {
        let tree = compile(config, Vec::new()).tree;
        let rules = tree.rules().iter().filter(|rule| rule.source == Source::Host);
        rules
            .map(|rule| (rule.path.clone(), rule.reach, rule.axes))
            .collect()
    };
    let whole = |verdict: Verdict| vec![("/".into(), Reach::Tree, Axes::from(verdict))];
    for host_access in [Verdict::DENY, Verdict::READ_ONLY, Verdict::new(GATED, ALLOW)] {
        let config = ProfileConfig {
            host_access,
            ..writable()
        };
        assert_eq!(of_host(&config), whole(host_access));
    }
    assert_eq!(
        of_host(&ProfileConfig::unconfined("/ws")),
        whole(Verdict::READ_WRITE)
    );
    // PRO-23: a root that is the host's takes its place.
    let at_the_top = ProfileConfig {
        workspace: "/".into(),
        ..writable()
    };
    assert_eq!(of_host(&at_the_top), []);
}

#[test]
fn pol_9_the_owned_root_is_closed_but_for_the_directories_of_the_key() {
    let policy = compile(
        &ProfileConfig {
            host_access: Verdict::READ_WRITE,
            ..writable()
        },
        vec![
            Rule::tree("/run/rf", Verdict::DENY, Source::Owned),
            Rule::tree("/run/rf/me/home", Verdict::READ_WRITE, Source::Home),
        ],
    );
    assert_eq!(
        policy.tree.verdict(Path::new("/run/rf/other/home/key")),
        Verdict::DENY
    );
    assert_eq!(
        policy.tree.verdict(Path::new("/run/rf/me/home/key")),
        Verdict::READ_WRITE
    );
    assert_eq!(
        files(&policy),
        ["read /run/rf", "execute /run/rf", "write /run/rf"]
    );
}

#[test]
fn each_closed_boundary_is_one_obligation() {
    let policy = compile(
        &ProfileConfig {
            roots: vec![
                Root::directory("/ws/.git", Verdict::READ_ONLY),
                // Neither opens nor closes anything: no boundary.
                Root::directory("/ws/.git/hooks", Verdict::READ_ONLY),
                Root::directory("/ws/data", Verdict::READ_WRITE.with_execute(DENY)),
                Root::absent("/home/secret", Verdict::DENY),
            ],
            ..writable()
        },
        Vec::new(),
    );
    assert_eq!(
        files(&policy),
        [
            "write /",
            "read /home/secret",
            "execute /home/secret",
            "write /ws/.git",
            "execute /ws/data",
        ]
    );
    let guarantees = |axis| Obligation::file(axis, "/").guarantee;
    assert_eq!(
        Axis::ALL.map(guarantees),
        [
            Guarantees::READ_BOUNDARY,
            Guarantees::READ_BOUNDARY,
            Guarantees::WRITE_BOUNDARY
        ]
    );
}

#[test]
fn an_exact_rule_is_a_boundary_for_its_object() {
    let open = ProfileConfig {
        host_access: Verdict::READ_WRITE,
        ..writable()
    };
    let closed = Axes {
        write: Some(DENY),
        ..Axes::default()
    };
    assert_eq!(
        files(&compile(
            &open,
            vec![Rule::exact("/etc/passwd", closed, Source::System)]
        )),
        ["write /etc/passwd"]
    );
    // A closed object in closed surroundings whose descendants are open is a boundary too.
    let strange = vec![
        Rule::tree("/a", Verdict::READ_WRITE, Source::Private),
        Rule::exact("/a", closed, Source::System),
    ];
    assert_eq!(files(&compile(&writable(), strange)), ["write /", "write /a"]);
    // An open object in closed surroundings closes nothing.
    let device = vec![Rule::exact("/dev/null", Verdict::READ_WRITE, Source::Device)];
    assert_eq!(files(&compile(&writable(), device)), ["write /"]);
}

#[test]
fn a_gated_region_in_a_denied_one_is_a_boundary_of_its_own() {
    let root = Root::absent("/data", Verdict::new(ALLOW, GATED));
    let policy = compile(
        &ProfileConfig {
            roots: vec![root],
            ..writable()
        },
        Vec::new(),
    );
    assert_eq!(files(&policy), ["write /", "write /data"]);
}

#[test]
fn without_a_rule_for_the_root_directory_it_is_closed_and_owed() {
    let policy = Policy {
        tree: RegionTree::default(),
        ..compile(&writable(), Vec::new())
    };
    assert_eq!(files(&policy), ["read /", "execute /", "write /"]);
}

#[test]
fn a_sandboxed_policy_owes_process_environment_and_network_clauses() {
    let mut expected: Vec<_> = PROCESS_CLAUSES
        .map(|clause| (Guarantees::PROCESS_BOUNDARY, clause))
        .into();
    expected.push((Guarantees::ENV_SCRUB, Clause::Environment));
    assert_eq!(others(&compile(&writable(), Vec::new())), expected);
    expected.push((Guarantees::NETWORK_BOUNDARY, Clause::Network));
    expected.push((Guarantees::ADDRESS_NETWORK, Clause::Network));
    for network in [DENY, GATED] {
        assert_eq!(
            others(&compile(
                &ProfileConfig {
                    network,
                    ..writable()
                },
                Vec::new()
            )),
            expected
        );
    }
}

proptest! {
    /// POL-11: what the profile answers and what the policy enforces are the same thing.
    #[test]
    fn pol_11_policy_and_profile_agree(profile in any_profile(), path in path()) {
        let policy = Policy::compile(&profile, Vec::new()).unwrap();
        prop_assert_eq!(policy.tree.verdict(&path), profile.tree().verdict(&path));
    }

    /// A required boundary always has something to show for it, and one without obligations is never required.
    #[test]
    fn pro_62_required_boundaries_and_obligations_go_together(profile in any_profile()) {
        let policy = Policy::compile(&profile, Vec::new()).unwrap();
        let owed: Guarantees = policy.obligations().iter().map(|obligation| obligation.guarantee).collect();
        let boundaries = Guarantees::READ_BOUNDARY | Guarantees::WRITE_BOUNDARY | Guarantees::NETWORK_BOUNDARY;
        prop_assert_eq!(policy.required & boundaries, owed & boundaries);
    }

    /// POL-46: an axis is restricted where a rule denies it or the root directory lacks it, and then it is owed.
    #[test]
    fn pol_46_an_axis_is_owed_just_where_it_is_restricted(
        profile in any_profile(),
        additions in prop::collection::vec((path(), verdict(), any::<bool>()), 0..6),
    ) {
        let rule = |(path, verdict, exact): (PathBuf, Verdict, bool)| match exact {
            true => Rule::exact(path, verdict, Source::System),
            false => Rule::tree(path, verdict, Source::System),
        };
        let policy = Policy::compile(&profile, additions.into_iter().map(rule).collect()).unwrap();
        let obligations = policy.obligations();
        for axis in Axis::ALL {
            let closed = |rule: &Rule| rule.axes.get(axis).is_some_and(|access| access != Access::Allow);
            let restricted = policy.tree.rules().iter().any(closed)
                || policy.tree.decide(Path::new("/"), axis).access != Access::Allow;
            let owed = obligations.iter().any(|obligation| obligation.axis == Some(axis));
            prop_assert_eq!(owed, restricted, "{}", axis.name());
        }
    }

    /// Enough obligations: a path that is closed lies in a region that owes this axis.
    #[test]
    fn every_closed_path_is_owed_by_somebody(profile in any_profile(), path in path()) {
        let policy = Policy::compile(&profile, Vec::new()).unwrap();
        for axis in Axis::ALL {
            let owed = policy.obligations().iter().any(|obligation| {
                let region = obligation.region.as_deref();
                obligation.axis == Some(axis) && region.is_some_and(|region| path.starts_with(region))
            });
            prop_assert!(owed || policy.tree.decide(&path, axis).access == Access::Allow);
        }
    }
}

fn runtime(bundle: &str) -> Source {
    Source::Runtime {
        bundle: bundle.to_owned(),
        why: "a test".to_owned(),
    }
}
