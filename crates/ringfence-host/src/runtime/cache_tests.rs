use std::collections::BTreeSet;
use std::path::Path;

use super::Cache;
use crate::runtime::variables::PRIVATE;

#[test]
fn s_17_every_cache_has_variables_below_its_own_directory() {
    let root = Path::new("/var/cache/me");
    let mut names = BTreeSet::new();
    for cache in Cache::ALL {
        let variables = cache.variables(root);
        assert!(!variables.is_empty(), "{cache}");
        for (name, path) in variables {
            assert!(path.starts_with(cache.directory(root)), "{cache}: {path:?}");
            let row = PRIVATE.iter().find(|row| name == *row.variable).unwrap();
            assert_eq!(row.bundle, cache.bundle(), "{cache}");
            assert!(names.insert(name), "{cache}");
        }
    }
    let go = Cache::Go.variables(root);
    let expected = [
        ("GOMODCACHE", "/var/cache/me/go/mod"),
        ("GOCACHE", "/var/cache/me/go/build"),
    ];
    assert_eq!(go, expected.map(|(name, path)| (name.into(), path.into())));
    let cargo = Cache::Cargo.variables(root);
    assert_eq!(cargo, [("CARGO_HOME".into(), "/var/cache/me/cargo".into())]);
    assert_eq!(cargo[0].1.as_os_str(), "/var/cache/me/cargo");
}

#[test]
fn what_is_kept_holds_no_programs_settings_or_credentials() {
    for name in [
        "bin",
        "config.toml",
        "config",
        "credentials.toml",
        "env",
        ".crates.toml",
    ] {
        assert!(!Cache::Cargo.keeps().contains(&name), "{name}");
    }
    for cache in Cache::ALL {
        for name in cache.keeps() {
            assert!(!name.is_empty() && !name.contains('/'), "{cache}: {name}");
        }
    }
}

#[test]
fn what_a_cache_keeps_names_the_places_of_its_variables() {
    let places = PRIVATE.iter().filter_map(|row| row.cache);
    for (cache, below) in places.filter(|(_, below)| !below.is_empty()) {
        assert!(cache.keeps().contains(&below), "{cache}: {below}");
    }
}

#[test]
fn a_path_is_in_the_cache_that_a_tool_would_keep_there() {
    let home = Path::new("/no/home");
    let variable = |name: &str| (name == "GOCACHE").then(|| "/no/build".into());
    for (path, cache) in [
        ("/no/home/.cargo", Some(Cache::Cargo)),
        ("/no/home/.cargo/registry/index", Some(Cache::Cargo)),
        ("/no/home/.cargo/bin/x", None),
        ("/no/home/.cargo/credentials.toml", None),
        ("/no/home/.npm/_cacache/x", Some(Cache::Npm)),
        ("/no/home/.npm/_npx", None),
        ("/no/home/.cache/pip", Some(Cache::Pip)),
        ("/no/home/go/pkg/mod/x", Some(Cache::Go)),
        ("/no/home/go/bin", None),
        ("/no/build/x", Some(Cache::Go)),
        ("/no/home/.cache/go-build", None),
        ("/no/home", None),
    ] {
        assert_eq!(Cache::at(Path::new(path), home, &variable), cache, "{path}");
    }
}
