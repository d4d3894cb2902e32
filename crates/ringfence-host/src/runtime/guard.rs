//! What is never opened, whatever a link or a variable says.

use std::path::Path;

/// Where anybody may put a link: a link of the system that leads here is not followed.
const OF_USERS: &[&str] = &[
    "/home",
    "/root",
    "/Users",
    "/tmp",
    "/var/tmp",
    "/private/tmp",
    "/private/var/tmp",
];

/// Not files of programs.
const PSEUDO: &[&str] = &["/proc", "/sys", "/dev"];

/// Settings and secrets of the host; what of it programs need is in the table.
const OF_HOST: &[&str] = &["/etc", "/private/etc", "/boot"];

/// Directories of many owners or purposes; their subdirectories may be opened one by one.
const SHARED: &[&str] = &[
    "/",
    "/home",
    "/root",
    "/Users",
    "/tmp",
    "/var",
    "/var/tmp",
    "/var/lib",
    "/private",
    "/private/tmp",
    "/private/var",
    "/private/var/tmp",
    "/run",
    "/run/user",
    "/mnt",
    "/media",
    "/Volumes",
    "/srv",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/Library",
];

/// Directories of a home that hold files of many programs.
const SHARED_IN_HOME: &[&str] = &[
    ".local",
    ".local/share",
    ".local/state",
    ".local/lib",
    ".config",
    ".cache",
    "Library",
    "Library/Application Support",
    "Library/Caches",
    // Credentials lie beside `bin`, or beside `python`.
    ".cargo",
    ".docker",
    ".local/share/uv",
];

/// Directories of a home that hold keys and passwords.
const SECRET_IN_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/uv/credentials",
];

/// Whether what a link of the system leads to may be opened.
pub(super) fn trusted(path: &Path) -> bool {
    !below(path, OF_USERS) && !below(path, PSEUDO) && !exactly(path, SHARED) && path != Path::new("/etc")
}

/// Whether a canonical path that `PATH`, a variable or a link in a `PATH` directory names may be opened.
pub(super) fn openable(path: &Path, home: Option<&Path>) -> bool {
    let of_home = |home: &Path| {
        let shared = SHARED_IN_HOME.iter().any(|name| path == home.join(name));
        shared
            || SECRET_IN_HOME
                .iter()
                .any(|name| path.starts_with(home.join(name)))
    };
    special(path, home) && !below(path, PSEUDO) && !below(path, OF_HOST) && !home.is_some_and(of_home)
}

/// Whether a directory can belong to one tool: it is neither the system's nor a home, nor does it contain
/// one.
pub(super) fn special(path: &Path, home: Option<&Path>) -> bool {
    !exactly(path, SHARED) && !home.is_some_and(|home| home.starts_with(path))
}

/// Whether the directory that holds a `bin` may be opened as a whole, to run a program in it.
///
/// Not if it is at the top of the file system, nor a hidden directory at the top of a home: such a one holds
/// the settings of its tool, often a password among them.
pub(super) fn prefix(path: &Path, home: Option<&Path>) -> bool {
    let top = path.parent().is_none_or(|parent| parent.parent().is_none());
    let name = path.file_name().unwrap_or_default();
    let hidden = name.as_encoded_bytes().starts_with(b".") && path.parent() == home;
    openable(path, home) && !top && !hidden
}

fn below(path: &Path, trees: &[&str]) -> bool {
    trees.iter().any(|tree| path.starts_with(tree))
}

fn exactly(path: &Path, paths: &[&str]) -> bool {
    paths.iter().any(|one| path == Path::new(one))
}

#[cfg(test)]
#[cfg(unix)]
#[path = "guard_tests.rs"]
mod tests;
