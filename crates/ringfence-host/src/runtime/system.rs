//! What every program needs.

use std::path::{Path, PathBuf};

use ringfence_policy::{Kind, Resolve};

use super::cover::Cover;
use super::{Bundle, RuntimeAccess, RuntimeEntry, guard, table};
use crate::Host;

/// Finds what any program needs to start: programs, libraries, and selected files of `/etc` (POL-36 to
/// POL-41).
///
/// Rows that are links are opened where they lead (POL-39), and the links are in the entry: on a host with
/// merged `/usr` the entry of `/bin` is `/usr/bin` with the link `/bin`. What is absent is passed over
/// (POL-40), and so is what cannot be looked at, and a link that leads into a home directory, a directory for
/// temporary files, or a pseudo file system.
///
/// Linux, macOS and, less thoroughly, other Unix systems; on Windows the bundle is empty, since the system's
/// own baseline for restricted processes stands for it.
pub fn system(host: &Host) -> Bundle {
    let rows = table::SYSTEM.iter();
    let found = rows.flat_map(|(pattern, access)| find(host, pattern, *access));
    let entries = Cover::default().distinct(found.map(|entry| ((), entry)).collect());
    Bundle {
        name: "system".into(),
        entries: entries.into_iter().map(|((), entry)| entry).collect(),
        environment: Vec::new(),
        private: Vec::new(),
    }
}

fn find(host: &Host, pattern: &str, access: RuntimeAccess) -> Vec<RuntimeEntry> {
    let resolved = matches(pattern)
        .into_iter()
        .filter_map(|path| host.resolve(&path).ok());
    let present = resolved.filter(|found| found.kind != Kind::Absent && guard::trusted(&found.path));
    present
        .map(|resolved| RuntimeEntry { resolved, access })
        .collect()
}

/// The names a row stands for, sorted.
fn matches(pattern: &str) -> Vec<PathBuf> {
    let pattern = Path::new(pattern);
    let name = pattern.file_name().unwrap_or_default().as_encoded_bytes();
    let (Some(beginning), Some(directory)) = (name.strip_suffix(b"*"), pattern.parent()) else {
        return vec![pattern.into()];
    };
    let Ok(entries) = directory.read_dir() else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(beginning))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
#[cfg(unix)]
#[path = "system_tests.rs"]
mod tests;
