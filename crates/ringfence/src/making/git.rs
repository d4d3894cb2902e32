//! Settings of git in an executor's own home.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use ringfence_host::runtime::{self, GitFiles};

use crate::error::ExecutorError;
use crate::set::Shared;

impl Shared {
    /// Who commits, that the workspace may be another user's, and that placeholders are none of git's business; nothing
    /// else of the caller's settings.
    pub(super) fn write_git_settings(
        &self,
        home: &Path,
        placeholders: &[PathBuf],
    ) -> Result<(), ExecutorError> {
        let variable = |name: &str| self.caller.get(OsStr::new(name)).map(PathBuf::from);
        let (caller_home, xdg) = (variable("HOME"), variable("XDG_CONFIG_HOME"));
        let files = GitFiles {
            system: &[PathBuf::from("/etc/gitconfig")],
            xdg_config_home: xdg.as_deref(),
            home: caller_home.as_deref(),
        };
        let settings = runtime::gitconfig(&files, &self.profile.workspace().path);
        // Where git looks for patterns of what it is to ignore everywhere (gitignore(5)).
        let directory = home.join(".config/git");
        let written = std::fs::create_dir_all(&directory)
            .and_then(|()| write_new(&home.join(".gitconfig"), &settings))
            .and_then(|()| write_new(&directory.join("ignore"), &ignored(placeholders)));
        written.map_err(|error| ExecutorError::Scratch {
            path: home.to_owned(),
            why: error.to_string(),
        })
    }
}

/// Writes a file unless there is one: in a kept home it may have been changed since, and that is kept too.
fn write_new(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut options = std::fs::File::options();
    match options.write(true).create_new(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        opened => opened?.write_all(content),
    }
}

/// Patterns for placeholders at the top of a working tree; inside of a repository git looks for none.
fn ignored(placeholders: &[PathBuf]) -> Vec<u8> {
    let names: BTreeSet<_> = placeholders.iter().filter_map(|path| path.file_name()).collect();
    let lines = names
        .into_iter()
        .map(|name| [b"/", name.as_encoded_bytes(), b"\n"].concat());
    lines.collect::<Vec<_>>().concat()
}
