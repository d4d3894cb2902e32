//! The kernel's word that names in a directory have come or gone.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

#[cfg(target_os = "linux")]
pub(super) use inotify::Watches;
#[cfg(not(target_os = "linux"))]
pub(super) use none::Watches;

/// In which watched directories names have come or gone, and which.
#[derive(Debug, Default)]
pub(super) struct Told(HashMap<i32, Names>);

#[derive(Debug, Default)]
struct Names {
    some: HashSet<OsString>,
    /// The directory itself is another.
    all: bool,
}

impl Told {
    /// Whether any name has in this one.
    pub(super) fn has(&self, watch: i32) -> bool {
        self.0.contains_key(&watch)
    }

    /// Whether this name has.
    pub(super) fn has_name(&self, watch: i32, name: &OsStr) -> bool {
        self.0
            .get(&watch)
            .is_some_and(|names| names.all || names.some.contains(name))
    }

    #[cfg(target_os = "linux")]
    fn insert(&mut self, watch: i32, name: Option<&std::ffi::CStr>) {
        use std::os::unix::ffi::OsStrExt;
        let names = self.0.entry(watch).or_default();
        match name {
            Some(name) => drop(names.some.insert(OsStr::from_bytes(name.to_bytes()).to_owned())),
            None => names.all = true,
        }
    }
}

/// By inotify(7): a name that comes or goes is told before the call that did it returns.
#[cfg(target_os = "linux")]
mod inotify {
    use std::mem::MaybeUninit;

    use rustix::fd::OwnedFd;
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    use super::{Path, Told};

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
        pub(crate) const fn none() -> Self {
            Self { inotify: None }
        }

        /// Whether anything is watched.
        pub(crate) const fn are_any(&self) -> bool {
            self.inotify.is_some()
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

        /// Whether nothing has changed since it was asked last.
        pub(crate) fn is_quiet(&self) -> bool {
            let waiting = self.inotify.as_ref().map(rustix::io::ioctl_fionread);
            waiting.is_some_and(|bytes| bytes == Ok(0))
        }

        /// What has changed since it was asked last; nothing if the kernel lost count.
        pub(crate) fn changed(&self) -> Option<Told> {
            let mut changed = Told::default();
            let inotify = self.inotify.as_ref()?;
            let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
            let mut events = Reader::new(inotify, &mut buffer);
            let mut lost = false;
            loop {
                match events.next() {
                    Ok(event) if event.wd() < 0 => lost = true,
                    Ok(event) => changed.insert(event.wd(), event.file_name()),
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
    use super::{Path, Told};

    #[derive(Debug)]
    pub(crate) struct Watches;

    impl Watches {
        pub(crate) const fn new() -> Self {
            Self
        }

        pub(crate) const fn none() -> Self {
            Self
        }

        pub(crate) const fn are_any(&self) -> bool {
            false
        }

        pub(crate) const fn add(&self, _: &Path) -> Option<i32> {
            None
        }

        pub(crate) const fn is_quiet(&self) -> bool {
            false
        }

        pub(crate) const fn changed(&self) -> Option<Told> {
            None
        }
    }
}
