//! What the programs of `PATH` need.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ringfence_policy::{Link, Resolved};

use super::commands::{self, Target};
use super::cover::Cover;
use super::layouts::{self, LAYOUTS, Layout, MARKERS, PROGRAMS, Place, Program};
use super::look::Look;
use super::variables::{CHOSEN, Chosen};
use super::{BundleName, Provenance, RuntimeAccess, RuntimeEntry, Survey, guard, tables, venv};

/// What was found through `PATH`, of the selected bundles.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// What the tables don't open, sorted by path.
    pub(super) entries: Vec<(BundleName, RuntimeEntry)>,
    /// Variables with the values that commands need.
    pub(super) environment: Vec<(BundleName, (OsString, OsString))>,
    /// The bundles with an installation apart from the system's.
    pub(super) used: BTreeSet<BundleName>,
}

pub(super) struct Finder<'a> {
    look: Look,
    selection: &'a BTreeSet<BundleName>,
    lookup: &'a dyn Fn(&str) -> Option<OsString>,
    home: Option<PathBuf>,
    /// The managers whose place exists on this host, and where it is.
    layouts: Vec<(&'static Layout, PathBuf)>,
    /// What the tables open, whether selected or not: it never belongs to a bundle of programs.
    system: Cover,
    /// Managers and installations that were opened; once is enough.
    opened: HashSet<PathBuf>,
    found: Found,
}

impl<'a> Finder<'a> {
    pub(super) fn new(
        selection: &'a BTreeSet<BundleName>,
        lookup: &'a dyn Fn(&str) -> Option<OsString>,
        home: Option<&Path>,
    ) -> Self {
        let mut look = Look::default();
        let home = home.and_then(|home| look.existing(home)).map(|found| found.path);
        let mut finder = Self {
            look,
            selection,
            lookup,
            home,
            layouts: Vec::new(),
            system: tables::cover(),
            opened: HashSet::new(),
            found: Found::default(),
        };
        for layout in LAYOUTS {
            let place = finder.place(layout.found_in, None);
            finder.layouts.extend(place.map(|place| (layout, place)));
        }
        finder
    }

    pub(super) fn find(mut self, path: &OsStr, surveyed: &Survey) -> Found {
        let asked = layouts::program_names();
        // `/bin` and `/usr/bin` are often one directory.
        let mut scanned = HashSet::new();
        for written in std::env::split_paths(path) {
            let found = self.look.directory(&written);
            let Some(found) = found.filter(|found| guard::openable(&found.path, self.home.as_deref())) else {
                continue;
            };
            self.installation(&found, &Provenance::Directory(written));
            if !scanned.insert(found.path.clone()) {
                continue;
            }
            let now;
            let listing = match surveyed.listing(&found.path) {
                Some(before) => before,
                None => {
                    now = self.look.list(&found.path, &asked);
                    &now
                }
            };
            let named = |program: &&Program| listing.names.contains(&program.name);
            for program in PROGRAMS.iter().filter(named) {
                self.managed(program, &found.path);
            }
            for target in &listing.targets {
                self.target(target, &found.path);
            }
        }
        for chosen in CHOSEN {
            self.chosen(chosen);
        }
        let selection = self.selection;
        self.found.used.retain(|bundle| selection.contains(bundle));
        self.found.entries = self.system.distinct(self.found.entries);
        self.found
    }

    /// Where a tool keeps its files, if it has any and they are its own: by its variable, else below `base`, which
    /// is the home directory unless the installation is known to be somebody else's.
    fn place(&mut self, place: Place, base: Option<&Path>) -> Option<PathBuf> {
        let path = match self.value(place.variable) {
            Some(value) => value.into(),
            None if Path::new(place.default).has_root() => place.default.into(),
            None => base.or(self.home.as_deref())?.join(place.default),
        };
        let found = self.look.directory(&path)?.path;
        guard::special(&found, self.home.as_deref()).then_some(found)
    }

    fn value(&self, variable: &str) -> Option<OsString> {
        let value = (!variable.is_empty()).then(|| (self.lookup)(variable)).flatten();
        value.filter(|value| !value.is_empty())
    }

    /// Opens the installation whose programs are in a directory.
    fn installation(&mut self, directory: &Resolved, why: &Provenance) {
        let path = &directory.path;
        let bundle = self.layout(path, why).or_else(|| self.marked(path, why));
        if bundle.is_none()
            && let Some(root) = optional(path)
        {
            self.open(BundleName::Path, root, &[], why);
        }
        self.open(bundle.unwrap_or(BundleName::Path), path, &directory.links, why);
    }

    /// Opens what a program in a directory manages.
    fn managed(&mut self, program: &Program, directory: &Path) {
        if let Some(root) = self.place(program.place, None)
            && self.opened.insert(root.clone())
        {
            self.found.used.insert(program.bundle);
            let why = Provenance::Program(directory.join(program.name));
            self.open(program.bundle, &root, &[], &why);
            self.export(program.bundle, program.place, &root);
        }
    }

    /// Opens the installation of a program that a link in a directory leads to.
    fn target(&mut self, target: &Target, directory: &Path) {
        let Target { path, links } = target;
        let passable = |link: &Link| self.system.opens(&link.path, RuntimeAccess::Read);
        // What is in the directory is open with it, and so are links in it.
        let beside = path.starts_with(directory) && links.iter().skip(1).all(passable);
        let open = || self.system.opens(path, RuntimeAccess::ReadExecute) && links.iter().all(passable);
        let Some(first) = links.first() else {
            return;
        };
        if beside || open() || !commands::is_program(path) {
            return;
        }
        let why = Provenance::Link(first.path.clone());
        let bundle = path
            .parent()
            .and_then(|directory| self.prefix(directory, BundleName::Path, &why));
        self.open(bundle.unwrap_or(BundleName::Path), path, links, &why);
    }

    /// Opens what a directory of programs belongs to, nothing if that would be too much; gives the bundle of a known
    /// toolchain.
    fn prefix(&mut self, directory: &Path, otherwise: BundleName, why: &Provenance) -> Option<BundleName> {
        let known = self
            .layout(directory, why)
            .or_else(|| self.marked(directory, why));
        if known.is_none() {
            let holds_programs = directory.file_name().is_some_and(|name| name == "bin");
            let parent = directory.parent().filter(|_| holds_programs);
            let prefix = parent.filter(|root| guard::prefix(root, self.home.as_deref()));
            if let Some(root) = optional(directory).or(prefix) {
                self.open(otherwise, root, &[], why);
            }
        }
        known
    }

    /// Opens what a manager needs if the path is in its place; gives the bundle.
    fn layout(&mut self, path: &Path, why: &Provenance) -> Option<BundleName> {
        let known = self.layouts.iter().find(|(_, root)| path.starts_with(root));
        let (layout, root, base) = match known {
            Some((layout, root)) => (*layout, root.clone(), None),
            None => implied(path).filter(|(_, _, base)| *base != self.home)?,
        };
        let (bundle, base) = (layout.bundle, base.as_deref());
        if !self.opened.insert(root.clone()) {
            return Some(bundle);
        }
        self.found.used.insert(bundle);
        if layout.opens.is_empty() {
            self.open(bundle, &root, &[], why);
        }
        for (place, below) in layout.opens {
            if let Some(root) = self.place(*place, base) {
                self.open(bundle, &root.join(below), &[], why);
            }
        }
        if let Some(place) = layout.exports
            && let Some(root) = self.place(place, base)
        {
            self.export(bundle, place, &root);
        }
        Some(bundle)
    }

    /// Opens the installation a directory of programs belongs to, known by what lies beside the directory;
    /// gives the bundle.
    fn marked(&mut self, directory: &Path, why: &Provenance) -> Option<BundleName> {
        let name = directory.file_name()?;
        let root = directory
            .parent()
            .filter(|_| name == "bin" || name == "condabin")?;
        if self.system.opens(root, RuntimeAccess::ReadExecute) {
            return None;
        }
        let marker = MARKERS.iter().find(|marker| root.join(marker.file).exists());
        let library = || venv::has_library(root).then_some(BundleName::Python);
        let bundle = marker.map(|marker| marker.bundle).or_else(library)?;
        if !guard::openable(root, self.home.as_deref()) {
            return None;
        }
        self.found.used.insert(bundle);
        if self.opened.insert(root.into()) {
            self.open(bundle, root, &[], why);
            self.interpreter(root);
        }
        Some(bundle)
    }

    /// Opens the interpreter that a virtual environment was made with.
    fn interpreter(&mut self, environment: &Path) {
        let Some(programs) = venv::home(environment).and_then(|home| self.look.directory(&home)) else {
            return;
        };
        let why = Provenance::VirtualEnvironment(environment.into());
        self.prefix(&programs.path, BundleName::Python, &why);
        self.open(BundleName::Python, &programs.path, &programs.links, &why);
    }

    /// Opens the installation that a variable of the caller names.
    fn chosen(&mut self, chosen: &Chosen) {
        let root = self
            .value(chosen.variable)
            .and_then(|value| self.look.directory(value.as_ref()));
        let Some(root) = root.filter(|root| root.path.join(chosen.program).exists()) else {
            return;
        };
        if guard::openable(&root.path, self.home.as_deref()) {
            self.found.used.insert(chosen.bundle);
            let why = Provenance::Variable(chosen.variable);
            self.open(chosen.bundle, &root.path, &[], &why);
            self.set(chosen.bundle, chosen.variable, &root.path);
        }
    }

    fn export(&mut self, bundle: BundleName, place: Place, root: &Path) {
        if guard::openable(root, self.home.as_deref()) {
            self.set(bundle, place.variable, root);
        }
    }

    /// Sets a variable; of several values the first stays, as with directories of `PATH`.
    fn set(&mut self, bundle: BundleName, variable: &str, value: &Path) {
        let mut known = self.found.environment.iter();
        if self.selection.contains(&bundle) && !known.any(|(_, (name, _))| name == variable) {
            let variable = (variable.into(), value.into());
            self.found.environment.push((bundle, variable));
        }
    }

    /// Adds an entry, unless it must never be opened or there is nothing.
    fn open(&mut self, bundle: BundleName, path: &Path, links: &[Link], why: &Provenance) {
        if !self.selection.contains(&bundle) || !guard::openable(path, self.home.as_deref()) {
            return;
        }
        let Some(mut resolved) = self.look.existing(path) else {
            return;
        };
        // A directory that a table names may be a link; where it leads was not looked at yet.
        if !guard::openable(&resolved.path, self.home.as_deref()) {
            return;
        }
        resolved.links.extend_from_slice(links);
        let entry = RuntimeEntry {
            resolved,
            access: RuntimeAccess::ReadExecute,
            why: why.clone(),
        };
        self.found.entries.push((bundle, entry));
    }
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

/// `/opt/NAME` above a path, the place of a package outside the system's own.
fn optional(path: &Path) -> Option<&Path> {
    path.ancestors()
        .find(|above| above.parent() == Some(Path::new("/opt")))
}

#[cfg(test)]
#[cfg(unix)]
#[path = "finder_tests.rs"]
mod tests;
