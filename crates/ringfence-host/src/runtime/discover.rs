//! Finds the bundles of this host.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::finder::Finder;
use super::variables::{OPTIONS, PRIVATE};
use super::{Bundle, BundleName, Survey, tables};

/// Finds what the selected bundles open here, and the variables that commands need for it.
///
/// The tables come first (POL-36 to POL-41): programs, libraries, and selected files of `/etc`. Then, for each
/// directory of `path`: what its toolchain manager needs, if it belongs to a known one (rustup, pyenv, uv, nvm, fnm,
/// volta, pnpm, goenv, jenv, SDKMAN, asdf, mise, Homebrew and their likes); else the installation it is the `bin` of
/// (conda, a virtual environment and its interpreter, Python, Node.js, Go, Java, Rust); else `/opt/NAME`; else the
/// directory alone. Of the links in it at most 2,000 are followed; one that leads to a program outside opens the
/// installation of that program, or only its file where the installation would be a home or another directory of
/// many purposes. Then the installations of `JAVA_HOME` and `GOROOT`.
///
/// Relative and missing directories are passed over. Never opened: a home directory or what contains it, `/`,
/// `/etc`, `/tmp` and the like, and the usual directories of keys. `lookup` answers for the caller's environment.
///
/// Bundles are in the order of their names' type; those with nothing in them are left out. What a selected bundle
/// opens already is not in another one. A path belongs to one bundle whatever is selected: without
/// [`BundleName::Python`] there is no pyenv, but the Python of `/usr` is a part of [`BundleName::Base`]. A bundle has
/// variables if it has an installation apart from the system's; with that alone the environment stays as it is.
///
/// Linux, macOS and, less thoroughly, other Unix systems; on Windows there are no tables, since the system's own
/// baseline for restricted processes stands for them.
///
/// A directory of `path` that the survey was not about is looked through now.
///
/// # Trust
/// Links, `pyvenv.cfg` files and variables are believed. Leave out of `path`, and of what `lookup` answers, every
/// directory that a confined command can write, else the command chooses what the next one may read.
///
/// # Not found
/// What a program needs beside its own installation: modules below `~/.local/lib`, settings below a home
/// directory, caches.
pub fn discover(
    surveyed: &Survey,
    selection: &BTreeSet<BundleName>,
    path: &OsStr,
    lookup: &dyn Fn(&str) -> Option<OsString>,
    home: Option<&Path>,
) -> Vec<Bundle> {
    let mut entries = tables::select(&surveyed.tables, selection);
    let found = Finder::new(selection, lookup, home).find(path, surveyed);
    entries.extend(found.entries);
    let bundles = selection.iter().map(|name| {
        let used = found.used.contains(name);
        let private = PRIVATE.iter().filter(|row| used && row.bundle == *name);
        let options = OPTIONS.iter().filter(|row| used && row.bundle == *name);
        let own = found.environment.iter().filter(|(bundle, _)| bundle == name);
        let mut bundle = Bundle {
            name: *name,
            entries: Vec::new(),
            environment: own.map(|(_, variable)| variable.clone()).collect(),
            private: private
                .map(|row| (row.variable.into(), row.below.into()))
                .collect(),
            options: options
                .map(|row| (row.variable.into(), row.option.into()))
                .collect(),
        };
        let own = entries.extract_if(.., |(bundle, _)| bundle == name);
        bundle.entries.extend(own.map(|(_, entry)| entry));
        bundle
            .entries
            .sort_by(|a, b| a.resolved.path.cmp(&b.resolved.path));
        bundle
    });
    bundles.filter(has_something).collect()
}

fn has_something(bundle: &Bundle) -> bool {
    !(bundle.entries.is_empty()
        && bundle.environment.is_empty()
        && bundle.private.is_empty()
        && bundle.options.is_empty())
}

#[cfg(test)]
#[cfg(unix)]
#[path = "discover_tests.rs"]
mod tests;
