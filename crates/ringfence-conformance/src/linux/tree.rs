//! The tree of a case on the disk, and what a directory of it holds.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ringfence::{Access, Guard, Pattern, Preset, ProfileConfig, Protection, Root, Verdict};
use ringfence_zygote::attempt;

use super::generate::{Case, Entry, Place, Shape};

/// A file with a line in it.
pub(crate) const FILE: &str = "file";
/// A program.
pub(crate) const PROGRAM: &str = "program";
/// A directory with a [`FILE`] in it.
pub(crate) const DIRECTORY: &str = "directory";
/// A directory with nothing in it.
pub(crate) const EMPTY: &str = "empty";
/// What the patterns match.
pub(crate) const MATCHES: [&str; 2] = [".env", "key.pem"];
/// What is in every [`FILE`].
pub(crate) const CONTENT: &[u8] = b"as it was\n";

/// Where everything is.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The top, the workspace, and the places that are directories.
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) absent: Vec<PathBuf>,
    /// Symbolic links, each with the directory it leads to.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Second names of files, each with the first.
    pub(crate) hard_links: Vec<(PathBuf, PathBuf)>,
    entries: Vec<(PathBuf, Shape, Entry)>,
    pub(crate) has_matches: bool,
}

impl Layout {
    /// Works out the paths; looks at nothing.
    pub(crate) fn new(case: &Case, top: &Path) -> Self {
        let mut layout = Self {
            directories: vec![top.to_owned(), top.join("workspace")],
            files: Vec::new(),
            absent: Vec::new(),
            links: Vec::new(),
            hard_links: Vec::new(),
            entries: Vec::new(),
            has_matches: !case.patterns.is_empty(),
        };
        let mut taken = BTreeSet::new();
        for place in &case.places {
            layout.add(place, &mut taken);
        }
        let directory = |index: usize| &layout.directories[index % layout.directories.len()];
        let link = |(number, (at, to)): (usize, &(usize, usize))| {
            (
                directory(*at).join(format!("link-{number}")),
                directory(*to).clone(),
            )
        };
        layout.links = case.links.iter().enumerate().map(link).collect();
        let second = |(number, (of, at)): (usize, &(usize, usize))| {
            (
                directory(*at).join(format!("second-{number}")),
                directory(*of).join(FILE),
            )
        };
        layout.hard_links = case.hard_links.iter().enumerate().map(second).collect();
        layout
    }

    fn add(&mut self, place: &Place, taken: &mut BTreeSet<PathBuf>) {
        /// What paths may need besides, such as a name in a directory.
        const LONGEST: usize = 3000;
        let parent = &self.directories[place.parent % self.directories.len()];
        let path = parent.join(&place.name);
        if path.as_os_str().len() > LONGEST || !taken.insert(path.clone()) {
            return;
        }
        // Nothing is beneath a name with a file or nothing behind it.
        let mut ends = self.files.iter().chain(&self.absent);
        let mut all = self.directories.iter().chain(&self.files).chain(&self.absent);
        let blocked = ends.any(|end| path.starts_with(end))
            || place.shape != Shape::Directory && all.any(|other| other.starts_with(&path));
        if blocked {
            return;
        }
        match place.shape {
            Shape::Directory => self.directories.push(path.clone()),
            Shape::File => self.files.push(path.clone()),
            Shape::Absent => self.absent.push(path.clone()),
        }
        self.entries.push((path, place.shape, place.rule));
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.directories[1]
    }

    /// Makes everything.
    pub(crate) fn build(&self) -> io::Result<()> {
        for directory in &self.directories {
            fs::create_dir_all(directory)?;
            fs::write(directory.join(FILE), CONTENT)?;
            program(&directory.join(PROGRAM))?;
            fs::create_dir_all(directory.join(DIRECTORY))?;
            fs::write(directory.join(DIRECTORY).join(FILE), CONTENT)?;
            fs::create_dir_all(directory.join(EMPTY))?;
            if self.has_matches {
                for name in MATCHES {
                    fs::write(directory.join(name), CONTENT)?;
                }
            }
        }
        for file in &self.files {
            fs::create_dir_all(file.parent().unwrap_or(file))?;
            program(file)?;
        }
        for absent in &self.absent {
            fs::create_dir_all(absent.parent().unwrap_or(absent))?;
        }
        for (link, target) in &self.links {
            symlink(target, link)?;
        }
        for (second, first) in &self.hard_links {
            fs::hard_link(first, second)?;
        }
        Ok(())
    }

    /// The profile of the case; the program that attacks is opened by a root of its own, and the set's directory is
    /// closed, since a set refuses one that commands might write.
    pub(crate) fn profile(&self, case: &Case, probe: &Path, scratch: &Path) -> ProfileConfig {
        let root = |(path, shape, entry): &(PathBuf, Shape, Entry)| match (entry, shape) {
            (Entry::Root(access), Shape::Directory) => Some(Root::directory(path, *access)),
            (Entry::Root(access), Shape::File) => Some(Root::file(path, *access)),
            (Entry::Root(access), Shape::Absent) => Some(Root::absent(path, *access)),
            _ => None,
        };
        let guard = |(path, _, entry): &(PathBuf, Shape, Entry)| match entry {
            Entry::Guard(Protection::Protect) => Some(Guard::protect(path)),
            Entry::Guard(Protection::Secret) => Some(Guard::secret(path)),
            _ => None,
        };
        let pattern = |(glob, protection): &(&'static str, Protection)| {
            let pattern = Pattern::new(self.workspace(), *glob).ok()?;
            Some(Guard::matching(pattern, *protection))
        };
        let own = [
            Root::directory(probe.parent().unwrap_or(probe), Verdict::READ_ONLY),
            Root::directory(scratch, Verdict::DENY),
        ];
        ProfileConfig {
            workspace: self.workspace().to_owned(),
            workspace_access: case.workspace,
            host_access: case.host,
            network: case.network,
            command: Access::Allow,
            roots: self.entries.iter().filter_map(root).chain(own).collect(),
            guards: self
                .entries
                .iter()
                .filter_map(guard)
                .chain(case.patterns.iter().filter_map(pattern))
                .collect(),
            presets: if case.presets {
                Preset::ALL.into()
            } else {
                BTreeSet::new()
            },
            ..ProfileConfig::default()
        }
    }
}

/// The probe itself: started without a request it ends at once.
pub(crate) fn program(path: &Path) -> io::Result<()> {
    fs::write(path, attempt::IMAGE)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    // A process that another thread started meanwhile may have inherited the file open for writing, and as long as it
    // does, nobody can execute it.
    let mut once = Command::new(path);
    once.process_group(0).stdin(Stdio::null()).stdout(Stdio::null());
    loop {
        match once.status() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(1));
            }
            ran => return ran.map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::generate;
    use proptest::strategy::ValueTree;

    /// A case that is generated is of no use if its places are not in the tree.
    #[test]
    fn places_of_every_shape_are_laid_out() {
        let layouts: Vec<Layout> = (0..60)
            .map(|index| Layout::new(&generate::tree(3, index).unwrap().current(), Path::new("/t")))
            .collect();
        let count = |of: fn(&Layout) -> usize| layouts.iter().map(of).sum::<usize>();
        assert!(count(|layout| layout.directories.len() - 2) > 60);
        assert!(count(|layout| layout.files.len()) > 20);
        assert!(count(|layout| layout.absent.len()) > 20);
        assert!(count(|layout| layout.links.len()) > 20);
    }
}
