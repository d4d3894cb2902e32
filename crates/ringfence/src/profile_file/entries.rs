//! The lists and tables of a file: roots, guards, devices, environment, limits.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ringfence_policy::{
    Access, Device, EnvironmentRules, Field, Guard, Limit, Limits, NameCase, Pattern, Presence, Protection,
    Root, RootKind, VariableName, Verdict,
};

use super::amount;
use super::node::{Node, Shape, Table};
use super::reason::FileReason;
use super::variables::Variables;
use super::vocabulary as words;

/// One word for all axes, or a table of them.
pub(super) fn verdict(node: &Node<'_>) -> Option<Verdict> {
    let table = match node.shape() {
        Shape::Text => return node.word(words::VERDICTS),
        Shape::Table => node.table(words::VERDICT)?,
        _ => return node.is_not("a text or a table", "\"read-only\""),
    };
    let access = |key| table.get(key).and_then(|node| node.word(words::ACCESSES));
    let read = access("read").unwrap_or_default();
    Some(Verdict {
        read,
        execute: access("execute").unwrap_or(read),
        write: access("write").unwrap_or(Access::Deny),
    })
}

pub(super) fn roots(node: &Node<'_>, variables: &Variables) -> Vec<Root> {
    let mut roots = Vec::new();
    for node in node.items() {
        let Some(table) = node.table(words::ROOT) else {
            continue;
        };
        let place = table.require("path");
        let at = place.as_ref().and_then(|node| path(node, variables));
        let access = table.require("access").and_then(|node| verdict(&node));
        let kind = table.get("kind").map(|node| node.word(words::ROOT_KINDS));
        let kind = kind.unwrap_or(Some(RootKind::Directory));
        if let (Some(place), Some(path), Some(access), Some(kind)) = (place, at, access, kind) {
            place.gives(Field::Root(roots.len()));
            roots.push(Root { path, access, kind });
        }
    }
    roots
}

/// The protected places, then the secret ones.
pub(super) fn guards(
    protect: Option<Node<'_>>,
    secret: Option<Node<'_>>,
    variables: &Variables,
) -> Vec<Guard> {
    let mut guards = Vec::new();
    for (list, protection) in [(protect, Protection::Protect), (secret, Protection::Secret)] {
        for node in list.iter().flat_map(Node::items) {
            let guard = match node.shape() {
                Shape::Text => path(&node, variables).map(|path| match protection {
                    Protection::Protect => Guard::protect(path),
                    Protection::Secret => Guard::secret(path),
                }),
                Shape::Table => node
                    .table(words::PATTERN)
                    .map(|table| Guard::matching(pattern(&table, variables), protection)),
                _ => node.is_not("a path or a pattern", "{ glob = \"**/*.pem\" }"),
            };
            if let Some(guard) = guard {
                node.gives(Field::Guard(guards.len()));
                guards.push(guard);
            }
        }
    }
    guards
}

/// The variables are in the base alone, which is literal. Where something is wrong, any pattern.
fn pattern(table: &Table<'_>, variables: &Variables) -> Pattern {
    let base = match table.get("in") {
        Some(node) => path(&node, variables).unwrap_or_default(),
        None => variables.workspace.clone(),
    };
    let any = || Pattern::exactly(&base);
    let glob = table.require("glob");
    let pattern = glob.and_then(|node| node.checked(Pattern::new(&base, glob_of(&node)?)));
    let except = table.get("except");
    let except = except.iter().flat_map(Node::items);
    except.fold(pattern.unwrap_or_else(any), |pattern, node| {
        match glob_of(&node) {
            Some(text) => node.checked(pattern.except(text)).unwrap_or_else(any),
            None => pattern,
        }
    })
}

/// A glob that could be beneath a directory.
fn glob_of<'f>(node: &Node<'f>) -> Option<&'f str> {
    let text = node.name()?;
    if text.starts_with(['/', '~']) {
        node.is_wrong(FileReason::GlobNotRelative {
            glob: text.to_owned(),
        });
        return None;
    }
    if text.contains("${") {
        node.is_wrong(FileReason::GlobVariable {
            glob: text.to_owned(),
        });
        return None;
    }
    Some(text)
}

pub(super) fn unguarded(node: &Node<'_>, variables: &Variables) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for node in node.items() {
        if let Some(path) = path(&node, variables) {
            node.gives(Field::Unguarded(paths.len()));
            paths.push(path);
        }
    }
    paths
}

pub(super) fn devices(node: &Node<'_>, variables: &Variables) -> Vec<Device> {
    let mut devices = Vec::new();
    for node in node.items() {
        let required = Some(Presence::Required);
        let (place, presence) = match node.shape() {
            Shape::Text => (Some(node), required),
            Shape::Table => {
                let Some(table) = node.table(words::DEVICE) else {
                    continue;
                };
                let presence = table.get("presence").map(|node| node.word(words::PRESENCES));
                (table.require("path"), presence.unwrap_or(required))
            }
            _ => (node.is_not("a path or a table", "\"/dev/kvm\""), required),
        };
        let at = place.as_ref().and_then(|node| path(node, variables));
        if let (Some(place), Some(path), Some(presence)) = (place, at, presence) {
            place.gives(Field::Device(devices.len()));
            devices.push(Device { path, presence });
        }
    }
    devices
}

/// What is wrong is noted, so that what becomes of the rest then does not matter.
pub(super) fn environment(node: &Node<'_>) -> EnvironmentRules {
    let mut rules = EnvironmentRules::default();
    let Some(table) = node.table(words::ENVIRONMENT) else {
        return rules;
    };
    let names = |key| table.get(key).map(|node| node.names()).unwrap_or_default();
    for (name, node) in names("inherit") {
        if let Some(name) = node.checked(name.parse::<VariableName>()) {
            rules = rules.inherit(name);
        }
    }
    let set = table.get("set").and_then(|node| node.any_table());
    let mut set_names = BTreeSet::new();
    for (name, node) in set.iter().flat_map(Table::entries) {
        set_names.insert(NameCase::NATIVE.key(name.as_ref()));
        if let Some(value) = node.text() {
            rules = node.checked(rules.set(name, value)).unwrap_or_default();
        }
    }
    for (name, node) in names("unset") {
        if set_names.contains(&NameCase::NATIVE.key(name.as_ref())) {
            node.is_wrong(FileReason::Contradicts {
                other: "environment.set",
            });
        }
        rules = node.checked(rules.unset(name)).unwrap_or_default();
    }
    rules
}

pub(super) fn limits(node: &Node<'_>) -> Limits {
    let Some(table) = node.table(words::LIMITS) else {
        return Limits::default();
    };
    let get = |key, limit| {
        let node = table.get(key);
        node.inspect(|node| node.gives(Field::Limit(limit)))
    };
    let count = |key, limit| get(key, limit).and_then(|node| node.count());
    let bytes = |key, limit| get(key, limit).and_then(|node| size(&node));
    let time = |key, limit| {
        let node = get(key, limit)?;
        node.checked(amount::time(node.text()?))
    };
    Limits {
        memory_bytes: bytes("memory", Limit::Memory),
        processes: count("processes", Limit::Processes),
        cpu_time: time("cpu_time", Limit::CpuTime),
        wall_time: time("wall_time", Limit::WallTime),
        open_files: count("open_files", Limit::OpenFiles),
        file_bytes: bytes("file_size", Limit::FileSize),
        private_bytes: bytes("private_size", Limit::PrivateSize),
        output_bytes: bytes("output", Limit::Output),
    }
}

/// Bytes as a number, or as a text with a unit.
fn size(node: &Node<'_>) -> Option<u64> {
    match node.shape() {
        Shape::Integer => node.count(),
        Shape::Text => node.checked(amount::bytes(node.text()?)),
        _ => node.is_not("a size", "\"512MiB\""),
    }
}

fn path(node: &Node<'_>, variables: &Variables) -> Option<PathBuf> {
    let text = node.text()?;
    node.checked(variables.path(text))
}
