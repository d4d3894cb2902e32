//! The set-owned directory: made, marked as owned, removed; what crashed sets left is swept.
//!
//! Each set has one directory beneath the caller's scratch root. A file `owner` in it carries a record lock
//! (`fcntl(2)`): unlike a `flock(2)` lock it belongs to the process alone, so it ends with the owner even when
//! a forked child still holds the descriptor.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ringfence_host::placeholder;

/// Followed by the owner's process and a number. Short, since sockets are made deep beneath it and their paths hold 107
/// bytes (unix(7)).
const PREFIX: &str = "rf-";
/// What a directory is called until it is locked, followed by who makes it and a number.
const UNFINISHED: &str = ".rf-";
const OWNER: &str = "owner";
/// In the directory of each executor: what its backend made elsewhere on the host.
pub(crate) const JOURNAL: &str = "placeholders";

/// The directory of one set; removed by [`OwnedDirectory::remove`], or as well as possible when dropped.
#[derive(Debug)]
pub(crate) struct OwnedDirectory {
    path: PathBuf,
    locks: PathBuf,
    /// Holds the lock.
    _owner: Option<File>,
    removed: bool,
}

impl OwnedDirectory {
    /// Sweeps what crashed sets left under `root`, and makes a new directory there, mode 0700.
    pub(crate) fn create(root: &Path) -> io::Result<Self> {
        let locks = placeholder::locks_of_user(root);
        sweep(root, &locks);
        let path = unused_name(root)?;
        // Nobody may take the directory for an abandoned one before it is locked: it gets its name last.
        let hidden = root.join(format!("{UNFINISHED}{}-{:016x}", maker(), random()));
        make_private(&hidden)?;
        let owner = claim(&hidden.join(OWNER)).inspect_err(|_| remove_quietly(&hidden))?;
        fs::rename(&hidden, &path).inspect_err(|_| remove_quietly(&hidden))?;
        Ok(Self {
            path,
            locks,
            _owner: owner,
            removed: false,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the sets of this user keep locks of what they share on the host.
    pub(crate) fn locks(&self) -> &Path {
        &self.locks
    }

    /// Removes the directory with everything in it, however the commands left it.
    pub(crate) fn remove(&mut self) -> io::Result<()> {
        self.removed = true;
        remove_tree(&self.path)
    }
}

impl Drop for OwnedDirectory {
    fn drop(&mut self) {
        if !self.removed
            && let Err(error) = self.remove()
        {
            tracing::warn!(path = %self.path.display(), %error, "a set's directory could not be removed");
        }
    }
}

/// Makes a directory that only its owner may enter, whatever the umask is.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    set_private(path)
}

#[cfg(unix)]
fn set_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn set_private(_: &Path) -> io::Result<()> {
    Ok(())
}

fn unused_name(root: &Path) -> io::Result<PathBuf> {
    loop {
        let path = root.join(format!("{PREFIX}{}-{:06x}", this_process(), random() & 0xFF_FFFF));
        if !path.try_exists()? {
            return Ok(path);
        }
    }
}

/// This process and no earlier one with its id: where it is known, the time it started is part of it.
fn this_process() -> String {
    /// Fields of proc_pid_stat(5) between the program's name, which may contain anything, and the start time.
    const FIELDS_BEFORE_START: usize = 19;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let started = fields.split_whitespace().nth(FIELDS_BEFORE_START).unwrap_or("0");
    format!("{}.{started}", std::process::id())
}

/// This process, by what [`is_dead`] knows it by.
fn maker() -> String {
    #[cfg(target_os = "linux")]
    if let Ok(owner) = ringfence_host::Owner::this_process() {
        return owner.to_string();
    }
    std::process::id().to_string()
}

/// Whether the maker of an unfinished directory is certainly dead.
#[cfg(target_os = "linux")]
fn is_dead(maker: &str) -> bool {
    ringfence_host::Owner::parse(maker).is_some_and(ringfence_host::Owner::is_dead)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_dead(_: &str) -> bool {
    false
}

/// A number that other sets are unlikely to have; that the name is free is checked.
fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

#[cfg(unix)]
fn claim(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().write(true).create_new(true).open(path)?;
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
    Ok(Some(file))
}

#[cfg(not(unix))]
fn claim(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Removes the directories of this user's sets whose owner is gone, and the locks nobody has, wherever its owner's
/// directory was.
#[cfg(unix)]
fn sweep(root: &Path, locks: &Path) {
    sweep_directories(root, locks);
    sweep_locks(locks);
}

#[cfg(unix)]
fn sweep_directories(root: &Path, locks: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for path in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_abandoned(path))
    {
        tracing::info!(path = %path.display(), "removing what a crashed set left");
        sweep_journals(&path, locks);
        if let Err(error) = remove_tree(&path) {
            tracing::warn!(path = %path.display(), %error, "it could not be removed");
        }
    }
}

#[cfg(not(unix))]
fn sweep(_: &Path, _: &Path) {}

/// Removes what the executors of a crashed set left outside of its directory.
#[cfg(unix)]
fn sweep_journals(set: &Path, locks: &Path) {
    let Ok(entries) = fs::read_dir(set) else { return };
    for journal in entries.flatten().map(|entry| entry.path().join(JOURNAL)) {
        match placeholder::sweep(&journal, locks) {
            Ok(removed) => removed
                .iter()
                .for_each(|path| tracing::info!(path = %path.display(), "removed a placeholder")),
            Err(error) => tracing::warn!(path = %journal.display(), %error, "it could not be read"),
        }
    }
}

#[cfg(unix)]
fn sweep_locks(locks: &Path) {
    if let Err(error) = placeholder::sweep_locks(locks) {
        tracing::warn!(path = %locks.display(), %error, "locks of nobody could not be removed");
    }
}

/// Whether this is a directory of a set of this user, made by another process, and nobody holds its lock.
///
/// A set of this process is never touched: a process does not conflict with its own record locks, and closing
/// any descriptor of the file would release them.
#[cfg(unix)]
fn is_abandoned(directory: &Path) -> bool {
    use rustix::fs::{FlockOperation, Mode, OFlags, fcntl_lock, open};
    use std::os::unix::fs::MetadataExt;
    use std::time::Duration;
    const MAKING_TAKES_AT_MOST: Duration = Duration::from_secs(60);

    let name = directory
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let Ok(seen) = directory.symlink_metadata() else {
        return false;
    };
    if !seen.is_dir() || seen.uid() != rustix::process::geteuid().as_raw() {
        return false;
    }
    if let Some(unfinished) = name.strip_prefix(UNFINISHED) {
        if unfinished
            .rsplit_once('-')
            .is_some_and(|(maker, _)| is_dead(maker))
        {
            return true;
        }
        // Who can't be seen may be in another pid namespace.
        let age = seen.modified().ok().and_then(|made| made.elapsed().ok());
        return age.is_some_and(|age| age > MAKING_TAKES_AT_MOST);
    }
    let Some(owner) = name.strip_prefix(PREFIX) else {
        return false;
    };
    if owner.split('-').next() == Some(this_process().as_str()) {
        return false;
    }
    // A pipe of that name must not make the opening wait.
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match open(directory.join(OWNER), flags, Mode::empty()) {
        Ok(file) => fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).is_ok(),
        // Half removed by an earlier sweep.
        Err(error) => error == rustix::io::Errno::NOENT,
    }
}

fn remove_quietly(path: &Path) {
    if let Err(error) = remove_tree(path) {
        tracing::warn!(path = %path.display(), %error, "an unfinished directory could not be removed");
    }
}

/// Removes a tree without following links, also directories that their owner made unreadable, and of any depth
/// (SET-37). It is this user's own, and no confined process is left to race with.
///
/// Every directory found is moved up into the top one before it is emptied, so that two descriptors and no stack
/// are enough, and no path gets longer than the top's.
#[cfg(unix)]
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, unlinkat};
    let top = match open_directory(CWD, path.as_os_str()) {
        Err(rustix::io::Errno::NOENT) => return Ok(()),
        other => other?,
    };
    let mut moved = 0u64;
    // Emptying one directory may move others up, so this goes on until none is left.
    loop {
        let directories = empty(&top, None)?;
        if directories.is_empty() {
            break;
        }
        for name in directories {
            let inner = open_directory(&top, &name)?;
            empty(&inner, Some((&top, &mut moved)))?;
            unlinkat(&top, &name, AtFlags::REMOVEDIR)?;
        }
    }
    Ok(unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

/// Removes everything but directories, which are moved up under new names, or named if there is no up.
#[cfg(unix)]
fn empty(
    directory: &rustix::fd::OwnedFd,
    mut up: Option<(&rustix::fd::OwnedFd, &mut u64)>,
) -> rustix::io::Result<Vec<std::ffi::OsString>> {
    use rustix::fs::{AtFlags, Dir, FileType, renameat, statat, unlinkat};
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    let mut directories = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = FileType::from_raw_mode(statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode);
        match (kind, &mut up) {
            (FileType::Directory, Some((top, moved))) => {
                // Moving a directory changes its own `..`, which takes write permission on it.
                drop(open_directory(directory, name)?);
                **moved += 1;
                renameat(
                    directory,
                    name,
                    *top,
                    OsString::from(format!(".{}.{moved}", std::process::id())),
                )?;
            }
            (FileType::Directory, None) => directories.push(name.to_owned()),
            _ => unlinkat(directory, name, AtFlags::empty())?,
        }
    }
    Ok(directories)
}

/// Opens a directory, not a link to one, after giving its owner every right to it.
#[cfg(unix)]
fn open_directory(
    parent: impl rustix::fd::AsFd,
    name: &std::ffi::OsStr,
) -> rustix::io::Result<rustix::fd::OwnedFd> {
    use rustix::fs::{AtFlags, Mode, chmodat};
    match open_here(&parent, name) {
        Ok(directory) if rustix::fs::fchmod(&directory, Mode::RWXU).is_ok() => Ok(directory),
        Ok(_) | Err(rustix::io::Errno::ACCESS) => {
            chmodat(&parent, name, Mode::RWXU, AtFlags::empty())?;
            open_here(&parent, name)
        }
        Err(error) => Err(error),
    }
}

/// Opens a directory that nothing is mounted on: what somebody mounts in a private directory is not ours to remove.
#[cfg(unix)]
fn open_here(
    parent: impl rustix::fd::AsFd,
    name: &std::ffi::OsStr,
) -> rustix::io::Result<rustix::fd::OwnedFd> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    if !Path::new(name).is_absolute() {
        use rustix::fs::{ResolveFlags, openat2};
        use rustix::io::Errno;
        match openat2(&parent, name, flags, Mode::empty(), ResolveFlags::NO_XDEV) {
            // Before Linux 5.6, and in containers whose filter is older than the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
    }
    openat(parent, name, flags, Mode::empty())
}

#[cfg(not(unix))]
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    fs::remove_dir_all(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn set_7_the_directory_is_private_and_directly_beneath_the_root() {
        let root = tempfile::tempdir().unwrap();
        let owned = OwnedDirectory::create(root.path()).unwrap();
        assert_eq!(owned.path().parent(), Some(root.path()));
        let mode = fs::metadata(owned.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
    }

    #[test]
    fn set_8_live_directories_of_this_process_are_not_swept() {
        let root = tempfile::tempdir().unwrap();
        let first = OwnedDirectory::create(root.path()).unwrap();
        let second = OwnedDirectory::create(root.path()).unwrap();
        assert!(first.path().exists() && second.path().exists());
        drop((first, second));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_abandoned_directory_is_swept_by_the_next_set() {
        let root = tempfile::tempdir().unwrap();
        let dead = root.path().join(format!("{PREFIX}1-dead"));
        fs::create_dir(&dead).unwrap();
        File::create(dead.join(OWNER)).unwrap();
        let stranger = root.path().join("somebody-elses");
        fs::create_dir(&stranger).unwrap();
        let owned = OwnedDirectory::create(root.path()).unwrap();
        assert!(!dead.exists() && stranger.exists());
        drop(owned);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_directory_whose_maker_was_killed_is_swept_and_no_other_unfinished_one() {
        let root = tempfile::tempdir().unwrap();
        let ours = maker();
        let mut fields: Vec<&str> = ours.split('-').collect();
        fields[2] = "1";
        let unfinished = |maker: &str| root.path().join(format!("{UNFINISHED}{maker}-0123"));
        let (dead, alive) = (unfinished(&fields.join("-")), unfinished(&ours));
        fields[0] = "1";
        let elsewhere = unfinished(&fields.join("-"));
        for directory in [&dead, &alive, &elsewhere] {
            fs::create_dir(directory).unwrap();
        }
        drop(OwnedDirectory::create(root.path()).unwrap());
        assert!(!dead.exists() && alive.exists() && elsewhere.exists());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn locks_of_nobody_are_swept_by_the_next_set() {
        let root = tempfile::tempdir().unwrap();
        let locks = root.path().join("locks");
        File::create(&locks).unwrap();
        sweep(root.path(), &locks);
        assert!(!locks.exists());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_mounted_in_a_private_directory_is_not_removed() {
        use rustix::mount::{UnmountFlags, mount_bind, unmount};
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let mut owned = OwnedDirectory::create(root.path()).unwrap();
        let [shallow, deep] = ["at-the-top", "deep/er"].map(|place| owned.path().join(place));
        fs::create_dir_all(&shallow).unwrap();
        if mount_bind(outside.path(), &shallow).is_err() {
            use std::io::Write;
            let test = "what_is_mounted_in_a_private_directory_is_not_removed";
            let line = format!("SKIP scratch::tests::{test}: mounts can't be made\n");
            io::stderr().write_all(line.as_bytes()).unwrap();
            return;
        }
        owned.remove().unwrap_err();
        unmount(&shallow, UnmountFlags::DETACH).unwrap();
        fs::create_dir_all(&deep).unwrap();
        mount_bind(outside.path(), &deep).unwrap();
        owned.remove().unwrap_err();
        unmount(&deep, UnmountFlags::DETACH).unwrap();
        assert!(outside.path().join("kept").exists());
        owned.remove().unwrap();
    }

    #[test]
    fn set_37_unreadable_directories_are_removed_and_links_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let mut owned = OwnedDirectory::create(root.path()).unwrap();
        let hostile = owned.path().join("a/b");
        fs::create_dir_all(&hostile).unwrap();
        std::os::unix::fs::symlink(outside.path(), hostile.join("link")).unwrap();
        fs::set_permissions(&hostile, fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(hostile.parent().unwrap(), fs::Permissions::from_mode(0o555)).unwrap();
        // Deeper than a path can be long, and than a stack or a descriptor table would bear.
        let mut deep = owned.path().to_owned();
        let name = "d".repeat(200);
        for _ in 0..15 {
            deep.push(&name);
        }
        fs::create_dir_all(&deep).unwrap();
        for _ in 0..200 {
            let up = owned.path().join("up");
            fs::create_dir(&up).unwrap();
            fs::rename(owned.path().join(&name), up.join(&name)).unwrap();
            fs::rename(&up, owned.path().join(&name)).unwrap();
        }
        owned.remove().unwrap();
        assert!(!owned.path().exists() && outside.path().join("kept").exists());
    }
}
