//! What a run would do, worked out from the options before anything runs: the same for every task that is about one.

mod draft;
mod environment;
mod home;
mod kept;
mod origins;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ringfence::blocking::{Executor, ExecutorSet};
use ringfence::{
    BuildError, BundleName, Cache, Commands, ExecutorError, Field, Guard, Host, Probe, Profile,
    ProfileConfig, Resolve, ResolvedSubject, Root, Subject, Survey,
};

use crate::args::PolicyOptions;
use crate::failure::Failure;
use crate::scratch;
use crate::signals::{self, Asked, Signals};
use draft::Draft;
use kept::{CACHES, HOMES};
use origins::Origins;

/// The executor of a run whose home directory has no name.
const KEY: &str = "run";

/// How often a scratch root is made that other runs keep removing.
const TRIES: usize = 16;

/// What a set is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To run a command.
    Run,
    /// To say what a run would do.
    Look,
}

/// A profile, and everything else that makes an executor.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) profile: Profile,
    /// Where the command shall work.
    pub(crate) directory: PathBuf,
    /// What the profile was made from.
    config: ProfileConfig,
    origins: Origins,
    /// The profile file, if there is one.
    file: Option<PathBuf>,
    bundles: Option<BTreeSet<BundleName>>,
    /// The name of a kept home directory.
    home: Option<String>,
    caches: BTreeSet<Cache>,
    survey: Survey,
}

impl Plan {
    /// Works out what the options ask for.
    pub(crate) fn new(options: &PolicyOptions) -> Result<Self, Failure> {
        // It takes longer than anything else, and needs nothing.
        let survey = Survey::begin(&std::env::var_os("PATH").unwrap_or_default());
        let current = current_directory()?;
        let Draft {
            config,
            origins,
            bundles,
            home,
            caches,
        } = Draft::new(options, &current)?;
        let profile = Profile::new(&config, &Host).map_err(|invalid| origins.invalid(invalid))?;
        let inside = |directory: &Path| {
            let workspace = &profile.workspace().path;
            Host.resolve(directory)
                .is_ok_and(|resolved| resolved.path.starts_with(workspace))
        };
        let directory = if inside(&current) {
            current
        } else {
            config.workspace.clone()
        };
        Ok(Self {
            profile,
            directory,
            config,
            origins,
            file: options.profile.profile.clone(),
            bundles,
            home,
            caches,
            survey,
        })
    }

    /// The set that will own the one executor.
    ///
    /// Directories that outlive it are made for a command only; whoever just looks is shown those that are there, and
    /// private ones in place of the others.
    pub(crate) fn set(&self, purpose: Purpose) -> Result<Set, Failure> {
        let mut builder = ringfence::ExecutorSet::builder(self.profile.clone())
            .max_executors(1)
            .probe(Probe::AtFirstExecutor)
            .commands(Commands::One)
            .survey(self.survey.clone());
        if let Some(bundles) = &self.bundles {
            builder = builder.bundles(bundles.iter().copied());
        }
        let running = purpose == Purpose::Run;
        if let Some(name) = &self.home
            && (running || HOMES.path()?.join(name).is_dir())
        {
            builder = builder.keep_homes(HOMES.make()?);
        }
        let mut caches = self.caches.clone();
        if !running && !caches.is_empty() {
            let root = CACHES.path()?;
            caches.retain(|cache| cache.directory(&root).is_dir());
        }
        if !caches.is_empty() {
            builder = builder.keep_caches(CACHES.make()?, caches);
        }
        let mut tries = 0..TRIES;
        loop {
            let root = scratch::root(&self.profile)?;
            match builder.clone().scratch_root(root.path()).build() {
                // Another run may have removed it as its last user.
                Err(BuildError::ScratchRoot { .. }) if tries.next().is_some() => {}
                built => {
                    let set = built.map_err(origins::no_set)?.into();
                    return Ok(Set { set, _root: root });
                }
            }
        }
    }

    /// The executor of a set that this plan has made. At a signal it is given up, and the set is closed.
    pub(crate) fn executor(&self, set: &Set, signals: &Signals) -> Result<Executor, Failure> {
        let key = self.home.as_deref().unwrap_or(KEY);
        let mut first = None;
        let give_up = |asked| match asked {
            Asked::End(signal) => {
                first.get_or_insert(signal);
                // Not waited for here, as that would be the end of the work.
                drop(ringfence::ExecutorSet::close(&set.set));
            }
            Asked::Stop => signals::stop(),
            Asked::Look | Asked::Resume => {}
        };
        let made = signals.during(|| set.set.executor(key), give_up)?;
        if let Some(signal) = first {
            return Err(Failure::ended_by(signal));
        }
        made.map_err(|error| match (&error, &self.home) {
            (ExecutorError::Scratch { path, why }, Some(name)) if path.ends_with(name) => {
                Failure::new(format!("--home {name}: {}: {why}", path.display()))
                    .hint("wait for the run that uses it, or give another name")
            }
            _ => self.origins.executor(error, &self.config),
        })
    }

    /// The profile file, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The option that asks for the profile's own guard with this index.
    pub(crate) fn guard_option(&self, index: usize) -> Option<&str> {
        let guard = self.profile.guards().nth(index)?;
        let is_same = |written: &Guard| {
            let path = |name: &Path| Host.resolve(name).map(|at| at.path).ok();
            let same = match (&written.subject, &guard.subject) {
                (Subject::Path(written), ResolvedSubject::Name(at)) => {
                    path(written).as_ref() == Some(&at.path)
                }
                (Subject::Pattern(written), ResolvedSubject::Pattern(pattern)) => {
                    path(written.base()).is_some_and(|base| written.clone().beneath(base) == *pattern)
                }
                _ => false,
            };
            same && written.protection == guard.protection
        };
        let index = self.config.guards.iter().position(is_same)?;
        self.origins.option(Field::Guard(index))
    }

    /// The option that opens the device at this path.
    pub(crate) fn device_option(&self, path: &Path) -> Option<&str> {
        let mut devices = self.config.devices.iter();
        let index = devices.position(|device| device.path == path)?;
        self.origins.option(Field::Device(index))
    }

    /// The option that opens the additional root at this canonical path.
    pub(crate) fn root_option(&self, path: &Path) -> Option<&str> {
        let leads_there = |root: &Root| Host.resolve(&root.path).is_ok_and(|at| at.path == path);
        let index = self.config.roots.iter().position(leads_there)?;
        self.origins.option(Field::Root(index))
    }
}

/// A set, and where its private directory is.
#[derive(Debug)]
pub(crate) struct Set {
    set: ExecutorSet,
    /// Is dropped after the set.
    _root: scratch::Root,
}

impl Set {
    /// Closes it.
    pub(crate) fn close(self) -> Result<(), Failure> {
        match self.set.close().problems.first() {
            Some(problem) => Err(Failure::new(format!("not everything was cleaned up: {problem}"))),
            None => Ok(()),
        }
    }
}

/// Closes a set, and says what it left.
pub(crate) fn close(set: Set) {
    if let Err(failure) = set.close() {
        failure.print();
    }
}

/// The current directory by the name the user gave it, if `PWD` still names it.
pub(crate) fn current_directory() -> Result<PathBuf, Failure> {
    let physical = std::env::current_dir().map_err(|error| {
        Failure::new(format!("the current directory: {error}")).hint("change to a directory that exists")
    })?;
    let named = std::env::var_os("PWD")
        .map(PathBuf::from)
        .filter(|named| named.is_absolute());
    let same = |named: &PathBuf| std::fs::canonicalize(named).is_ok_and(|path| path == physical);
    Ok(named.filter(same).unwrap_or(physical))
}
