use std::collections::HashSet;

use super::*;
use crate::fake::{ALLOW, DENY, FakeHost, GATED, config, profile, writable};
use crate::{Acknowledgement, Axis, Guard, Policy, Presence, Root, RootKind, Source};

#[test]
fn pro_3_a_root_is_a_path_with_an_access_and_a_kind() {
    let access = Verdict::new(ALLOW, GATED);
    let expected = |kind| Root {
        path: "/data".into(),
        access,
        kind,
    };
    assert_eq!(Root::directory("/data", access), expected(RootKind::Directory));
    assert_eq!(Root::file("/data", access), expected(RootKind::File));
    assert_eq!(Root::absent("/data", access), expected(RootKind::Absent));
}

#[test]
fn pro_4_the_default_configuration_denies_isolates_and_sandboxes() {
    let settings = profile(&config()).settings();
    assert_eq!(
        (settings.workspace_access, settings.host_access),
        (Verdict::DENY, Verdict::DENY)
    );
    assert_eq!((settings.network, settings.command), (DENY, DENY));
    assert_eq!(
        (settings.home, settings.isolation),
        (Home::Isolated, Isolation::Sandboxed)
    );
    assert_eq!(
        (settings.acknowledgement, settings.roots),
        (Acknowledgement::NotGiven, Vec::new())
    );
    assert!(
        ProfileConfig::default().workspace.as_os_str().is_empty(),
        "and it has no workspace to start in"
    );
}

#[test]
fn pro_7_a_profile_keeps_its_own_copy() {
    let mut config = ProfileConfig {
        roots: vec![Root::absent("/data", Verdict::DENY)],
        ..writable()
    };
    let profile = profile(&config);
    let before = (profile.settings(), profile.fingerprint());
    config.roots[0].access = Verdict::READ_WRITE;
    config.roots.clear();
    config.network = DENY;
    assert_eq!((profile.settings(), profile.fingerprint()), before);
    let distinct = HashSet::from([profile.clone(), profile, crate::fake::profile(&config)]);
    assert_eq!(distinct.len(), 2, "equal profiles are equal and hash alike");
}

#[test]
fn pro_8_a_profile_that_exists_is_constructed() {
    // Neither a default nor a deserialised profile can be written down, so only this side can be observed.
    let profile = profile(&config());
    assert_eq!((profile.access_version(), profile.settings().version), (1, 1));
    assert_eq!(profile.fingerprint().to_string().len(), 64);
}

#[test]
fn pro_9_settings_are_a_copy_of_everything() {
    let config = ProfileConfig {
        home: Home::Real,
        network: GATED,
        roots: vec![Root::absent("/data", Verdict::DENY)],
        guards: vec![Guard::secret("/ws/key")],
        presets: [Preset::Git].into(),
        unguarded: vec!["/ws/x/y".into(), "/ws/x".into()],
        new_repositories: NewRepositories::Refuse,
        nested_namespaces: NestedNamespaces::Allow,
        devices: vec![Device {
            path: "/dev/kvm".into(),
            presence: Presence::Optional,
        }],
        limits: Limits {
            processes: Some(7),
            ..Limits::default()
        },
        require: Guarantees::RESOURCE_LIMITS,
        ..writable()
    };
    let profile = profile(&config);
    let mut settings = profile.settings();
    assert_eq!(
        settings,
        Settings {
            version: 1,
            workspace: "/ws".into(),
            workspace_access: config.workspace_access,
            host_access: config.host_access,
            network: GATED,
            command: ALLOW,
            home: Home::Real,
            isolation: Isolation::Sandboxed,
            acknowledgement: Acknowledgement::NotGiven,
            roots: config.roots.clone(),
            guards: config.guards.clone(),
            presets: [(Preset::Git, ["/ws/x".into()].into())].into(),
            new_repositories: NewRepositories::Refuse,
            nested_namespaces: NestedNamespaces::Allow,
            devices: config.devices.clone(),
            environment: config.environment.clone(),
            limits: config.limits,
            require: Guarantees::RESOURCE_LIMITS,
            required: profile.required(),
            fingerprint: profile.fingerprint(),
        }
    );
    settings.roots.clear();
    assert_eq!(profile.settings().roots, config.roots);
}

#[test]
fn pro_17_nested_and_enclosing_roots_are_legal_and_the_deepest_wins() {
    let config = ProfileConfig {
        workspace: "/home/me/ws".into(),
        roots: vec![
            Root::directory("/home", Verdict::DENY),
            Root::directory("/home/me/ws/.git", Verdict::READ_ONLY),
            Root::directory("/home/me/ws/.git/tmp", Verdict::READ_WRITE),
        ],
        ..writable()
    };
    let profile = profile(&config);
    let write = |path| profile.access_for("filesystem.write", path).unwrap();
    assert_eq!(
        [
            write("/home/me/ws/a"),
            write("/home/me/ws/.git/a"),
            write("/home/me/ws/.git/tmp/a")
        ],
        [ALLOW, DENY, ALLOW]
    );
    // An enclosing root that denies does not reach into the workspace, but covers its siblings.
    assert_eq!(profile.access_for("filesystem.read", "/home/me/ws/a"), Ok(ALLOW));
    assert_eq!(profile.access_for("filesystem.read", "/home/me/other"), Ok(DENY));
}

#[test]
fn pro_22_construction_asks_the_host_about_paths_and_nothing_else() {
    let host = FakeHost::new().dir("/data");
    let root = Root::directory("/data", Verdict::READ_ONLY);
    let config = ProfileConfig {
        roots: vec![root],
        require: Guarantees::all(),
        ..writable()
    };
    // Guarantees no backend gives on every host are no problem here.
    assert!(Profile::new(&config, &host).is_ok());
    assert_eq!(host.asked.get(), 2);
}

#[test]
fn pro_23_what_is_said_about_the_root_directory_replaces_the_host() {
    let workspace = ProfileConfig {
        workspace: "/".into(),
        host_access: Verdict::DENY,
        ..writable()
    };
    let root = ProfileConfig {
        roots: vec![Root::directory("/", Verdict::READ_WRITE)],
        host_access: Verdict::DENY,
        ..writable()
    };
    for (config, source) in [(workspace, Source::Workspace), (root, Source::Root(0))] {
        let profile = profile(&config);
        assert_eq!(profile.access_for("filesystem.write", "/etc/x"), Ok(ALLOW));
        assert_eq!(profile.access_for("filesystem.write", "host:*"), Ok(ALLOW));
        assert_eq!(profile.access_for("filesystem.write", "tree:/"), Ok(ALLOW));
        let policy = Policy::compile(&profile, Vec::new()).unwrap();
        assert_eq!(policy.tree.verdict(Path::new("/etc/x")), Verdict::READ_WRITE);
        assert_eq!(
            policy
                .tree
                .decide(Path::new("/etc/x"), Axis::Write)
                .rule
                .map(|rule| &rule.source),
            Some(&source)
        );
        // Nothing is closed, so nothing is required that could not be shown.
        assert_eq!(profile.required(), Guarantees::ENV_SCRUB);
    }
}

#[test]
fn pro_60_the_environment_is_always_scrubbed() {
    let open = ProfileConfig {
        host_access: Verdict::READ_WRITE,
        command: DENY,
        ..writable()
    };
    // PRO-65: neither a denied command nor the home needs a bit.
    assert_eq!(profile(&open).required(), Guarantees::ENV_SCRUB);
    assert_eq!(
        profile(&ProfileConfig {
            home: Home::Real,
            ..open
        })
        .required(),
        Guarantees::ENV_SCRUB
    );
}

#[test]
fn pro_2_the_home_is_what_was_asked_for() {
    assert_eq!(profile(&writable()).home(), Home::Isolated);
    assert_eq!(
        profile(&ProfileConfig {
            home: Home::Real,
            ..writable()
        })
        .home(),
        Home::Real
    );
    assert_eq!(profile(&ProfileConfig::unconfined("/ws")).home(), Home::Real);
}

#[test]
fn pro_61_unconfined_requires_nothing_else() {
    let config = ProfileConfig {
        command: DENY,
        ..ProfileConfig::unconfined("/ws")
    };
    assert_eq!(profile(&config).required(), Guarantees::ENV_SCRUB);
}

/// The bits beyond the environment that the open profile requires after `close` closed something.
fn required_by(close: impl FnOnce(&mut ProfileConfig)) -> Guarantees {
    let root = Root::absent("/data", Verdict::READ_WRITE);
    let mut config = ProfileConfig {
        host_access: Verdict::READ_WRITE,
        roots: vec![root],
        ..writable()
    };
    close(&mut config);
    profile(&config).required() - Guarantees::ENV_SCRUB
}

#[test]
fn pro_62_closed_reading_anywhere_requires_the_read_boundary() {
    // PRO-66: gated counts as closed.
    for closed in [DENY, GATED] {
        let read = Guarantees::READ_BOUNDARY;
        assert_eq!(required_by(|config| config.workspace_access.read = closed), read);
        assert_eq!(required_by(|config| config.host_access.read = closed), read);
        assert_eq!(required_by(|config| config.roots[0].access.read = closed), read);
        assert_eq!(
            required_by(|config| config.roots[0].access.execute = closed),
            read
        );
    }
}

#[test]
fn pro_63_closed_writing_anywhere_requires_the_write_boundary() {
    for closed in [DENY, GATED] {
        let write = Guarantees::WRITE_BOUNDARY;
        assert_eq!(
            required_by(|config| config.workspace_access.write = closed),
            write
        );
        assert_eq!(required_by(|config| config.host_access.write = closed), write);
        assert_eq!(required_by(|config| config.roots[0].access.write = closed), write);
    }
}

#[test]
fn pro_64_a_closed_network_requires_the_network_boundary() {
    for closed in [DENY, GATED] {
        assert_eq!(
            required_by(|config| config.network = closed),
            Guarantees::NETWORK_BOUNDARY
        );
    }
    assert_eq!(required_by(|config| config.network = ALLOW), Guarantees::empty());
}

#[test]
fn pro_68_other_guarantees_are_required_only_on_demand() {
    let derived = profile(&config()).required();
    let on_demand = Guarantees::PROCESS_BOUNDARY
        | Guarantees::ADDRESS_NETWORK
        | Guarantees::RESOURCE_LIMITS
        | Guarantees::TARGET_NETWORK;
    assert_eq!(
        derived,
        Guarantees::all() - on_demand,
        "even when everything is denied"
    );
    // Insisting on what is needed anyway changes nothing.
    assert_eq!(
        profile(&ProfileConfig {
            require: derived,
            ..config()
        })
        .required(),
        derived
    );
    assert_eq!(
        profile(&ProfileConfig {
            require: on_demand,
            ..config()
        })
        .required(),
        Guarantees::all()
    );
}
