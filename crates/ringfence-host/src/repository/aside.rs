//! Giving a repository a name by which git does not find it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, ResolveFlags, chmod, fstat, openat2, renameat_with};
use rustix::io::Errno;

/// As [`super::set_aside`].
pub(super) fn set_aside(git: &Path) -> io::Result<()> {
    let named = git.file_name().is_some_and(|name| name == ".git");
    let key = if named { git.to_owned() } else { git.join("HEAD") };
    let (Some(parent), Some(name)) = (key.parent(), key.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = openat2(CWD, parent, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    match rename(&parent, name) {
        Err(Errno::ACCESS) => {
            let mode = Mode::from_raw_mode(fstat(&parent)?.st_mode);
            // The number of a descriptor that only names the directory: fchmod(2) refuses it.
            let directory = format!("/proc/self/fd/{}", parent.as_raw_fd());
            chmod(&directory, mode | Mode::RWXU)?;
            let renamed = rename(&parent, name);
            chmod(&directory, mode)?;
            Ok(renamed?)
        }
        renamed => Ok(renamed?),
    }
}

fn rename(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    let mut number = 0u32;
    loop {
        let mut aside = OsString::from(name);
        aside.push(format!(".refused-{number}"));
        match renameat_with(parent, name, parent, aside, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => number += 1,
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn it_gets_the_next_free_name_even_in_a_directory_that_is_closed_to_its_owner() {
        let tree = Tree::new();
        tree.file("w/.git/HEAD");
        tree.dir("w/.git.refused-0");
        tree.file("bare/HEAD");
        let closed = |mode| fs::set_permissions(tree.path("w"), fs::Permissions::from_mode(mode)).unwrap();
        closed(0o555);
        set_aside(&tree.path("w/.git")).unwrap();
        assert_eq!(
            fs::metadata(tree.path("w")).unwrap().permissions().mode() & 0o777,
            0o555
        );
        closed(0o755);
        assert!(tree.path("w/.git.refused-1/HEAD").exists() && !tree.path("w/.git").exists());
        set_aside(&tree.path("bare")).unwrap();
        assert!(tree.path("bare/HEAD.refused-0").exists());
    }

    #[test]
    fn a_link_on_the_way_is_not_followed() {
        let tree = Tree::new();
        tree.file("outside/.git/HEAD");
        symlink(tree.path("outside"), tree.path("link")).unwrap();
        assert!(set_aside(&tree.path("link/.git")).is_err());
        assert!(tree.path("outside/.git/HEAD").exists());
    }
}
