//! What the tables open on this host.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::cover::Cover;
use super::look::Look;
use super::table::{Row, TABLES};
use super::{BundleName, Provenance, RuntimeEntry, guard};

/// Finds what there is of the tables of all bundles.
///
/// Rows that are links are opened where they lead (POL-39), and the links are in the entry: on a host with
/// merged `/usr` the entry of `/bin` is `/usr/bin` with the link `/bin`. What is absent is passed over
/// (POL-40), and so is what cannot be looked at, and a link that leads into a home directory, a directory for
/// temporary files, or a pseudo file system.
pub(super) fn find_all(look: &mut Look) -> Vec<(BundleName, RuntimeEntry)> {
    let rows = TABLES
        .iter()
        .flat_map(|(bundle, rows)| rows.iter().map(|row| (*bundle, row)));
    let mut found = Vec::new();
    for (bundle, row) in rows {
        found.extend(find(look, bundle, row).into_iter().map(|entry| (bundle, entry)));
    }
    found
}

/// Those of some bundles that add something to the others.
pub(super) fn select(
    found: &[(BundleName, RuntimeEntry)],
    selection: &BTreeSet<BundleName>,
) -> Vec<(BundleName, RuntimeEntry)> {
    let selected = found.iter().filter(|(bundle, _)| selection.contains(bundle));
    Cover::default().distinct(selected.cloned().collect())
}

/// What the tables of all bundles open, as it is written there.
pub(super) fn cover() -> Cover {
    let mut cover = Cover::default();
    for (path, access) in TABLES.iter().flat_map(|(_, rows)| *rows) {
        cover.add(Path::new(path), *access);
    }
    cover
}

fn find(look: &mut Look, bundle: BundleName, (pattern, access): &Row) -> Vec<RuntimeEntry> {
    let mut found = Vec::new();
    for path in matches(look, pattern) {
        let present = look.existing(&path).filter(|seen| guard::trusted(&seen.path));
        found.extend(present.map(|resolved| RuntimeEntry {
            resolved,
            access: *access,
            why: Provenance::Table(bundle),
        }));
    }
    found
}

/// The names a row stands for, sorted.
fn matches(look: &mut Look, pattern: &str) -> Vec<PathBuf> {
    let pattern = Path::new(pattern);
    let name = pattern.file_name().unwrap_or_default().as_encoded_bytes();
    let (Some(beginning), Some(directory)) = (name.strip_suffix(b"*"), pattern.parent()) else {
        return vec![pattern.into()];
    };
    let names = look.names(directory).iter();
    let matching = names.filter(|name| name.as_encoded_bytes().starts_with(beginning));
    matching.map(|name| directory.join(name)).collect()
}

#[cfg(test)]
#[cfg(unix)]
#[path = "tables_tests.rs"]
mod tests;
