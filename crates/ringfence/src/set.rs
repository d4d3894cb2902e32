//! The owner of executors.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ringfence_backend::{Backend, CompileRequest, LaunchError, Unavailable};
use ringfence_host::Host;
use ringfence_host::runtime::{self, Bundle, RuntimeAccess};
use ringfence_policy::{
    Access, Axis, EnvironmentRules, Home, Kind, Policy, Profile, Reach, Resolve, Rule, Source, Verdict,
};

use crate::completion::Completion;
use crate::environment;
use crate::error::{BuildError, ExecutorError};
use crate::executor::{Executor, Inner};
use crate::lifecycle::Lifecycle;
use crate::platform::{self, Probe};
use crate::scratch::{OwnedDirectory, make_private};
use crate::supervisor::Supervisor;

const DEFAULT_GRANT_TTL: Duration = Duration::from_secs(15 * 60);
const DEFAULT_PRIVATE_BYTES: u64 = 1 << 30;

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
    backend: Arc<dyn Backend>,
    probe: Probe,
    max_executors: usize,
    grant_ttl: Duration,
    private_bytes: u64,
    bundles: Vec<Bundle>,
    /// The caller's environment as it was when the set was built.
    caller: BTreeMap<OsString, OsString>,
    owned: Mutex<OwnedDirectory>,
    owned_path: PathBuf,
    executors: Mutex<HashMap<String, Slot>>,
    closed: Completion<CloseReport>,
}

/// One key: empty while its executor is being built.
type Slot = Arc<Mutex<Option<Executor>>>;

/// Collects the settings of a set.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct ExecutorSetBuilder {
    profile: Profile,
    scratch_root: Option<PathBuf>,
    max_executors: usize,
    grant_ttl: Option<Duration>,
    private_bytes: u64,
    programs: HostPrograms,
    probe: Probe,
    environment: Option<BTreeMap<OsString, OsString>>,
}

/// What of the host's programs and libraries commands may use besides what the profile says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostPrograms {
    /// What programs need to start, and the toolchains the caller's `PATH` leads to; read and execute.
    #[default]
    Discover,
    /// What programs need to start.
    System,
    /// Nothing.
    None,
}

impl ExecutorSetBuilder {
    /// Sets the directory beneath which the set makes its own; required, absolute, existing. It is never changed
    /// itself.
    pub fn scratch_root(mut self, directory: impl Into<PathBuf>) -> Self {
        self.scratch_root = Some(directory.into());
        self
    }

    /// Sets how many keys can have an executor; required, at least 1. It does not limit concurrency (SET-3).
    pub const fn max_executors(mut self, max: usize) -> Self {
        self.max_executors = max;
        self
    }

    /// Caps the lifetime of grants. Default: 15 minutes.
    pub const fn grant_ttl(mut self, ttl: Duration) -> Self {
        self.grant_ttl = Some(ttl);
        self
    }

    /// Sets the size of each private memory filesystem (`/tmp`, `/run`, …), in bytes. Default: 1 GiB.
    pub const fn private_bytes(mut self, bytes: u64) -> Self {
        self.private_bytes = bytes;
        self
    }

    /// Sets what of the host's programs commands may use. Default: [`HostPrograms::Discover`].
    pub const fn host_programs(mut self, programs: HostPrograms) -> Self {
        self.programs = programs;
        self
    }

    /// Sets when the set finds out whether this host can confine commands. Default: [`Probe::AtBuild`].
    pub const fn probe(mut self, probe: Probe) -> Self {
        self.probe = probe;
        self
    }

    /// Sets the environment from which the allowed variables are inherited. Default: this process's, as it is
    /// when [`ExecutorSetBuilder::build`] is called.
    pub fn environment(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.environment = Some(variables.into_iter().collect());
        self
    }

    /// Chooses the backend and makes the set-owned directory. Compiles no policy and starts no command (SET-9).
    ///
    /// # Errors
    /// [`BuildError`], checked in the order of SET-5; then nothing is left on disk.
    pub fn build(self) -> Result<ExecutorSet, BuildError> {
        let given = self.scratch_root.unwrap_or_default();
        let scratch_error = |why: String| BuildError::ScratchRoot {
            path: given.clone(),
            why,
        };
        if given.as_os_str().is_empty() {
            return Err(scratch_error("is missing".to_owned()));
        }
        if self.max_executors == 0 {
            return Err(BuildError::MaxExecutors);
        }
        if self.grant_ttl == Some(Duration::ZERO) {
            return Err(BuildError::GrantTtl);
        }
        let root = Host
            .resolve(&given)
            .map_err(|error| scratch_error(error.to_string()))?;
        if root.kind != Kind::Directory {
            return Err(scratch_error("is not an existing directory".to_owned()));
        }
        let backend = platform::select(self.profile.isolation(), self.probe)?;
        let caller = self.environment.unwrap_or_else(|| std::env::vars_os().collect());
        let supervisor = Supervisor::start().map_err(|error| BuildError::Supervisor {
            errno: error.raw_os_error().unwrap_or_default(),
        })?;
        let owned = OwnedDirectory::create(&root.path).map_err(|error| scratch_error(error.to_string()))?;
        let shared = Shared {
            bundles: bundles(self.programs, &self.profile, &caller),
            profile: self.profile,
            lifecycle: Arc::default(),
            supervisor,
            backend,
            probe: self.probe,
            max_executors: self.max_executors,
            grant_ttl: self.grant_ttl.unwrap_or(DEFAULT_GRANT_TTL),
            private_bytes: self.private_bytes,
            caller,
            owned_path: owned.path().to_owned(),
            owned: Mutex::new(owned),
            executors: Mutex::default(),
            closed: Completion::default(),
        };
        Ok(ExecutorSet {
            owner: Arc::new(Owner {
                shared: Arc::new(shared),
            }),
        })
    }
}

fn bundles(programs: HostPrograms, profile: &Profile, caller: &BTreeMap<OsString, OsString>) -> Vec<Bundle> {
    if programs == HostPrograms::None {
        return Vec::new();
    }
    let mut bundles = vec![runtime::system(&Host)];
    if programs == HostPrograms::Discover {
        let get = |name: &str| caller.get(OsStr::new(name)).cloned();
        let home = get("HOME").map(PathBuf::from);
        let path = trusted_path(profile, &get("PATH").unwrap_or_default());
        bundles.extend(runtime::toolchains(&Host, &path, &get, home.as_deref()));
    }
    bundles
}

/// `PATH` without the directories a command may write: what it plants there must not decide what the next
/// executor's commands may read.
fn trusted_path(profile: &Profile, path: &OsStr) -> OsString {
    let writable = |directory: &PathBuf| {
        let written = profile.decide(&Host, directory, Axis::Write);
        written.is_ok_and(|decision| decision.access != Access::Deny)
    };
    let trusted = std::env::split_paths(path).filter(|directory| !writable(directory));
    std::env::join_paths(trusted).unwrap_or_default()
}

impl ExecutorSet {
    /// Starts a set's settings.
    pub fn builder(profile: Profile) -> ExecutorSetBuilder {
        ExecutorSetBuilder {
            profile,
            scratch_root: None,
            max_executors: 0,
            grant_ttl: None,
            private_bytes: DEFAULT_PRIVATE_BYTES,
            programs: HostPrograms::default(),
            probe: Probe::default(),
            environment: None,
        }
    }

    /// The executor of a key: built the first time, the same one every time after.
    ///
    /// Keys are compared byte by byte and never trimmed. Dropping the future builds nothing further.
    ///
    /// # Errors
    /// [`ExecutorError`], in the order of SET-12; a failed build is not remembered (SET-15).
    #[expect(clippy::unused_async, reason = "upstream routes will be waited for here")]
    pub async fn executor(&self, key: &str) -> Result<Executor, ExecutorError> {
        self.owner.shared.executor(key)
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
}

impl Drop for Owner {
    fn drop(&mut self) {
        if self.shared.lifecycle.begin_closing() {
            tracing::warn!(path = %self.shared.owned_path.display(), "an executor set was dropped without close");
            self.shared.finish_closing();
        }
    }
}

/// What closing a set left.
#[must_use = "it says whether everything was cleaned up"]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CloseReport {
    /// What could not be cleaned up; empty when everything was.
    pub problems: Vec<String>,
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
        loop {
            let slot = self.slot(key)?;
            let mut built = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(executor) = &*built {
                return Ok(executor.clone());
            }
            // Somebody else's failed build took the slot away while this call waited for it.
            if !self
                .lock_executors()
                .get(key)
                .is_some_and(|current| Arc::ptr_eq(current, &slot))
            {
                continue;
            }
            // Closing waits for executors in the making, so that none outlives it.
            let result = match self.lifecycle.admit() {
                Some(_lease) => self.build_executor(),
                None => Err(ExecutorError::SetClosed),
            };
            match &result {
                Ok(executor) => *built = Some(executor.clone()),
                Err(_) => drop(self.lock_executors().remove(key)),
            }
            return result;
        }
    }

    fn lock_executors(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        self.executors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Building one key blocks neither another nor one that is there (SET-14).
    fn slot(&self, key: &str) -> Result<Slot, ExecutorError> {
        let mut executors = self.lock_executors();
        if self.lifecycle.is_closing() {
            return Err(ExecutorError::SetClosed);
        }
        if let Some(slot) = executors.get(key) {
            return Ok(Arc::clone(slot));
        }
        if executors.len() >= self.max_executors {
            return Err(ExecutorError::Limit {
                max: self.max_executors,
            });
        }
        let slot = Slot::default();
        executors.insert(key.to_owned(), Arc::clone(&slot));
        Ok(slot)
    }

    fn build_executor(self: &Arc<Self>) -> Result<Executor, ExecutorError> {
        let directories = Directories::create(&self.owned_path)?;
        let built = self.compile(&directories);
        if built.is_err() {
            directories.remove();
        }
        built
    }

    fn compile(self: &Arc<Self>, directories: &Directories) -> Result<Executor, ExecutorError> {
        let isolated = self.profile.home() == Home::Isolated;
        let mut rules = vec![Rule::tree(&self.owned_path, Verdict::DENY, Source::Owned)];
        rules.push(own_directory(&directories.temporary, Source::Temporary)?);
        if isolated {
            rules.push(own_directory(&directories.home, Source::Home)?);
        }
        for bundle in &self.bundles {
            rules.extend(bundle.entries.iter().map(|entry| runtime_rule(bundle, entry)));
        }
        let unenforceable = |why: String| Unavailable::Path {
            path: self.owned_path.clone(),
            why,
        };
        let policy =
            Policy::compile(&self.profile, rules).map_err(|error| unenforceable(error.to_string()))?;
        let request = CompileRequest {
            policy,
            base: directories.base.clone(),
            private_bytes: self.private_bytes,
        };
        let compiled = self.backend.compile(request)?;
        if self.probe == Probe::AtFirstExecutor {
            compiled.warm_up().map_err(|error| self.untrue(error))?;
        }
        Ok(Executor::new(Inner {
            shared: Arc::clone(self),
            compiled,
            variables: self.variables(directories, isolated),
            home: isolated.then(|| directories.home.clone()),
            temporary: directories.temporary.clone(),
        }))
    }

    /// A trial that failed: the host can't confine commands after all.
    fn untrue(&self, error: LaunchError) -> Unavailable {
        match error {
            LaunchError::Setup(failed) => Unavailable::Probe {
                advice: self.backend.advice(&failed),
                failed,
            },
            other => Unavailable::Path {
                path: self.owned_path.clone(),
                why: other.to_string(),
            },
        }
    }

    /// The environment of an executor's commands: allowed variables, what its toolchains need, private
    /// directories (ENV-1 to ENV-3).
    fn variables(&self, directories: &Directories, isolated: bool) -> environment::Variables {
        let mut forced: BTreeMap<OsString, OsString> = BTreeMap::new();
        forced.extend(
            self.bundles
                .iter()
                .flat_map(|bundle| bundle.environment.iter().cloned()),
        );
        forced.insert("TMPDIR".into(), directories.temporary.clone().into());
        if isolated {
            let home = &directories.home;
            let private = self.bundles.iter().flat_map(|bundle| &bundle.private);
            forced.extend(private.map(|(name, below)| (name.clone(), home.join(below).into())));
            forced.insert("HOME".into(), home.clone().into());
        }
        EnvironmentRules::default().assemble(self.caller.clone(), &forced)
    }

    fn finish_closing(&self) {
        self.lifecycle.wait_until_idle();
        // Handles that callers still hold keep answering; what their policies hold is released here.
        let executors: Vec<Slot> = self.lock_executors().drain().map(|(_, slot)| slot).collect();
        for slot in executors {
            if let Some(executor) = slot.lock().unwrap_or_else(PoisonError::into_inner).take() {
                executor.compiled().release();
            }
        }
        let mut report = CloseReport::default();
        let removed = self.owned.lock().unwrap_or_else(PoisonError::into_inner).remove();
        if let Err(error) = removed {
            report
                .problems
                .push(format!("{}: {error}", self.owned_path.display()));
        }
        self.closed.complete(report);
    }
}

/// The private directories of one executor.
struct Directories {
    top: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
    /// For the backend.
    base: PathBuf,
}

impl Directories {
    fn create(owned: &Path) -> Result<Self, ExecutorError> {
        let number =
            std::sync::atomic::AtomicUsize::fetch_add(&NEXT, 1, std::sync::atomic::Ordering::Relaxed);
        let top = owned.join(number.to_string());
        let all = Self {
            home: top.join("home"),
            temporary: top.join("tmp"),
            base: top.join("root"),
            top,
        };
        for directory in [&all.top, &all.home, &all.temporary, &all.base] {
            make_private(directory).map_err(|error| {
                all.remove();
                ExecutorError::Scratch {
                    path: directory.clone(),
                    why: error.to_string(),
                }
            })?;
        }
        Ok(all)
    }

    fn remove(&self) {
        if let Err(error) = std::fs::remove_dir_all(&self.top)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.top.display(), %error, "a failed executor's directory could not be removed");
        }
    }
}

static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

fn own_directory(path: &Path, source: Source) -> Result<Rule, ExecutorError> {
    let resolved = Host.resolve(path).map_err(|error| ExecutorError::Scratch {
        path: path.to_owned(),
        why: error.to_string(),
    })?;
    Ok(Rule::new(resolved, Reach::Tree, Verdict::READ_WRITE, source))
}

fn runtime_rule(bundle: &Bundle, entry: &runtime::RuntimeEntry) -> Rule {
    let execute = match entry.access {
        RuntimeAccess::ReadExecute => Access::Allow,
        RuntimeAccess::Read => Access::Deny,
    };
    let axes = ringfence_policy::Axes {
        read: Some(Access::Allow),
        execute: Some(execute),
        write: None,
    };
    Rule::new(
        entry.resolved.clone(),
        Reach::Tree,
        axes,
        Source::Runtime(bundle.name.clone()),
    )
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
