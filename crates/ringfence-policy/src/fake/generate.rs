//! Strategies for generated profiles and paths.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;

use super::{ALLOW, DENY, Directories, GATED, config};
use crate::*;

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
    let pattern = (path(), glob).prop_map(|(base, glob)| Subject::Pattern(Pattern::new(base, glob).unwrap()));
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
