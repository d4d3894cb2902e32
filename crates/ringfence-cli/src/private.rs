//! Directories that only the calling user can use.

use std::io::ErrorKind;
use std::path::Path;

use crate::failure::Failure;

/// Makes a directory, and what is missing above it, for the calling user alone.
pub(crate) fn ensure_all(path: &Path) -> Result<(), Failure> {
    if let Some(parent) = path.parent() {
        create_all(parent).map_err(|error| Failure::new(format!("{}: {error}", parent.display())))?;
    }
    ensure(path)
}

/// Makes a directory for the calling user alone; one that is there must be so already.
pub(crate) fn ensure(path: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::new(format!("{}: {error}", path.display()));
    loop {
        match create(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        match is_private(path) {
            Ok(true) => return Ok(()),
            Ok(false) => break,
            // Another run has just removed it.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(Failure::new(format!(
        "{} is not a directory that only you can use",
        path.display()
    ))
    .hint("remove it, or give it to yourself alone with `chmod 700`"))
}

#[cfg(unix)]
fn create(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(unix)]
fn create_all(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(path)
}

/// In a shared directory somebody else may have been first.
#[cfg(unix)]
fn is_private(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::symlink_metadata(path)?;
    let ours = metadata.uid() == rustix::process::geteuid().as_raw();
    Ok(metadata.is_dir() && ours && metadata.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn create(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir(path)
}

#[cfg(not(unix))]
fn create_all(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(path)
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> std::io::Result<bool> {
    Ok(true)
}
