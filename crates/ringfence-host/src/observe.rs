//! One look at one object.

use std::io;
use std::path::Path;

use ringfence_policy::{Identity, Kind};

/// Tells what is at a path without following a final symlink, nothing when nothing is there.
///
/// A symlink is a [`Kind::File`] with the identity of the link. On Linux this is one statx(2); the birth time
/// is there where the file system records it, the mount id since Linux 5.8 (since 6.8 it is never used
/// again). A mount has another id in another mount namespace. On other Unix systems there is no mount id.
///
/// # Errors
/// Everything but "not found", `ENOTDIR` among it; `Unsupported` where objects have no identity.
pub fn observe(path: &Path) -> io::Result<Option<(Kind, Identity)>> {
    look(path)
}

#[cfg(target_os = "linux")]
pub(crate) fn look(path: &Path) -> io::Result<Option<(Kind, Identity)>> {
    use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, makedev, statx};
    use rustix::io::Errno;

    /// `STATX_MNT_ID_UNIQUE`: an id that no later mount gets; ignored by kernels that do not know it.
    const MOUNT_UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);
    const WANTED: StatxFlags = StatxFlags::TYPE
        .union(StatxFlags::INO)
        .union(StatxFlags::BTIME)
        .union(StatxFlags::MNT_ID)
        .union(MOUNT_UNIQUE);

    let seen = match statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, WANTED) {
        Ok(seen) => seen,
        Err(Errno::NOENT) => return Ok(None),
        // Before Linux 4.11, and in containers whose system call filter is older than the call.
        Err(Errno::NOSYS | Errno::PERM) => return look_without_statx(path),
        Err(errno) => return Err(errno.into()),
    };
    let kind = match FileType::from_raw_mode(seen.stx_mode.into()) {
        FileType::Directory => Kind::Directory,
        _ => Kind::File,
    };
    let told = StatxFlags::from_bits_retain(seen.stx_mask);
    let birth = told.contains(StatxFlags::BTIME);
    let mount = told.intersects(StatxFlags::MNT_ID.union(MOUNT_UNIQUE));
    let identity = Identity {
        device: makedev(seen.stx_dev_major, seen.stx_dev_minor),
        inode: seen.stx_ino,
        birth: birth.then_some((seen.stx_btime.tv_sec, seen.stx_btime.tv_nsec)),
        mount: mount.then_some(seen.stx_mnt_id),
    };
    Ok(Some((kind, identity)))
}

#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn look(path: &Path) -> io::Result<Option<(Kind, Identity)>> {
    look_without_statx(path)
}

#[cfg(unix)]
fn look_without_statx(path: &Path) -> io::Result<Option<(Kind, Identity)>> {
    use std::os::unix::fs::MetadataExt;
    use std::time::UNIX_EPOCH;

    let seen = match path.symlink_metadata() {
        Ok(seen) => seen,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let born = seen.created().ok();
    let since = born.and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    let birth = since.and_then(|since| Some((since.as_secs().try_into().ok()?, since.subsec_nanos())));
    let kind = if seen.is_dir() {
        Kind::Directory
    } else {
        Kind::File
    };
    let identity = Identity {
        device: seen.dev(),
        inode: seen.ino(),
        birth,
        mount: None,
    };
    Ok(Some((kind, identity)))
}

#[cfg(not(unix))]
pub(crate) fn look(path: &Path) -> io::Result<Option<(Kind, Identity)>> {
    match path.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::Unsupported.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "observe_tests.rs"]
mod tests;
