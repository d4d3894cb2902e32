//! The executor's namespaces, its ids, and what privileges it keeps.

use super::plan::Plan;
use super::sys::{self, Path};
use super::{At, Outcome};
use crate::wire::{self, Beginning, Step};

/// Creates the executor's namespaces and maps the caller's ids to themselves.
pub(crate) fn create<'a>(wanted: &Beginning) -> Outcome<'a, ()> {
    let mut flags = sys::CLONE_NEWNS | sys::CLONE_NEWPID | sys::CLONE_NEWIPC | sys::CLONE_NEWUTS;
    if wanted.has(wire::USER_NAMESPACE) {
        flags |= sys::CLONE_NEWUSER;
    }
    if wanted.has(wire::NETWORK_NAMESPACE) {
        flags |= sys::CLONE_NEWNET;
    }
    if wanted.has(wire::CGROUP_NAMESPACE) {
        flags |= sys::CLONE_NEWCGROUP;
    }
    wanted.check(Step::Unshare)?;
    sys::unshare(flags).at(Step::Unshare)?;
    wanted.check(Step::IdMap)?;
    if wanted.has(wire::USER_NAMESPACE) {
        map_ids(wanted)?;
    }
    Ok(())
}

/// Own id to own id: never 0 for an ordinary user, so that `execve(2)` itself clears all capabilities.
fn map_ids<'a>(wanted: &Beginning) -> Outcome<'a, ()> {
    // An unprivileged gid map is accepted only after setgroups(2) has been given up.
    write_file(b"/proc/self/setgroups\0", b"deny")?;
    let mut line = IdLine::default();
    write_file(b"/proc/self/uid_map\0", line.format(wanted.uid))?;
    write_file(b"/proc/self/gid_map\0", line.format(wanted.gid))
}

fn write_file<'a>(path: &'static [u8], content: &[u8]) -> Outcome<'a, ()> {
    let path = Path::new(path);
    let file = sys::open(path, sys::O_WRONLY | sys::O_CLOEXEC).at_path(Step::IdMap, path)?;
    sys::write(file.raw(), content)
        .at_path(Step::IdMap, path)
        .map(drop)
}

/// The line `ID ID 1` of an id map.
#[derive(Default)]
struct IdLine {
    bytes: [u8; 32],
    length: usize,
}

impl IdLine {
    fn format(&mut self, id: u32) -> &[u8] {
        self.length = 0;
        self.push_number(id);
        self.push(b' ');
        self.push_number(id);
        self.push(b' ');
        self.push(b'1');
        &self.bytes[..self.length]
    }

    fn push(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    fn push_number(&mut self, number: u32) {
        let mut divisor = 1_000_000_000;
        while divisor > 1 && number < divisor {
            divisor /= 10;
        }
        while divisor > 0 {
            self.push(b'0' + (number / divisor % 10) as u8);
            divisor /= 10;
        }
    }
}

/// What process 1 of the executor sets up besides the file view.
pub(crate) fn enter<'a>(plan: &Plan<'a>) -> Outcome<'a, ()> {
    plan.check(Step::Keyring)?;
    match sys::new_session_keyring() {
        // A kernel without keyrings has none to leak.
        Ok(()) | Err(sys::ENOSYS) => {}
        Err(errno) => return Err(errno).at(Step::Keyring),
    }
    plan.check(Step::Loopback)?;
    if plan.has(wire::NETWORK_NAMESPACE) {
        sys::loopback_up().at(Step::Loopback)?;
    }
    Ok(())
}

/// Empties the bounding set, locks the securebits and forbids new privileges, for all that is started from
/// here. The zygote itself keeps what it needs to mount and to clone.
pub(crate) fn drop_privileges<'a>(plan: &Plan<'a>) -> Outcome<'a, ()> {
    const PR_CAPBSET_READ: usize = 23;
    const PR_CAPBSET_DROP: usize = 24;
    const PR_SET_SECUREBITS: usize = 28;
    const PR_SET_NO_NEW_PRIVS: usize = 38;
    const PR_SET_DUMPABLE: usize = 4;
    // NOROOT, NO_SETUID_FIXUP, NO_CAP_AMBIENT_RAISE, each with its lock, and KEEP_CAPS_LOCKED.
    const SECUREBITS: usize = 0b1110_1111;

    plan.check(Step::Privilege)?;
    let mut capability = 0;
    // The first number the kernel does not know ends the list.
    while sys::prctl(PR_CAPBSET_READ, capability).is_ok() {
        sys::prctl(PR_CAPBSET_DROP, capability).at(Step::Privilege)?;
        capability += 1;
    }
    sys::prctl(PR_SET_SECUREBITS, SECUREBITS).at(Step::Privilege)?;
    sys::prctl(PR_SET_DUMPABLE, 0).at(Step::Privilege)?;
    sys::prctl(PR_SET_NO_NEW_PRIVS, 1).at(Step::Privilege).map(drop)
}

#[cfg(test)]
mod tests {
    use super::IdLine;

    #[test]
    fn id_lines_are_decimal() {
        let mut line = IdLine::default();
        assert_eq!(line.format(0), b"0 0 1");
        assert_eq!(line.format(65_534), b"65534 65534 1");
        assert_eq!(line.format(u32::MAX), b"4294967295 4294967295 1");
    }
}
