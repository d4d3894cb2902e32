//! What a git repository's own files say, read without running git.
//!
//! * [`programs`] tells what of a repository makes git run programs.
//! * [`links`] tells whether an index holds a link to a nested repository, which makes git enter it.
//! * [`pointed`] reads where a `.git` file leads; [`belongs`] asks the repository there whether that is true.
//! * [`set_aside`] gives a repository a name by which git does not find it.
//!
//! Whoever wrote the files may have wanted them misread. So they are read as git reads them, and an index that git may
//! read in more than one way is an error. Every file is read up to a limit only, and nothing here waits: what is not a
//! regular file is not opened.

#[cfg(target_os = "linux")]
mod aside;
pub(crate) mod config;
mod files;
pub(crate) mod index;
mod keys;
mod pointer;
mod programs;
#[cfg(test)]
#[cfg(unix)]
mod testing;

use std::io;
use std::path::Path;

pub use files::common_directory;
pub use index::{Doubt, Linked, links};
pub use pointer::{Attached, Attachment, NotAttached, belongs, pointed};
pub use programs::{Programs, programs};

/// Renames a repository's directory or pointer `.git` to `.git.refused-N`, and of a bare one the `HEAD` without which it
/// is none.
///
/// No link on the way is followed, whoever puts one there meanwhile. Where the directory around it does not let its own
/// owner rename, it is made to.
///
/// # Errors
/// What kept it from being renamed; it is a repository still. Elsewhere than on Linux no backend runs confined
/// commands, and it is always [`io::ErrorKind::Unsupported`].
pub fn set_aside(git: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    return aside::set_aside(git);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = git;
        Err(io::ErrorKind::Unsupported.into())
    }
}
