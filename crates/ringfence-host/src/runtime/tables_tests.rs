use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ringfence_policy::{Kind, Resolve};

use super::{find, find_all, matches, select};
use crate::Host;
use crate::runtime::RuntimeAccess::{self, Read, ReadExecute};
use crate::runtime::look::Look;
use crate::runtime::table::{Row, TABLES};
use crate::runtime::{BundleName, Provenance, RuntimeEntry};
use crate::testing::{Tree, skip};

fn of(selection: &[BundleName]) -> Vec<(BundleName, RuntimeEntry)> {
    select(
        &find_all(&mut Look::default()),
        &selection.iter().copied().collect(),
    )
}

fn system() -> Vec<RuntimeEntry> {
    of(BundleName::ALL).into_iter().map(|(_, entry)| entry).collect()
}

fn rows() -> impl Iterator<Item = &'static Row> {
    TABLES.iter().flat_map(|(_, rows)| *rows)
}

/// The access the entries give, deepest entry first.
fn access(path: &str) -> Option<RuntimeAccess> {
    let path = Host.resolve(Path::new(path)).unwrap().path;
    let entries = system();
    let mut above = entries
        .iter()
        .filter(|entry| path.starts_with(&entry.resolved.path));
    above.next_back().map(|entry| entry.access)
}

#[test]
fn pol_37_programs_and_their_loader_may_run() {
    for path in ["/bin/sh", "/usr/bin/env", "/usr/lib"] {
        assert_eq!(access(path), Some(ReadExecute), "{path}");
    }
}

#[test]
fn pol_36_names_and_settings_may_be_read() {
    for path in ["/etc/hosts", "/etc/passwd", "/etc/services"] {
        if Path::new(path).exists() {
            assert_eq!(access(path), Some(Read), "{path}");
        } else {
            skip(&format!("no {path} on this host"));
        }
    }
}

#[test]
fn pol_41_the_rest_stays_closed() {
    for path in [
        "/etc",
        "/etc/shadow",
        "/etc/ssh",
        "/etc/ssh/ssh_config",
        "/etc/ssl",
        "/etc/ssl/private",
        "/etc/machine-id",
        "/etc/pki/tls/private/x",
        "/etc/pki/entitlement",
        "/etc/npmrc",
        "/etc/pip.conf",
        "/etc/maven/settings.xml",
        "/root",
        "/home",
        "/var/lib",
        "/tmp",
        "/opt/x",
        "/proc/self",
        "/run",
    ] {
        assert_eq!(access(path), None, "{path}");
    }
}

#[test]
fn pol_39_every_row_that_is_a_link_is_open_under_its_name() {
    let entries = system();
    let rows = rows().map(|(path, _)| Path::new(path));
    let links: Vec<_> = rows.filter(|path| path.is_symlink() && path.exists()).collect();
    if links.is_empty() {
        skip("no row is a link on this host");
    }
    for link in links {
        let target = link.canonicalize().unwrap();
        let found = entries.iter().find(|entry| {
            entry.resolved.path == target && entry.resolved.links.iter().any(|passed| passed.path == link)
        });
        assert!(found.is_some(), "{link:?}");
    }
}

#[test]
fn pol_40_only_what_exists_is_listed_once_in_order() {
    let entries = system();
    assert_eq!(entries, system());
    assert!(entries.is_sorted_by(|a, b| a.resolved.path <= b.resolved.path));
    for entry in &entries {
        let found = Host.resolve(&entry.resolved.path).unwrap();
        assert_ne!(found.kind, Kind::Absent);
        assert_eq!(found.identity, entry.resolved.identity);
        assert_eq!(found.links, []);
    }
}

#[test]
fn rows_are_clean_and_none_is_for_nothing() {
    let distinct: BTreeSet<_> = rows().map(|(path, _)| path).collect();
    assert_eq!(distinct.len(), rows().count(), "a row is there twice");
    for (path, access) in rows() {
        let clean: PathBuf = Path::new(path).components().collect();
        assert!(path.starts_with('/') && clean.as_os_str() == *path, "{path}");
        let beneath =
            |(other, wider): &&Row| other != path && Path::new(path).starts_with(other) && wider >= access;
        assert_eq!(rows().find(beneath), None, "{path} is open already");
        let user = ["/home", "/root", "/tmp", "/var", "/proc", "/sys", "/dev"];
        assert!(
            !user.iter().any(|tree| Path::new(path).starts_with(tree)),
            "{path}"
        );
    }
}

#[test]
fn a_star_at_the_end_stands_for_every_name_with_that_beginning() {
    let tree = Tree::new();
    let expected = ["java", "java-11", "java-17"].map(|name| tree.dir(name));
    tree.dir("jav");
    tree.dir("other/java");
    let pattern = tree.path("java*");
    let matches = |pattern: &Path| matches(&mut Look::default(), pattern.to_str().unwrap());
    assert_eq!(matches(&pattern), expected);
    assert_eq!(matches(&tree.path("missing/java*")), Vec::<PathBuf>::new());
    assert_eq!(matches(Path::new("/etc/hosts")), [PathBuf::from("/etc/hosts")]);
}

#[test]
fn pol_39_a_link_to_where_anybody_writes_is_not_followed() {
    let tree = Tree::new();
    let control = tree.link("system", "/usr");
    let planted = tree.link("planted", tree.dir("planted.d"));
    let dangling = tree.link("dangling", "/usr/no/such/thing");
    let found = |link: &Path| {
        let row: &Row = &(link.to_str().unwrap().to_owned().leak(), Read);
        find(&mut Look::default(), BundleName::Tz, row)
    };
    assert_eq!(found(&control)[0].resolved.path, Path::new("/usr"));
    assert_eq!(found(&planted), []);
    assert_eq!(found(&dangling), []);
}

#[test]
fn only_selected_tables_are_opened_and_each_entry_says_which() {
    assert_eq!(of(&[]), []);
    for (bundle, rows) in TABLES {
        let found = of(&[*bundle]);
        for (name, entry) in &found {
            assert_eq!((name, &entry.why), (bundle, &Provenance::Table(*bundle)));
        }
        let plain = rows.iter().filter(|(path, _)| !path.ends_with('*'));
        for (path, _) in plain.filter(|(path, _)| Path::new(path).exists()) {
            let path = Path::new(path).canonicalize().unwrap();
            let open = |(_, entry): &(_, RuntimeEntry)| path.starts_with(&entry.resolved.path);
            assert!(found.iter().any(open), "{bundle}: {path:?}");
        }
    }
    let tls = of(&[BundleName::Tls]);
    let zone = |(_, entry): &(_, RuntimeEntry)| entry.resolved.path.starts_with("/usr/share/zoneinfo");
    assert!(!tls.iter().any(zone), "{tls:?}");
}

#[test]
fn without_the_base_a_file_of_the_system_can_be_read_and_not_run() {
    let found = of(&[BundleName::Tz]);
    assert!(found.iter().all(|(_, entry)| entry.access == Read), "{found:?}");
}
