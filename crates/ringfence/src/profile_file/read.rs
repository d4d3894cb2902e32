//! From the tree of a file to a configuration.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ringfence_host::runtime::{BundleName, Cache};
use ringfence_policy::{Field, Guarantees, Home, Preset, ProfileConfig};

use super::entries;
use super::node::{Node, Shape, Table};
use super::reason::FileReason;
use super::variables::Variables;
use super::vocabulary as words;

/// What a file says; complete only if no problem was noted.
pub(super) struct Read {
    pub(super) config: ProfileConfig,
    pub(super) home_name: Option<String>,
    pub(super) bundles: Option<Vec<BundleName>>,
    pub(super) caches: Vec<Cache>,
}

/// Reads the top of a file; what is wrong is noted and left out.
pub(super) fn profile(top: &Table<'_>, given: &Variables) -> Read {
    let variables = Variables {
        workspace: workspace(top, given),
        home: given.home.clone(),
    };
    let unsaid = ProfileConfig::default();
    let get = |key| top.get(key);
    let verdict = |key| get(key).and_then(|node| entries::verdict(&node));
    let access = |key| get(key).and_then(|node| node.word(words::ACCESSES));
    let (home, home_name) = get("home").map_or((unsaid.home, None), |node| home(&node));
    let config = ProfileConfig {
        workspace_access: verdict("workspace_access").unwrap_or(unsaid.workspace_access),
        host_access: verdict("host_access").unwrap_or(unsaid.host_access),
        network: access("network").unwrap_or(unsaid.network),
        command: access("command").unwrap_or(unsaid.command),
        home,
        roots: get("roots").map_or(unsaid.roots, |node| entries::roots(&node, &variables)),
        guards: entries::guards(get("protect"), get("secret"), &variables),
        presets: presets(get("presets"), get("without_presets")),
        unguarded: get("unguarded").map_or(unsaid.unguarded, |node| entries::unguarded(&node, &variables)),
        new_repositories: get("new_repositories")
            .and_then(|node| node.word(words::NEW_REPOSITORIES))
            .unwrap_or(unsaid.new_repositories),
        nested_namespaces: get("nested_namespaces")
            .and_then(|node| node.word(words::NESTED_NAMESPACES))
            .unwrap_or(unsaid.nested_namespaces),
        devices: get("devices").map_or(unsaid.devices, |node| entries::devices(&node, &variables)),
        environment: get("environment").map_or(unsaid.environment, |node| entries::environment(&node)),
        limits: get("limits").map_or(unsaid.limits, |node| entries::limits(&node)),
        require: get("require").map_or(unsaid.require, |node| require(&node)),
        workspace: variables.workspace,
        ..ProfileConfig::default()
    };
    Read {
        config,
        home_name,
        bundles: get("bundles").map(|node| {
            list(&node, || {
                BundleName::ALL.iter().map(|bundle| (bundle.as_str(), *bundle))
            })
        }),
        caches: get("cache").map_or(Vec::new(), |node| {
            list(&node, || Cache::ALL.iter().map(|cache| (cache.as_str(), *cache)))
        }),
    }
}

/// The workspace; `/` where there is no usable one, so that the rest of the file can be judged.
fn workspace(top: &Table<'_>, given: &Variables) -> PathBuf {
    let path = match top.get("workspace") {
        Some(node) => {
            node.gives(Field::Workspace);
            node.text().and_then(|text| node.checked(given.absolute(text)))
        }
        None => match given.value("workspace") {
            Ok(path) => Some(path.to_owned()),
            Err(reason) => {
                top.lacks("workspace", reason);
                None
            }
        },
    };
    path.unwrap_or_else(|| "/".into())
}

fn home(node: &Node<'_>) -> (Home, Option<String>) {
    let table = match node.shape() {
        Shape::Text => return (node.word(words::HOMES).unwrap_or_default(), None),
        Shape::Table => node.table(words::HOME),
        _ => node.is_not("a text or a table", "\"isolated\""),
    };
    let name = table.and_then(|table| table.require("name")).and_then(|node| {
        let name = node.name()?;
        node.checked(check_home_name(name))?;
        Some(name.to_owned())
    });
    (Home::Isolated, name)
}

/// A name that can be the name of a directory anywhere.
fn check_home_name(name: &str) -> Result<(), FileReason> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.len() <= 64 && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain)
    {
        return Ok(());
    }
    Err(FileReason::HomeName {
        name: name.to_owned(),
    })
}

fn presets(only: Option<Node<'_>>, without: Option<Node<'_>>) -> BTreeSet<Preset> {
    let presets = |node: &Node<'_>| -> BTreeSet<Preset> {
        let words = || Preset::ALL.map(|preset| (preset.name(), preset));
        let names = node.names().into_iter();
        names.filter_map(|(_, node)| node.word(words())).collect()
    };
    let all = BTreeSet::from(Preset::ALL);
    if let (Some(_), Some(without)) = (&only, &without) {
        without.is_wrong(FileReason::Contradicts { other: "presets" });
    }
    let removed = without.map(|node| presets(&node)).unwrap_or_default();
    match only {
        Some(node) => {
            node.gives(Field::Presets);
            presets(&node)
        }
        None => &all - &removed,
    }
}

fn require(node: &Node<'_>) -> Guarantees {
    list(node, || Guarantees::all().names().zip(Guarantees::all()))
        .into_iter()
        .collect()
}

/// What the words of a list mean, each of which can be there once.
fn list<W: AsRef<str>, T, K: IntoIterator<Item = (W, T)>>(node: &Node<'_>, known: impl Fn() -> K) -> Vec<T> {
    let names = node.names().into_iter();
    names.filter_map(|(_, node)| node.word(known())).collect()
}
