//! Sockets of host processes that a command could reach by their path.

use std::path::{Path, PathBuf};

use ringfence_host::sockets;
use ringfence_policy::{Axis, RegionTree, Source};

/// Files looked at when a socket was bound by a relative path and must be searched for.
const SEARCH_LIMIT: usize = 50_000;

/// The sockets in trees of the host that the policy shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sockets {
    /// Bound by an absolute path.
    absolute: Vec<PathBuf>,
    /// Bound by a relative path, as written: where it leads is not recorded anywhere.
    relative: Vec<PathBuf>,
    /// What a search found for those.
    searched: Vec<PathBuf>,
    /// Whether the search looked at everything.
    pub(crate) complete: bool,
}

impl Sockets {
    /// Looks at the host. Searching is expensive, so it is done only when other sockets were bound by a relative
    /// path than before.
    pub(crate) fn look(tree: &RegionTree, before: &Self) -> Self {
        let Ok(bound) = sockets::bound() else {
            return Self {
                complete: false,
                ..before.clone()
            };
        };
        let absolute = bound
            .absolute
            .into_iter()
            .filter(|path| is_shown(tree, path))
            .collect();
        let (searched, complete) = match bound.relative.as_slice() {
            [] => (Vec::new(), true),
            relative if relative == before.relative => (before.searched.clone(), before.complete),
            _ => {
                let search = sockets::search(&roots(tree), SEARCH_LIMIT);
                (search.found, search.complete)
            }
        };
        Self {
            absolute,
            relative: bound.relative,
            searched,
            complete,
        }
    }

    /// Where they are.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut paths = [self.absolute.as_slice(), &self.searched].concat();
        paths.sort();
        paths.dedup();
        paths
    }
}

/// Whether a path leads to the host's object there, and not into a private filesystem.
fn is_shown(tree: &RegionTree, path: &Path) -> bool {
    let decisions = Axis::ALL.map(|axis| tree.decide(path, axis));
    let allows = tree.verdict(path).allows_any();
    allows
        && decisions
            .iter()
            .filter_map(|decision| decision.rule)
            .any(|rule| holds_host_files(&rule.source))
}

/// The executor's own directories hold nothing of a host process, and programs of the system no sockets.
fn holds_host_files(source: &Source) -> bool {
    matches!(source, Source::Host | Source::Workspace | Source::Root(_))
}

fn roots(tree: &RegionTree) -> Vec<PathBuf> {
    let shown = tree.regions().filter(|region| {
        region.subtree.allows_any() && region.rules.iter().any(|rule| holds_host_files(&rule.source))
    });
    shown.map(|region| region.path.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringfence_policy::{Rule, Verdict};

    #[test]
    fn only_trees_of_the_host_count() {
        let rules = vec![
            Rule::tree("/", Verdict::READ_ONLY, Source::Host),
            Rule::tree("/tmp", Verdict::READ_WRITE, Source::Private),
            Rule::tree("/tmp/w", Verdict::READ_WRITE, Source::Workspace),
            Rule::tree("/tmp/w/no", Verdict::DENY, Source::Root(0)),
            Rule::tree("/tmp/home", Verdict::READ_WRITE, Source::Home),
        ];
        let tree = RegionTree::new(rules).unwrap();
        let shown = |path: &str| is_shown(&tree, Path::new(path));
        assert!(shown("/var/lib/s") && shown("/tmp/w/s"));
        assert!(!shown("/tmp/s") && !shown("/tmp/w/no/s") && !shown("/tmp/home/s"));
        assert_eq!(roots(&tree), [PathBuf::from("/"), PathBuf::from("/tmp/w")]);
    }
}
