//! Sockets of host processes that a command could reach by their path.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence_host::Host;
use ringfence_host::sockets::{self, Bound};
use ringfence_policy::{Access, Axis, Kind, RegionTree, Resolve, Source};

/// Files looked at when a socket was bound by a relative path and must be searched for.
const SEARCH_LIMIT: usize = 50_000;

/// Files looked at when a policy is compiled, nearest to the roots first: sockets bound in another network namespace
/// are in no list.
const NEARBY_LIMIT: usize = 2_000;

/// The sockets in trees of the host that the policy shows.
///
/// The kernel lists names as they were bound: perhaps relative to a directory nobody recorded, through a link, or
/// since renamed. A name that leads to a socket counts where it leads; for the others the shown trees are searched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sockets {
    /// What the kernel listed.
    bound: Arc<Bound>,
    /// Canonical paths of sockets found by their names.
    located: Vec<PathBuf>,
    /// Names that may belong to sockets in the shown trees and lead to none.
    unlocated: Vec<PathBuf>,
    /// What a search found for those.
    searched: Vec<PathBuf>,
    /// What was found near the roots when the policy was compiled.
    nearby: Vec<PathBuf>,
    /// Named pipes found there.
    pipes: Vec<PathBuf>,
    /// Whether the search looked at everything.
    pub(crate) complete: bool,
}

impl Sockets {
    /// The first look, which also searches near the roots.
    pub(crate) fn first(tree: &RegionTree) -> Self {
        let near = |source: &Source| matches!(source, Source::Workspace | Source::Root(_));
        let nearby = sockets::search(&roots(tree, near), NEARBY_LIMIT);
        Self::look(
            tree,
            &Self {
                nearby: nearby.found,
                pipes: nearby.pipes,
                ..Self::default()
            },
        )
    }

    /// Looks whether the kernel lists others; where a name leads is looked at only if `everything` is.
    pub(crate) fn look_again(tree: &RegionTree, before: &Self, everything: bool) -> Self {
        match sockets::bound() {
            Ok(bound) if !everything && bound == *before.bound => before.clone(),
            bound => Self::of(tree, before, bound),
        }
    }

    /// Looks at the host.
    pub(crate) fn look(tree: &RegionTree, before: &Self) -> Self {
        Self::of(tree, before, sockets::bound())
    }

    /// Searching is expensive, so it is done only when there are other unlocated names than before.
    fn of(tree: &RegionTree, before: &Self, bound: io::Result<Bound>) -> Self {
        let Ok(bound) = bound else {
            return Self {
                complete: false,
                ..before.clone()
            };
        };
        let (mut located, mut unlocated) = (Vec::new(), bound.relative.clone());
        for name in &bound.absolute {
            // A name whose directory is gone, or closed to this user, leads the command nowhere either.
            let Some(place) = canonical(name).filter(|place| is_shown(tree, place)) else {
                continue;
            };
            let list = if is_socket(&place) {
                &mut located
            } else {
                &mut unlocated
            };
            list.push(place);
        }
        located.sort();
        located.dedup();
        let (searched, complete) = match unlocated.as_slice() {
            [] => (Vec::new(), true),
            names if names == before.unlocated => (before.searched.clone(), before.complete),
            _ => {
                let search = sockets::search(&roots(tree, holds_host_files), SEARCH_LIMIT);
                (search.found, search.complete)
            }
        };
        Self {
            bound: Arc::new(bound),
            located,
            unlocated,
            searched,
            nearby: before.nearby.clone(),
            pipes: before.pipes.clone(),
            complete,
        }
    }

    /// Whether both found the same sockets, whatever else the kernel listed.
    pub(crate) fn are_same(&self, other: &Self) -> bool {
        (&self.located, &self.unlocated, self.complete) == (&other.located, &other.unlocated, other.complete)
            && (&self.searched, &self.nearby) == (&other.searched, &other.nearby)
    }

    /// Where the named pipes are that must not be written: a read-only mount does not keep anybody from that, and
    /// Landlock not where a directory above may be written.
    pub(crate) fn pipes(&self, tree: &RegionTree) -> impl Iterator<Item = PathBuf> {
        let closed = |path: &&PathBuf| tree.decide(path, Axis::Write).access != Access::Allow;
        self.pipes.iter().filter(closed).cloned()
    }

    /// Where they are. A file that nobody answers at any more is not among them: a command may want to remove it.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let searched = self
            .searched
            .iter()
            .chain(&self.nearby)
            .filter(|path| is_answered(path));
        let mut paths: Vec<PathBuf> = self.located.iter().chain(searched).cloned().collect();
        paths.sort();
        paths.dedup();
        paths
    }
}

/// The name's place: its directory's canonical path, and its last component as it is.
fn canonical(name: &Path) -> Option<PathBuf> {
    let directory = Host.resolve(name.parent()?).ok()?;
    (directory.kind == Kind::Directory).then(|| Some(directory.path.join(name.file_name()?)))?
}

/// Whether somebody holds the socket at a path. Asked with a datagram socket, which no holder notices: one of another
/// kind is told apart before anything is queued, and of the same kind connecting queues nothing (unix(7)).
fn is_answered(path: &Path) -> bool {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    if !is_socket(path) {
        return false;
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (Ok(address), Ok(asking)) = (
        SocketAddrUnix::new(path),
        socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None),
    ) else {
        // A name too long to ask by, or no descriptor to ask with: then it is better hidden.
        return true;
    };
    connect(&asking, &address) != Err(rustix::io::Errno::CONNREFUSED)
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.symlink_metadata()
        .is_ok_and(|metadata| metadata.file_type().is_socket())
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

fn roots(tree: &RegionTree, wanted: impl Fn(&Source) -> bool) -> Vec<PathBuf> {
    let shown = tree
        .regions()
        .filter(|region| region.subtree.allows_any() && region.rules.iter().any(|rule| wanted(&rule.source)));
    shown.map(|region| region.path.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringfence_policy::{Rule, Verdict};

    #[test]
    fn a_socket_that_is_in_no_list_is_found_near_the_roots() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap().join("a/b.sock");
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let root = path.parent().unwrap().parent().unwrap();
        let tree = RegionTree::new(vec![Rule::tree(root, Verdict::READ_WRITE, Source::Workspace)]).unwrap();
        // As if it had been bound in another network namespace.
        let first = Sockets {
            located: Vec::new(),
            ..Sockets::first(&tree)
        };
        assert_eq!(first.paths(), std::slice::from_ref(&path));
        assert!(listener.accept().is_err(), "asking was noticed");
        // Closed again, the file stays, and nobody answers: a command may remove it.
        drop(listener);
        assert!(path.exists() && first.paths().is_empty());
    }

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
        assert_eq!(
            roots(&tree, holds_host_files),
            [PathBuf::from("/"), PathBuf::from("/tmp/w")]
        );
    }
}
