//! Other processes, more privileges, and what a process can tell about itself.

use std::fs;
use std::io::Write;
use std::time::Duration;

use crate::namespaces::wait;
use crate::sys::{Arg, Args, Attempt, Errno, Step, call, call_fd, reaches};

pub(crate) const STEPS: &[Step] = &[
    ("kill", |args| {
        call!(libc::SYS_kill, args.number(0), args.number(1)).map(drop)
    }),
    ("ptrace", |args| {
        const SEIZE: u64 = 0x4206;
        call!(
            libc::SYS_ptrace,
            Arg::word(SEIZE),
            args.number(0),
            Arg::NULL,
            Arg::NULL
        )
        .map(drop)
    }),
    // Reads an address where nothing is: whoever gets that answer was allowed to look.
    ("memory-read", |args| {
        let mut here = [0u8; 1];
        let local = [(&raw mut here).addr(), 1].map(usize::to_ne_bytes).concat();
        let remote = [4096usize, 1].map(usize::to_ne_bytes).concat();
        let (local, remote) = (local.as_slice(), remote.as_slice());
        let (one, none) = (Arg::word(1), Arg::word(0));
        let read = call!(
            libc::SYS_process_vm_readv,
            args.number(0),
            local,
            one,
            remote,
            Arg::word(1),
            none
        );
        reaches(read, libc::EFAULT)
    }),
    ("memory-open", |args| {
        let path = format!("/proc/{}/mem", args.text(0));
        Ok(fs::File::open(path).map(drop)?)
    }),
    ("descriptor-steal", |args| {
        let process = call_fd!(libc::SYS_pidfd_open, args.number(0), 0)?;
        call!(libc::SYS_pidfd_getfd, process, 0, 0).map(drop)
    }),
    ("tty", |_| Ok(fs::File::open("/dev/tty").map(drop)?)),
    // Finds descriptors that nobody was given.
    ("descriptors", |_| {
        let open: Vec<i32> = (3..1000)
            .filter(|fd| call!(libc::SYS_fcntl, *fd, libc::F_GETFD).is_ok())
            .collect();
        println!("{open:?}");
        if open.is_empty() {
            Err(Errno(libc::EBADF))
        } else {
            Ok(())
        }
    }),
    ("status", |_| status()),
    ("abort", |_| std::process::abort()),
    // Gains another user id by executing a set-user-id program.
    ("setuid-exec", |args| {
        let before = user_ids("self")?;
        let mut child = std::process::Command::new(args.text(0))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()?;
        // Executed already, ended or not: as long as nobody has waited for it, it has its ids.
        std::thread::sleep(Duration::from_millis(100));
        let after = user_ids(&child.id().to_string())?;
        child.kill()?;
        child.wait()?;
        if after == before {
            Err(Errno(libc::EPERM))
        } else {
            Ok(())
        }
    }),
    // Continues as a program that exists in memory only: `memory-exec STEP [ARGS]…`
    ("memory-exec", |args| {
        use std::os::fd::{AsRawFd, FromRawFd};
        let raw = call_fd!(libc::SYS_memfd_create, c"attack", 0)?;
        // SAFETY: memfd_create just made this descriptor; nobody else owns it.
        let mut file = unsafe { fs::File::from_raw_fd(raw) };
        file.write_all(&fs::read("/proc/self/exe")?)?;
        let program = format!("/proc/self/fd/{}", file.as_raw_fd());
        use std::os::unix::process::CommandExt;
        Err(std::process::Command::new(program).args(args.0).exec().into())
    }),
    // Becomes the parent of its orphans; a program that it executes stays that.
    ("subreaper", |_| {
        call!(libc::SYS_prctl, libc::PR_SET_CHILD_SUBREAPER, Arg::word(1)).map(drop)
    }),
    // Makes orphans that end at once, and counts those nobody has reaped: `orphans COUNT`.
    ("orphans", orphans),
];

/// Facts, one a line: what a confined process has and is.
fn status() -> Attempt {
    const WANTED: [&str; 10] = [
        "Uid",
        "Gid",
        "Groups",
        "CapInh",
        "CapPrm",
        "CapEff",
        "CapBnd",
        "CapAmb",
        "NoNewPrivs",
        "Seccomp",
    ];
    let text = fs::read_to_string("/proc/self/status")?;
    let wanted = |line: &&str| line.split(':').next().is_some_and(|name| WANTED.contains(&name));
    for line in text.lines().filter(wanted) {
        println!("{}", line.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    let mut core = libc::rlimit {
        rlim_cur: 1,
        rlim_max: 1,
    };
    // SAFETY: the calls take no pointers but one to a live rlimit.
    let (session, group, own) = unsafe {
        libc::getrlimit(libc::RLIMIT_CORE, &raw mut core);
        (libc::getsid(0), libc::getpgrp(), libc::getpid())
    };
    println!("Session: {session}\nGroup: {group}\nPid: {own}");
    println!("Core: {} {}", core.rlim_cur, core.rlim_max);
    println!("Processes: {}", process_numbers()?.len());
    println!("Init: {}", fs::read_to_string("/proc/1/comm")?.trim());
    Ok(())
}

fn user_ids(process: &str) -> Attempt<String> {
    let text = fs::read_to_string(format!("/proc/{process}/status"))?;
    let ids = text.lines().find(|line| line.starts_with("Uid:")).unwrap_or("");
    Ok(ids.to_owned())
}

fn process_numbers() -> Attempt<Vec<u32>> {
    let names = fs::read_dir("/proc")?.flatten();
    Ok(names
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect())
}

fn orphans(args: &Args<'_>) -> Attempt {
    let mut most = 0;
    for made in 1..=args.number(0) {
        // SAFETY: this program has one thread; the children only fork and end.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above; the grandchild is an orphan once its parent has ended.
            unsafe {
                libc::fork();
                libc::_exit(0)
            }
        }
        if child < 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        wait(child);
        if made % 250 == 0 {
            most = most.max(zombies()?);
        }
    }
    // An init that was just woken may still be at it.
    std::thread::sleep(Duration::from_millis(100));
    println!("{most} {}", zombies()?);
    Ok(())
}

/// How many ended processes of this program nobody has waited for.
fn zombies() -> Attempt<usize> {
    let is_zombie = |number: &u32| {
        let status = fs::read_to_string(format!("/proc/{number}/stat"));
        status.is_ok_and(|status| status.contains("(attack) Z"))
    };
    Ok(process_numbers()?
        .iter()
        .filter(|number| is_zombie(number))
        .count())
}
