use std::collections::HashSet;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Begun, Zygote};
use crate::ahead::Ahead;
use crate::probe;

/// The host takes the closing of the command's socket for the start of the program, so a copy left in the zygote
/// would keep the end of a quick command from being seen.
#[test]
fn the_zygote_holds_no_end_of_a_spare_that_the_host_has() {
    let zygote = Zygote::start(&probe::plan(&probe::look()).unwrap(), &Ahead::default()).unwrap();
    let descriptors = Path::new("/proc").join(process_id(&zygote.pidfd)).join("fd");
    if fs::read_dir(&descriptors).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
        let line = b"SKIP descriptors of the zygote: this user can't list the zygote's descriptors\n";
        // Not `eprintln`: the test harness would keep that to itself.
        let _ = std::io::stderr().write_all(line);
        return zygote.end();
    }
    for _ in 0..50 {
        let spare = zygote.take_spare().unwrap();
        let of_host: HashSet<PathBuf> = [&spare.command, &spare.reports].map(socket).into();
        let held = sockets(&descriptors);
        let others: Vec<_> = held.difference(&of_host).collect();
        assert!(others.len() <= 1, "besides the control socket: {others:?}");
    }
    zygote.end();
}

#[test]
fn one_whose_view_is_not_wanted_any_more_ends() {
    let plan = probe::plan(&probe::look()).unwrap();
    let building = Begun::new(plan.beginning(), Path::new("/tmp")).unwrap();
    let building = building.build(&plan).unwrap();
    let ends = building.ends.0.as_ref().unwrap();
    let (control, first) = (ends.control.try_clone().unwrap(), ends.first.try_clone().unwrap());
    drop(building);
    assert_eq!(process_id(&first), "-1");
    // Its successor is the last who has the other end.
    loop {
        let patience = Timespec::try_from(Duration::from_secs(10)).unwrap();
        let mut heard = [PollFd::new(&control, PollFlags::IN)];
        assert_eq!(poll(&mut heard, Some(&patience)), Ok(1), "process 1 lives on");
        if super::receive(control.as_fd()).is_err() {
            break;
        }
    }
}

fn process_id(pidfd: &OwnedFd) -> String {
    let information = fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd())).unwrap();
    let line = information.lines().find_map(|line| line.strip_prefix("Pid:"));
    line.unwrap().trim().to_owned()
}

fn socket(fd: &OwnedFd) -> PathBuf {
    fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap()
}

/// One that is closed while this looks is none.
fn sockets(directory: &Path) -> HashSet<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let targets = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets
        .filter(|target| target.to_string_lossy().starts_with("socket:"))
        .collect()
}
