//! Where directories are that outlive a run.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::private;

/// The directory of all named home directories, made if it is missing.
pub(super) fn homes() -> Result<PathBuf, Failure> {
    directory("--home", "XDG_DATA_HOME", ".local/share", "ringfence/homes")
}

/// The directory of all kept caches, made if it is missing.
pub(super) fn caches() -> Result<PathBuf, Failure> {
    directory("--cache", "XDG_CACHE_HOME", ".cache", "ringfence/caches")
}

/// A directory beneath the one that a variable of the XDG Base Directory Specification names.
fn directory(option: &str, variable: &str, in_home: &str, below: &str) -> Result<PathBuf, Failure> {
    let absolute = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = absolute(variable).or_else(|| Some(absolute("HOME")?.join(in_home)));
    let path = base
        .ok_or_else(|| {
            Failure::new(format!(
                "{option}: neither {variable} nor HOME is an absolute path"
            ))
            .hint(format!("set {variable} to a directory of yours"))
        })?
        .join(below);
    private::ensure_all(&path).map_err(|failure| failure.in_option(option))?;
    Ok(path)
}
