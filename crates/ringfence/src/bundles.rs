//! The search for the bundles of a set, which goes on while the rest of the set is made.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use ringfence_host::Host;
use ringfence_host::runtime::{self, Bundle, BundleName};
use ringfence_policy::{Access, Axis, Profile, Resolve};

/// A look at the system's programs and libraries and at the directories of `PATH`, which takes some milliseconds and
/// needs no profile: for a program that is in a hurry.
///
/// A set that is built with it does not look again. That saves nothing unless the survey is begun a while before
/// [`ExecutorSetBuilder::build`](crate::ExecutorSetBuilder::build), and it should not be much older: what is installed
/// meanwhile may not be found.
#[derive(Clone, Debug)]
pub struct Survey(Arc<Mutex<Option<JoinHandle<runtime::Survey>>>>);

impl Survey {
    /// Begins to look through the `PATH` of this process, on a thread of its own. Without a thread there is nothing to
    /// be had, and the set looks for itself.
    #[must_use]
    pub fn begin() -> Self {
        let thread = std::thread::Builder::new().name("ringfence-survey".to_owned());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let thread = thread.spawn(move || runtime::Survey::of(&path));
        Self(Arc::new(Mutex::new(thread.ok())))
    }

    /// What was found, for the first who asks; waits for it.
    fn get(&self) -> Option<runtime::Survey> {
        let thread = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.and_then(|thread| thread.join().ok())
    }
}

/// What was found, or will be.
#[derive(Debug)]
pub(crate) struct Bundles {
    found: OnceLock<Vec<Bundle>>,
    /// Until somebody has waited for it.
    search: Mutex<Option<JoinHandle<Vec<Bundle>>>>,
}

impl Bundles {
    /// Begins the search on a thread of its own: in a `PATH` there are hundreds of links, and each costs system calls.
    pub(crate) fn begin(
        selection: &BTreeSet<BundleName>,
        profile: &Profile,
        caller: &Arc<BTreeMap<OsString, OsString>>,
        survey: Option<Survey>,
    ) -> Self {
        let (theirs, trusting, asking) = (selection.clone(), profile.clone(), Arc::clone(caller));
        let thread = std::thread::Builder::new().name("ringfence-search".to_owned());
        let surveyed = move || survey.and_then(|survey| survey.get());
        match thread.spawn(move || search(surveyed(), &theirs, &trusting, &asking)) {
            Ok(thread) => Self {
                found: OnceLock::new(),
                search: Mutex::new(Some(thread)),
            },
            // Without a thread it is done in place.
            Err(_) => Self {
                found: search(None, selection, profile, caller).into(),
                search: Mutex::new(None),
            },
        }
    }

    /// What was found; waits for it.
    pub(crate) fn get(&self) -> &[Bundle] {
        self.found.get_or_init(|| match self.take() {
            Some(search) => search.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => Vec::new(),
        })
    }

    fn take(&self) -> Option<JoinHandle<Vec<Bundle>>> {
        self.search.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Bundles {
    /// Nothing goes on when a set is gone.
    fn drop(&mut self) {
        if let Some(search) = self.take() {
            let _ = search.join();
        }
    }
}

fn search(
    surveyed: Option<runtime::Survey>,
    selection: &BTreeSet<BundleName>,
    profile: &Profile,
    caller: &BTreeMap<OsString, OsString>,
) -> Vec<Bundle> {
    let get = |name: &str| caller.get(OsStr::new(name)).cloned();
    let trusted = |name: &str| get(name).filter(|value| !is_planted(profile, Path::new(value)));
    let home = get("HOME").map(PathBuf::from);
    let path = trusted_path(profile, &get("PATH").unwrap_or_default());
    let surveyed = surveyed.unwrap_or_else(|| runtime::Survey::of(&path));
    runtime::discover(surveyed, selection, &path, &trusted, home.as_deref())
}

/// `PATH` without the directories a command may write: what it plants there must not decide what the next
/// executor's commands may read. The same goes for directories that variables name.
fn trusted_path(profile: &Profile, path: &OsStr) -> OsString {
    let trusted = std::env::split_paths(path).filter(|directory| !is_planted(profile, directory));
    std::env::join_paths(trusted).unwrap_or_default()
}

/// Whether commands can write a directory, or replace a link on the way to it.
fn is_planted(profile: &Profile, directory: &Path) -> bool {
    let writable = |path: &Path| {
        let written = profile.decide(&Host, path, Axis::Write);
        written.is_ok_and(|decision| decision.access != Access::Deny)
    };
    let links = Host.resolve(directory).map(|found| found.links);
    let mut around = links.iter().flatten().filter_map(|link| link.path.parent());
    writable(directory) || around.any(writable)
}
