//! Unix sockets that have a path.

use std::io;
use std::path::PathBuf;

/// The sockets that [`bound`] lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Bound by an absolute path.
    pub absolute: Vec<PathBuf>,
    /// Bound by a path relative to a directory that nobody recorded; the same name twice when two sockets have it.
    pub relative: Vec<PathBuf>,
}

/// Lists the Unix sockets of this network namespace that were bound to a path, sorted; absolute paths once each.
///
/// One read of `/proc/net/unix`; see proc_net(5) and unix(7). Names are as the binding process wrote them, in
/// *its* view of the file system: there may be nothing or something else at such a path today. Not listed:
/// sockets bound in another network namespace, which a path reaches all the same ([`search`] finds those),
/// abstract sockets, and relative names that start with `@`, which look like abstract ones.
///
/// The kernel writes a newline in a name as it is. A line that is no record continues the name before it; a
/// name made to look like several records is taken for several.
///
/// Empty on every system but Linux.
///
/// # Errors
/// The file cannot be read, as where `/proc` is not mounted.
pub fn bound() -> io::Result<Bound> {
    list()
}

/// What [`search`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The socket files, sorted.
    pub found: Vec<PathBuf>,
    /// The named pipes, sorted.
    pub pipes: Vec<PathBuf>,
    /// Whether everything below the roots was looked at.
    pub complete: bool,
}

/// Looks for socket files, and named pipes, below directories.
///
/// At most `limit` entries are looked at, nearest to the roots first. Links are not followed, mount points
/// are entered. A directory that cannot be listed, or the limit, makes the answer incomplete. A root that is
/// not a directory holds nothing. On systems without socket files nothing is found.
pub fn search(roots: &[PathBuf], limit: usize) -> Search {
    let mut search = Search::default();
    search.complete = crate::scan::scan(roots, limit, |entry| {
        let Ok(kind) = entry.file_type() else {
            return;
        };
        if is_socket(kind) {
            search.found.push(entry.path());
        } else if is_pipe(kind) {
            search.pipes.push(entry.path());
        }
    });
    search.found.sort();
    search.pipes.sort();
    search
}

#[cfg(unix)]
fn is_socket(kind: std::fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_socket(&kind)
}

#[cfg(unix)]
fn is_pipe(kind: std::fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_socket(_: std::fs::FileType) -> bool {
    false
}

#[cfg(not(unix))]
fn is_pipe(_: std::fs::FileType) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn list() -> io::Result<Bound> {
    use std::io::Read;
    /// Room for a few hundred sockets, so that usually one read takes them all.
    const USUAL_BYTES: usize = 32 * 1024;
    let mut text = Vec::with_capacity(USUAL_BYTES);
    // Through `take`, or the length of the file, which procfs does not know, would be asked for first.
    std::fs::File::open("/proc/net/unix")?
        .take(u64::MAX)
        .read_to_end(&mut text)?;
    Ok(table::parse(&text))
}

#[cfg(not(target_os = "linux"))]
fn list() -> io::Result<Bound> {
    Ok(Bound::default())
}

#[cfg(target_os = "linux")]
#[path = "socket_table.rs"]
pub(crate) mod table;

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "sockets_tests.rs"]
mod tests;
