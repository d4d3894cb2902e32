//! New namespaces, which bring capabilities back, and entering others; also the ways a control gets what it needs.

use std::fs;

use crate::sys::{Arg, Attempt, Step, call, put, small};

pub(crate) const STEPS: &[Step] = &[
    ("unshare", |args| unshare(args.number(0))),
    ("clone", |args| {
        // The flags are an unsigned long of which the kernel takes the lower half.
        let child = call!(
            libc::SYS_clone,
            args.number(0) | libc::SIGCHLD,
            Arg::NULL,
            Arg::NULL,
            Arg::NULL,
            Arg::NULL
        )?;
        end_child(child)
    }),
    ("clone3", |args| {
        let mut request = [0; 64];
        put(
            &mut request,
            0,
            u64::from(args.number(0).cast_unsigned()).to_ne_bytes(),
        );
        put(&mut request, 32, 17u64.to_ne_bytes());
        let child = call!(libc::SYS_clone3, &mut request, Arg::word(64))?;
        end_child(child)
    }),
    ("setns", |args| {
        let namespace = fs::File::open(args.text(0))?;
        use std::os::fd::AsRawFd;
        call!(libc::SYS_setns, namespace.as_raw_fd(), 0).map(drop)
    }),
    // A mount namespace of its own with all capabilities, so that nothing a control mounts reaches the host.
    ("admin", |_| {
        enter(libc::CLONE_NEWNS)?;
        let (recursive, private) = (libc::MS_REC, libc::MS_PRIVATE);
        let flags = Arg::word(recursive | private);
        call!(libc::SYS_mount, Arg::NULL, c"/", Arg::NULL, flags, Arg::NULL).map(drop)
    }),
    // Process 1 of a pid namespace, as a command is without an init.
    ("as-init", |_| {
        enter(libc::CLONE_NEWPID)?;
        // SAFETY: this program has one thread, so the child has everything the parent has.
        match unsafe { libc::fork() } {
            0 => Ok(()),
            child => std::process::exit(wait(child)),
        }
    }),
    ("exec", |args| {
        use std::os::unix::process::CommandExt;
        let error = std::process::Command::new(args.text(0))
            .args(args.0.iter().skip(1))
            .exec();
        Err(error.into())
    }),
];

/// Enters a new namespace: as root as it is, else with a user namespace in which the user is itself.
fn enter(flag: i32) -> Attempt {
    // SAFETY: neither call has preconditions.
    let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
    if uid == 0 {
        return unshare(flag);
    }
    unshare(flag | libc::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    Ok(fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?)
}

/// The flags are an unsigned long, of which all bits count.
fn unshare(flags: i32) -> Attempt {
    call!(libc::SYS_unshare, Arg::word(u64::from(flags.cast_unsigned()))).map(drop)
}

/// In the child of a raw clone: ends; in the parent: waits for that.
fn end_child(child: u64) -> Attempt {
    if child == 0 {
        // SAFETY: ends the process without running anything of the parent's.
        unsafe { libc::_exit(0) }
    }
    wait(small(child));
    Ok(())
}

/// The exit code of a child.
pub(crate) fn wait(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: `status` is a live i32.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    libc::WEXITSTATUS(status)
}
