use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::fake::Directories;
use crate::fake::generate::{any_profile, path};
use crate::fake::{ALLOW, DENY, FakeHost, GATED, config, problems, profile, writable};
use crate::problem::Problem;
use crate::{Acknowledgement, Axis, Root};

#[test]
fn pro_50_the_result_is_new_and_the_inputs_stay() {
    let (base, ceiling) = (profile(&ProfileConfig::unconfined("/ws")), profile(&writable()));
    let before = (base.settings(), ceiling.settings());
    let result = base.restrict(&ceiling).unwrap();
    assert_eq!((base.settings(), ceiling.settings()), before);
    assert_ne!(result, base);
}

#[test]
fn pro_51_the_workspaces_must_be_equal() {
    let other = profile(&ProfileConfig {
        workspace: "/other".into(),
        ..writable()
    });
    let invalid = profile(&writable()).restrict(&other).unwrap_err();
    let reason = Reason::OtherWorkspace {
        ours: "/ws".into(),
        theirs: "/other".into(),
    };
    assert_eq!(
        invalid.problems,
        [Problem {
            field: Field::Workspace,
            reason
        }]
    );
}

#[test]
fn pro_52_everything_takes_the_stricter_value() {
    let root = Root::absent("/data", Verdict::new(GATED, DENY));
    let ceiling = profile(&ProfileConfig {
        workspace_access: Verdict::READ_ONLY,
        host_access: Verdict::new(DENY, ALLOW),
        network: DENY,
        command: GATED,
        roots: vec![root.clone()],
        require: Guarantees::RESOURCE_LIMITS,
        ..writable()
    });
    let lenient = ProfileConfig {
        nested_namespaces: NestedNamespaces::Allow,
        ..ProfileConfig::unconfined("/ws")
    };
    let result = profile(&lenient).restrict(&ceiling).unwrap().settings();
    assert_eq!(result.nested_namespaces, NestedNamespaces::Refuse);
    assert_eq!(
        (result.workspace_access, result.host_access),
        (Verdict::READ_ONLY, Verdict::new(DENY, ALLOW))
    );
    assert_eq!((result.network, result.command), (DENY, GATED));
    assert_eq!(
        (result.home, result.isolation),
        (Home::Isolated, Isolation::Sandboxed)
    );
    assert_eq!(
        (result.acknowledgement, result.roots),
        (Acknowledgement::NotGiven, vec![root])
    );
    assert!(
        result
            .required
            .contains(Guarantees::READ_BOUNDARY | Guarantees::RESOURCE_LIMITS)
    );
    let unconfined = profile(&ProfileConfig::unconfined("/ws"));
    let both = unconfined.restrict(&unconfined).unwrap();
    assert_eq!(both.settings().acknowledgement, Acknowledgement::Unconfined);
}

#[test]
fn pro_53_each_root_takes_the_stricter_of_what_both_say_there() {
    let with = |path: &str, access| {
        profile(&ProfileConfig {
            roots: vec![Root::absent(path, access)],
            ..writable()
        })
    };
    let result = with("/ws/a", Verdict::READ_ONLY)
        .restrict(&with("/data", Verdict::READ_WRITE))
        .unwrap();
    assert_eq!(
        result.settings().roots,
        [
            // The host of the base denies writing what the ceiling allows.
            Root::absent("/data", Verdict::READ_ONLY),
            Root::absent("/ws/a", Verdict::READ_ONLY),
        ]
    );
}

#[test]
fn pro_54_a_root_that_equals_the_host_still_protects_inside_the_workspace() {
    let git = Root::directory("/ws/.git", Verdict::READ_ONLY);
    let protected = profile(&ProfileConfig {
        roots: vec![git],
        ..writable()
    });
    let result = protected.restrict(&protected).unwrap();
    assert_eq!(result.access_for("filesystem.write", "/ws/.git/config"), Ok(DENY));

    let secret = Root::directory("/ws/secret", Verdict::DENY);
    let hidden = profile(&ProfileConfig {
        host_access: Verdict::DENY,
        roots: vec![secret],
        ..writable()
    });
    let result = hidden.restrict(&hidden).unwrap();
    assert_eq!(result.access_for("filesystem.read", "/ws/secret/key"), Ok(DENY));
    assert_eq!(result.fingerprint(), hidden.fingerprint());
}

#[test]
fn pro_55_a_gated_root_equal_to_a_gated_host_keeps_its_tree_scope() {
    let gated = Verdict::new(GATED, GATED);
    let root = Root::directory("/data", gated);
    let profile = profile(&ProfileConfig {
        host_access: gated,
        roots: vec![root],
        ..writable()
    });
    let result = profile.restrict(&profile).unwrap();
    assert_eq!(result.access_for("filesystem.read", "tree:/data"), Ok(GATED));
}

#[test]
fn pro_57_restrict_looks_at_nothing() {
    let host = FakeHost::new().dir("/ws/sub");
    let config = ProfileConfig {
        roots: vec![Root::directory("/ws/sub", Verdict::DENY)],
        ..writable()
    };
    let planted = Profile::new(&config, &host).unwrap();
    // The root is now a link to elsewhere: a new profile would move, the restricted one cannot.
    let host = FakeHost::new().dir("/elsewhere").link("/ws/sub", "/elsewhere");
    let moved = Profile::new(&config, &host).unwrap();
    assert_eq!(moved.settings().roots[0].path, PathBuf::from("/elsewhere"));
    let result = planted.restrict(&planted).unwrap();
    assert_eq!(result.roots(), planted.roots());
    // Nor does it matter that the root is gone.
    assert_eq!(
        problems(&config, &FakeHost::new())[0].1,
        Reason::Missing {
            path: "/ws/sub".into()
        }
    );
    assert_eq!(result.access_for("filesystem.read", "/ws/sub/x"), Ok(DENY));
}

#[test]
fn one_path_with_two_kinds_demands_no_kind() {
    let with = |root| {
        profile(&ProfileConfig {
            roots: vec![root],
            ..writable()
        })
    };
    let directory = with(Root::directory("/data", Verdict::READ_ONLY));
    let file = with(Root::file("/data", Verdict::READ_ONLY));
    let expected = [Root::absent("/data", Verdict::READ_ONLY)];
    assert_eq!(directory.restrict(&file).unwrap().settings().roots, expected);
    assert_eq!(file.restrict(&directory).unwrap().settings().roots, expected);
}

fn restrict(base: &Profile, ceiling: &Profile) -> Profile {
    base.restrict(ceiling).unwrap()
}

proptest! {
    /// PRO-53..55: at every path and for every other question the result is the minimum.
    #[test]
    fn pro_55_the_result_is_the_minimum_everywhere(
        base in any_profile(),
        ceiling in any_profile(),
        paths in prop::collection::vec(path(), 1..12),
    ) {
        let result = restrict(&base, &ceiling);
        let declared = base.roots().iter().chain(ceiling.roots()).map(|root| root.at.path.clone());
        for path in paths.into_iter().chain(declared.collect::<Vec<_>>()) {
            let expected = verdict(&base, &path).meet(verdict(&ceiling, &path));
            prop_assert_eq!(verdict(&result, &path), expected);
            let tree = format!("tree:{}", path.display());
            for (axis, kind) in Axis::ALL.into_iter().zip(KINDS) {
                prop_assert!(result.access_for(kind, &tree).unwrap() <= expected.get(axis));
            }
        }
        let scopes = [("network", ""), ("command.execute", "")];
        for (kind, scope) in KINDS.map(|kind| (kind, "host:*")).into_iter().chain(scopes) {
            let least = base.access_for(kind, scope).unwrap().min(ceiling.access_for(kind, scope).unwrap());
            prop_assert_eq!(result.access_for(kind, scope).unwrap(), least);
        }
    }

    /// The order of nesting does not matter, nor which profile is called the ceiling.
    #[test]
    fn pro_56_restrict_is_idempotent_commutative_and_associative(
        a in any_profile(),
        b in any_profile(),
        c in any_profile(),
    ) {
        prop_assert_eq!(restrict(&a, &a).fingerprint(), a.fingerprint());
        prop_assert_eq!(restrict(&a, &b).settings(), restrict(&b, &a).settings());
        prop_assert_eq!(
            restrict(&restrict(&a, &b), &c).settings(),
            restrict(&a, &restrict(&b, &c)).settings()
        );
    }

    /// A stricter input never gives a more lenient result, and nothing required is lost.
    #[test]
    fn pro_56_restrict_is_monotone(
        lenient in any_profile(),
        other in any_profile(),
        ceiling in any_profile(),
        path in path(),
    ) {
        let strict = restrict(&lenient, &other);
        let (less, more) = (restrict(&strict, &ceiling), restrict(&lenient, &ceiling));
        for axis in Axis::ALL {
            prop_assert!(verdict(&less, &path).get(axis) <= verdict(&more, &path).get(axis));
        }
        prop_assert!(less.required().contains(more.required()));
    }

    /// A restricted profile is what a configuration with its settings would have given.
    #[test]
    fn a_restricted_profile_is_an_ordinary_one(base in any_profile(), ceiling in any_profile()) {
        let settings = restrict(&base, &ceiling).settings();
        let config = ProfileConfig {
            workspace: settings.workspace.clone(),
            workspace_access: settings.workspace_access,
            host_access: settings.host_access,
            network: settings.network,
            command: settings.command,
            home: settings.home,
            isolation: settings.isolation,
            acknowledgement: settings.acknowledgement,
            roots: settings.roots.clone(),
            guards: settings.guards.clone(),
            presets: settings.presets.keys().copied().collect(),
            new_repositories: settings.new_repositories,
            nested_namespaces: settings.nested_namespaces,
            devices: settings.devices.clone(),
            environment: settings.environment.clone(),
            limits: settings.limits,
            require: settings.require,
            ..config()
        };
        prop_assert_eq!(Profile::new(&config, &Directories).unwrap().settings(), settings);
    }
}

/// What the profile answers for a path, patterns included.
fn verdict(profile: &Profile, path: &Path) -> Verdict {
    let [read, execute, write] = KINDS.map(|kind| profile.access_for(kind, path).unwrap());
    Verdict { read, execute, write }
}

const KINDS: [&str; 3] = ["filesystem.read", "filesystem.execute", "filesystem.write"];
