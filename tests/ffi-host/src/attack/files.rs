//! Files and directories: every way to read, change, move or replace one.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::sys::{Arg, Args, Attempt, Step, call, call_fd, put};

pub(crate) const STEPS: &[Step] = &[
    ("read", |args| {
        // The longest message of the kernel's log, which is read whole or not at all.
        let mut content = [0; 8192];
        let count = File::open(args.text(0))?.read(&mut content)?;
        Ok(io::stdout()
            .write_all(&content[..count])
            .and_then(|()| io::stdout().write_all(b"\n"))?)
    }),
    ("list", |args| {
        for entry in fs::read_dir(args.text(0))? {
            println!("{}", entry?.file_name().display());
        }
        Ok(())
    }),
    ("stat", |args| done(fs::symlink_metadata(args.text(0)))),
    ("append", |args| {
        let mut file = File::options().append(true).open(args.text(0))?;
        done(file.write_all(b"attack\n"))
    }),
    // Only opens for writing: for files in which a single byte would do harm.
    ("open-to-write", |args| {
        done(File::options().write(true).open(args.text(0)))
    }),
    ("create", |args| {
        let mut file = File::options().write(true).create_new(true).open(args.text(0))?;
        done(file.write_all(b"attack\n"))
    }),
    ("overwrite", |args| done(fs::write(args.text(0), "attack\n"))),
    ("truncate", |args| {
        call!(libc::SYS_truncate, args.path(0).as_c_str(), Arg::word(0)).map(drop)
    }),
    ("chmod", |args| {
        done(fs::set_permissions(
            args.text(0),
            fs::Permissions::from_mode(0o777),
        ))
    }),
    ("chown", |args| {
        done(std::os::unix::fs::lchown(args.text(0), None, None))
    }),
    ("utimes", |args| {
        let path = args.path(0);
        let epoch: &[u8] = &[0; 32];
        call!(libc::SYS_utimensat, libc::AT_FDCWD, path.as_c_str(), epoch, 0).map(drop)
    }),
    ("setxattr", |args| {
        let (path, value): (_, &[u8]) = (args.path(0), b"x");
        call!(
            libc::SYS_setxattr,
            path.as_c_str(),
            c"user.ringfence",
            value,
            Arg::word(1),
            0
        )
        .map(drop)
    }),
    ("unlink", |args| done(fs::remove_file(args.text(0)))),
    ("rmdir", |args| done(fs::remove_dir(args.text(0)))),
    ("mkdir", |args| done(fs::create_dir(args.text(0)))),
    ("rename", |args| rename(args, 0)),
    ("exchange", |args| {
        rename(args, libc::RENAME_EXCHANGE.cast_signed())
    }),
    ("link", |args| done(fs::hard_link(args.text(0), args.text(1)))),
    ("symlink", |args| done(symlink(args.text(0), args.text(1)))),
    // The null device under a name of one's own, and what it can be used for.
    ("mknod", |args| {
        let (path, null) = (args.path(0), libc::makedev(1, 3));
        let mode = (libc::S_IFCHR | 0o666).cast_signed();
        call!(
            libc::SYS_mknodat,
            libc::AT_FDCWD,
            path.as_c_str(),
            mode,
            Arg::word(null)
        )?;
        done(File::options().write(true).open(args.text(0)))
    }),
    // Opens a file by its number in the filesystem: `by-handle FILE`.
    ("by-handle", |args| {
        let path = args.path(0);
        let (mut handle, mut mount) = ([0; 136], [0; 4]);
        put(&mut handle, 0, 128u32.to_ne_bytes());
        call!(
            libc::SYS_name_to_handle_at,
            libc::AT_FDCWD,
            path.as_c_str(),
            &mut handle,
            &mut mount,
            0
        )?;
        let directory = Path::new(args.text(0)).parent().unwrap_or(Path::new("/"));
        let directory = File::open(directory)?;
        use std::os::fd::AsRawFd;
        let (directory, flags) = (directory.as_raw_fd(), libc::O_RDONLY);
        call_fd!(libc::SYS_open_by_handle_at, directory, &mut handle, flags).map(drop)
    }),
    // Writes some MiB into a new file: `fill FILE COUNT`.
    ("fill", |args| {
        let filled = fill(args);
        fs::remove_file(args.text(0))?;
        filled
    }),
];

fn done<T>(result: io::Result<T>) -> Attempt {
    Ok(result.map(drop)?)
}

fn rename(args: &Args<'_>, flags: i32) -> Attempt {
    let (from, to, here) = (args.path(0), args.path(1), libc::AT_FDCWD);
    call!(
        libc::SYS_renameat2,
        here,
        from.as_c_str(),
        here,
        to.as_c_str(),
        flags
    )
    .map(drop)
}

fn fill(args: &Args<'_>) -> Attempt {
    let mut file = File::create(args.text(0))?;
    for _ in 0..args.number(1) {
        file.write_all(&vec![0x5A; 1 << 20])?;
    }
    Ok(())
}
