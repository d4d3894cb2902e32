//! A host in memory, and short ways to write profiles, for tests.

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

/// Strategies for generated profiles and paths.
pub(crate) mod generate {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    pub(crate) fn access() -> impl Strategy<Value = Access> {
        select(vec![DENY, GATED, ALLOW])
    }

    pub(crate) fn verdict() -> impl Strategy<Value = Verdict> {
        (access(), access(), access()).prop_map(|(read, execute, write)| Verdict { read, execute, write })
    }

    /// Few names, so that paths nest and collide; some would be patterns or sort unexpectedly.
    pub(crate) fn path() -> impl Strategy<Value = PathBuf> {
        let name = select(vec!["ws", "a", "a-b", "[a]", "*", "x\n"]);
        prop::collection::vec(name, 0..5).prop_map(|names| Path::new("/").join(names.join("/")))
    }

    fn root() -> impl Strategy<Value = Root> {
        let kind = select(vec![RootKind::Directory, RootKind::Absent]);
        (path(), verdict(), kind).prop_map(|(path, access, kind)| Root { path, access, kind })
    }

    pub(crate) fn guard() -> impl Strategy<Value = Guard> {
        let protection = select(vec![Protection::Protect, Protection::Secret]);
        let glob = select(vec!["**/a", "*", "a*/**", "**/ws/[[]a]"]);
        let pattern =
            (path(), glob).prop_map(|(base, glob)| Subject::Pattern(Pattern::new(base, glob).unwrap()));
        let subject = prop_oneof![path().prop_map(Subject::Path), pattern];
        (subject, protection).prop_map(|(subject, protection)| Guard { subject, protection })
    }

    prop_compose! {
        /// A sandboxed configuration for `/ws`, valid on a host where everything is a directory.
        pub(crate) fn sandboxed()(
            workspace_access in verdict(),
            host_access in verdict(),
            network in access(),
            command in access(),
            home in select(vec![Home::Isolated, Home::Real]),
            roots in prop::collection::vec(root(), 0..6),
            guards in prop::collection::vec(guard(), 0..3),
            memory_bytes in select(vec![None, Some(1), Some(2)]),
            require in select(vec![Guarantees::empty(), Guarantees::RESOURCE_LIMITS]),
        ) -> ProfileConfig {
            let mut distinct = BTreeMap::from_iter(roots.into_iter().map(|root| (root.path.clone(), root)));
            distinct.remove(Path::new("/ws"));
            ProfileConfig {
                workspace_access, host_access, network, command, home, require, guards,
                limits: Limits { memory_bytes, ..Limits::default() },
                roots: distinct.into_values().collect(),
                ..config()
            }
        }
    }

    pub(crate) fn any_config() -> impl Strategy<Value = ProfileConfig> {
        prop_oneof![
            4 => sandboxed(),
            1 => Just(ProfileConfig::unconfined("/ws")),
        ]
    }

    pub(crate) fn any_profile() -> impl Strategy<Value = Profile> {
        any_config().prop_map(|config| Profile::new(&config, &Directories).unwrap())
    }

    /// A host on which every path is a directory.
    pub(crate) struct Directories;

    impl Resolve for Directories {
        fn resolve(&self, path: &Path) -> Result<Resolved, ResolveError> {
            Ok(Resolved {
                path: path.into(),
                kind: Kind::Directory,
                identity: None,
                links: Vec::new(),
            })
        }
    }
}
