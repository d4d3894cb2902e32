//! The kernel's word that names in a directory have come or gone.

use std::collections::HashSet;
use std::path::Path;

#[cfg(target_os = "linux")]
pub(super) use inotify::Watches;
#[cfg(not(target_os = "linux"))]
pub(super) use none::Watches;

/// By inotify(7): a name that comes or goes is told before the call that did it returns.
#[cfg(target_os = "linux")]
mod inotify {
    use std::mem::MaybeUninit;

    use rustix::fd::OwnedFd;
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    use super::{HashSet, Path};

    /// Filesystems whose changes by others the kernel does not see, by their magic numbers (statfs(2)).
    const REMOTE: [u32; 5] = [
        0x6969,      // NFS
        0xFF53_4D42, // CIFS
        0xFE53_4D42, // SMB2
        0x0102_1997, // 9P
        0x6573_5546, // FUSE
    ];

    #[derive(Debug)]
    pub(crate) struct Watches {
        /// None where there are no more instances to be had.
        inotify: Option<OwnedFd>,
    }

    impl Watches {
        pub(crate) fn new() -> Self {
            Self {
                inotify: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok(),
            }
        }

        /// Watches nothing.
        #[cfg(test)]
        pub(crate) const fn none() -> Self {
            Self { inotify: None }
        }

        /// Watches a directory; nothing if that can't be had, or would not tell all.
        pub(crate) fn add(&self, path: &Path) -> Option<i32> {
            let inotify = self.inotify.as_ref()?;
            let kind = u32::try_from(rustix::fs::statfs(path).ok()?.f_type).ok()?;
            if REMOTE.contains(&kind) {
                return None;
            }
            let events = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE | WatchFlags::DELETE_SELF;
            let how = WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
            inotify::add_watch(inotify, path, events | how).ok()
        }

        /// The watches of directories that have changed; nothing if the kernel lost count.
        pub(crate) fn changed(&self) -> Option<HashSet<i32>> {
            let mut changed = HashSet::new();
            let inotify = self.inotify.as_ref()?;
            let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
            let mut events = Reader::new(inotify, &mut buffer);
            let mut lost = false;
            loop {
                match events.next() {
                    Ok(event) if event.wd() < 0 => lost = true,
                    Ok(event) => drop(changed.insert(event.wd())),
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => return (!lost).then_some(changed),
                    Err(_) => return None,
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod none {
    use super::{HashSet, Path};

    #[derive(Debug)]
    pub(crate) struct Watches;

    impl Watches {
        pub(crate) const fn new() -> Self {
            Self
        }

        pub(crate) const fn add(&self, _: &Path) -> Option<i32> {
            None
        }

        pub(crate) const fn changed(&self) -> Option<HashSet<i32>> {
            None
        }
    }
}
