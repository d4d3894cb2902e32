//! Whether names that differ in their bytes may be the same name.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ioctl_getflags, open, statfs};

/// Filesystems that compare names byte by byte, unless a directory has the flag that says otherwise; by the magic numbers
/// of `statfs(2)`: ext2 to ext4, tmpfs, Btrfs, F2FS, overlayfs, ramfs, and XFS, if it is not made otherwise.
const COMPARE_BYTES: [i64; 7] = [
    0xEF53,
    0x0102_1994,
    0x9123_683E,
    XFS,
    0xF2F5_2010,
    0x794C_7630,
    0x8584_58F6,
];

const XFS: i64 = 0x5846_5342;

/// Whether two names in a directory may be one although their bytes differ, as on filesystems of other systems. What can't
/// be known may be so.
#[must_use]
pub fn may_fold(directory: &Path) -> bool {
    let Ok(seen) = statfs(directory) else {
        return true;
    };
    if !COMPARE_BYTES.contains(&seen.f_type) || seen.f_type == XFS && !is_told_apart(directory) {
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

/// Whether a name on the way to a directory, on its filesystem, is another one in other letters. XFS can be made to compare
/// those of ASCII without regard to case, and then does so everywhere.
fn is_told_apart(directory: &Path) -> bool {
    let seen = |path: &Path| path.symlink_metadata().ok().map(|seen| (seen.dev(), seen.ino()));
    let device = seen(directory).map(|(device, _)| device);
    let on_it = |path: &&Path| path.parent().and_then(seen).map(|(device, _)| device) == device;
    let tell = |path: &Path| {
        let name = path.file_name()?.to_str()?;
        let swap = |letter: char| match letter.is_ascii_lowercase() {
            true => letter.to_ascii_uppercase(),
            false => letter.to_ascii_lowercase(),
        };
        let other: String = name.chars().map(swap).collect();
        (other != name).then(|| seen(&path.with_file_name(other)) != seen(path))
    };
    directory.ancestors().take_while(on_it).find_map(tell) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::{is_told_apart, may_fold};
    use std::path::Path;

    #[test]
    fn only_known_filesystems_are_trusted_to_compare_bytes() {
        let directory = tempfile::tempdir().unwrap();
        assert!(!may_fold(directory.path()), "{}", directory.path().display());
        assert!(may_fold(Path::new("/proc")));
        assert!(may_fold(&directory.path().join("missing")));
    }

    #[test]
    fn a_name_in_other_letters_tells_how_a_filesystem_compares() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("name");
        std::fs::create_dir(&place).unwrap();
        assert!(is_told_apart(&place));
        // One object by both names, as where they are the same.
        let folded = directory.path().join("both");
        std::fs::write(&folded, "").unwrap();
        std::fs::hard_link(&folded, directory.path().join("BOTH")).unwrap();
        assert!(!is_told_apart(&folded));
        // Nothing tells.
        assert!(!is_told_apart(Path::new("/")));
    }
}
