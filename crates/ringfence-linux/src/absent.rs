//! Closed names with nothing behind them, in places where a command could create them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ringfence_host::placeholder::{self, Occupied, Placeholders};
use ringfence_policy::{
    Access, Axis, Hold, Kind, Reach, Region, RegionTree, Resolved, Rule, Source, StandIn,
};
use rustix::io::Errno;

use crate::broker::Broker;
use crate::view::holds;

/// What was done about them.
#[derive(Debug, Default)]
pub(crate) struct Absent {
    /// Rules that close placeholders above the closed names.
    pub(crate) rules: Vec<Rule>,
    /// Names that the broker does not make, and which directories above them stay where they are.
    closed: BTreeMap<PathBuf, Hold>,
    /// What stands on the host, and for what.
    occupied: BTreeMap<PathBuf, StandIn>,
    /// Names that could not be occupied, and why.
    open: BTreeMap<PathBuf, String>,
    /// Names that can't be created anyway: the host does not let this user, or they lie beneath a file.
    refused: BTreeSet<PathBuf>,
}

/// Sees to every closed name that a command could create: the broker refuses it, or something occupies it.
///
/// # Errors
/// A closed name to which a link leads that was not there before.
pub(crate) fn close(
    tree: &RegionTree,
    broker: &Broker<'_>,
    placeholders: &mut Placeholders,
) -> Result<Absent, PathBuf> {
    let mut absent = Absent::default();
    for region in tree.regions() {
        let mut rules = region.rules.iter();
        if let Some(rule) = rules.find(|rule| rule.stand_in != StandIn::Nothing) {
            absent.close(tree, broker, &region, rule, placeholders)?;
        }
    }
    Ok(absent)
}

impl Absent {
    fn close(
        &mut self,
        tree: &RegionTree,
        broker: &Broker<'_>,
        region: &Region<'_>,
        rule: &Rule,
        placeholders: &mut Placeholders,
    ) -> Result<(), PathBuf> {
        if region.object.write == Access::Allow {
            return Ok(());
        }
        let Some(name) = first_missing(region.path) else {
            return Ok(());
        };
        let parent = name.parent().unwrap_or(Path::new("/"));
        if !can_create(tree, parent) || self.occupied.contains_key(&name) {
            return Ok(());
        }
        if is_beneath_lasting_file(tree, &name) {
            self.refused.insert(region.path.to_owned());
            return Ok(());
        }
        let hold = holds::hold(region);
        // What occupies it for somebody is held in its place.
        if name.symlink_metadata().is_err() && broker.can_refuse(&name, &hold) {
            let held = self.closed.entry(name).or_insert(hold.clone());
            *held = held.clone().min(hold);
            return Ok(());
        }
        let whole = name == region.path;
        let stand_in = if whole { rule.stand_in } else { StandIn::Link };
        match placeholders.occupy(&name, stand_in) {
            Ok(Occupied::Genuine) => {}
            Ok(Occupied::Placeholder) => {
                if !whole {
                    let at = Resolved {
                        path: name.clone(),
                        kind: Kind::Directory,
                        identity: None,
                        links: Vec::new(),
                    };
                    let closed = Rule::new(at, Reach::Tree, rule.axes, rule.source.clone());
                    self.rules.push(closed.holding(rule.hold.clone()));
                }
                self.occupied.insert(name, stand_in);
            }
            // What this user can't create, its commands can't either.
            Err(error) if is_refused_for_good(&error, parent) => {
                self.refused.insert(region.path.to_owned());
            }
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => return Err(name),
            Err(error) => drop(self.open.insert(region.path.to_owned(), error.to_string())),
        }
        Ok(())
    }

    /// The names that the broker does not make.
    pub(crate) fn closed(&self) -> BTreeMap<&Path, &Hold> {
        let closed = self.closed.iter();
        closed.map(|(name, hold)| (name.as_path(), hold)).collect()
    }

    /// Whether the broker does not make a name, or one above it.
    pub(crate) fn is_closed(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.closed.contains_key(above))
    }

    /// What stands for a closed name on the host, in words.
    pub(crate) fn artefact(&self, path: &Path) -> Option<String> {
        let (name, stand_in) = path
            .ancestors()
            .find_map(|above| self.occupied.get_key_value(above))?;
        let what = match stand_in {
            StandIn::Link | StandIn::Nothing => "a link that leads nowhere",
            StandIn::File(_) => "a file that says nothing",
        };
        Some(format!(
            "{what} stands at {} while the executor lives",
            name.display()
        ))
    }

    /// The links among what stands on the host.
    pub(crate) fn links(&self) -> impl Iterator<Item = &Path> {
        let links = self
            .occupied
            .iter()
            .filter(|(_, stand_in)| **stand_in == StandIn::Link);
        links.map(|(path, _)| path.as_path())
    }

    /// Everything that stands on the host.
    pub(crate) fn placeholders(&self) -> Vec<PathBuf> {
        self.occupied.keys().cloned().collect()
    }

    /// Why a closed name could not be occupied.
    pub(crate) fn failure(&self, path: &Path) -> Option<&str> {
        self.open.get(path).map(String::as_str)
    }

    /// Whether no command of this user could create the name anyway.
    pub(crate) fn is_refused(&self, path: &Path) -> bool {
        self.refused.contains(path)
    }
}

/// Whether a command could create a name of the host in a directory; in a private one it creates names of its own.
pub(crate) fn can_create(tree: &RegionTree, directory: &Path) -> bool {
    let decision = tree.decide(directory, Axis::Write);
    let private = decision.rule.is_some_and(|rule| rule.source == Source::Private);
    decision.access == Access::Allow && !private
}

/// The path itself if only its last name is missing, else the first missing name above it; a placeholder of somebody
/// counts as missing. Nothing where something else is there.
fn first_missing(path: &Path) -> Option<PathBuf> {
    let missing = path.ancestors().take_while(|path| match path.symlink_metadata() {
        Ok(_) => placeholder::is_link(path),
        Err(error) => error.kind() == ErrorKind::NotFound,
    });
    let first = missing.last();
    first.or(Some(path)).map(Path::to_owned)
}

/// Whether the name lies beneath a file, in which there are no names, and that file can't be replaced by a directory.
fn is_beneath_lasting_file(tree: &RegionTree, name: &Path) -> bool {
    let mut above = name.ancestors().skip(1);
    above
        .find_map(|above| Some((above, above.symlink_metadata().ok()?)))
        .is_some_and(|(file, seen)| {
            let around = file.parent().unwrap_or(Path::new("/"));
            seen.is_file() && tree.decide(around, Axis::Write).access != Access::Allow
        })
}

/// The owner of a directory can allow itself what its mode refuses.
fn is_refused_for_good(error: &Error, directory: &Path) -> bool {
    let this = rustix::process::geteuid().as_raw();
    match error.kind() {
        ErrorKind::ReadOnlyFilesystem => true,
        ErrorKind::PermissionDenied => directory.metadata().is_ok_and(|metadata| metadata.uid() != this),
        _ => false,
    }
}
