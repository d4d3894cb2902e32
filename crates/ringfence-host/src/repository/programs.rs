//! What of a repository makes git run programs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use super::{config, files, keys};

/// Most entries of a directory of hooks.
const MAX_HOOKS: usize = 10_000;

/// What of a repository makes git run programs, or leads it to more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// Names of settings, such as `core.fsmonitor` and `filter.x.clean`, sorted, each once. Section and key are in lower
    /// case; what is not UTF-8 is replaced; a subsection may hold any character but a line end.
    pub keys: Vec<String>,
    /// Names of hooks, sorted: of every executable file in `hooks` but `*.sample`, since later versions of git have
    /// hooks with other names.
    pub hooks: Vec<OsString>,
}

/// Looks into the `config`, `config.worktree` and `hooks` that git uses with this directory of a repository, which may
/// be that of a linked working tree.
///
/// What is not there holds nothing. `config.worktree` counts whether git reads it yet or not. Settings that
/// `include.path` and `includeIf` lead to are not read, nor hooks that `core.hooksPath` leads to: these three are among
/// the names. An alias for a command of git is not among them, though there are commands that take a program as an
/// argument; nor is what a half-done rebase or bisection would run. Where there are no permissions to execute, as on
/// Windows, every file in `hooks` is a hook.
///
/// # Errors
/// A file can't be read, is no regular file (`InvalidInput`), is of more than 1 MiB (`FileTooLarge`), or has names of
/// more than 16 MiB altogether (`InvalidData`); `hooks` can't be listed or has more than 10 000 entries
/// (`InvalidData`).
pub fn programs(git_directory: &Path) -> io::Result<Programs> {
    let common = files::common_directory(git_directory)?;
    let mut found = BTreeSet::new();
    for file in [common.join("config"), git_directory.join("config.worktree")] {
        let settings = config::read(&file)?;
        let dangerous = settings.iter().filter(|setting| keys::is_dangerous(setting));
        found.extend(dangerous.map(|setting| String::from_utf8_lossy(&setting.name).into_owned()));
    }
    Ok(Programs {
        keys: found.into_iter().collect(),
        hooks: hooks(&common.join("hooks"))?,
    })
}

fn hooks(directory: &Path) -> io::Result<Vec<OsString>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if files::is_absence(&error) => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut hooks = Vec::new();
    for (number, entry) in entries.enumerate() {
        if number == MAX_HOOKS {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let entry = entry?;
        if is_hook(&entry) {
            hooks.push(entry.file_name());
        }
    }
    hooks.sort();
    Ok(hooks)
}

fn is_hook(entry: &DirEntry) -> bool {
    let sample = entry.file_name().as_encoded_bytes().ends_with(b".sample");
    // Through links, as git looks; what it can't reach it can't run.
    let program = fs::metadata(entry.path()).is_ok_and(|seen| seen.is_file() && is_executable(&seen));
    program && !sample
}

#[cfg(unix)]
fn is_executable(seen: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    seen.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
#[cfg(unix)]
#[path = "programs_tests.rs"]
mod tests;
