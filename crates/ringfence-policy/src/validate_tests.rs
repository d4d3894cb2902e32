use crate::fake::*;
use crate::*;

fn with_root(root: Root) -> ProfileConfig {
    ProfileConfig {
        roots: vec![root],
        ..writable()
    }
}

fn roots(config: &ProfileConfig, host: &FakeHost) -> Vec<Root> {
    Profile::new(config, host).unwrap().settings().roots
}

#[test]
fn pro_11_the_workspace_must_be_a_directory_that_exists() {
    let host = FakeHost::new()
        .file("/file")
        .locked("/locked")
        .link("/loop", "/loop");
    let reason = |workspace: &str| {
        let found = problems(
            &ProfileConfig {
                workspace: workspace.into(),
                ..writable()
            },
            &host,
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, Field::Workspace);
        found[0].1.clone()
    };
    assert_eq!(reason(""), Reason::Unresolvable(ResolveError::Empty));
    assert_eq!(
        reason("ws"),
        Reason::Unresolvable(ResolveError::Relative { path: "ws".into() })
    );
    assert_eq!(
        reason("/missing"),
        Reason::Missing {
            path: "/missing".into()
        }
    );
    assert_eq!(reason("/file"), Reason::NotADirectory { path: "/file".into() });
    assert_eq!(
        reason("/locked/ws"),
        ResolveError::Denied {
            path: "/locked".into(),
            errno: 13
        }
        .into()
    );
    assert_eq!(
        reason("/loop"),
        ResolveError::Loop { path: "/loop".into() }.into()
    );
}

#[test]
fn pro_25_roots_and_workspace_are_stored_canonical() {
    let host = FakeHost::new()
        .dir("/real/data")
        .link("/link", "/real")
        .link("/w", "ws");
    let root = Root::directory("/link/./data/", Verdict::READ_ONLY);
    let profile = Profile::new(
        &ProfileConfig {
            workspace: "/w/.".into(),
            ..with_root(root)
        },
        &host,
    )
    .unwrap();
    assert_eq!(profile.settings().workspace.as_os_str(), "/ws");
    assert_eq!(profile.settings().roots[0].path.as_os_str(), "/real/data");
    let rule = &profile.tree().rules()[1];
    assert_eq!(
        (rule.path.as_os_str(), rule.source.clone()),
        ("/real/data".as_ref(), Source::Root(0))
    );
    assert_eq!(
        rule.links,
        [Link {
            path: "/link".into(),
            target: "/real".into()
        }]
    );
    assert!(rule.identity.is_some());
}

#[test]
fn pro_13_a_root_that_cannot_be_resolved_is_named_by_its_index() {
    let good = Root::directory("/data", Verdict::READ_ONLY);
    let bad = Root::directory("data", Verdict::READ_ONLY);
    let config = ProfileConfig {
        roots: vec![good, bad],
        ..writable()
    };
    let relative = Reason::Unresolvable(ResolveError::Relative { path: "data".into() });
    assert_eq!(
        problems(&config, &FakeHost::new().dir("/data")),
        [(Field::Root(1), relative)]
    );
}

#[test]
fn pro_13_a_root_must_be_what_it_says() {
    let host = FakeHost::new().dir("/dir").file("/file").file("/dev/null");
    let refused = |root: Root| {
        let (field, reason) = problems(&with_root(root), &host).remove(0);
        assert_eq!(field, Field::Root(0));
        reason.code()
    };
    let access = Verdict::READ_ONLY;
    assert_eq!(refused(Root::directory("/file", access)), "path_not_a_directory");
    assert_eq!(refused(Root::directory("/none", access)), "path_missing");
    assert_eq!(refused(Root::file("/dir", access)), "path_not_a_file");
    assert_eq!(refused(Root::file("/none", access)), "path_missing");
    for accepted in [
        Root::file("/file", access),
        Root::file("/dev/null", access),
        Root::absent("/none/at/all", access),
        Root::absent("/file", access),
        Root::absent("/dir", access),
    ] {
        assert_eq!(roots(&with_root(accepted.clone()), &host), [accepted]);
    }
}

#[test]
fn pro_14_a_root_may_not_be_the_workspace_in_disguise() {
    let host = FakeHost::new().link("/link", "/ws");
    for disguise in ["/ws", "/ws/.", "/link"] {
        let root = Root::directory(disguise, Verdict::READ_ONLY);
        let reason = Reason::SameAsWorkspace { path: "/ws".into() };
        assert_eq!(problems(&with_root(root), &host), [(Field::Root(0), reason)]);
    }
}

#[test]
fn pro_15_equal_roots_merge() {
    let host = FakeHost::new().dir("/data").link("/link", "/data");
    let config = ProfileConfig {
        roots: ["/data", "/link", "/data/."]
            .map(|path| Root::directory(path, Verdict::READ_ONLY))
            .to_vec(),
        ..writable()
    };
    assert_eq!(
        roots(&config, &host),
        [Root::directory("/data", Verdict::READ_ONLY)]
    );
}

#[test]
fn pro_16_roots_that_differ_at_one_path_contradict() {
    let host = FakeHost::new().dir("/data").link("/link", "/data");
    let first = Root::directory("/data", Verdict::READ_ONLY);
    for second in [
        Root::directory("/link", Verdict::READ_WRITE),
        Root::directory("/link", Verdict::READ_ONLY.with_execute(DENY)),
        Root::absent("/link", Verdict::READ_ONLY),
    ] {
        let config = ProfileConfig {
            roots: vec![first.clone(), second],
            ..writable()
        };
        let reason = Reason::Contradicts {
            path: "/data".into(),
            root: 0,
        };
        assert_eq!(problems(&config, &host), [(Field::Root(1), reason)]);
    }
}

#[test]
fn pro_18_roots_are_sorted_by_bytes_whatever_their_order() {
    let names = ["/a/b", "/a-b", "/a", "/B"];
    let host = names.iter().fold(FakeHost::new(), FakeHost::dir);
    let mut config = writable();
    config.roots = names
        .map(|path| Root::directory(path, Verdict::READ_ONLY))
        .to_vec();
    let stored = roots(&config, &host);
    let paths: Vec<_> = stored.iter().map(|root| root.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["/B", "/a", "/a-b", "/a/b"]);
    config.roots.reverse();
    assert_eq!(roots(&config, &host), stored);
}

#[test]
fn pro_19_unconfined_needs_an_acknowledgement() {
    let config = ProfileConfig {
        acknowledgement: Acknowledgement::NotGiven,
        ..ProfileConfig::unconfined("/ws")
    };
    assert_eq!(
        problems(&config, &FakeHost::new()),
        [(Field::Acknowledgement, Reason::Unacknowledged)]
    );
    assert!(Profile::new(&ProfileConfig::unconfined("/ws"), &FakeHost::new()).is_ok());
}

#[test]
fn pro_20_a_sandboxed_profile_takes_no_acknowledgement() {
    let config = ProfileConfig {
        acknowledgement: Acknowledgement::Unconfined,
        ..writable()
    };
    let reason = Reason::NeedlessAcknowledgement;
    assert_eq!(
        problems(&config, &FakeHost::new()),
        [(Field::Acknowledgement, reason)]
    );
}

#[test]
fn pro_21_unconfined_allows_everything_or_is_refused() {
    let unconfined = || ProfileConfig::unconfined("/ws");
    let gated = Verdict::READ_WRITE.meet(Verdict::new(ALLOW, GATED));
    let noexec = Verdict::READ_WRITE.with_execute(DENY);
    let root = Root::absent("/data", gated);
    let cases = [
        (
            ProfileConfig {
                workspace_access: noexec,
                ..unconfined()
            },
            Field::WorkspaceAccess(Axis::Execute),
            DENY,
        ),
        (
            ProfileConfig {
                host_access: gated,
                ..unconfined()
            },
            Field::HostAccess(Axis::Write),
            GATED,
        ),
        (
            ProfileConfig {
                network: GATED,
                ..unconfined()
            },
            Field::Network,
            GATED,
        ),
        (
            ProfileConfig {
                roots: vec![root],
                ..unconfined()
            },
            Field::RootAccess(0, Axis::Write),
            GATED,
        ),
    ];
    for (config, field, access) in cases {
        assert_eq!(
            problems(&config, &FakeHost::new()),
            [(field, Reason::Unenforceable { access })]
        );
    }
    // Command and home may be any value.
    let free = ProfileConfig {
        command: DENY,
        home: Home::Isolated,
        ..unconfined()
    };
    assert!(Profile::new(&free, &FakeHost::new()).is_ok());
}

#[test]
fn pro_10_all_problems_come_at_once_in_order() {
    let config = ProfileConfig {
        workspace: "ws".into(),
        network: GATED,
        acknowledgement: Acknowledgement::NotGiven,
        roots: vec![
            Root::directory("/none", Verdict::READ_ONLY),
            Root::file("", Verdict::READ_WRITE),
        ],
        ..ProfileConfig::unconfined("")
    };
    let invalid = Profile::new(&config, &FakeHost::new()).unwrap_err();
    let seen: Vec<_> = invalid
        .problems
        .iter()
        .map(|problem| (problem.field, problem.reason.code()))
        .collect();
    assert_eq!(
        seen,
        [
            (Field::Workspace, "path_relative"),
            (Field::Root(0), "path_missing"),
            (Field::Root(1), "path_empty"),
            (Field::Acknowledgement, "unconfined_unacknowledged"),
            (Field::Network, "unconfined_unenforceable"),
            (Field::RootAccess(0, Axis::Write), "unconfined_unenforceable"),
        ]
    );
    assert_eq!(invalid.hint().lines().count(), 6);
    assert_eq!(
        invalid.to_string().split("; ").take(2).collect::<Vec<_>>(),
        [
            r#"invalid profile: workspace: "ws" is not absolute"#,
            r#"root 0: "/none" does not exist"#
        ],
    );
    assert_eq!(invalid.code(), "invalid_profile");
}

#[test]
fn pro_24_glob_characters_in_roots_are_literal() {
    for name in ["/ws/[slug]", "/ws/a*", "/ws/q?", "/ws/{a,b}", "/ws/x\ny"] {
        let profile = profile(&with_root(Root::directory(name, Verdict::DENY)));
        assert_eq!(profile.access_for("filesystem.write", name), Ok(DENY), "{name}");
        assert_eq!(
            profile.access_for("filesystem.write", format!("{name}/x")),
            Ok(DENY),
            "{name}"
        );
        for sibling in ["/ws/s", "/ws/ab", "/ws/qq", "/ws/a"] {
            assert_eq!(
                profile.access_for("filesystem.write", sibling),
                Ok(ALLOW),
                "{name} {sibling}"
            );
        }
    }
}
