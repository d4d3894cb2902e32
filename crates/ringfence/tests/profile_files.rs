//! The schema and the parser agree, and the examples are what they say.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

#[path = "profile_files/cases.rs"]
mod cases;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cases::{BAD, BAD_FOR_THE_PARSER, GOOD};
use jsonschema::Validator;
use ringfence::{
    Access, FileReason, Kind, Presence, Preset, Profile, ProfileConfig, ProfileFile, Resolve, ResolveError,
    Resolved, Variables, Verdict,
};
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

const EXAMPLES: [&str; 3] = ["default", "strict", "monorepo"];

#[test]
fn the_schema_is_valid_and_every_part_of_it_is_used() {
    let schema = schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let text = schema.to_string();
    for name in schema["$defs"].as_object().unwrap().keys() {
        assert!(
            text.contains(&format!("\"#/$defs/{name}\"")),
            "{name} is never used"
        );
    }
}

#[test]
fn the_schema_and_the_parser_take_the_same_files() {
    let validator = validator();
    let examples = EXAMPLES.map(|name| std::fs::read_to_string(example(name)).unwrap());
    for text in GOOD.iter().copied().chain(examples.iter().map(String::as_str)) {
        let errors: Vec<_> = validator
            .iter_errors(&json(text))
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{text}");
        ProfileFile::parse(text, &variables()).unwrap();
    }
    for (text, code) in BAD.iter().chain(BAD_FOR_THE_PARSER) {
        let error = ProfileFile::parse(text, &variables()).unwrap_err();
        let codes: Vec<_> = error
            .problems
            .iter()
            .map(|problem| problem.reason.code())
            .collect();
        assert_eq!(codes, [*code], "{text}: {error}");
    }
    for (text, _) in BAD {
        assert!(!validator.is_valid(&json(text)), "the schema takes {text}");
    }
    for (text, _) in BAD_FOR_THE_PARSER {
        assert!(validator.is_valid(&json(text)), "the schema refuses {text} too");
    }
}

/// A table with a key that there is not, and where the schema describes it.
#[test]
fn the_schema_has_the_keys_of_the_parser() {
    for (text, pointer) in [
        ("zzz = 1", ""),
        ("host_access.zzz = 1", "/$defs/verdict/anyOf/1"),
        ("home = { name = 'a', zzz = 1 }", "/properties/home/anyOf/1"),
        (
            "roots = [{ path = 'a', access = 'deny', zzz = 1 }]",
            "/properties/roots/items",
        ),
        (
            "secret = [{ glob = 'a', zzz = 1 }]",
            "/$defs/guards/items/anyOf/1",
        ),
        (
            "devices = [{ path = 'a', zzz = 1 }]",
            "/properties/devices/items/anyOf/1",
        ),
        ("environment.zzz = 1", "/properties/environment"),
        ("limits.zzz = 1", "/properties/limits"),
    ] {
        let FileReason::UnknownKey { known, .. } = only_reason(text) else {
            panic!("{text}")
        };
        let described = schema().pointer(pointer).unwrap()["properties"].clone();
        let described: BTreeSet<_> = described.as_object().unwrap().keys().cloned().collect();
        assert_eq!(
            described,
            known.iter().map(ToString::to_string).collect(),
            "{text}"
        );
    }
}

#[test]
fn the_schema_has_the_words_of_the_parser() {
    for (text, pointer) in [
        ("network = 'zzz'", "/$defs/access"),
        ("host_access = 'zzz'", "/$defs/verdict/anyOf/0"),
        ("home = 'zzz'", "/properties/home/anyOf/0"),
        (
            "roots = [{ path = 'a', access = 'deny', kind = 'zzz' }]",
            "/properties/roots/items/properties/kind",
        ),
        ("presets = ['zzz']", "/$defs/presets/items"),
        ("new_repositories = 'zzz'", "/properties/new_repositories"),
        ("nested_namespaces = 'zzz'", "/properties/nested_namespaces"),
        (
            "devices = [{ path = 'a', presence = 'zzz' }]",
            "/properties/devices/items/anyOf/1/properties/presence",
        ),
        ("require = ['zzz']", "/properties/require/items"),
        ("bundles = ['zzz']", "/properties/bundles/items"),
        ("cache = ['zzz']", "/properties/cache/items"),
    ] {
        let FileReason::UnknownWord { known, .. } = only_reason(text) else {
            panic!("{text}")
        };
        let described = schema().pointer(pointer).unwrap()["enum"].clone();
        assert_eq!(described, Value::from(known), "{text}");
    }
}

/// What the command line does without options.
#[test]
fn the_default_example_is_the_default_run() {
    let file = ProfileFile::read(&example("default"), &variables()).unwrap();
    let expected = ProfileConfig {
        workspace: "/src/app".into(),
        workspace_access: Verdict::READ_WRITE,
        command: Access::Allow,
        ..ProfileConfig::default()
    };
    assert_eq!(file.config, expected);
    assert_eq!(
        (file.home_name, file.bundles, file.caches),
        (None, None, Vec::new())
    );
}

#[test]
fn every_example_makes_a_profile() {
    for name in EXAMPLES {
        let file = ProfileFile::read(&example(name), &variables()).unwrap();
        let profile = Profile::new(&file.config, &Tidy);
        profile
            .map_err(|invalid| file.explain(&invalid).to_string())
            .unwrap();
    }
    let present = std::fs::read_dir(example("default").parent().unwrap()).unwrap();
    assert_eq!(present.count(), EXAMPLES.len());
}

#[test]
fn the_examples_say_what_their_comments_say() {
    let read = |name| ProfileFile::read(&example(name), &variables()).unwrap();
    let strict = Profile::new(&read("strict").config, &Tidy).unwrap();
    let access = |profile: &Profile, axis, path: &str| {
        profile.access_for(&format!("filesystem.{axis}"), path).unwrap()
    };
    assert_eq!(access(&strict, "write", "/src/app/main.rs"), Access::Deny);
    assert_eq!(access(&strict, "write", "/src/app/target/debug/a"), Access::Allow);
    assert_eq!(access(&strict, "read", "/src/app/deploy/key"), Access::Deny);
    assert_eq!(access(&strict, "read", "/src/app/a.tfstate.backup"), Access::Deny);
    assert_eq!(access(&strict, "read", "/src/app/fixtures/a.key"), Access::Deny);
    assert_eq!(
        access(&strict, "read", "/src/app/fixtures/public/a.key"),
        Access::Allow
    );

    let file = read("monorepo");
    assert_eq!(file.home_name.as_deref(), Some("billing"));
    assert!(!file.config.presets.contains(&Preset::AgentConfig));
    let presences: Vec<_> = file.config.devices.iter().map(|device| device.presence).collect();
    assert_eq!(presences, [Presence::Optional, Presence::Required]);
    let monorepo = Profile::new(&file.config, &Tidy).unwrap();
    let billing = "/src/app/services/billing";
    assert_eq!(
        access(&monorepo, "write", &format!("{billing}/pages/[invoice]/page.tsx")),
        Access::Allow
    );
    assert_eq!(
        access(
            &monorepo,
            "write",
            &format!("{billing}/pages/[invoice]/layout.tsx")
        ),
        Access::Deny
    );
    assert_eq!(
        access(&monorepo, "write", &format!("{billing}/pnpm.lock")),
        Access::Deny
    );
    assert_eq!(
        access(&monorepo, "read", &format!("{billing}/config/production.json")),
        Access::Deny
    );
    assert_eq!(access(&monorepo, "write", "/src/app/libs/a.ts"), Access::Deny);
    assert_eq!(
        access(&monorepo, "write", "/src/design-tokens/a.json"),
        Access::Gated
    );
    assert_eq!(access(&monorepo, "read", "/home/me/Documents/a"), Access::Deny);
}

/// A host where everything is a directory that is not named like a file, and nothing is a link.
struct Tidy;

impl Resolve for Tidy {
    fn resolve(&self, path: &Path) -> Result<Resolved, ResolveError> {
        let mut clean = PathBuf::new();
        for part in path.components() {
            match part {
                std::path::Component::ParentDir => drop(clean.pop()),
                part => clean.push(part),
            }
        }
        let kind = if clean.extension().is_some() {
            Kind::File
        } else {
            Kind::Directory
        };
        Ok(Resolved {
            path: clean,
            kind,
            identity: None,
            links: Vec::new(),
        })
    }
}

fn variables() -> Variables {
    Variables {
        workspace: "/src/app".into(),
        home: "/home/me".into(),
    }
}

fn only_reason(text: &str) -> FileReason {
    let error = ProfileFile::parse(text, &variables()).unwrap_err();
    let [problem] = error.problems.as_slice() else {
        panic!("{error}")
    };
    problem.reason.clone()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> PathBuf {
    repository().join(format!("examples/profiles/{name}.toml"))
}

fn schema() -> Value {
    let text = std::fs::read_to_string(repository().join("schema/profile.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn validator() -> Validator {
    jsonschema::validator_for(&schema()).unwrap()
}

/// A file as editors see it that check TOML against a schema.
fn json(text: &str) -> Value {
    Value::Object(object(DeTable::parse(text).unwrap().get_ref()))
}

fn object(table: &DeTable<'_>) -> Map<String, Value> {
    let entries = table.iter();
    entries
        .map(|(key, item)| (key.get_ref().to_string(), value(item.get_ref())))
        .collect()
}

fn value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .unwrap()
            .into(),
        DeValue::Float(number) => number.as_str().parse::<f64>().unwrap().into(),
        DeValue::Boolean(boolean) => (*boolean).into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| self::value(item.get_ref())).collect(),
        DeValue::Table(table) => Value::Object(object(table)),
    }
}
