//! Where the command line keeps the private directories of its runs.

use std::path::{Path, PathBuf};

use ringfence::{Access, Axis, Host, Profile};

use crate::failure::Failure;
use crate::private;

/// A directory of the calling user's own, which other runs use too; whoever drops it last removes it.
#[derive(Debug)]
pub(crate) struct Root(PathBuf);

impl Root {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // While others have something in it, it can't be removed.
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// The one for a profile, made if it is missing: beneath the system's temporary directory, or where the profile lets
/// commands write there, beneath another one. Until there is something in it, another run may remove it.
pub(crate) fn root(profile: &Profile) -> Result<Root, Failure> {
    let closed = |directory: &PathBuf| {
        let decided = profile.decide(&Host, directory, Axis::Write);
        directory.is_absolute() && decided.is_ok_and(|decision| decision.access == Access::Deny)
    };
    let Some(parent) = parents().find(closed) else {
        return Err(
            Failure::new("every directory for private files lies where the command may write")
                .hint("set TMPDIR to a directory outside of what the command may write"),
        );
    };
    let path = parent.join(format!("ringfence-{}", user()));
    private::ensure(&path).map_err(|failure| {
        failure.hint("set TMPDIR to a directory in which you may create others, or remove what is in the way")
    })?;
    Ok(Root(path))
}

/// Where private files may lie, in order of preference.
fn parents() -> impl Iterator<Item = PathBuf> {
    let variable = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let home = variable("HOME")
        .map(|home| home.join(".cache"))
        .filter(|cache| cache.is_dir());
    let fixed = ["/tmp", "/var/tmp"].map(|path| Some(PathBuf::from(path)).filter(|path| path.is_dir()));
    let [first, second] = fixed;
    let system = Some(std::env::temp_dir());
    [
        variable("TMPDIR"),
        first,
        second,
        variable("XDG_RUNTIME_DIR"),
        home,
        system,
    ]
    .into_iter()
    .flatten()
}

#[cfg(unix)]
fn user() -> String {
    rustix::process::geteuid().as_raw().to_string()
}

#[cfg(not(unix))]
fn user() -> String {
    std::env::var("USERNAME").unwrap_or_default()
}
