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

/// A look at the system's programs and libraries, which takes some milliseconds and needs no profile: for a program that
/// is in a hurry.
///
/// Sets that are built with it do not look again. That saves nothing unless it is begun a while before
/// [`ExecutorSetBuilder::build`](crate::ExecutorSetBuilder::build), and it should not be much older: what the system gets
/// meanwhile may not be found.
#[derive(Clone, Debug)]
pub struct Survey(Arc<Ahead<Option<runtime::Survey>>>);

impl Survey {
    /// Begins to look, with a `PATH` for what commands will run, on a thread of its own. Directories that are not the
    /// system's are left to the set, which knows which of them commands can write.
    #[must_use]
    pub fn begin(path: &OsStr) -> Self {
        let theirs = path.to_owned();
        // Without a thread the set looks for itself.
        let begun = Ahead::begin("ringfence-survey", move || Some(runtime::Survey::of(&theirs)));
        Self(Arc::new(begun.unwrap_or_else(|| Ahead::done(None))))
    }
}

/// What was found, or will be.
#[derive(Debug)]
pub(crate) struct Bundles(Ahead<Vec<Bundle>>);

impl Bundles {
    /// Begins the search on a thread of its own: in a `PATH` there are hundreds of links, and each costs system calls.
    pub(crate) fn begin(
        selection: &BTreeSet<BundleName>,
        profile: &Profile,
        caller: &Arc<BTreeMap<OsString, OsString>>,
        survey: Option<Survey>,
    ) -> Self {
        let (theirs, trusting, asking) = (selection.clone(), profile.clone(), Arc::clone(caller));
        let look = move || {
            let surveyed = survey.as_ref().and_then(|survey| survey.0.get().as_ref());
            search(surveyed, &theirs, &trusting, &asking)
        };
        let begun = Ahead::begin("ringfence-search", look);
        // Without a thread it is done in place.
        Self(begun.unwrap_or_else(|| Ahead::done(search(None, selection, profile, caller))))
    }

    /// What was found; waits for it.
    pub(crate) fn get(&self) -> &[Bundle] {
        self.0.get()
    }
}

/// What a thread works out while the caller does something else.
#[derive(Debug)]
struct Ahead<T> {
    /// Nothing if the thread panicked.
    result: OnceLock<Option<T>>,
    /// Until somebody has waited for it.
    thread: Mutex<Option<JoinHandle<T>>>,
}

impl<T: Send + 'static> Ahead<T> {
    /// Nothing if there is no thread to be had.
    fn begin(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Option<Self> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
        Some(Self {
            result: OnceLock::new(),
            thread: Mutex::new(Some(thread.ok()?)),
        })
    }

    fn done(result: T) -> Self {
        Self {
            result: Some(result).into(),
            thread: Mutex::new(None),
        }
    }

    fn get(&self) -> &T {
        let result = self.result.get_or_init(|| self.take()?.join().ok());
        match result {
            Some(result) => result,
            None => resume_unwind(Box::new("a thread that worked ahead panicked")),
        }
    }
}

impl<T> Ahead<T> {
    fn take(&self) -> Option<JoinHandle<T>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Drop for Ahead<T> {
    /// Nothing goes on when a set is gone.
    fn drop(&mut self) {
        if let Some(thread) = self.take() {
            let _ = thread.join();
        }
    }
}

fn search(
    surveyed: Option<&runtime::Survey>,
    selection: &BTreeSet<BundleName>,
    profile: &Profile,
    caller: &BTreeMap<OsString, OsString>,
) -> Vec<Bundle> {
    let get = |name: &str| caller.get(OsStr::new(name)).cloned();
    let trusted = |name: &str| get(name).filter(|value| !is_planted(profile, Path::new(value)));
    let home = get("HOME").map(PathBuf::from);
    let path = trusted_path(profile, &get("PATH").unwrap_or_default());
    let found = |surveyed| runtime::discover(surveyed, selection, &path, &trusted, home.as_deref());
    match surveyed {
        Some(before) => found(before),
        None => found(&runtime::Survey::of(&path)),
    }
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
