//! What a directory of programs holds, and where its links lead.

#[cfg(unix)]
use std::ffi::{CStr, CString};
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use ringfence_policy::Link;

use crate::host::Known;

/// A look at a directory of programs.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Those of the names asked for that are there, whatever they are; in no order.
    pub(super) names: Vec<&'static str>,
    /// Where the links in it lead that may need more than the directory.
    pub(super) targets: Vec<Target>,
}

/// Where a link in a directory of programs leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Canonical, or another name in the same directory; what is there was not looked at.
    pub(super) path: PathBuf,
    /// Every link on the way, the one in the directory first.
    pub(super) links: Vec<Link>,
}

/// How many names of a directory are read; `/usr/bin` of a full desktop has 5,000.
#[cfg(unix)]
const MAX_NAMES: usize = 65_536;

/// How many links of a directory are followed.
const MAX_LINKS: usize = 2_000;

/// Reads a canonical directory, and follows the first 2,000 links in it, in the order of their names.
///
/// Elsewhere than on Unix programs are not installed as links, and nothing is found.
pub(super) fn list(directory: &Path, asked: &[&'static str], known: &mut Known) -> Listing {
    read(directory, asked, MAX_LINKS, known)
}

#[cfg(not(unix))]
fn read(_: &Path, _: &[&'static str], _: usize, _: &mut Known) -> Listing {
    Listing::default()
}

#[cfg(unix)]
fn read(directory: &Path, asked: &[&'static str], limit: usize, known: &mut Known) -> Listing {
    let mut listing = Listing::default();
    let Ok((opened, mut links)) = names(directory, asked, &mut listing.names) else {
        return listing;
    };
    links.sort_unstable();
    let away = links
        .iter()
        .take(limit)
        .filter_map(|name| away(directory, &opened, name));
    let led = away.filter_map(|link| crate::walk::follow(link, known).ok());
    let more = led.filter(|(path, links)| links.len() > 1 || !path.starts_with(directory));
    listing.targets = more.map(|(path, links)| Target { path, links }).collect();
    listing
}

/// Opens a directory; adds the names asked for, and gives those of links.
#[cfg(unix)]
fn names(
    directory: &Path,
    asked: &[&'static str],
    found: &mut Vec<&'static str>,
) -> rustix::io::Result<(OwnedFd, Vec<CString>)> {
    use rustix::fs::{Dir, FileType, Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty())?;
    let mut links = Vec::new();
    for entry in Dir::read_from(&opened)?.take(MAX_NAMES).flatten() {
        let name = entry.file_name();
        found.extend(asked.iter().filter(|asked| asked.as_bytes() == name.to_bytes()));
        // Some file systems don't tell the type.
        if matches!(entry.file_type(), FileType::Symlink | FileType::Unknown) {
            links.push(name.to_owned());
        }
    }
    Ok((opened, links))
}

/// A link that is not simply another name for something beside it, as most of `/usr/bin` are; if that is a link too,
/// its turn comes.
#[cfg(unix)]
fn away(directory: &Path, opened: &OwnedFd, name: &CStr) -> Option<Link> {
    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;

    let mut buffer = [MaybeUninit::uninit(); crate::walk::LONGEST_LINK];
    let (text, rest) = rustix::fs::readlinkat_raw(opened, name, &mut buffer).ok()?;
    let beside = !text.contains(&b'/') && text != b"..";
    // A full buffer may hold a part of the text only.
    (!beside && !rest.is_empty()).then(|| Link {
        path: directory.join(OsStr::from_bytes(name.to_bytes())),
        target: OsStr::from_bytes(text).into(),
    })
}

/// Whether a path names a file that somebody may run, not a link to one.
pub(super) fn is_program(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|seen| seen.is_file() && runs(&seen))
}

#[cfg(unix)]
fn runs(seen: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    seen.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn runs(_: &std::fs::Metadata) -> bool {
    true
}

#[cfg(test)]
#[cfg(unix)]
#[path = "commands_tests.rs"]
mod tests;
