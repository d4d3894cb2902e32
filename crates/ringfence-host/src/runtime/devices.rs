//! The device nodes every program may use.

use super::Device;

/// Finds the harmless character devices: null, zero, full, random, urandom and tty (POL-38).
///
/// Each is verified: a character device, not a link, with the numbers the kernel gives it (null(4), full(4),
/// random(4), tty(4)). What is missing or something else is left out. Empty on every system but Linux, where
/// numbers differ between releases.
pub fn devices() -> Vec<Device> {
    find()
}

#[cfg(target_os = "linux")]
fn find() -> Vec<Device> {
    NODES.iter().filter_map(verify).collect()
}

#[cfg(not(target_os = "linux"))]
fn find() -> Vec<Device> {
    Vec::new()
}

/// Path, major and minor number, from the kernel's Documentation/admin-guide/devices.txt.
#[cfg(target_os = "linux")]
const NODES: [(&str, u32, u32); 6] = [
    ("/dev/full", 1, 7),
    ("/dev/null", 1, 3),
    ("/dev/random", 1, 8),
    ("/dev/tty", 5, 0),
    ("/dev/urandom", 1, 9),
    ("/dev/zero", 1, 5),
];

#[cfg(target_os = "linux")]
fn verify((path, major, minor): &(&str, u32, u32)) -> Option<Device> {
    use rustix::fs::makedev;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::path::PathBuf;

    let path = PathBuf::from(path);
    let seen = path.symlink_metadata().ok()?;
    let genuine = seen.file_type().is_char_device() && seen.rdev() == makedev(*major, *minor);
    let (_, identity) = crate::observe(&path).ok()??;
    // Looked at twice: it must have been the same object.
    let same = (identity.device, identity.inode) == (seen.dev(), seen.ino());
    (genuine && same).then_some(Device { path, identity })
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "devices_tests.rs"]
mod tests;
