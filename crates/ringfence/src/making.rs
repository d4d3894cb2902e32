//! How one executor is made: directories, rules, environment, compiled policy.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ringfence_backend::{CompileRequest, CompiledPolicy, Guarded, LaunchError, Unavailable};
use ringfence_host::Host;
use ringfence_host::runtime::{self, Bundle, BundleName, Cache, GitFiles, RuntimeAccess};
use ringfence_policy::{
    Access, Axis, Device, Environment, Home, NameCase, Policy, Presence, Reach, RegionTree, Resolve, Rule,
    Source, Verdict, private_directories,
};

use crate::error::ExecutorError;
use crate::executor::{Executor, Inner};
use crate::guarded::GuardedPlaces;
use crate::kept::{self, Kept};
use crate::platform::Probe;
use crate::scratch::{JOURNAL, make_private};
use crate::set::{CloseProblem, Shared};
use crate::worktree;

impl Shared {
    pub(crate) fn build_executor(self: &Arc<Self>, key: &str) -> Result<Executor, ExecutorError> {
        let mut directories = Directories::create(&self.owned_path)?;
        let kept = self.keep(key, &mut directories);
        let built = kept.and_then(|kept| self.compile(key, &directories, kept));
        built.map_err(|cause| with_problems(cause, directories.remove()))
    }

    /// Takes the directories that outlive the set: the key's home in place of the one of the set, and the caches.
    fn keep(&self, key: &str, directories: &mut Directories) -> Result<Vec<Kept>, ExecutorError> {
        let failed = |path: PathBuf, error: std::io::Error| ExecutorError::Scratch {
            path,
            why: error.to_string(),
        };
        let mut all = Vec::new();
        if let Some(homes) = self
            .homes
            .as_ref()
            .filter(|_| self.profile.home() == Home::Isolated)
        {
            let kept = kept::home(homes, key).map_err(|error| failed(homes.join(key), error))?;
            directories.home.clone_from(&kept.directory);
            all.push(kept);
        }
        if let Some((root, caches)) = &self.caches {
            for cache in caches {
                let kept = kept::cache(root, *cache).map_err(|error| failed(cache.directory(root), error))?;
                directories.caches.push((*cache, kept.directory.clone()));
                all.push(kept);
            }
        }
        Ok(all)
    }

    fn compile(
        self: &Arc<Self>,
        key: &str,
        directories: &Directories,
        kept: Vec<Kept>,
    ) -> Result<Executor, ExecutorError> {
        let isolated = self.profile.home() == Home::Isolated;
        let attached = worktree::attached(&self.profile);
        let mut rules = self.rules(directories, isolated)?;
        rules.extend(
            attached
                .as_ref()
                .and_then(|attached| worktree::opened(&self.profile, attached)),
        );
        let policy = Policy::compile(&self.profile, rules).map_err(|error| Unavailable::Path {
            path: self.owned_path.clone(),
            why: error.to_string(),
        })?;
        // Closing waits for what is in the making, and a search can be long.
        let searched = GuardedPlaces::new(
            &self.profile,
            &policy.tree,
            attached,
            vec![self.owned_path.clone()],
            &|| self.lifecycle.is_closing(),
        );
        let guarded = Arc::new(searched.ok_or(ExecutorError::SetClosed)?);
        let request = CompileRequest {
            policy,
            guarded: Arc::clone(&guarded) as Arc<dyn Guarded>,
            base: directories.base.clone(),
            journal: directories.top.join(JOURNAL),
            locks: self.locks.clone(),
            private_bytes: self.profile.limits().private_bytes.unwrap_or(self.private_bytes),
        };
        let compiled = self.backend.compile(request)?;
        let made = self.assemble(key, directories, kept, &compiled, guarded);
        made.map_err(|cause| {
            let key = key.to_owned();
            let failed = compiled.release().err();
            with_problems(cause, failed.map(|failed| CloseProblem::Policy { key, failed }))
        })
    }

    /// What is left to do once there is a policy.
    fn assemble(
        self: &Arc<Self>,
        key: &str,
        directories: &Directories,
        kept: Vec<Kept>,
        compiled: &Arc<dyn CompiledPolicy>,
        guarded: Arc<GuardedPlaces>,
    ) -> Result<Executor, ExecutorError> {
        let isolated = self.profile.home() == Home::Isolated;
        if self.probe == Probe::AtFirstExecutor {
            compiled.warm_up().map_err(|error| self.untrue(error))?;
        }
        if isolated && self.selection.contains(&BundleName::Git) {
            self.write_git_settings(&directories.home, &compiled.placeholders())?;
        }
        let environment = self.environment(directories, isolated, &compiled.tree());
        Ok(Executor::new(Inner {
            shared: Arc::clone(self),
            key: key.to_owned(),
            lifecycle: self.lifecycle.part(),
            directory: directories.top.clone(),
            compiled: Arc::clone(compiled),
            guarded,
            variables: environment.variables,
            notes: environment.notes,
            home: isolated.then(|| directories.home.clone()),
            temporary: directories.temporary.clone(),
            kept: Mutex::new(kept),
        }))
    }

    /// What an executor may use besides what its profile says.
    fn rules(&self, directories: &Directories, isolated: bool) -> Result<Vec<Rule>, ExecutorError> {
        let mut rules = vec![Rule::tree(&self.owned_path, Verdict::DENY, Source::Owned)];
        rules.push(own_directory(&directories.temporary, Source::Temporary)?);
        if isolated {
            rules.push(own_directory(&directories.home, Source::Home)?);
        }
        for (_, directory) in &directories.caches {
            rules.push(own_directory(directory, Source::Cache)?);
        }
        for device in self.profile.devices() {
            rules.extend(device_rule(device)?);
        }
        for bundle in &self.bundles {
            rules.extend(bundle.entries.iter().map(|entry| runtime_rule(bundle, entry)));
        }
        Ok(rules)
    }

    /// Who commits, that the workspace may be another user's, and that placeholders are none of git's business; nothing
    /// else of the caller's settings.
    fn write_git_settings(&self, home: &Path, placeholders: &[PathBuf]) -> Result<(), ExecutorError> {
        let variable = |name: &str| self.caller.get(OsStr::new(name)).map(PathBuf::from);
        let (caller_home, xdg) = (variable("HOME"), variable("XDG_CONFIG_HOME"));
        let files = GitFiles {
            system: &[PathBuf::from("/etc/gitconfig")],
            xdg_config_home: xdg.as_deref(),
            home: caller_home.as_deref(),
        };
        let settings = runtime::gitconfig(&files, &self.profile.workspace().path);
        // Where git looks for patterns of what it is to ignore everywhere (gitignore(5)).
        let directory = home.join(".config/git");
        let written = std::fs::create_dir_all(&directory)
            .and_then(|()| write_new(&home.join(".gitconfig"), &settings))
            .and_then(|()| write_new(&directory.join("ignore"), &ignored(placeholders)));
        written.map_err(|error| ExecutorError::Scratch {
            path: home.to_owned(),
            why: error.to_string(),
        })
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

    /// The environment of an executor's commands: allowed variables, what its toolchains need, private directories
    /// (ENV-1 to ENV-3), and of `PATH` what commands may run and can't change.
    fn environment(&self, directories: &Directories, isolated: bool, tree: &RegionTree) -> Environment {
        let mut forced: BTreeMap<OsString, OsString> = BTreeMap::new();
        forced.extend(
            self.bundles
                .iter()
                .flat_map(|bundle| bundle.environment.iter().cloned()),
        );
        let home = isolated.then_some(&*directories.home);
        if let Some(home) = home {
            let private = self.bundles.iter().flat_map(|bundle| &bundle.private);
            forced.extend(private.map(|(name, below)| (name.clone(), home.join(below).into())));
            let options = self.bundles.iter().flat_map(|bundle| &bundle.options);
            let whole = |_: &&_| !home.as_os_str().as_encoded_bytes().contains(&b' ');
            for (name, option) in options.filter(whole) {
                let mut value = option.clone();
                value.push(home);
                forced.insert(name.clone(), value);
            }
        }
        for (cache, directory) in &directories.caches {
            let root = directory.parent().unwrap_or(directory);
            let variables = cache.variables(root).into_iter();
            forced.extend(variables.map(|(name, path)| (name, path.into())));
        }
        if is_user_0() {
            forced.insert("TAR_OPTIONS".into(), "--no-same-owner".into());
        }
        let private = private_directories(NameCase::NATIVE, &directories.temporary, home);
        forced.extend(private);
        let rules = self.profile.environment();
        let mut caller = self.caller.clone();
        if let Some(path) = caller.remove(OsStr::new(PATH)) {
            caller.extend(usable_path(&path, tree).map(|path| (PATH.into(), path)));
        }
        rules.assemble(caller, &forced)
    }
}

/// Writes a file unless there is one: in a kept home it may have been changed since, and that is kept too.
fn write_new(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut options = std::fs::File::options();
    match options.write(true).create_new(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        opened => opened?.write_all(content),
    }
}

/// Patterns for placeholders at the top of a working tree; inside of a repository git looks for none.
fn ignored(placeholders: &[PathBuf]) -> Vec<u8> {
    let names: BTreeSet<_> = placeholders.iter().filter_map(|path| path.file_name()).collect();
    let lines = names
        .into_iter()
        .map(|name| [b"/", name.as_encoded_bytes(), b"\n"].concat());
    lines.collect::<Vec<_>>().concat()
}

const PATH: &str = "PATH";

/// User id 0 is the only id a confined command of it knows, yet tar(1) takes it for the right to give files away.
fn is_user_0() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    return false;
}

/// The directories of `path` whose programs commands may run and not replace; where they may write the whole host, it
/// has no others. `None` if there are none: an empty `PATH` would be the working directory.
fn usable_path(path: &OsStr, tree: &RegionTree) -> Option<OsString> {
    let usable = |directory: &PathBuf| {
        Host.resolve(directory).is_ok_and(|found| {
            let write = tree.decide(&found.path, Axis::Write);
            let of_host = write.rule.is_some_and(|rule| rule.source == Source::Host);
            let planted = write.access == Access::Allow && !of_host;
            tree.decide(&found.path, Axis::Execute).access == Access::Allow && !planted
        })
    };
    let kept = std::env::split_paths(path).filter(usable);
    std::env::join_paths(kept).ok().filter(|path| !path.is_empty())
}

/// The private directories of one executor.
struct Directories {
    top: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
    /// For the backend.
    base: PathBuf,
    /// Kept ones, which are not removed with the others.
    caches: Vec<(Cache, PathBuf)>,
}

impl Directories {
    fn create(owned: &Path) -> Result<Self, ExecutorError> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let top = owned.join(number.to_string());
        let all = Self {
            home: top.join("home"),
            temporary: top.join("tmp"),
            base: top.join("root"),
            caches: Vec::new(),
            top,
        };
        for directory in [&all.top, &all.home, &all.temporary, &all.base] {
            make_private(directory).map_err(|error| {
                let cause = ExecutorError::Scratch {
                    path: directory.clone(),
                    why: error.to_string(),
                };
                with_problems(cause, all.remove())
            })?;
        }
        Ok(all)
    }

    /// No command has been in them; says what could not be removed.
    fn remove(&self) -> Option<CloseProblem> {
        let error = std::fs::remove_dir_all(&self.top).err()?;
        (error.kind() != std::io::ErrorKind::NotFound).then(|| CloseProblem::Directory {
            path: self.top.clone(),
            why: error.to_string(),
        })
    }
}

/// A failure with what could not be undone after it (SET-16).
fn with_problems(cause: ExecutorError, problem: Option<CloseProblem>) -> ExecutorError {
    let Some(problem) = problem else { return cause };
    match cause {
        ExecutorError::Residue { cause, mut problems } => {
            problems.push(problem);
            ExecutorError::Residue { cause, problems }
        }
        cause => ExecutorError::Residue {
            cause: Box::new(cause),
            problems: vec![problem],
        },
    }
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

fn own_directory(path: &Path, source: Source) -> Result<Rule, ExecutorError> {
    let resolved = Host.resolve(path).map_err(|error| ExecutorError::Scratch {
        path: path.to_owned(),
        why: error.to_string(),
    })?;
    if resolved.path != path {
        // Somebody put a link in its place since it was made.
        return Err(ExecutorError::Scratch {
            path: path.to_owned(),
            why: "was replaced".to_owned(),
        });
    }
    Ok(Rule::new(resolved, Reach::Tree, Verdict::READ_WRITE, source))
}

/// The rule for a device of the profile; nothing for one that is not there and need not be.
fn device_rule(device: &Device) -> Result<Option<Rule>, ExecutorError> {
    let refused = |why: &str| Unavailable::Path {
        path: device.path.clone(),
        why: why.to_owned(),
    };
    let missing = device.path.symlink_metadata().is_err();
    match (missing, device.presence) {
        (true, Presence::Optional) => return Ok(None),
        (true, Presence::Required) => return Err(refused("there is no such device").into()),
        (false, _) => {}
    }
    let at = Host
        .resolve(&device.path)
        .map_err(|error| refused(&error.to_string()))?;
    if !is_device(&at.path) {
        return Err(refused("it is not a device").into());
    }
    let axes = Verdict::READ_WRITE.with_execute(Access::Deny);
    Ok(Some(Rule::new(at, Reach::Exact, axes, Source::Device)))
}

fn is_device(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = path.symlink_metadata().map(|metadata| metadata.file_type());
        kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
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
        Source::Runtime {
            bundle: bundle.name.to_string(),
            why: entry.why.to_string(),
        },
    )
}
