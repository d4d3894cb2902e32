//! The settings of git for a home directory of its own.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::gitpattern;
use super::gitsyntax::{parse, quoted};

/// Where git looks for the settings of the caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct GitFiles<'a> {
    /// The files for all users in the order in which git reads them, usually `/etc/gitconfig` alone.
    pub system: &'a [PathBuf],
    /// The value of `XDG_CONFIG_HOME`; none stands for `.config` in `home`.
    pub xdg_config_home: Option<&'a Path>,
    /// The caller's own home directory; `~` in values stands for it.
    pub home: Option<&'a Path>,
}

/// Makes the text of a `.gitconfig` for the home directory of confined commands: who the caller is, and that
/// the workspace may belong to another user.
///
/// Holds `user.name` and `user.email` as git would use them in the workspace, and `safe.directory` for the
/// workspace, for what of the caller's `safe.directory` is beneath it, and for everything beneath it if the
/// caller has an entry like `*` for that. Never anything else: no credentials, aliases, helpers, programs, signing
/// keys, hooks, includes. What is not set is left out, and so is an empty value and one with a control
/// character.
///
/// `include` is followed, and `includeIf` with `gitdir` without brackets and backslashes; not other conditions.
/// Missing, unreadable and special files are passed over, of a malformed one the beginning counts. No program is
/// run; variables of the environment such as `GIT_AUTHOR_NAME` and `GIT_CONFIG_GLOBAL` are not considered.
///
/// # Trust
/// The repository in the workspace decides which of the caller's conditional settings apply, as with git itself.
pub fn gitconfig(files: &GitFiles<'_>, workspace: &Path) -> Vec<u8> {
    let mut reader = Reader {
        home: files.home,
        workspace,
        remaining: MAX_FILES,
        found: Found::default(),
    };
    for file in files.system {
        reader.file(file, 0);
    }
    let default = files.home.map(|home| home.join(".config"));
    if let Some(xdg) = files.xdg_config_home.or(default.as_deref()) {
        reader.file(&xdg.join("git/config"), 0);
    }
    if let Some(home) = files.home {
        reader.file(&home.join(".gitconfig"), 0);
    }
    reader.found.text(workspace)
}

/// Longer files are no settings.
const MAX_BYTES: u64 = 1 << 20;

/// As deep as git follows.
const MAX_DEPTH: usize = 10;

/// More than anybody has; a file may include others twice.
const MAX_FILES: usize = 200;

/// What counts of the settings.
#[derive(Default)]
struct Found {
    name: Vec<u8>,
    email: Vec<u8>,
    /// The values of `safe.directory` since it was last made empty.
    safe: Vec<Vec<u8>>,
}

impl Found {
    fn text(&self, workspace: &Path) -> Vec<u8> {
        let mut user = Section::default();
        user.add(b"name", &self.name);
        user.add(b"email", &self.email);
        let mut safe = Section::default();
        safe.add(b"directory", workspace.as_os_str().as_encoded_bytes());
        if self.safe.iter().any(|value| covers(value, workspace)) {
            safe.add(b"directory", workspace.join("*").as_os_str().as_encoded_bytes());
        }
        for value in self.safe.iter().filter(|value| is_beneath(value, workspace)) {
            safe.add(b"directory", value);
        }
        [user.headed(b"[user]\n"), safe.headed(b"[safe]\n")].concat()
    }
}

/// Whether a value of `safe.directory` stands for everything in a directory.
fn covers(value: &[u8], workspace: &Path) -> bool {
    let beneath = value.strip_suffix(b"/*").and_then(path);
    value == b"*" || beneath.is_some_and(|above| workspace.starts_with(above))
}

/// Whether a value of `safe.directory` is a path in a directory, and not the directory itself.
fn is_beneath(value: &[u8], workspace: &Path) -> bool {
    let path = path(value).unwrap_or_default();
    let mut parts = path.components();
    path.starts_with(workspace) && path != workspace && !parts.any(|part| part == Component::ParentDir)
}

/// The lines of a section.
#[derive(Default)]
struct Section(Vec<u8>);

impl Section {
    fn add(&mut self, name: &[u8], value: &[u8]) {
        let readable = String::from_utf8_lossy(value);
        if !value.is_empty() && !readable.chars().any(char::is_control) {
            self.0
                .extend([b"\t", name, b" = ", &quoted(value), b"\n"].concat());
        }
    }

    fn headed(self, header: &[u8]) -> Vec<u8> {
        if self.0.is_empty() {
            return self.0;
        }
        [header, &self.0].concat()
    }
}

struct Reader<'a> {
    home: Option<&'a Path>,
    workspace: &'a Path,
    /// How many files may still be read.
    remaining: usize,
    found: Found,
}

impl Reader<'_> {
    fn file(&mut self, file: &Path, depth: usize) {
        let Some(text) = self.read(file) else {
            return;
        };
        for setting in parse(&text) {
            let value = setting.value.unwrap_or_default();
            let key = (&*setting.section, setting.subsection.as_deref(), &*setting.name);
            match key {
                (b"user", None, b"name") => self.found.name = value,
                (b"user", None, b"email") => self.found.email = value,
                (b"safe", None, b"directory") if value.is_empty() => self.found.safe.clear(),
                (b"safe", None, b"directory") => self.found.safe.push(self.expanded(value)),
                (b"include", None, b"path") => self.include(&value, file, depth),
                (b"includeif", Some(condition), b"path") if self.holds(condition, file) => {
                    self.include(&value, file, depth);
                }
                _ => {}
            }
        }
    }

    fn read(&mut self, file: &Path) -> Option<Vec<u8>> {
        // Opening a pipe would wait.
        let ordinary = file.metadata().is_ok_and(|seen| seen.is_file());
        if !ordinary || self.remaining == 0 {
            return None;
        }
        self.remaining -= 1;
        let mut text = Vec::new();
        File::open(file)
            .ok()?
            .take(MAX_BYTES)
            .read_to_end(&mut text)
            .ok()?;
        Some(text)
    }

    /// Reads a file that another one includes; a relative path is beside that one.
    fn include(&mut self, value: &[u8], from: &Path, depth: usize) {
        let value = self.expanded(value.to_vec());
        let included = path(&value)
            .zip(from.parent())
            .map(|(path, beside)| beside.join(path));
        if let Some(included) = included.filter(|_| depth < MAX_DEPTH && !value.is_empty()) {
            self.file(&included, depth + 1);
        }
    }

    /// A path with the home directory in place of `~`.
    fn expanded(&self, value: Vec<u8>) -> Vec<u8> {
        match (value.strip_prefix(b"~/").and_then(path), self.home) {
            (Some(below), Some(home)) => home.join(below).as_os_str().as_encoded_bytes().to_vec(),
            _ => value,
        }
    }

    fn holds(&self, condition: &[u8], file: &Path) -> bool {
        let git_directory = || git_directory(self.workspace);
        let bases = gitpattern::Bases {
            home: self.home,
            file: file.parent(),
        };
        gitpattern::holds(condition, &bases, git_directory)
    }
}

/// The directory of the repository that a directory belongs to; where it would be if there is none.
fn git_directory(directory: &Path) -> PathBuf {
    let found = directory.ancestors().find_map(|above| {
        let at = above.join(".git");
        let seen = at.metadata().ok()?;
        if seen.is_dir() {
            return Some(at);
        }
        // A linked worktree or a submodule.
        let mut text = Vec::new();
        let file = File::open(&at).ok().filter(|_| seen.is_file())?;
        file.take(MAX_BYTES).read_to_end(&mut text).ok()?;
        let named = path(text.strip_prefix(b"gitdir: ")?.trim_ascii_end())?;
        Some(above.join(named))
    });
    found.unwrap_or_else(|| directory.join(".git"))
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
#[cfg(unix)]
#[path = "gitconfig_tests.rs"]
mod tests;
