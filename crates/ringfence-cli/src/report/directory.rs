//! A directory that stays the same whatever becomes of its name.

#[cfg(unix)]
pub(super) use held::Directory;
#[cfg(not(unix))]
pub(super) use named::Directory;

#[cfg(unix)]
mod held {
    use std::fs::File;
    use std::io::Result;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, Mode, OFlags};

    /// An open directory; the names in it are names and no paths.
    #[derive(Debug)]
    pub(crate) struct Directory {
        path: PathBuf,
        held: OwnedFd,
    }

    impl Directory {
        pub(crate) fn open(path: &Path) -> Result<Self> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let held = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
            let path = path.to_owned();
            Ok(Self { path, held })
        }

        /// A new file; there must be nothing of that name.
        pub(crate) fn create(&self, name: &Path) -> Result<File> {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(0o666);
            Ok(rustix::fs::openat(&self.held, name, flags, mode)?.into())
        }

        pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
            Ok(rustix::fs::renameat(&self.held, from, &self.held, to)?)
        }

        pub(crate) fn remove(&self, name: &Path) -> Result<()> {
            Ok(rustix::fs::unlinkat(&self.held, name, AtFlags::empty())?)
        }

        /// Whether its path still leads to it.
        pub(crate) fn is_in_place(&self) -> bool {
            let (Ok(there), Ok(held)) = (rustix::fs::stat(&self.path), rustix::fs::fstat(&self.held)) else {
                return false;
            };
            (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)
        }
    }
}

/// Where a directory in use can't be renamed or there is no call for it, its name has to do.
#[cfg(not(unix))]
mod named {
    use std::fs::File;
    use std::io::Result;
    use std::path::{Path, PathBuf};

    #[derive(Debug)]
    pub(crate) struct Directory(PathBuf);

    impl Directory {
        pub(crate) fn open(path: &Path) -> Result<Self> {
            Ok(Self(path.to_owned()))
        }

        pub(crate) fn create(&self, name: &Path) -> Result<File> {
            File::create_new(self.0.join(name))
        }

        pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
            std::fs::rename(self.0.join(from), self.0.join(to))
        }

        pub(crate) fn remove(&self, name: &Path) -> Result<()> {
            std::fs::remove_file(self.0.join(name))
        }

        pub(crate) fn is_in_place(&self) -> bool {
            true
        }
    }
}
