//! The environment of an executor's commands.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use ringfence_host::Host;
use ringfence_policy::{
    Access, Axis, Environment, NameCase, RegionTree, Resolve, Source, private_directories,
};

use super::directories::Directories;
use crate::set::Shared;

const PATH: &str = "PATH";

impl Shared {
    /// The environment of an executor's commands: allowed variables, what its toolchains need, private directories
    /// (ENV-1 to ENV-3), and of `PATH` what commands may run and can't change.
    pub(super) fn environment(
        &self,
        directories: &Directories,
        isolated: bool,
        tree: &RegionTree,
    ) -> Environment {
        let mut forced: BTreeMap<OsString, OsString> = BTreeMap::new();
        forced.extend(
            self.bundles
                .get()
                .iter()
                .flat_map(|bundle| bundle.environment.iter().cloned()),
        );
        let home = isolated.then_some(&*directories.home);
        if let Some(home) = home {
            let private = self.bundles.get().iter().flat_map(|bundle| &bundle.private);
            forced.extend(private.map(|(name, below)| (name.clone(), home.join(below).into())));
            let options = self.bundles.get().iter().flat_map(|bundle| &bundle.options);
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
        let mut caller = (*self.caller).clone();
        if let Some(path) = caller.remove(OsStr::new(PATH)) {
            caller.extend(usable_path(&path, tree).map(|path| (PATH.into(), path)));
        }
        rules.assemble(caller, &forced)
    }
}

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
