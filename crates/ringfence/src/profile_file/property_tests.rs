//! A file says what a configuration says, whatever literal values it holds; and no text is too strange.

use std::fmt::Write;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use ringfence_policy::{
    Access, Device, EnvironmentRules, Guarantees, Guard, Limits, NestedNamespaces, NewRepositories, Presence,
    Preset, ProfileConfig, Root, RootKind, Verdict,
};

use super::*;

/// A text as TOML: every character that could mean something is written by its number.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '/' | '_' | '-' => c.to_string(),
        c => format!("\\U{:08X}", u32::from(c)),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn path(path: &Path) -> String {
    quoted(&path.to_str().unwrap().replace('$', "$$"))
}

fn list<T>(items: impl IntoIterator<Item = T>, write: impl Fn(T) -> String) -> String {
    let items: Vec<_> = items.into_iter().map(write).collect();
    format!("[{}]", items.join(", "))
}

fn word(access: Access) -> &'static str {
    match access {
        Access::Deny => "\"deny\"",
        Access::Gated => "\"gated\"",
        Access::Allow => "\"allow\"",
    }
}

fn verdict(verdict: Verdict) -> String {
    let [read, execute, write] = [verdict.read, verdict.execute, verdict.write].map(word);
    format!("{{ read = {read}, execute = {execute}, write = {write} }}")
}

/// The file that says a configuration.
fn written(config: &ProfileConfig) -> String {
    let mut text = String::new();
    let mut say = |key: &str, value: String| writeln!(text, "{key} = {value}").unwrap();
    say("workspace", path(&config.workspace));
    say("workspace_access", verdict(config.workspace_access));
    say("host_access", verdict(config.host_access));
    say("network", word(config.network).to_owned());
    say("command", word(config.command).to_owned());
    let root = |root: &Root| {
        let kind = match root.kind {
            RootKind::Directory => "directory",
            RootKind::File => "file",
            RootKind::Absent => "absent",
        };
        let access = verdict(root.access);
        format!(
            "{{ path = {}, access = {access}, kind = \"{kind}\" }}",
            path(&root.path)
        )
    };
    say("roots", list(&config.roots, root));
    for (key, protection) in [
        ("protect", ringfence_policy::Protection::Protect),
        ("secret", ringfence_policy::Protection::Secret),
    ] {
        let guards = config
            .guards
            .iter()
            .filter(|guard| guard.protection == protection);
        say(key, list(guards, |guard| path(guard.subject.base())));
    }
    say("presets", list(&config.presets, |preset| quoted(preset.name())));
    say("unguarded", list(&config.unguarded, |unguarded| path(unguarded)));
    let refuse = config.new_repositories == NewRepositories::Refuse;
    say(
        "new_repositories",
        quoted(if refuse { "refuse" } else { "report" }),
    );
    let nested = config.nested_namespaces == NestedNamespaces::Allow;
    say(
        "nested_namespaces",
        quoted(if nested { "allow" } else { "refuse" }),
    );
    let device = |device: &Device| {
        let optional = device.presence == Presence::Optional;
        let presence = if optional { "optional" } else { "required" };
        format!("{{ path = {}, presence = \"{presence}\" }}", path(&device.path))
    };
    say("devices", list(&config.devices, device));
    let name = |name: &std::ffi::OsString| quoted(name.to_str().unwrap());
    for (variable, value) in config.environment.set_values() {
        say(&format!("environment.set.{}", name(variable)), name(value));
    }
    say("environment.unset", list(config.environment.unset_names(), name));
    let limits = &config.limits;
    for (key, bytes) in [
        ("memory", limits.memory_bytes),
        ("file_size", limits.file_bytes),
        ("private_size", limits.private_bytes),
        ("output", limits.output_bytes),
    ] {
        if let Some(bytes) = bytes {
            say(&format!("limits.{key}"), format!("\"{bytes}B\""));
        }
    }
    if let Some(processes) = limits.processes {
        say("limits.processes", processes.to_string());
    }
    if let Some(time) = limits.wall_time {
        say("limits.wall_time", format!("\"{}ms\"", time.as_millis()));
    }
    say("require", list(config.require.names(), |name| quoted(&name)));
    text
}

fn absolute() -> impl Strategy<Value = PathBuf> {
    let strange = prop_oneof![
        any::<String>(),
        "[a-z$~{}*?\\[\\]\\\\\"']{1,8}",
        select(vec!["${home}", "$$", "~", "**", "a\nb", "#"]).prop_map(str::to_owned)
    ];
    vec(strange, 0..4).prop_map(|names| {
        let names = names.into_iter().map(|name| name.replace('\0', "0"));
        PathBuf::from(format!("/{}", names.collect::<Vec<_>>().join("/")))
    })
}

fn access() -> impl Strategy<Value = Access> {
    select(vec![Access::Deny, Access::Gated, Access::Allow])
}

fn verdicts() -> impl Strategy<Value = Verdict> {
    [access(), access(), access()].prop_map(|[read, execute, write]| Verdict { read, execute, write })
}

prop_compose! {
    fn places()(
        workspace in absolute(),
        roots in vec((absolute(), verdicts(), select(vec![RootKind::Directory, RootKind::File, RootKind::Absent])), 0..3),
        protect in vec(absolute(), 0..3),
        secret in vec(absolute(), 0..3),
        unguarded in vec(absolute(), 0..3),
        devices in vec((absolute(), select(vec![Presence::Required, Presence::Optional])), 0..3),
    ) -> ProfileConfig {
        ProfileConfig {
            workspace,
            roots: roots.into_iter().map(|(path, access, kind)| Root { path, access, kind }).collect(),
            guards: protect.into_iter().map(Guard::protect).chain(secret.into_iter().map(Guard::secret)).collect(),
            unguarded,
            devices: devices.into_iter().map(|(path, presence)| Device { path, presence }).collect(),
            ..ProfileConfig::default()
        }
    }
}

prop_compose! {
    fn environments()(
        set in btree_map("[^=\0]{1,6}", "[^\0]{0,6}", 0..4),
        unset in btree_set("[^=\0]{1,6}", 0..4),
    ) -> EnvironmentRules {
        let mut rules = EnvironmentRules::default();
        for name in unset.iter().filter(|name| !set.contains_key(*name)) {
            rules = rules.unset(name).unwrap();
        }
        for (name, value) in &set {
            rules = rules.set(name, value).unwrap();
        }
        rules
    }
}

prop_compose! {
    fn limits()(
        [memory_bytes, file_bytes, private_bytes, output_bytes] in [(); 4].map(|()| option::of(any::<u64>())),
        processes in option::of(0..=i64::MAX.unsigned_abs()),
        wall_time in option::of(any::<u64>()),
    ) -> Limits {
        Limits {
            memory_bytes,
            file_bytes,
            private_bytes,
            output_bytes,
            processes,
            wall_time: wall_time.map(std::time::Duration::from_millis),
            ..Limits::default()
        }
    }
}

prop_compose! {
    fn configs()(
        places in places(),
        [workspace_access, host_access] in [verdicts(), verdicts()],
        [network, command] in [access(), access()],
        presets in subsequence(Preset::ALL.to_vec(), 0..=3),
        new_repositories in select(vec![NewRepositories::Report, NewRepositories::Refuse]),
        nested_namespaces in select(vec![NestedNamespaces::Refuse, NestedNamespaces::Allow]),
        environment in environments(),
        limits in limits(),
        require in any::<u8>().prop_map(Guarantees::from_bits_truncate),
    ) -> ProfileConfig {
        ProfileConfig {
            workspace_access,
            host_access,
            network,
            command,
            presets: presets.into_iter().collect(),
            new_repositories,
            nested_namespaces,
            environment,
            limits,
            require,
            ..places
        }
    }
}

/// Lines that are nearly those of a profile.
fn soup() -> impl Strategy<Value = String> {
    let key = select(vec![
        "secret",
        "roots",
        "limits",
        "home",
        "environment.set",
        "limits.memory",
        "x",
        "[[roots]]",
    ]);
    let value = select(vec![
        "",
        "1",
        "-1",
        "'a'",
        "'${b}'",
        "[",
        "]",
        "[1, 'a', {}]",
        "{ glob = '[z-a]' }",
        "{ path = 1 }",
        "true",
        "{",
        "\"\\n",
        "1e9",
        "2000-01-01",
        "[{ in = '~' }, '']",
        "{ name = \"\u{7}\\n\" }",
        "ä",
    ]);
    let line = (key, value, any::<bool>()).prop_map(|(key, value, equals)| match equals {
        true => format!("{key} = {value}"),
        false => format!("{key}\n{value}"),
    });
    vec(prop_oneof![line, any::<String>()], 0..8).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn the_file_of_a_configuration_gives_that_configuration(config in configs()) {
        let variables = Variables { workspace: "/unused".into(), home: "/unused".into() };
        let text = written(&config);
        let parsed = ProfileFile::parse(&text, &variables).map(|file| file.config);
        // Equal paths can be spelled differently; these are not.
        prop_assert_eq!(format!("{parsed:?}"), format!("{:?}", Ok::<_, ProfileFileError>(&config)), "{}", text);
        prop_assert_eq!(parsed, Ok(config));
    }

    #[test]
    fn every_problem_of_any_text_is_one_line_within_the_text(text in soup()) {
        let variables = Variables { workspace: "/w".into(), home: "".into() };
        let Err(error) = ProfileFile::parse(&text, &variables) else { return Ok(()) };
        prop_assert!(!error.problems.is_empty());
        let shown = error.to_string();
        prop_assert_eq!(shown.split('\n').count(), error.problems.len(), "{:?}", shown);
        prop_assert!(error.problems.is_sorted_by_key(|problem| problem.position));
        for position in error.problems.iter().filter_map(|problem| problem.position) {
            let line = text.split('\n').nth(position.line - 1);
            let length = line.map(|line| line.chars().count());
            prop_assert!(length.is_some_and(|length| position.column <= length + 1), "{:?}", error);
        }
    }
}
