use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ringfence_policy::Link;

use super::discover;
use crate::runtime::{Bundle, BundleName, Provenance, Survey};
use crate::testing::Tree;

fn select(selection: &[BundleName], path: &Path) -> Vec<Bundle> {
    let selection = selection.iter().copied().collect();
    discover(
        &Survey::of(path.as_os_str()),
        &selection,
        path.as_os_str(),
        &|_| None,
        None,
    )
}

/// A directory of `PATH` that belongs to a manager of Python.
fn shims(tree: &Tree) -> PathBuf {
    tree.program("me/.pyenv/shims/python");
    tree.path("me/.pyenv/shims")
}

#[test]
fn only_what_is_selected_is_found_in_order() {
    let tree = Tree::new();
    let shims = shims(&tree);
    assert_eq!(select(&[], &shims), []);
    let names = |selection: &[BundleName]| -> Vec<_> {
        let bundles = select(selection, &shims);
        bundles.into_iter().map(|bundle| bundle.name).collect()
    };
    let some = [BundleName::Python, BundleName::Base];
    assert_eq!(names(&some), [BundleName::Base, BundleName::Python]);
    let all = names(BundleName::ALL);
    assert!(all.is_sorted() && all.contains(&BundleName::Python), "{all:?}");
}

#[test]
fn what_belongs_to_a_bundle_that_is_not_selected_stays_closed() {
    let tree = Tree::new();
    let shims = shims(&tree);
    let others: Vec<_> = BundleName::ALL
        .iter()
        .copied()
        .filter(|bundle| *bundle != BundleName::Python)
        .collect();
    let inside = |bundles: &[Bundle]| {
        let mut entries = bundles.iter().flat_map(|bundle| &bundle.entries);
        entries.any(|entry| entry.resolved.path.starts_with(tree.path("me")))
    };
    assert!(inside(&select(BundleName::ALL, &shims)));
    assert!(!inside(&select(&others, &shims)));
}

#[test]
fn programs_of_the_system_belong_to_the_base_only() {
    let without: Vec<_> = BundleName::ALL
        .iter()
        .copied()
        .filter(|bundle| *bundle != BundleName::Base)
        .collect();
    let path = std::env::join_paths(["/usr/bin", "/bin", "/usr/local/bin"]).unwrap();
    let bundles = select(&without, Path::new(&path));
    let entries = bundles.iter().flat_map(|bundle| &bundle.entries);
    for entry in entries.filter(|entry| !matches!(entry.why, Provenance::Table(_))) {
        let known = |link: &Link| link.path.starts_with("/usr");
        let system = entry.resolved.path.starts_with("/usr") && entry.resolved.links.iter().all(known);
        assert!(!system, "{entry:?}");
    }
}

#[test]
fn entries_are_sorted_and_none_is_there_twice() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::home_dir();
    let lookup = |name: &str| std::env::var_os(name);
    let found = || {
        discover(
            &Survey::of(&path),
            &BundleName::all(),
            &path,
            &lookup,
            home.as_deref(),
        )
    };
    let bundles = found();
    assert_eq!(bundles, found());
    let mut seen = BTreeSet::new();
    for bundle in &bundles {
        assert!(
            bundle
                .entries
                .is_sorted_by(|a, b| a.resolved.path <= b.resolved.path)
        );
        for entry in &bundle.entries {
            let links: Vec<_> = entry.resolved.links.iter().map(|link| &link.path).collect();
            assert!(seen.insert((&entry.resolved.path, links)), "{entry:?}");
        }
    }
    let variables = bundles.iter().flat_map(|bundle| {
        let private = bundle.private.iter().map(|(name, _)| name);
        let options = bundle.options.iter().map(|(name, _)| name);
        let environment = bundle.environment.iter().map(|(name, _)| name);
        environment.chain(private).chain(options)
    });
    let mut names: Vec<_> = variables.collect();
    names.sort();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
}

#[test]
fn env_1_the_tools_of_the_system_need_no_variables() {
    let path = std::env::join_paths(["/usr/bin", "/bin"]).unwrap();
    let of_tables = |bundle: &Bundle| {
        let mut entries = bundle.entries.iter();
        entries.all(|entry| matches!(entry.why, Provenance::Table(_)))
    };
    let bundles = select(BundleName::ALL, Path::new(&path));
    for bundle in bundles.into_iter().filter(of_tables) {
        let variables = (bundle.environment, bundle.private, bundle.options);
        assert_eq!(variables, Default::default(), "{}", bundle.name);
    }
}

#[test]
fn variables_are_set_for_installations_apart_from_the_system() {
    let tree = Tree::new();
    let variables = |directory: &str| -> Vec<OsString> {
        let languages = [BundleName::Go, BundleName::Node, BundleName::Rust];
        let bundles = select(&languages, &tree.path(directory));
        let private = bundles.into_iter().flat_map(|bundle| bundle.private);
        private.map(|(name, _)| name).collect()
    };
    tree.program("tools/bin/go");
    assert_eq!(variables("tools/bin"), Vec::<OsString>::new());
    tree.file("tools/pkg/tool/compile");
    assert_eq!(variables("tools/bin"), ["GOPATH", "GOMODCACHE", "GOCACHE"]);
    tree.link("links/go", "../tools/bin/go");
    assert_eq!(variables("links"), ["GOPATH", "GOMODCACHE", "GOCACHE"]);
    let python = select(&[BundleName::Python], &shims(&tree)).remove(0);
    assert_eq!(python.private, [("PIP_CACHE_DIR".into(), ".cache/pip".into())]);
}

#[test]
fn a_survey_is_about_the_systems_directories_alone() {
    let tree = Tree::new();
    tree.program("opt/tool/bin/tool");
    tree.link("bin/tool", "../opt/tool/bin/tool");
    tree.link("system", "/usr/bin");
    let (bin, system) = (tree.path("bin"), tree.path("system"));
    let path = std::env::join_paths([&bin, &system, Path::new("/usr/bin")]).unwrap();
    let survey = Survey::of(&path);
    assert!(survey.listing(&bin).is_none());
    assert!(
        survey
            .listing(&Path::new("/usr/bin").canonicalize().unwrap())
            .is_some()
    );
    let through_a_link = Survey::of(system.as_os_str());
    assert!(
        through_a_link.listing(Path::new("/usr/bin")).is_none(),
        "whoever made it decides"
    );
    // What it is not about is looked at all the same.
    let discovered = |survey| discover(&survey, &BundleName::all(), &path, &|_| None, None);
    let found = discovered(survey);
    let mut entries = found.iter().flat_map(|bundle| &bundle.entries);
    assert!(entries.any(|entry| entry.resolved.path == tree.path("opt/tool")));
    assert_eq!(discovered(Survey::of("".as_ref())), found);
}
