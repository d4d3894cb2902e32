use std::time::Duration;

use ringfence_policy::{
    Access, Device, EnvironmentRules, Guarantees, Guard, Home, Limits, NestedNamespaces, NewRepositories,
    Pattern, Presence, Preset, Profile, Protection, Root, Verdict,
};

use super::*;

pub(super) fn variables() -> Variables {
    Variables {
        workspace: "/w".into(),
        home: "/home/me".into(),
    }
}

pub(super) fn parse(text: &str) -> ProfileFile {
    ProfileFile::parse(text, &variables()).unwrap()
}

pub(super) fn code(text: &str) -> &'static str {
    let error = ProfileFile::parse(text, &variables()).unwrap_err();
    assert_eq!(error.problems.len(), 1, "{error}");
    error.problems[0].reason.code()
}

#[test]
fn pro_4_an_empty_file_denies_what_an_empty_configuration_denies() {
    let file = parse("# nothing\n");
    let expected = ProfileConfig {
        workspace: "/w".into(),
        ..ProfileConfig::default()
    };
    assert_eq!(file.config, expected);
    assert_eq!(
        (file.home_name, file.bundles, file.caches),
        (None, None, Vec::new())
    );
}

#[test]
fn everything_a_configuration_has_can_be_said() {
    let file = parse(
        r#"
        workspace = "${home}/src"
        workspace_access = "read-write"
        host_access = { read = "allow", write = "gated" }
        network = "gated"
        command = "allow"
        home = { name = "web" }
        protect = ["a[b]", { glob = "**/*.lock" }]
        secret = ["/etc/x*", { glob = "k/**", in = "${home}", except = ["k/b", "k/a"] }]
        presets = ["git"]
        unguarded = ["${workspace}/.git/config"]
        new_repositories = "refuse"
        nested_namespaces = "allow"
        require = ["process_boundary", "resource_limits"]
        bundles = []
        cache = ["cargo", "npm"]

        [[roots]]
        path = "sub"
        access = { read = "allow", execute = "deny" }
        [[roots]]
        path = "/f"
        access = "read-only"
        kind = "file"
        [[roots]]
        path = "/n"
        access = "deny"
        kind = "absent"

        [[devices]]
        path = "/dev/kvm"
        presence = "optional"
        [[devices]]
        path = "/dev/fuse"

        [environment]
        inherit = ["CARGO_*", "EDITOR"]
        unset = ["TZ"]
        [environment.set]
        CI = "1"
        "a b" = "${home}"

        [limits]
        memory = "512MiB"
        processes = 64
        cpu_time = "30s"
        wall_time = "10m"
        open_files = 0x100
        file_size = 4_096
        private_size = "1GB"
        output = "10MiB"
        "#,
    );
    let environment = EnvironmentRules::default()
        .inherit("CARGO_*".parse().unwrap())
        .inherit("EDITOR".parse().unwrap())
        .set("CI", "1")
        .unwrap()
        .set("a b", "${home}")
        .unwrap()
        .unset("TZ")
        .unwrap();
    let excepting = Pattern::new("/home/me", "k/**")
        .and_then(|pattern| pattern.except("k/a"))
        .and_then(|pattern| pattern.except("k/b"));
    let expected = ProfileConfig {
        workspace: "/home/me/src".into(),
        workspace_access: Verdict::READ_WRITE,
        host_access: Verdict::new(Access::Allow, Access::Gated),
        network: Access::Gated,
        command: Access::Allow,
        home: Home::Isolated,
        roots: vec![
            Root::directory(
                "/home/me/src/sub",
                Verdict::new(Access::Allow, Access::Deny).with_execute(Access::Deny),
            ),
            Root::file("/f", Verdict::READ_ONLY),
            Root::absent("/n", Verdict::DENY),
        ],
        guards: vec![
            Guard::protect("/home/me/src/a[b]"),
            Guard::matching(
                Pattern::new("/home/me/src", "**/*.lock").unwrap(),
                Protection::Protect,
            ),
            Guard::secret("/etc/x*"),
            Guard::matching(excepting.unwrap(), Protection::Secret),
        ],
        presets: [Preset::Git].into(),
        unguarded: vec!["/home/me/src/.git/config".into()],
        new_repositories: NewRepositories::Refuse,
        nested_namespaces: NestedNamespaces::Allow,
        devices: vec![
            Device {
                path: "/dev/kvm".into(),
                presence: Presence::Optional,
            },
            Device {
                path: "/dev/fuse".into(),
                presence: Presence::Required,
            },
        ],
        environment,
        limits: Limits {
            memory_bytes: Some(512 << 20),
            processes: Some(64),
            cpu_time: Some(Duration::from_secs(30)),
            wall_time: Some(Duration::from_secs(600)),
            open_files: Some(256),
            file_bytes: Some(4096),
            private_bytes: Some(1_000_000_000),
            output_bytes: Some(10 << 20),
        },
        require: Guarantees::PROCESS_BOUNDARY | Guarantees::RESOURCE_LIMITS,
        ..ProfileConfig::default()
    };
    assert_eq!(file.config, expected);
    assert_eq!(file.home_name.as_deref(), Some("web"));
    assert_eq!(file.bundles, Some(Vec::new()));
    assert_eq!(file.caches, [Cache::Cargo, Cache::Npm]);
}

/// POL-21: whether something is a pattern is said by how it is written, never by the characters of a path.
#[test]
fn pol_21_a_workspace_never_becomes_a_pattern() {
    let strange = Variables {
        workspace: "/a[b]/x*".into(),
        home: "/h?".into(),
    };
    let text = "secret = ['${workspace}', '*.pem', { glob = '*.pem' }, { glob = '?', in = '${home}/[k]' }]";
    let file = ProfileFile::parse(text, &strange).unwrap();
    let matching =
        |base: &str, glob: &str| Guard::matching(Pattern::new(base, glob).unwrap(), Protection::Secret);
    assert_eq!(
        file.config.guards,
        [
            Guard::secret("/a[b]/x*"),
            Guard::secret("/a[b]/x*/*.pem"),
            matching("/a[b]/x*", "*.pem"),
            matching("/h?/[k]", "?"),
        ]
    );
    let Some(ringfence_policy::Subject::Pattern(pattern)) =
        file.config.guards.get(2).map(|guard| guard.subject.clone())
    else {
        panic!("not a pattern");
    };
    assert!(pattern.matches(Path::new("/a[b]/x*/k.pem")));
    assert!(!pattern.matches(Path::new("/ab/xy/k.pem")));
}

#[test]
fn execution_follows_reading_unless_said_otherwise() {
    for (text, expected) in [
        ("{}", Verdict::DENY),
        ("{ read = 'allow' }", Verdict::READ_ONLY),
        ("{ write = 'gated' }", Verdict::new(Access::Deny, Access::Gated)),
        ("{ execute = 'allow' }", Verdict::DENY.with_execute(Access::Allow)),
    ] {
        let file = parse(&format!("host_access = {text}"));
        assert_eq!(file.config.host_access, expected, "{text}");
    }
}

#[test]
fn s_35_an_empty_list_is_not_an_absent_one() {
    assert!(parse("presets = []").config.presets.is_empty());
    assert_eq!(parse("without_presets = []").config.presets, Preset::ALL.into());
    assert_eq!(
        parse("without_presets = ['git']").config.presets,
        [Preset::AgentConfig, Preset::Credentials].into()
    );
    assert_eq!(parse("bundles = []").bundles, Some(Vec::new()));
    assert_eq!(parse("").bundles, None);
}

#[test]
fn the_workspace_is_absolute() {
    assert_eq!(
        parse("workspace = '${workspace}/a'\nunguarded = ['${workspace}/b', 'c']")
            .config
            .unguarded,
        [PathBuf::from("/w/a/b"), PathBuf::from("/w/a/c")]
    );
    assert_eq!(
        code("workspace = 'a'\nunguarded = ['b', '${workspace}']"),
        "path_relative"
    );
    let lost = Variables {
        workspace: "w".into(),
        ..variables()
    };
    let error = ProfileFile::parse("unguarded = ['a']", &lost).unwrap_err();
    assert_eq!(
        error.to_string(),
        "workspace: the workspace is \"w\", which is not absolute (give an absolute path for it)"
    );
    assert!(ProfileFile::parse("workspace = '/a'\nunguarded = ['b']", &lost).is_ok());
}

#[test]
fn a_file_that_can_not_be_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("p.toml");
    let read = || ProfileFile::read(&path, &variables());
    let starts = |expected: &str| {
        let error = read().unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{}{expected}", path.display())),
            "{error}"
        );
    };
    starts(": No such file or directory");
    std::fs::write(&path, b"network = 'deny' # \xc3\xbc\n# \xff\n").unwrap();
    starts(":2:3: is not UTF-8 (");
    std::fs::write(&path, b"network = 'deny'\nhome = 1").unwrap();
    starts(":2:8: home: is an integer, not a text or a table (");
    let longest = usize::try_from(MAX_BYTES).unwrap();
    std::fs::write(&path, vec![b'\n'; longest + 1]).unwrap();
    starts(": is longer than 1048576 bytes (");
    std::fs::write(&path, vec![b'\n'; longest]).unwrap();
    assert_eq!(read().unwrap().config, parse("").config);
}

#[test]
fn problems_found_on_the_host_lead_back_to_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("p.toml");
    let text = "secret = ['a', '/dev/null/x']\ndevices = ['tty']\n[limits]\nprocesses = 0\n[[roots]]\naccess = 'deny'\n\
                path = 'missing'\n";
    std::fs::write(&path, text).unwrap();
    let here = Variables {
        workspace: directory.path().to_owned(),
        ..variables()
    };
    let mut file = ProfileFile::read(&path, &here).unwrap();
    file.config
        .roots
        .push(Root::directory(directory.path(), Verdict::DENY));
    let invalid = Profile::new(&file.config, &ringfence_host::Host).unwrap_err();
    let error = file.explain(&invalid);
    let places = error.problems.iter().map(|problem| {
        let position = problem.position.map(|position| (position.line, position.column));
        (position, problem.field.as_str(), problem.reason.code())
    });
    assert_eq!(
        places.collect::<Vec<_>>(),
        [
            (None, "root 1", "root_is_workspace"),
            (Some((1, 16)), "secret[1]", "path_io"),
            (Some((2, 12)), "devices[0]", "not_a_device"),
            (Some((4, 13)), "limits.processes", "limit_zero"),
            (Some((7, 8)), "roots[0].path", "path_missing"),
        ]
    );
    assert!(
        error
            .to_string()
            .contains(&format!("{}:7:8: roots[0].path: ", path.display())),
        "{error}"
    );
}
