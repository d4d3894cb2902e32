//! From options to the configuration of a profile.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ringfence::{
    Access, BundleName, Cache, Device, Field, Guarantees, Guard, Home, Host, Kind, Limit, NestedNamespaces,
    NewRepositories, Presence, ProfileConfig, ProfileFile, Protection, Resolve, Root, Variables, Verdict,
};

use super::environment;
use super::origins::Origins;
use crate::args::{self, Choice, FileOptions, LimitOptions, Place, PolicyOptions};
use crate::failure::Failure;

/// A configuration in the making, and what is no part of one.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) config: ProfileConfig,
    pub(super) origins: Origins,
    pub(super) bundles: Option<BTreeSet<BundleName>>,
    pub(super) home: Option<String>,
    pub(super) caches: BTreeSet<Cache>,
}

impl Draft {
    pub(super) fn new(options: &PolicyOptions, current: &Path) -> Result<Self, Failure> {
        let workspace = match &options.files.workspace {
            Some(given) => current.join(given),
            None => current.to_owned(),
        };
        let mut draft = match &options.profile.profile {
            Some(file) => Self::from_file(file, &options.files, workspace)?,
            None => Self::by_default(workspace),
        };
        if let Some(given) = &options.files.workspace {
            draft.names(Field::Workspace, "--workspace", given);
        }
        draft.add_files(&options.files, current)?;
        if let Some(file) = &options.profile.profile {
            draft.protect_profile(file, current);
        }
        draft.add_guards(&options.files, current)?;
        draft.add_limits(&options.limits);
        let config = &mut draft.config;
        config.environment = environment::with(&config.environment, &options.environment)?;
        if let Some(net) = options.net {
            config.network = access(net);
        }
        let required: Guarantees = options.profile.require.iter().copied().collect();
        config.require |= required;
        draft.origins.require = required;
        config.homes.extend(home_directory());
        let programs = &options.programs;
        if !programs.bundle.is_empty() {
            draft.bundles = Some(programs.bundle.iter().copied().collect());
        }
        draft.caches.extend(&programs.cache);
        if let Some(home) = &programs.home {
            let (home, name) = match home {
                args::Home::Isolated => (Home::Isolated, None),
                args::Home::Real => (Home::Real, None),
                args::Home::Named(name) => (Home::Isolated, Some(name.clone())),
            };
            (draft.config.home, draft.home) = (home, name);
        }
        Ok(draft)
    }

    /// What holds without a profile file.
    fn by_default(workspace: PathBuf) -> Self {
        Self {
            config: ProfileConfig {
                workspace,
                workspace_access: Verdict::READ_WRITE,
                command: Access::Allow,
                ..ProfileConfig::default()
            },
            origins: Origins::new(None),
            bundles: None,
            home: None,
            caches: BTreeSet::new(),
        }
    }

    /// What a profile file says.
    fn from_file(file: &Path, options: &FileOptions, workspace: PathBuf) -> Result<Self, Failure> {
        let variables = Variables {
            home: home_directory().unwrap_or_default(),
            workspace,
        };
        let read = ProfileFile::read(file, &variables).map_err(|error| {
            // Without any position it is about the file and not about its text.
            let whole = error.problems.iter().all(|problem| problem.position.is_none());
            Failure::new(format!("{}{error}", if whole { "--profile " } else { "" }))
        })?;
        if let Some(given) = &options.workspace
            && !read.config.workspace.starts_with(&variables.workspace)
        {
            return Err(Failure::new(format!(
                "--workspace {}: the workspace of {} is {}",
                given.display(),
                file.display(),
                read.config.workspace.display()
            ))
            .hint("leave it out, or write `workspace = \"${workspace}\"` in the file"));
        }
        Ok(Self {
            bundles: read
                .bundles
                .as_ref()
                .map(|bundles| bundles.iter().copied().collect()),
            caches: read.caches.iter().copied().collect(),
            home: read.home_name.clone(),
            config: read.config.clone(),
            origins: Origins::new(Some(read)),
        })
    }

    fn add_files(&mut self, options: &FileOptions, current: &Path) -> Result<(), Failure> {
        if options.read_only {
            self.config.workspace_access.write = Access::Deny;
        }
        if let Some(host_read) = options.host_read {
            let host = &mut self.config.host_access;
            (host.read, host.execute) = (access(host_read), access(host_read));
        }
        let of_file = self.config.roots.len();
        for (option, paths, access) in [
            ("--rw", &options.rw, Verdict::READ_WRITE),
            ("--ro", &options.ro, Verdict::READ_ONLY),
        ] {
            for path in paths {
                let root = root(option, &current.join(path), access)?;
                let replaced = self.config.roots[..of_file]
                    .iter()
                    .position(|other| is_same(&other.path, &root.path));
                let index = replaced.unwrap_or(self.config.roots.len());
                match replaced {
                    Some(index) => self.config.roots[index] = root,
                    None => self.config.roots.push(root),
                }
                self.names(Field::Root(index), option, path);
            }
        }
        for device in &options.device {
            let (path, presence) = match device {
                args::Device::Required(path) => (path, Presence::Required),
                args::Device::Optional(path) => (path, Presence::Optional),
            };
            self.names(Field::Device(self.config.devices.len()), "--device", path);
            self.config.devices.push(Device {
                path: path.clone(),
                presence,
            });
        }
        if options.no_new_repos {
            self.config.new_repositories = NewRepositories::Refuse;
        }
        if options.nested_namespaces {
            self.config.nested_namespaces = NestedNamespaces::Allow;
        }
        Ok(())
    }

    /// What a command can write must not decide what the next one may do.
    fn protect_profile(&mut self, file: &Path, current: &Path) {
        let path = current.join(file);
        // A pipe is nothing that could be written again.
        if path.is_file() {
            self.names(Field::Guard(self.config.guards.len()), "--profile", file);
            self.config.guards.push(Guard::protect(path));
        }
    }

    fn add_guards(&mut self, options: &FileOptions, current: &Path) -> Result<(), Failure> {
        for (option, places, protection) in [
            ("--protect", &options.protect, Protection::Protect),
            ("--secret", &options.secret, Protection::Secret),
        ] {
            for place in places {
                let guard = match place {
                    Place::Path(path) => match protection {
                        Protection::Protect => Guard::protect(current.join(path)),
                        Protection::Secret => Guard::secret(current.join(path)),
                    },
                    Place::Pattern(glob) => {
                        let pattern = args::pattern(glob, current).map_err(|error| {
                            Failure::new(format!("{option} {}: {error}", place.text().display()))
                                .hint(error.hint())
                        })?;
                        Guard::matching(pattern, protection)
                    }
                };
                self.names(
                    Field::Guard(self.config.guards.len()),
                    option,
                    Path::new(&place.text()),
                );
                self.config.guards.push(guard);
            }
        }
        for preset in &options.without {
            self.config.presets.remove(preset);
        }
        for path in &options.unprotect {
            self.names(Field::Unguarded(self.config.unguarded.len()), "--unprotect", path);
            self.config.unguarded.push(current.join(path));
        }
        Ok(())
    }

    fn add_limits(&mut self, options: &LimitOptions) {
        let limits = &mut self.config.limits;
        limits.wall_time = options.timeout.or(limits.wall_time);
        limits.memory_bytes = options.memory.or(limits.memory_bytes);
        limits.processes = options.pids.or(limits.processes);
        limits.cpu_time = options.cpu_time.or(limits.cpu_time);
        limits.open_files = options.open_files.or(limits.open_files);
        limits.file_bytes = options.file_size.or(limits.file_bytes);
        limits.private_bytes = options.tmp_size.or(limits.private_bytes);
        limits.output_bytes = options.output_limit.or(limits.output_bytes);
        for (limit, option, is_given) in [
            (Limit::WallTime, "--timeout", options.timeout.is_some()),
            (Limit::Memory, "--memory", options.memory.is_some()),
            (Limit::Processes, "--pids", options.pids.is_some()),
            (Limit::CpuTime, "--cpu-time", options.cpu_time.is_some()),
            (Limit::OpenFiles, "--open-files", options.open_files.is_some()),
            (Limit::FileSize, "--file-size", options.file_size.is_some()),
            (Limit::PrivateSize, "--tmp-size", options.tmp_size.is_some()),
            (Limit::Output, "--output-limit", options.output_limit.is_some()),
        ] {
            if is_given {
                self.origins.insert(Field::Limit(limit), option.to_owned());
            }
        }
    }

    /// Remembers the option that brought a part of the configuration about.
    fn names(&mut self, field: Field, option: &str, value: &Path) {
        self.origins
            .insert(field, format!("{option} {}", value.display()));
    }
}

fn access(choice: Choice) -> Access {
    match choice {
        Choice::Allow => Access::Allow,
        Choice::Deny => Access::Deny,
    }
}

fn root(option: &str, path: &Path, access: Verdict) -> Result<Root, Failure> {
    let resolved = Host
        .resolve(path)
        .map_err(|error| Failure::new(format!("{option} {}: {error}", path.display())).hint(error.hint()))?;
    match resolved.kind {
        Kind::Directory => Ok(Root::directory(path, access)),
        Kind::File => Ok(Root::file(path, access)),
        Kind::Absent => Err(
            Failure::new(format!("{option} {}: does not exist", path.display()))
                .hint("create it first: a path that is opened for the command must be there"),
        ),
    }
}

/// Whether two names lead to one path.
fn is_same(one: &Path, other: &Path) -> bool {
    let path = |name: &Path| Host.resolve(name).map(|at| at.path);
    match (path(one), path(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// What the caller's `HOME` names; presets close what is in it.
pub(super) fn home_directory() -> Option<PathBuf> {
    std::env::var_os("HOME")
        .map(PathBuf::from)
        .filter(|home| home.is_absolute())
}
