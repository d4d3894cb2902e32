//! Installations of Python and virtual environments.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// More than any `pyvenv.cfg` has.
const MAX_BYTES: u64 = 65_536;

/// The directory that holds the interpreter of a virtual environment: `home` in its `pyvenv.cfg`.
///
/// Only a `bin` with a Python in it is believed. Source: Python's documentation of `venv` and `site`.
pub(super) fn home(environment: &Path) -> Option<PathBuf> {
    let mut text = Vec::new();
    let file = File::open(environment.join("pyvenv.cfg")).ok()?;
    file.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let home = text.lines().find_map(value)?;
    let programs = PathBuf::from(home);
    let python = ["python3", "python"]
        .iter()
        .any(|name| programs.join(name).is_file());
    (programs.is_absolute() && programs.ends_with("bin") && python).then_some(programs)
}

/// Whether a directory is an installation of Python: its library, by the file that Python itself looks for, is in
/// `lib/python3.N`. The program is `bin/python3`, which is a link to `python3.N`.
pub(super) fn has_library(root: &Path) -> bool {
    let link = root.join("bin/python3").read_link().unwrap_or_default();
    let version = link.file_name().filter(|name| *name != "python3");
    version.is_some_and(|version| root.join("lib").join(version).join("os.py").is_file())
}

/// The value of a line that sets `home`.
fn value(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    (key.trim() == "home").then(|| value.trim())
}
