//! A host in memory, and short ways to write profiles.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::*;

pub(crate) const DENY: Access = Access::Deny;
pub(crate) const GATED: Access = Access::Gated;
pub(crate) const ALLOW: Access = Access::Allow;

/// A tree of objects; whatever was not put there is absent.
#[derive(Default)]
pub(crate) struct FakeHost {
    objects: BTreeMap<PathBuf, Object>,
    /// How often it was asked.
    pub(crate) asked: Cell<usize>,
}

enum Object {
    Directory,
    File,
    Link(PathBuf),
    Locked,
}

impl FakeHost {
    /// A host with a workspace `/ws`.
    pub(crate) fn new() -> Self {
        Self::default().dir("/ws")
    }

    pub(crate) fn dir(self, path: impl AsRef<Path>) -> Self {
        self.put(path.as_ref(), Object::Directory)
    }

    pub(crate) fn file(self, path: impl AsRef<Path>) -> Self {
        self.put(path.as_ref(), Object::File)
    }

    pub(crate) fn link(self, path: impl AsRef<Path>, target: impl Into<PathBuf>) -> Self {
        self.put(path.as_ref(), Object::Link(target.into()))
    }

    /// A directory that may not be searched.
    pub(crate) fn locked(self, path: impl AsRef<Path>) -> Self {
        self.put(path.as_ref(), Object::Locked)
    }

    fn put(mut self, path: &Path, object: Object) -> Self {
        for parent in path.ancestors().skip(1) {
            self.objects.entry(parent.into()).or_insert(Object::Directory);
        }
        self.objects.insert(path.into(), object);
        self
    }

    fn found(&self, path: PathBuf, links: Vec<Link>) -> Resolved {
        let inode = self.objects.keys().position(|known| *known == path);
        let kind = match self.objects.get(&path) {
            Some(Object::Directory | Object::Locked) => Kind::Directory,
            Some(Object::File | Object::Link(_)) => Kind::File,
            None if path == Path::new("/") => Kind::Directory,
            None => Kind::Absent,
        };
        let identity = inode.map(|inode| Identity {
            device: 1,
            inode: inode as u64,
            birth: None,
            mount: None,
        });
        Resolved {
            path,
            kind,
            identity,
            links,
        }
    }
}

impl Resolve for FakeHost {
    fn resolve(&self, path: &Path) -> Result<Resolved, ResolveError> {
        self.asked.set(self.asked.get() + 1);
        let names = |path: &Path| path.iter().map(OsString::from).collect::<VecDeque<_>>();
        let mut pending = names(path);
        let mut at = PathBuf::from("/");
        let mut links = Vec::new();
        while let Some(name) = pending.pop_front() {
            if name == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&name);
            match self.objects.get(&next) {
                Some(Object::Locked) if !pending.is_empty() => {
                    return Err(ResolveError::Denied {
                        path: next,
                        errno: 13,
                    });
                }
                Some(Object::Link(_)) if links.len() == 8 => return Err(ResolveError::Loop { path: next }),
                Some(Object::Link(target)) => {
                    let mut through = names(target);
                    through.append(&mut pending);
                    pending = through;
                    links.push(Link {
                        path: next,
                        target: target.clone(),
                    });
                }
                Some(_) | None => at = next,
            }
        }
        Ok(self.found(at, links))
    }
}

/// A configuration for `/ws` that says nothing more than the default, and applies no preset.
pub(crate) fn config() -> ProfileConfig {
    ProfileConfig {
        workspace: "/ws".into(),
        presets: BTreeSet::new(),
        ..ProfileConfig::default()
    }
}

/// The common configuration: the workspace writable, the host readable.
pub(crate) fn writable() -> ProfileConfig {
    ProfileConfig {
        workspace_access: Verdict::READ_WRITE,
        host_access: Verdict::READ_ONLY,
        network: ALLOW,
        command: ALLOW,
        ..config()
    }
}

/// A profile on a host where every root is what the configuration says it is.
pub(crate) fn profile(config: &ProfileConfig) -> Profile {
    let put = |host: FakeHost, root: &Root| match root.kind {
        RootKind::Directory => host.dir(&root.path),
        RootKind::File => host.file(&root.path),
        RootKind::Absent => host,
    };
    let host = config
        .roots
        .iter()
        .fold(FakeHost::default().dir(&config.workspace), put);
    Profile::new(config, &host).unwrap()
}

/// The problems of a configuration on a host.
pub(crate) fn problems(config: &ProfileConfig, host: &FakeHost) -> Vec<(Field, Reason)> {
    let invalid = Profile::new(config, host).unwrap_err();
    invalid
        .problems
        .into_iter()
        .map(|problem| (problem.field, problem.reason))
        .collect()
}
