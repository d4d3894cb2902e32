//! The owner of executors.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ringfence_backend::{Backend, ReleaseFailed};
use ringfence_host::runtime::{BundleName, Cache};
use ringfence_policy::Profile;
use thiserror::Error;

use crate::builder::{Commands, ExecutorSetBuilder};
use crate::bundles::Bundles;
use crate::completion::{Completion, block_on_within};
use crate::error::ExecutorError;
use crate::executor::Executor;
use crate::lifecycle::{Execution, Lease, Lifecycle};
use crate::memo::{Memo, Refused};
use crate::platform::Probe;
use crate::scratch::OwnedDirectory;
use crate::supervisor::Supervisor;

/// Owns executors: one per key, all closed together.
///
/// Clones own the same executors. When the last one is dropped without [`ExecutorSet::close`], everything
/// running is killed, and that is logged.
#[derive(Clone, Debug)]
pub struct ExecutorSet {
    owner: Arc<Owner>,
}

/// Closes what was not closed.
#[derive(Debug)]
struct Owner {
    shared: Arc<Shared>,
}

/// What the executors of a set share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) profile: Profile,
    pub(crate) lifecycle: Arc<Lifecycle>,
    pub(crate) supervisor: Supervisor,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) probe: Probe,
    pub(crate) commands: Commands,
    pub(crate) grant_ttl: Duration,
    pub(crate) private_bytes: u64,
    pub(crate) bundles: Bundles,
    pub(crate) selection: BTreeSet<BundleName>,
    /// Where homes are kept.
    pub(crate) homes: Option<PathBuf>,
    /// Where which caches are kept.
    pub(crate) caches: Option<(PathBuf, BTreeSet<Cache>)>,
    /// The caller's environment as it was when the set was built.
    pub(crate) caller: Arc<BTreeMap<OsString, OsString>>,
    pub(crate) owned: Mutex<OwnedDirectory>,
    pub(crate) owned_path: PathBuf,
    pub(crate) locks: PathBuf,
    pub(crate) executors: Memo<Executor>,
    pub(crate) closed: Completion<CloseReport>,
}

impl ExecutorSet {
    pub(crate) fn new(shared: Shared) -> Self {
        Self {
            owner: Arc::new(Owner {
                shared: Arc::new(shared),
            }),
        }
    }

    /// Starts a set's settings.
    pub fn builder(profile: Profile) -> ExecutorSetBuilder {
        ExecutorSetBuilder::new(profile)
    }

    /// The executor of a key: built the first time, the same one every time after.
    ///
    /// Keys are compared byte by byte and never trimmed. Building takes milliseconds and happens on a thread of its
    /// own; dropping the future does not stop it.
    ///
    /// # Errors
    /// [`ExecutorError`], in the order of SET-12; a failed build is not remembered (SET-15).
    pub async fn executor(&self, key: &str) -> Result<Executor, ExecutorError> {
        let shared = &self.owner.shared;
        if let Some(executor) = shared.built(key)? {
            return Ok(executor);
        }
        let built = Completion::default();
        let (building, owned, done) = (Arc::clone(shared), key.to_owned(), built.clone());
        let thread = std::thread::Builder::new().name("ringfence-executor".to_owned());
        match thread.spawn(move || done.complete(building.executor(&owned))) {
            Ok(_) => built.await,
            // Without a thread it is built in place.
            Err(_) => shared.executor(key),
        }
    }

    /// The same on the caller's thread.
    pub(crate) fn executor_here(&self, key: &str) -> Result<Executor, ExecutorError> {
        self.owner.shared.executor(key)
    }

    /// Ends one key's executor: its commands are killed and waited for, its policy and directories released. Its handles
    /// answer [`RunError::ExecutorClosed`](crate::RunError::ExecutorClosed) from then on, and the key counts for the
    /// maximum no more. A key without executor has nothing to release.
    ///
    /// Dropping the future does not stop it.
    ///
    /// # Errors
    /// [`ExecutorError::Key`] and [`ExecutorError::SetClosed`].
    pub async fn release(&self, key: &str) -> Result<CloseReport, ExecutorError> {
        check_key(key)?;
        let shared = &self.owner.shared;
        let lease = shared.lifecycle.admit().ok_or(ExecutorError::SetClosed)?;
        let released = Completion::default();
        // Closing waits for the lease.
        let (owner, owned, lease) = (Arc::clone(shared), key.to_owned(), Arc::new(lease));
        let (theirs, done) = (Arc::clone(&lease), released.clone());
        let thread = std::thread::Builder::new().name("ringfence-release".to_owned());
        match thread.spawn(move || done.complete(owner.release(&theirs, &owned))) {
            Ok(_) => {
                drop(lease);
                Ok(released.await)
            }
            // Without a thread it is done in place.
            Err(_) => Ok(shared.release(&lease, key)),
        }
    }

    /// The keys that have an executor, sorted.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let mut keys = self.owner.shared.executors.keys();
        keys.sort();
        keys
    }

    /// The commands that were started and of which something is left, those that were killed and do not end included.
    #[must_use]
    pub fn executions(&self) -> Vec<Execution> {
        self.owner.shared.lifecycle.executions()
    }

    /// The profile of every executor.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.owner.shared.profile
    }

    /// The lifetime that grants have at most.
    #[must_use]
    pub fn grant_ttl(&self) -> Duration {
        self.owner.shared.grant_ttl
    }

    /// Ends everything: stops admission, releases preparations, kills what runs and waits for it, releases
    /// policies, removes the set-owned directory.
    ///
    /// The first call closes; every call gets the same report. Dropping the future does not stop the closing.
    #[must_use = "the report says whether everything was cleaned up"]
    pub fn close(&self) -> impl Future<Output = CloseReport> + Send + 'static {
        let shared = Arc::clone(&self.owner.shared);
        if shared.lifecycle.begin_closing() {
            let closing = Arc::clone(&shared);
            // Waiting for processes and removing files block, which no caller's runtime should.
            if let Err(error) = std::thread::Builder::new().spawn(move || closing.finish_closing()) {
                tracing::warn!(%error, "no thread for closing; closing in place");
                shared.finish_closing();
            }
        }
        shared.closed.clone()
    }

    /// As [`ExecutorSet::close`], for somebody who can't wait for ever: a process that the kernel does not let die keeps
    /// a set from being closed.
    ///
    /// # Errors
    /// [`StillClosing`] when that time is over. The closing goes on, and either call gives its report later.
    pub fn close_within(
        &self,
        patience: Duration,
    ) -> impl Future<Output = Result<CloseReport, StillClosing>> + Send + 'static {
        drop(self.close());
        let shared = Arc::clone(&self.owner.shared);
        let result = Completion::default();
        let (waiting, done) = (Arc::clone(&shared), result.clone());
        let wait = move || {
            let report = block_on_within(waiting.closed.clone(), patience);
            done.complete(report.ok_or_else(|| waiting.still_closing()));
        };
        if std::thread::Builder::new()
            .name("ringfence-patience".to_owned())
            .spawn(wait)
            .is_err()
        {
            // Without a thread nobody can wait but the caller, who does not want to.
            result.complete(shared.closed.get().ok_or_else(|| shared.still_closing()));
        }
        result
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if self.shared.lifecycle.begin_closing() {
            tracing::warn!(path = %self.shared.owned_path.display(), "an executor set was dropped without close");
            self.shared.finish_closing();
        }
    }
}

/// What closing a set, or releasing one of its executors, left.
#[must_use = "it says whether everything was cleaned up"]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CloseReport {
    /// What could not be cleaned up; empty when everything was.
    pub problems: Vec<CloseProblem>,
}

/// Something that could not be cleaned up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CloseProblem {
    /// What the policy of a key's executor held.
    #[error("releasing the policy of {key:?}: {failed}")]
    Policy {
        /// The key.
        key: String,
        /// What failed.
        failed: ReleaseFailed,
    },
    /// A directory of the set's own.
    #[error("removing {path:?}: {why}")]
    Directory {
        /// Where it is.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
}

/// A set did not close in time; it goes on closing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{alive} executions have not ended yet{}", list(survivors))]
#[non_exhaustive]
pub struct StillClosing {
    /// Commands, preparations and executors in the making that are still there.
    pub alive: usize,
    /// The commands among them.
    pub survivors: Vec<Execution>,
}

fn list(survivors: &[Execution]) -> String {
    let name = |execution: &Execution| format!("{:?} of {:?}", execution.program, execution.executor);
    match survivors {
        [] => String::new(),
        some => format!(": {}", some.iter().map(name).collect::<Vec<_>>().join(", ")),
    }
}

impl CloseReport {
    /// Whether nothing is left behind.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }
}

impl Shared {
    fn executor(self: &Arc<Self>, key: &str) -> Result<Executor, ExecutorError> {
        check_key(key)?;
        self.executors
            .get_or_make(&self.lifecycle, key, || self.build_executor(key))
    }

    /// The executor of a key if it is there already.
    fn built(&self, key: &str) -> Result<Option<Executor>, ExecutorError> {
        check_key(key)?;
        Ok(self.executors.get(&self.lifecycle, key)?)
    }

    fn release(&self, lease: &Lease, key: &str) -> CloseReport {
        let problems = self.executors.release(lease, key, |executor| executor.release());
        CloseReport {
            problems: problems.unwrap_or_default(),
        }
    }

    fn still_closing(&self) -> StillClosing {
        StillClosing {
            alive: self.lifecycle.count(),
            survivors: self.lifecycle.executions(),
        }
    }

    fn finish_closing(&self) {
        self.lifecycle.wait_until_idle();
        // Handles that callers still hold keep answering; what their policies hold is released here.
        let problems = self
            .executors
            .take_all()
            .iter()
            .flat_map(Executor::release)
            .collect();
        let mut report = CloseReport { problems };
        let removed = self.owned.lock().unwrap_or_else(PoisonError::into_inner).remove();
        if let Err(error) = removed {
            report.problems.push(CloseProblem::Directory {
                path: self.owned_path.clone(),
                why: error.to_string(),
            });
        }
        self.closed.complete(report);
    }
}

impl From<Refused> for ExecutorError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Closing => Self::SetClosed,
            Refused::Full { max } => Self::Limit { max },
        }
    }
}

fn check_key(key: &str) -> Result<(), ExecutorError> {
    let why = match key {
        "" => "is empty",
        _ if key.contains('\0') => "contains a NUL",
        _ if key.trim() != key => "has white space at its ends",
        _ => return Ok(()),
    };
    Err(ExecutorError::Key {
        key: key.to_owned(),
        why,
    })
}
