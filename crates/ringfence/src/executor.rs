//! One compiled policy with a private home and temporary directory.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ringfence_backend::{CompiledPolicy, Guarded as _};
use ringfence_policy::{
    EnvironmentNotes, Guarantees, Level, NewRepositories, Preset, Profile, RegionTree, Report,
};

use crate::builder::Commands;
use crate::command::Command;
use crate::environment::Variables;
use crate::error::RunError;
use crate::guarded::GuardedPlaces;
use crate::kept::Kept;
use crate::lifecycle::Lifecycle;
use crate::outcome::Outcome;
use crate::repositories::Inventory;
use crate::scratch::remove_tree;
use crate::set::{CloseProblem, Shared};
use crate::stdio::Stdio;
use crate::supervisor::Supervisor;

/// A handle to one executor of a set. Clones are the same executor, and compare equal.
#[derive(Clone, Debug)]
pub struct Executor {
    inner: Arc<Inner>,
}

/// What an executor holds for its whole life (EXE-1).
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) key: String,
    /// Its part of the set's.
    pub(crate) lifecycle: Arc<Lifecycle>,
    /// Its private directories, all in one.
    pub(crate) directory: PathBuf,
    pub(crate) compiled: Arc<dyn CompiledPolicy>,
    pub(crate) guarded: Arc<GuardedPlaces>,
    pub(crate) variables: Variables,
    pub(crate) notes: EnvironmentNotes,
    pub(crate) home: Option<PathBuf>,
    pub(crate) temporary: PathBuf,
    /// Directories that outlive the set, locked while this executor uses them.
    pub(crate) kept: Mutex<Vec<Kept>>,
    /// Whether it has started a command.
    pub(crate) used: AtomicBool,
}

impl PartialEq for Executor {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Executor {}

impl Executor {
    pub(crate) fn new(inner: Inner) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }

    /// A command that executes `program`. A name without a slash is looked up in the command's own `PATH`.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        Command::new(self.clone(), vec![program.as_ref().to_owned()])
    }

    /// A command that has the system's shell interpret `text`: `/bin/sh -c` on Unix (EXE-33).
    pub fn shell(&self, text: impl AsRef<OsStr>) -> Command {
        let shell: [&str; 2] = if cfg!(windows) {
            ["cmd.exe", "/C"]
        } else {
            ["/bin/sh", "-c"]
        };
        let mut arguments: Vec<OsString> = shell.iter().map(OsString::from).collect();
        arguments.push(text.as_ref().to_owned());
        Command::new(self.clone(), arguments)
    }

    /// Runs a program with its arguments in a directory and captures both streams as one, in the order of
    /// writing.
    ///
    /// Dropping the future kills the command.
    ///
    /// # Errors
    /// As [`Command::output`].
    pub async fn run_argv(
        &self,
        directory: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Result<Outcome, RunError> {
        let arguments = arguments
            .into_iter()
            .map(|argument| argument.as_ref().to_owned())
            .collect();
        self.argv_command(directory.as_ref(), arguments).output().await
    }

    pub(crate) fn argv_command(&self, directory: &Path, arguments: Vec<OsString>) -> Command {
        Command::new(self.clone(), arguments)
            .current_dir(directory)
            .stderr(Stdio::Merged)
    }

    /// Has the system's shell run `text` in a directory and captures both streams as one.
    ///
    /// Dropping the future kills the command.
    ///
    /// # Errors
    /// As [`Command::output`].
    pub async fn run_command(
        &self,
        directory: impl AsRef<Path>,
        text: impl AsRef<OsStr>,
    ) -> Result<Outcome, RunError> {
        self.shell_command(directory.as_ref(), text.as_ref())
            .output()
            .await
    }

    pub(crate) fn shell_command(&self, directory: &Path, text: &OsStr) -> Command {
        self.shell(text).current_dir(directory).stderr(Stdio::Merged)
    }

    /// Does now what the first command would have to do, so that it starts as fast as any other.
    ///
    /// # Errors
    /// The step of the set-up that failed.
    pub fn warm_up(&self) -> Result<(), RunError> {
        Ok(self.inner.compiled.warm_up()?)
    }

    /// Which obligations of the policy are discharged, and how, as far as the host was last seen. What was in force
    /// for one command is in its [`Outcome::achieved`].
    #[must_use]
    pub fn report(&self) -> Arc<Report> {
        self.inner.compiled.report()
    }

    /// The guarantees achieved, not requested (EXE-3).
    #[must_use]
    pub fn guarantees(&self) -> Guarantees {
        self.report().guarantees()
    }

    /// How much of the policy is enforced.
    #[must_use]
    pub fn level(&self) -> Level {
        self.report().level()
    }

    /// The regions as they are enforced, as far as the host was last seen.
    #[must_use]
    pub fn tree(&self) -> Arc<RegionTree> {
        self.inner.compiled.tree()
    }

    /// The key it was made for.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.inner.key
    }

    /// The profile it was made from.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.inner.shared.profile
    }

    /// The isolated home directory; `None` when the profile asks for the real one.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.inner.home.as_deref()
    }

    /// The private directory for temporary files.
    #[must_use]
    pub fn temporary_directory(&self) -> &Path {
        &self.inner.temporary
    }

    /// The complete environment its commands start from.
    #[must_use]
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.inner.variables
    }

    /// Which variables of the caller's were inherited, which were withheld although a rule names them, and which rules
    /// let a dangerous one pass.
    #[must_use]
    pub fn environment_notes(&self) -> &EnvironmentNotes {
        &self.inner.notes
    }

    /// Ends what runs, waits for it, and gives back what is held; handles keep answering what they can answer without.
    /// Everything is done whatever fails on the way.
    pub(crate) fn release(&self) -> Vec<CloseProblem> {
        let inner = &self.inner;
        inner.lifecycle.begin_closing();
        inner.lifecycle.wait_until_idle();
        let mut problems = Vec::new();
        if let Err(failed) = inner.compiled.release() {
            let key = inner.key.clone();
            problems.push(CloseProblem::Policy { key, failed });
        }
        inner.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
        if let Err(error) = remove_tree(&inner.directory) {
            problems.push(CloseProblem::Directory {
                path: inner.directory.clone(),
                why: error.to_string(),
            });
        }
        problems
    }

    /// The repositories there were at the last look, where it matters which ones a command makes.
    pub(crate) fn inventory(&self) -> Option<Inventory> {
        let profile = self.profile();
        let reported = profile.presets().any(|preset| preset == Preset::Git);
        let refused = profile.new_repositories() == NewRepositories::Refuse;
        (reported || refused).then(|| Inventory::take(&self.inner.guarded, profile.new_repositories()))
    }

    /// Looks at what guards are about, for a command that is about to start. Where others follow, the kernel tells of
    /// changes from then on.
    pub(crate) fn look_for_command(&self) {
        let again = self.inner.used.swap(true, Ordering::Relaxed);
        if again || self.inner.shared.commands == Commands::Many {
            self.inner.guarded.watch();
        }
        self.inner.guarded.look();
    }

    pub(crate) fn compiled(&self) -> &dyn CompiledPolicy {
        &*self.inner.compiled
    }

    /// Whether a command would find everything ready.
    pub(crate) fn is_warm(&self) -> bool {
        self.inner.compiled.is_warm() && self.inner.guarded.is_quiet()
    }

    /// Whether commands see the host's directory at this path, so that it has the same identity there.
    pub(crate) fn pins(&self, directory: &Path) -> bool {
        let private = self.inner.shared.backend.private_directories();
        let within = |path: &Path| directory.starts_with(path);
        let is_root = |path: &Path| self.profile().roots().iter().any(|root| root.at.path == path);
        within(&self.profile().workspace().path)
            || within(&self.inner.temporary)
            || !private
                .iter()
                .map(Path::new)
                .any(|path| within(path) && !is_root(path))
    }

    pub(crate) fn lifecycle(&self) -> &Arc<Lifecycle> {
        &self.inner.lifecycle
    }

    pub(crate) fn supervisor(&self) -> &Supervisor {
        &self.inner.shared.supervisor
    }

    pub(crate) fn workspace_as_given(&self) -> &Path {
        self.profile().workspace_as_given()
    }
}
