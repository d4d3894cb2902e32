//! Whether names that differ in their bytes may be the same name.

use std::path::Path;

use rustix::fs::{Mode, OFlags, ioctl_getflags, open, statfs};

/// Filesystems that compare names byte by byte, unless a directory has the flag that says otherwise; by the magic numbers
/// of `statfs(2)`: ext2 to ext4, tmpfs, Btrfs, XFS, F2FS, bcachefs, overlayfs, ramfs.
const COMPARE_BYTES: [i64; 8] = [
    0xEF53,
    0x0102_1994,
    0x9123_683E,
    0x5846_5342,
    0xF2F5_2010,
    0xCA45_1A4E,
    0x794C_7630,
    0x8584_58F6,
];

/// Whether two names in a directory may be one although their bytes differ, as on filesystems of other systems. What can't
/// be known may be so.
#[must_use]
pub fn may_fold(directory: &Path) -> bool {
    if !statfs(directory).is_ok_and(|seen| COMPARE_BYTES.contains(&seen.f_type)) {
        return true;
    }
    /// `FS_CASEFOLD_FL`.
    const CASEFOLD: u32 = 0x4000_0000;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(directory, flags, Mode::empty());
    // Where there are no such flags, there is none that says so.
    opened.map_or(true, |opened| {
        ioctl_getflags(&opened).is_ok_and(|flags| flags.bits() & CASEFOLD != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::may_fold;
    use std::path::Path;

    #[test]
    fn only_known_filesystems_are_trusted_to_compare_bytes() {
        let directory = tempfile::tempdir().unwrap();
        assert!(!may_fold(directory.path()), "{}", directory.path().display());
        assert!(may_fold(Path::new("/proc")));
        assert!(may_fold(&directory.path().join("missing")));
    }
}
