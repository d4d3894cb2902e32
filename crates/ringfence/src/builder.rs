//! The settings of a set.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringfence_backend::Backend;
use ringfence_host::Host;
use ringfence_host::runtime::{BundleName, Cache};
use ringfence_policy::{Access, Axis, Isolation, Kind, Profile, Resolve, Source};

use crate::bundles::{Bundles, Survey};
use crate::completion::Completion;
use crate::error::BuildError;
use crate::memo::Memo;
use crate::platform::{self, Probe};
use crate::scratch::OwnedDirectory;
use crate::set::{ExecutorSet, Shared};
use crate::supervisor::Supervisor;

const DEFAULT_GRANT_TTL: Duration = Duration::from_secs(15 * 60);
const DEFAULT_PRIVATE_BYTES: u64 = 1 << 30;

/// Collects the settings of a set.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct ExecutorSetBuilder {
    profile: Profile,
    scratch_root: Option<PathBuf>,
    max_executors: usize,
    grant_ttl: Option<Duration>,
    private_bytes: u64,
    bundles: BTreeSet<BundleName>,
    survey: Option<Survey>,
    homes: Option<PathBuf>,
    caches: Option<(PathBuf, BTreeSet<Cache>)>,
    probe: Probe,
    commands: Commands,
    backend: Option<Arc<dyn Backend>>,
    windows_mode: WindowsSandboxMode,
    windows_state_root: PathBuf,
    environment: Option<BTreeMap<OsString, OsString>>,
}

impl ExecutorSetBuilder {
    pub(crate) fn new(profile: Profile) -> Self {
        Self {
            profile,
            scratch_root: None,
            max_executors: 0,
            grant_ttl: None,
            private_bytes: DEFAULT_PRIVATE_BYTES,
            bundles: BundleName::all(),
            survey: None,
            homes: None,
            caches: None,
            probe: Probe::AtBuild,
            commands: Commands::Many,
            backend: None,
            windows_mode: WindowsSandboxMode::Auto,
            windows_state_root: PathBuf::new(),
            environment: None,
        }
    }

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

    /// Sets which bundles of the host's programs and libraries commands may read and run besides what the profile says.
    /// Default: all of them.
    pub fn bundles(mut self, bundles: impl IntoIterator<Item = BundleName>) -> Self {
        self.bundles = bundles.into_iter().collect();
        self
    }

    /// Uses a look at the system's programs that was begun before.
    pub fn survey(mut self, survey: Survey) -> Self {
        self.survey = Some(survey);
        self
    }

    /// Keeps the home directory of each key beneath this directory, which must exist, for sets to come. Only one
    /// executor at a time can have one. Default: homes go with their set.
    pub fn keep_homes(mut self, directory: impl Into<PathBuf>) -> Self {
        self.homes = Some(directory.into());
        self
    }

    /// Keeps these caches of package managers beneath this directory, which must exist, for sets to come. All that use
    /// it share them: see [`Cache`] for what that means.
    pub fn keep_caches(
        mut self,
        directory: impl Into<PathBuf>,
        caches: impl IntoIterator<Item = Cache>,
    ) -> Self {
        self.caches = Some((directory.into(), caches.into_iter().collect()));
        self
    }

    /// Sets when the set finds out whether this host can confine commands. Default: [`Probe::AtBuild`].
    pub const fn probe(mut self, probe: Probe) -> Self {
        self.probe = probe;
        self
    }

    /// Sets how many commands each executor is expected to run. Default: [`Commands::Many`].
    pub const fn commands(mut self, commands: Commands) -> Self {
        self.commands = commands;
        self
    }

    /// Has this enforce the profile in place of what the system offers, which is not asked then: for backends of one's
    /// own, and for tests. It is not used for unconfined profiles.
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.backend = Some(backend);
        self
    }

    /// Sets how commands are confined on Windows. Elsewhere only the default is accepted (SET-4).
    pub const fn windows_sandbox_mode(mut self, mode: WindowsSandboxMode) -> Self {
        self.windows_mode = mode;
        self
    }

    /// Sets where an installation for Windows keeps its state. Elsewhere only an empty path is accepted (SET-4).
    pub fn windows_state_root(mut self, directory: impl Into<PathBuf>) -> Self {
        self.windows_state_root = directory.into();
        self
    }

    /// Sets the environment from which the allowed variables are inherited. Default: this process's, as it is
    /// when [`ExecutorSetBuilder::build`] is called.
    pub fn environment(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.environment = Some(variables.into_iter().collect());
        self
    }

    /// Chooses the backend and makes the set-owned directory. Compiles no policy and starts no command (SET-9). A thread
    /// looks for what the programs of `PATH` need; the first executor waits for it.
    ///
    /// # Errors
    /// [`BuildError`], checked in the order of SET-5; then nothing is left on disk.
    pub fn build(self) -> Result<ExecutorSet, BuildError> {
        if self.windows_mode != WindowsSandboxMode::Auto || !self.windows_state_root.as_os_str().is_empty() {
            return Err(BuildError::WindowsOption);
        }
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
        check_owner(&root.path).map_err(scratch_error)?;
        let backend = match self.backend {
            Some(backend) if self.profile.isolation() == Isolation::Sandboxed => backend,
            _ => platform::select(self.profile.isolation(), self.probe)?,
        };
        if is_written(&self.profile, &*backend, &root.path) {
            return Err(scratch_error(
                "lies where the profile lets commands write".to_owned(),
            ));
        }
        let kept = |field: &'static str, given: PathBuf| {
            let failed = |why: String| BuildError::Kept {
                field,
                path: given.clone(),
                why,
            };
            let at = Host.resolve(&given).map_err(|error| failed(error.to_string()))?;
            if at.kind != Kind::Directory {
                return Err(failed("is not an existing directory".to_owned()));
            }
            if is_written(&self.profile, &*backend, &at.path) {
                return Err(failed("lies where the profile lets commands write".to_owned()));
            }
            Ok(at.path)
        };
        let homes = self.homes.map(|given| kept("keep_homes", given)).transpose()?;
        let caches = self
            .caches
            .map(|(given, caches)| kept("keep_caches", given).map(|at| (at, caches)))
            .transpose()?;
        let caller = self.environment.unwrap_or_else(|| std::env::vars_os().collect());
        let caller = Arc::new(caller);
        // Before the rest is made, as nothing else takes as long.
        let bundles = Bundles::begin(&self.bundles, &self.profile, &caller, self.survey);
        let supervisor = Supervisor::start().map_err(|error| BuildError::Supervisor {
            errno: error.raw_os_error().unwrap_or_default(),
        })?;
        let owned = OwnedDirectory::create(&root.path).map_err(|error| scratch_error(error.to_string()))?;
        if self.probe == Probe::AtFirstExecutor {
            backend.anticipate(self.profile.network(), owned.path());
        }
        let shared = Shared {
            bundles,
            selection: self.bundles,
            homes,
            caches,
            profile: self.profile,
            lifecycle: Arc::default(),
            supervisor,
            backend,
            probe: self.probe,
            commands: self.commands,
            executors: Memo::new(self.max_executors),
            grant_ttl: self.grant_ttl.unwrap_or(DEFAULT_GRANT_TTL),
            private_bytes: self.private_bytes,
            caller,
            owned_path: owned.path().to_owned(),
            locks: owned.locks().to_owned(),
            owned: Mutex::new(owned),
            closed: Completion::default(),
        };
        Ok(ExecutorSet::new(shared))
    }
}

/// How many commands an executor is expected to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Commands {
    /// Any number: the kernel is asked to tell what changes on the host, which makes looking at it before each command
    /// cheap, and the end of the executor some 10 ms longer.
    #[default]
    Many,
    /// One. A second one runs all the same, unless the first has left directories that can't be listed any more in places
    /// that have to be searched.
    One,
}

/// How commands are confined on Windows; no version for it exists yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WindowsSandboxMode {
    /// The best that can be had.
    #[default]
    Auto,
    /// By a restricted token.
    RestrictedToken,
    /// By what an administrator has installed.
    Elevated,
}

/// Whether somebody else could replace what the set makes in a directory: its owner, or whoever may write it, unless
/// only owners may rename there (the sticky bit).
#[cfg(unix)]
fn check_owner(directory: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    const STICKY: u32 = 0o1000;
    const OTHERS_WRITE: u32 = 0o022;
    let metadata = directory.metadata().map_err(|error| error.to_string())?;
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user && metadata.uid() != 0 {
        return Err(format!("belongs to user {}", metadata.uid()));
    }
    if metadata.mode() & OTHERS_WRITE != 0 && metadata.mode() & STICKY == 0 {
        return Err("can be written by others, and has no sticky bit".to_owned());
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &Path) -> Result<(), String> {
    Ok(())
}

/// Whether commands can write a directory of the host: then they could replace what the set makes in it, and choose
/// what its other commands may touch (SET-21).
fn is_written(profile: &Profile, backend: &dyn Backend, directory: &Path) -> bool {
    let decision = profile.tree().decide(directory, Axis::Write);
    let by_host = decision.rule.is_none_or(|rule| rule.source == Source::Host);
    let private = backend
        .private_directories()
        .iter()
        .any(|private| directory.starts_with(private));
    let sandboxed = profile.isolation() == Isolation::Sandboxed;
    sandboxed && decision.access != Access::Deny && !(by_host && private)
}
