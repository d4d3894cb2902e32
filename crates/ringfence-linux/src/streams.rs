//! Standard streams of a command that are files of the host.

use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use ringfence_backend::{LaunchError, Stream};
use ringfence_policy::{Access, Axis, RegionTree, Source};
use rustix::fs::{Access as Mode, FileType, OFlags, access, fcntl_getfl, fstat};

use crate::rights::Landlock;

const NAMES: [&str; 3] = ["standard input", "standard output", "standard error"];

/// Refuses a stream that opens more of a file than it is open for.
///
/// `/proc/self/fd` opens the file anew, through the host's mount, where no mount of the view protects it; what is left
/// is Landlock, which grants for a closed file in an open directory what the directory is open for.
pub(crate) fn check(tree: &RegionTree, landlock: Landlock, streams: &[Stream; 3]) -> Result<(), LaunchError> {
    for (stream, what) in streams.iter().zip(NAMES) {
        let Some((path, open)) = file(stream) else {
            continue;
        };
        let excess = [(Axis::Read, "read"), (Axis::Write, "write")]
            .into_iter()
            .find(|(axis, _)| !open.contains(axis) && is_opened_around(tree, landlock, &path, *axis));
        if let Some((_, verb)) = excess {
            return Err(LaunchError::Malformed {
                what,
                why: format!(
                    "is {path:?}, which commands may not {verb}, and from there they could: pass it through a pipe"
                ),
            });
        }
    }
    Ok(())
}

/// The file that has a name, and what the stream is open for.
fn file(stream: &Stream) -> Option<(PathBuf, Vec<Axis>)> {
    let seen = fstat(stream).ok()?;
    // Others have no content to protect, and pipes mostly no name, as what was removed.
    if !matches!(
        FileType::from_raw_mode(seen.st_mode),
        FileType::RegularFile | FileType::Fifo
    ) || seen.st_nlink == 0
    {
        return None;
    }
    let path = std::fs::read_link(format!("/proc/self/fd/{}", stream.as_fd().as_raw_fd())).ok()?;
    let open = match fcntl_getfl(stream).ok()? & OFlags::RWMODE {
        OFlags::RDONLY => vec![Axis::Read],
        OFlags::WRONLY => vec![Axis::Write],
        _ => vec![Axis::Read, Axis::Write],
    };
    path.is_absolute().then_some((path, open))
}

/// Whether a file that is closed itself is in a directory of the host that is open.
fn is_opened_around(tree: &RegionTree, landlock: Landlock, path: &Path, axis: Axis) -> bool {
    if tree.decide(path, axis).access == Access::Allow {
        return false;
    }
    if landlock.abi.is_none() {
        // Then the mode bits alone decide.
        let mode = if axis == Axis::Read {
            Mode::READ_OK
        } else {
            Mode::WRITE_OK
        };
        return access(path, mode).is_ok();
    }
    path.ancestors().skip(1).any(|above| {
        let decision = tree.decide(above, axis);
        let of_the_host = decision
            .rule
            .is_some_and(|rule| !matches!(rule.source, Source::Private | Source::System | Source::Device));
        decision.access == Access::Allow && of_the_host
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringfence_policy::{Rule, Verdict};
    use std::fs::{File, OpenOptions};

    #[test]
    fn a_stream_opens_no_more_of_a_file_than_it_is_open_for() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        for name in ["open", "kept", "secret"] {
            std::fs::write(top.join(name), "x").unwrap();
        }
        let outside = tempfile::NamedTempFile::new().unwrap();
        let rules = vec![
            Rule::tree("/", Verdict::DENY, Source::Host),
            Rule::tree(&top, Verdict::READ_WRITE, Source::Workspace),
            Rule::tree(top.join("kept"), Verdict::READ_ONLY, Source::Root(0)),
            Rule::tree(top.join("secret"), Verdict::DENY, Source::Root(1)),
        ];
        let tree = RegionTree::new(rules).unwrap();
        let landlock = Landlock {
            abi: Some(7),
            errata: 0,
        };
        let null = || Stream::from(File::open("/dev/null").unwrap());
        let passes = |path: &Path, options: &OpenOptions| {
            let streams = [Stream::from(options.open(path).unwrap()), null(), null()];
            check(&tree, landlock, &streams).is_ok()
        };
        let (mut reading, mut writing) = (OpenOptions::new(), OpenOptions::new());
        reading.read(true);
        writing.append(true);
        for (name, read, written) in [
            ("open", true, true),
            ("kept", false, true),
            ("secret", false, false),
        ] {
            let path = top.join(name);
            assert_eq!(
                (passes(&path, &reading), passes(&path, &writing)),
                (read, written),
                "{name}"
            );
            assert!(passes(&path, reading.clone().write(true)));
        }
        // Nothing around it is open.
        assert!(passes(outside.path(), &reading) && passes(outside.path(), &writing));
    }
}
