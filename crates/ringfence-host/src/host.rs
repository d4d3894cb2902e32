//! The resolver of this host.

use std::cell::RefCell;
#[cfg(unix)]
use std::collections::HashSet;
#[cfg(unix)]
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ringfence_policy::{Resolve, ResolveError, Resolved};

/// Resolves paths on this host.
///
/// An answer holds for the moment of the question. On Unix each component costs one system call, the object
/// at the end one more. Elsewhere links are followed but not recorded, and objects have no identity.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host;

impl Resolve for Host {
    /// Gives the canonical form of an absolute path that need not exist yet (POL-90).
    ///
    /// Components are taken one by one as the kernel takes them: `..` is applied after a symlink before it
    /// was followed, and a trailing `/` asks for a directory. Magic links below `/proc` are followed by their
    /// text. Source: path_resolution(7).
    ///
    /// # Errors
    /// Everything but "not found": a relative or empty path, a directory that may not be searched, more than
    /// 40 links, a component below something that is no directory, and `..` below something that does not
    /// exist, since what it would mean depends on what is created there.
    fn resolve(&self, path: &Path) -> Result<Resolved, ResolveError> {
        check(path)?;
        resolve(path, None)
    }

    /// The home directory in the user database; see [`ProfileConfig::homes`](ringfence_policy::ProfileConfig::homes)
    /// for others.
    fn homes(&self) -> Vec<PathBuf> {
        crate::homes::of_this_user().into_iter().collect()
    }

    fn in_succession(&self) -> Option<Box<dyn Resolve + '_>> {
        Some(Box::new(Successive::default()))
    }
}

/// Remembers what it was told about directories.
#[derive(Debug, Default)]
struct Successive(RefCell<Known>);

impl Resolve for Successive {
    fn resolve(&self, path: &Path) -> Result<Resolved, ResolveError> {
        Host.resolve_knowing(path, &mut self.0.borrow_mut())
    }

    fn homes(&self) -> Vec<PathBuf> {
        Host.homes()
    }
}

/// What was found out about directories, by their canonical paths, as text: comparing paths is slow.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// No links.
    #[cfg(unix)]
    pub(crate) plain: HashSet<OsString>,
    /// A look-up in them succeeded.
    #[cfg(unix)]
    pub(crate) searched: HashSet<OsString>,
}

impl Host {
    /// Resolves like [`Resolve::resolve`], but asks nothing that is known about a directory, and adds what is found
    /// out on the way. Only for looks in quick succession.
    pub(crate) fn resolve_knowing(&self, path: &Path, known: &mut Known) -> Result<Resolved, ResolveError> {
        check(path)?;
        resolve(path, Some(known))
    }
}

fn check(path: &Path) -> Result<(), ResolveError> {
    if path.as_os_str().is_empty() {
        return Err(ResolveError::Empty);
    }
    if !path.is_absolute() {
        return Err(ResolveError::Relative { path: path.into() });
    }
    Ok(())
}

#[cfg(unix)]
fn resolve(path: &Path, known: Option<&mut Known>) -> Result<Resolved, ResolveError> {
    crate::walk::walk(path, known)
}

/// Without a component-wise walk: the longest existing ancestor as the system canonicalizes it.
#[cfg(not(unix))]
fn resolve(path: &Path, _: Option<&mut Known>) -> Result<Resolved, ResolveError> {
    use ringfence_policy::Kind;
    use std::io::{Error, ErrorKind};

    let failed = |at: &Path, error: &Error| {
        let (path, errno) = (at.into(), error.raw_os_error().unwrap_or_default());
        match error.kind() {
            ErrorKind::PermissionDenied => ResolveError::Denied { path, errno },
            _ => ResolveError::Io { path, errno },
        }
    };
    let mut missing = Vec::new();
    let mut at = path;
    loop {
        match at.canonicalize() {
            Ok(found) => {
                let directory = found.metadata().map_err(|error| failed(at, &error))?.is_dir();
                let kind = match (missing.is_empty(), directory) {
                    (true, true) => Kind::Directory,
                    (true, false) => Kind::File,
                    (false, true) => Kind::Absent,
                    (false, false) => return Err(failed(at, &ErrorKind::NotADirectory.into())),
                };
                let path = missing
                    .into_iter()
                    .rev()
                    .fold(found, |path, name| path.join(name));
                return Ok(Resolved {
                    path,
                    kind,
                    identity: None,
                    links: Vec::new(),
                });
            }
            Err(error) if error.kind() == ErrorKind::NotFound => match (at.parent(), at.file_name()) {
                (Some(parent), Some(name)) => {
                    missing.push(name);
                    at = parent;
                }
                _ => return Err(failed(at, &error)),
            },
            Err(error) => return Err(failed(at, &error)),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "host_tests.rs"]
mod tests;
