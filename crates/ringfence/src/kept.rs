//! Directories that outlive their set: named homes, and caches of package managers.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ringfence_host::runtime::Cache;

use crate::scratch::{make_private, remove_tree};

/// A kept directory in use; the lock ends with the value.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) directory: PathBuf,
    _lock: File,
}

/// The home of a key beneath a directory of kept homes; only one executor can have it.
pub(crate) fn home(homes: &Path, key: &str) -> io::Result<Kept> {
    let directory = homes.join(file_name(key));
    let lock = lock_file(&directory)?;
    lock::exclusive(&lock).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::ResourceBusy, "another executor uses it"),
        _ => error,
    })?;
    make_if_missing(&directory)?;
    Ok(Kept {
        directory,
        _lock: lock,
    })
}

/// A cache beneath the directory of all kept caches; executors share it.
///
/// Whoever is alone with it removes what is not part of the cache: settings and programs that change what later
/// commands run.
pub(crate) fn cache(caches: &Path, cache: Cache) -> io::Result<Kept> {
    let directory = cache.directory(caches);
    let lock = lock_file(&directory)?;
    let alone = match lock::exclusive(&lock) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
        Err(error) => return Err(error),
    };
    make_if_missing(&directory)?;
    if alone {
        clean(&directory, cache)?;
    }
    lock::shared(&lock)?;
    Ok(Kept {
        directory,
        _lock: lock,
    })
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

fn lock_file(directory: &Path) -> io::Result<File> {
    let mut name = OsString::from(directory);
    name.push(".lock");
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(name)
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

#[cfg(unix)]
mod lock {
    use std::fs::File;
    use std::io;

    use rustix::fs::{FlockOperation, flock};

    pub(super) fn exclusive(file: &File) -> io::Result<()> {
        Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
    }

    pub(super) fn shared(file: &File) -> io::Result<()> {
        Ok(flock(file, FlockOperation::LockShared)?)
    }
}

#[cfg(not(unix))]
mod lock {
    use std::fs::File;
    use std::io;

    pub(super) fn exclusive(file: &File) -> io::Result<()> {
        Ok(file.try_lock()?)
    }

    pub(super) fn shared(file: &File) -> io::Result<()> {
        file.unlock()?;
        file.lock_shared()
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
