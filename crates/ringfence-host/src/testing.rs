//! Short ways to build a tree of files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A directory for one test; its path is canonical.
pub(crate) struct Tree {
    /// Removes the directory at the end of the test.
    _guard: TempDir,
    pub(crate) root: PathBuf,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let guard = TempDir::new().unwrap();
        let root = guard.path().canonicalize().unwrap();
        Self { _guard: guard, root }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn dir(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, b"").unwrap();
        path
    }

    pub(crate) fn program(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.file(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A symlink at `name` with the text `target`.
    pub(crate) fn link(&self, name: impl AsRef<Path>, target: impl AsRef<Path>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, &path).unwrap();
        path
    }

    /// Takes all permissions from a directory; `None`, said aloud, where that stops nobody.
    pub(crate) fn locked(&self, name: impl AsRef<Path>) -> Option<Locked> {
        if rustix::process::geteuid().is_root() {
            skip("root may search every directory");
            return None;
        }
        let path = self.dir(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        Some(Locked(path))
    }
}

/// Gives the permissions back, so that the directory can be removed.
pub(crate) struct Locked(pub(crate) PathBuf);

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, fs::Permissions::from_mode(0o700));
    }
}

/// Says visibly that the current test, or a part of it, can show nothing here.
pub(crate) fn skip(reason: &str) {
    use std::io::Write;
    let thread = std::thread::current();
    // Not by `eprintln!`, which the test harness hides for tests that pass.
    // In one piece, as other tests write at the same time.
    let line = format!("SKIP {}: {reason}\n", thread.name().unwrap_or("?"));
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}
