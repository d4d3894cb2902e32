//! Directories that outlive their set: named homes, and caches of package managers.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ringfence_host::runtime::Cache;

use crate::scratch::{make_private, remove_tree};

#[cfg(not(unix))]
use lock::FileLock;
#[cfg(unix)]
use ringfence_host::file_lock::FileLock;

/// How often to ask again for a cache that somebody cleans.
const PATIENCE: Duration = Duration::from_millis(5);

/// A kept directory in use; the lock ends with the value.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) directory: PathBuf,
    _lock: FileLock,
}

/// The home of a key beneath a directory of kept homes, which is canonical; only one executor can have it.
pub(crate) fn home(homes: &Path, key: &str) -> io::Result<Kept> {
    let directory = homes.join(file_name(key));
    let in_use = || io::Error::new(io::ErrorKind::ResourceBusy, "another executor uses it");
    let lock = FileLock::take(&lock_path(&directory))?.ok_or_else(in_use)?;
    make_if_missing(&directory)?;
    Ok(Kept {
        directory,
        _lock: lock,
    })
}

/// A cache beneath the directory of all kept caches, which is canonical; executors share it.
///
/// Whoever is alone with it removes what is not part of the cache: settings and programs that change what later
/// commands run.
pub(crate) fn cache(caches: &Path, cache: Cache) -> io::Result<Kept> {
    let directory = cache.directory(caches);
    let path = lock_path(&directory);
    loop {
        let lock = match FileLock::take(&path)? {
            Some(lock) => {
                make_if_missing(&directory)?;
                clean(&directory, cache)?;
                lock.open_to_others()?;
                Some(lock)
            }
            None => FileLock::try_share(&path)?,
        };
        if let Some(lock) = lock {
            return Ok(Kept {
                directory,
                _lock: lock,
            });
        }
        std::thread::sleep(PATIENCE);
    }
}

fn clean(directory: &Path, cache: Cache) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kept = cache.keeps().iter().any(|name| entry.file_name() == *name);
        if kept && !entry.file_type()?.is_symlink() {
            continue;
        }
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn make_if_missing(directory: &Path) -> io::Result<()> {
    match make_private(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other,
    }
    // A command could leave a link in its place nowhere: only the owner writes the directory above.
    let metadata = directory.symlink_metadata()?;
    if metadata.is_dir() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::NotADirectory,
        "it is not a directory",
    ))
}

fn lock_path(directory: &Path) -> PathBuf {
    let mut name = OsString::from(directory);
    name.push(".lock");
    name.into()
}

/// A key as the name of a file: letters, digits, `-` and `_` stay, any other byte becomes `%` and its number.
fn file_name(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    key.bytes()
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(not(unix))]
mod lock {
    use std::fs::{File, TryLockError};
    use std::io;
    use std::path::Path;

    /// The lock of a file, held alone or shared.
    #[derive(Debug)]
    pub(super) struct FileLock(File);

    impl FileLock {
        pub(super) fn take(path: &Path) -> io::Result<Option<Self>> {
            Self::lock(path, File::try_lock)
        }

        pub(super) fn try_share(path: &Path) -> io::Result<Option<Self>> {
            Self::lock(path, File::try_lock_shared)
        }

        pub(super) fn open_to_others(&self) -> io::Result<()> {
            self.0.unlock()?;
            self.0.lock_shared()
        }

        fn lock(path: &Path, how: fn(&File) -> Result<(), TryLockError>) -> io::Result<Option<Self>> {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(path)?;
            match how(&file) {
                Ok(()) => Ok(Some(Self(file))),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_kept_and_has_one_user_at_a_time() {
        let homes = tempfile::tempdir().unwrap();
        let first = home(homes.path(), "agent").unwrap();
        fs::write(first.directory.join("file"), "x").unwrap();
        let second = home(homes.path(), "agent").map(drop).unwrap_err();
        assert_eq!(second.kind(), io::ErrorKind::ResourceBusy);
        let other = home(homes.path(), "Agent").unwrap();
        assert!(!other.directory.join("file").exists());
        drop(first);
        assert!(
            home(homes.path(), "agent")
                .unwrap()
                .directory
                .join("file")
                .exists()
        );
    }

    /// A fork that has not executed a program yet is such a child.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_home_is_free_again_though_a_child_inherited_its_lock() {
        use std::process::Command;

        use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

        let homes = tempfile::tempdir().unwrap();
        let homes = homes.path().canonicalize().unwrap();
        let first = home(&homes, "agent").unwrap();
        let mut open = fs::read_dir("/proc/self/fd").unwrap().flatten();
        let leads_there = |descriptor: &fs::DirEntry| {
            fs::read_link(descriptor.path()).is_ok_and(|target| target == homes.join("agent.lock"))
        };
        let number = open.find(leads_there).unwrap().file_name();
        let number = number.to_str().unwrap().parse().unwrap();
        let this = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
        let lock = pidfd_getfd(this, number, PidfdGetfdFlags::empty()).unwrap();
        let mut child = Command::new("sleep").arg("60").stdin(lock).spawn().unwrap();
        drop(first);
        let second = home(&homes, "agent");
        child.kill().unwrap();
        child.wait().unwrap();
        second.unwrap();
    }

    #[test]
    fn keys_become_distinct_names_that_lead_nowhere_else() {
        assert_eq!(file_name("a-B_9"), "a-B_9");
        assert_eq!(file_name("../x"), "%2E%2E%2Fx");
        assert_eq!(file_name("a%2F"), "a%252F");
    }

    #[test]
    fn a_cache_is_shared_and_only_what_belongs_to_it_is_kept() {
        let caches = tempfile::tempdir().unwrap();
        let first = cache(caches.path(), Cache::Cargo).unwrap();
        let at = |name: &str| first.directory.join(name);
        fs::create_dir_all(at("registry/index")).unwrap();
        fs::create_dir_all(at("bin/deep")).unwrap();
        fs::write(at("config.toml"), "[build]").unwrap();
        std::os::unix::fs::symlink("/etc", at("git")).unwrap();
        // Somebody else uses it: nothing is taken away.
        drop(cache(caches.path(), Cache::Cargo).unwrap());
        assert!(at("config.toml").exists());
        let names = (at("registry/index"), at("config.toml"), at("bin"), at("git"));
        drop(first);
        let _again = cache(caches.path(), Cache::Cargo).unwrap();
        assert!(names.0.exists() && !names.1.exists() && !names.2.exists() && !names.3.is_symlink());
    }
}
