//! The toolchains that `PATH` really uses.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ringfence_policy::{Kind, Link, Resolve, Resolved};

use super::commands::{self, Target};
use super::cover::Cover;
use super::layouts::{LAYOUTS, Layout, MARKERS, Place};
use super::{Bundle, RuntimeAccess, RuntimeEntry, guard, table, venv};
use crate::Host;

/// Finds what the programs in the directories of `path` need, apart from what [`system`](super::system)
/// opens.
///
/// For each directory: what its toolchain manager needs, if it belongs to a known one (rustup, pyenv and its
/// likes, volta, asdf, mise, sdkman, Homebrew); else the installation it is the `bin` of (conda, a virtual
/// environment and its interpreter, Node, Go, Java, Rust); else `/opt/NAME`; else the directory alone. Of the
/// links in it at most 2,000 are followed; one that leads to a program outside opens the installation of that
/// program, or only its file where the installation would be a home or another directory of many purposes.
///
/// Relative and missing directories are passed over. Never opened: a home directory or what contains it, `/`,
/// `/etc`, `/tmp` and the like, and the usual directories of keys. `lookup` answers for the caller's
/// environment. Bundles are in the order in which `path` leads to them, and what one of them or the system
/// bundle opens already is left out.
///
/// # Trust
/// Links and `pyvenv.cfg` files are believed. Leave out of `path` every directory that a confined command can
/// write, else the command chooses what the next one may read.
///
/// # Not found
/// What a program needs beside its own installation: modules below `~/.local/lib`, settings below a home
/// directory, caches.
pub fn toolchains(
    host: &Host,
    path: &OsStr,
    lookup: &dyn Fn(&str) -> Option<OsString>,
    home: Option<&Path>,
) -> Vec<Bundle> {
    let mut finder = Finder::new(host, lookup, home);
    // `/bin` and `/usr/bin` are often one directory.
    let mut scanned = HashSet::new();
    for directory in std::env::split_paths(path) {
        let found = finder.directory(&directory);
        let Some(found) = found.filter(|found| guard::openable(&found.path, finder.home.as_deref())) else {
            continue;
        };
        finder.installation(&found);
        if scanned.insert(found.path.clone()) {
            for target in commands::elsewhere(&found.path) {
                finder.program(&target);
            }
        }
    }
    finder.finish()
}

struct Finder<'a> {
    host: &'a Host,
    lookup: &'a dyn Fn(&str) -> Option<OsString>,
    home: Option<PathBuf>,
    /// The managers whose place exists on this host, and where it is.
    layouts: Vec<(&'static Layout, PathBuf)>,
    system: Cover,
    /// Managers and installations that were opened; once is enough.
    opened: HashSet<PathBuf>,
    bundles: Vec<Bundle>,
}

/// A manager whose usual place is a part of the path, below a home directory other than the caller's: its
/// place, and that home.
fn implied(path: &Path) -> Option<(&'static Layout, PathBuf, Option<PathBuf>)> {
    LAYOUTS.iter().find_map(|layout| {
        let default = Path::new(layout.found_in.default);
        let mut places = path.ancestors().filter(|_| !default.has_root());
        let root = places.find(|ancestor| ancestor.ends_with(default))?;
        let base = root.ancestors().nth(default.components().count())?;
        Some((layout, root.to_owned(), Some(base.to_owned())))
    })
}

impl<'a> Finder<'a> {
    fn new(host: &'a Host, lookup: &'a dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Self {
        let mut system = Cover::default();
        for (path, access) in table::SYSTEM {
            system.add(Path::new(path), *access);
        }
        let home = home
            .and_then(|home| host.resolve(home).ok())
            .map(|found| found.path);
        let mut finder = Self {
            host,
            lookup,
            home,
            layouts: Vec::new(),
            system,
            opened: HashSet::new(),
            bundles: Vec::new(),
        };
        let known = LAYOUTS.iter();
        finder.layouts = known
            .filter_map(|layout| Some((layout, finder.place(layout.found_in, None)?)))
            .collect();
        finder
    }

    /// An existing directory, by its absolute path.
    fn directory(&self, path: &Path) -> Option<Resolved> {
        let found = self.host.resolve(path).ok()?;
        (found.kind == Kind::Directory).then_some(found)
    }

    /// Where a tool keeps its files, if it has any and they are its own: by its variable, else below `base`, which
    /// is the home directory unless the installation is known to be somebody else's.
    fn place(&self, place: Place, base: Option<&Path>) -> Option<PathBuf> {
        let variable = (!place.variable.is_empty())
            .then(|| (self.lookup)(place.variable))
            .flatten();
        let path = match variable.filter(|value| !value.is_empty()) {
            Some(value) => value.into(),
            None if Path::new(place.default).has_root() => place.default.into(),
            None => base.or(self.home.as_deref())?.join(place.default),
        };
        let found = self.directory(&path)?.path;
        guard::special(&found, self.home.as_deref()).then_some(found)
    }

    /// Opens the installation whose programs are in a directory.
    fn installation(&mut self, directory: &Resolved) {
        let path = &directory.path;
        let links = &directory.links;
        if let Some(name) = self.layout(path) {
            self.open(name, path, links);
        } else if let Some(name) = self.marked(path) {
            self.open(name, path, links);
        } else {
            if let Some(root) = optional(path) {
                self.open(PATH, root, &[]);
            }
            self.open(PATH, path, links);
        }
    }

    /// Opens the installation of a program that a link leads to.
    fn program(&mut self, target: &Target) {
        let Target { path, links } = target;
        let open = self.system.opens(path, RuntimeAccess::ReadExecute);
        let passable = |link: &Link| self.system.opens(&link.path, RuntimeAccess::Read);
        if open && links.iter().all(passable) || !commands::is_program(path) {
            return;
        }
        if let Some(directory) = path.parent() {
            self.prefix(directory);
        }
        self.open(PATH, path, links);
    }

    /// Opens what a directory of programs belongs to; nothing if that would be too much.
    fn prefix(&mut self, directory: &Path) {
        if self.layout(directory).is_some() || self.marked(directory).is_some() {
            return;
        }
        let holds_programs = directory.file_name().is_some_and(|name| name == "bin");
        let parent = directory.parent().filter(|_| holds_programs);
        let prefix = parent.filter(|root| guard::prefix(root, self.home.as_deref()));
        if let Some(root) = optional(directory).or(prefix) {
            self.open(PATH, root, &[]);
        }
    }

    /// Opens what a manager needs if the path is in its place; gives the name of the bundle.
    fn layout(&mut self, path: &Path) -> Option<&'static str> {
        let known = self.layouts.iter().find(|(_, root)| path.starts_with(root));
        let (layout, root, base) = match known {
            Some((layout, root)) => (*layout, root.clone(), None),
            None => implied(path).filter(|(_, _, base)| *base != self.home)?,
        };
        let base = base.as_deref();
        if !self.opened.insert(root.clone()) {
            return Some(layout.name);
        }
        if layout.opens.is_empty() {
            self.open(layout.name, &root, &[]);
        }
        for (place, below) in layout.opens {
            if let Some(root) = self.place(*place, base) {
                self.open(layout.name, &root.join(below), &[]);
            }
        }
        if let Some(place) = layout.exports
            && let Some(root) = self.place(place, base)
            && guard::openable(&root, self.home.as_deref())
        {
            let variable = (place.variable.into(), root.into());
            self.bundle(layout.name).environment.push(variable);
        }
        let private = layout
            .private
            .iter()
            .map(|place| (place.variable.into(), place.default.into()));
        self.bundle(layout.name).private.extend(private);
        Some(layout.name)
    }

    /// Opens the installation a directory of programs belongs to, known by what lies beside the directory;
    /// gives the name of the bundle.
    fn marked(&mut self, directory: &Path) -> Option<&'static str> {
        let name = directory.file_name()?;
        let root = directory
            .parent()
            .filter(|_| name == "bin" || name == "condabin")?;
        let marker = MARKERS.iter().find(|marker| root.join(marker.file).exists())?;
        if !guard::openable(root, self.home.as_deref()) {
            return None;
        }
        if self.opened.insert(root.into()) {
            self.open(marker.name, root, &[]);
            self.interpreter(root);
        }
        Some(marker.name)
    }

    /// Opens the interpreter that a virtual environment was made with.
    fn interpreter(&mut self, environment: &Path) {
        let Some(programs) = venv::home(environment).and_then(|home| self.directory(&home)) else {
            return;
        };
        self.prefix(&programs.path);
        self.open("venv", &programs.path, &programs.links);
    }

    /// Adds an entry, unless it must never be opened or there is nothing.
    fn open(&mut self, name: &str, path: &Path, links: &[Link]) {
        if !guard::openable(path, self.home.as_deref()) {
            return;
        }
        let Ok(mut resolved) = self.host.resolve(path) else {
            return;
        };
        // A directory that a table names may be a link; where it leads was not looked at yet.
        if resolved.kind == Kind::Absent || !guard::openable(&resolved.path, self.home.as_deref()) {
            return;
        }
        resolved.links.extend_from_slice(links);
        let access = RuntimeAccess::ReadExecute;
        self.bundle(name).entries.push(RuntimeEntry { resolved, access });
    }

    fn bundle(&mut self, name: &str) -> &mut Bundle {
        let known = self.bundles.iter().position(|bundle| bundle.name == name);
        let index = known.unwrap_or(self.bundles.len());
        if known.is_none() {
            self.bundles.push(Bundle {
                name: name.into(),
                entries: Vec::new(),
                environment: Vec::new(),
                private: Vec::new(),
            });
        }
        &mut self.bundles[index]
    }

    fn finish(mut self) -> Vec<Bundle> {
        let mut all = Vec::new();
        for (index, bundle) in self.bundles.iter_mut().enumerate() {
            all.extend(bundle.entries.drain(..).map(|entry| (index, entry)));
        }
        for (index, entry) in self.system.distinct(all) {
            self.bundles[index].entries.push(entry);
        }
        let used = |bundle: &Bundle| {
            !bundle.entries.is_empty() || !bundle.environment.is_empty() || !bundle.private.is_empty()
        };
        self.bundles.retain(used);
        self.bundles
    }
}

/// The bundle of what belongs to no known toolchain.
const PATH: &str = "path";

/// `/opt/NAME` above a path, the place of a package outside the system's own.
fn optional(path: &Path) -> Option<&Path> {
    path.ancestors()
        .find(|above| above.parent() == Some(Path::new("/opt")))
}

#[cfg(test)]
#[cfg(unix)]
#[path = "toolchains_tests.rs"]
mod tests;
