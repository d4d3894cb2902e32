//! Where the command line keeps the private directories of its runs.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use crate::failure::Failure;

/// A directory of the calling user beneath the system's temporary directory, made if it is missing.
pub(crate) fn root() -> Result<PathBuf, Failure> {
    let path = std::env::temp_dir().join(format!("ringfence-{}", user()));
    if let Err(error) = create(&path)
        && error.kind() != ErrorKind::AlreadyExists
    {
        return Err(Failure::new(format!("{}: {error}", path.display()))
            .hint("set TMPDIR to a directory in which you may create others"));
    }
    check(&path)?;
    Ok(path)
}

#[cfg(unix)]
fn user() -> String {
    rustix::process::geteuid().as_raw().to_string()
}

#[cfg(unix)]
fn create(path: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// In a shared directory somebody else may have been first.
#[cfg(unix)]
fn check(path: &std::path::Path) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt;
    let metadata =
        fs::symlink_metadata(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    let ours = metadata.is_dir()
        && metadata.uid() == rustix::process::geteuid().as_raw()
        && metadata.mode() & 0o077 == 0;
    if ours {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{} is not a directory that only you can use",
        path.display()
    ))
    .hint("remove it, or set TMPDIR to another directory"))
}

#[cfg(not(unix))]
fn user() -> String {
    std::env::var("USERNAME").unwrap_or_default()
}

#[cfg(not(unix))]
fn create(path: &std::path::Path) -> std::io::Result<()> {
    fs::create_dir(path)
}

#[cfg(not(unix))]
fn check(_: &std::path::Path) -> Result<(), Failure> {
    Ok(())
}
