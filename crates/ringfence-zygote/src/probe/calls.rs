//! System calls that the probe was told to make, and what it needs itself.

use core::cell::UnsafeCell;
use core::ffi::c_int;

use super::{CLONE_NEWNS, CLONE_NEWUSER, EINVAL, Errno, MS_PRIVATE, MS_REC, Path, Result};
use super::{call, int, mount, nr, ptr_mut, retry, syscall, to_int, unshare};

/// What a child leaves when it never came to its first call.
pub(crate) const NOT_STARTED: Errno = 4094;
/// What a child leaves while it is in a call.
pub(crate) const INSIDE: Errno = 4095;
/// Flags of a plain fork.
pub(crate) const SIGNAL_CHILD: usize = 17;

#[expect(clippy::cast_possible_truncation, reason = "a number of three digits")]
pub(crate) const EXECVE: u32 = nr::EXECVE as u32;
#[expect(clippy::cast_possible_truncation, reason = "a number of three digits")]
pub(crate) const CLONE: u32 = nr::CLONE as u32;

#[cfg(target_arch = "x86_64")]
const MUNMAP: u32 = 11;
#[cfg(target_arch = "aarch64")]
const MUNMAP: u32 = 215;
#[cfg(target_arch = "x86_64")]
const REPLACING: [u32; 6] = [10, MUNMAP, 12, 15, 25, 158];
#[cfg(target_arch = "aarch64")]
const REPLACING: [u32; 5] = [226, MUNMAP, 214, 139, 216];

/// Makes a call with the numbers of an attempt.
pub(crate) fn make(number: u32, arguments: [usize; 6]) -> Result<usize> {
    /// Of `mmap(2)`: in place of what is there.
    const MAP_FIXED: usize = 0x10;
    let replaces =
        REPLACING.contains(&number) || number as usize == nr::MMAP && arguments[3] & MAP_FIXED != 0;
    if replaces {
        return Err(EINVAL);
    }
    // SAFETY: the addresses among the arguments are those of byte strings of the request and of the buffer, which are
    // mapped for as long as the process lives, and of which no reference is used while the call is made; whoever wrote
    // the request vouches for lengths within them (`crate::attempt`). The calls that change existing mappings, the
    // stack or the registers (mprotect, munmap, brk, rt_sigreturn, mremap, arch_prctl, mmap with MAP_FIXED) are refused
    // above, so memory stays as Rust left it. `execve` does not return to Rust.
    let result = unsafe { syscall(number as usize, arguments) };
    usize::try_from(result).map_err(|_| to_int(result.unsigned_abs()))
}

/// Two words in memory that parent and child share.
pub(crate) struct Shared([UnsafeCell<u32>; 2]);

impl Shared {
    /// How many calls worked, and what the next one answered.
    #[expect(clippy::cast_possible_wrap, reason = "an errno is at most 4095")]
    pub(crate) fn get(&self) -> (u32, Errno) {
        // SAFETY: both cells are mapped for good; a volatile read of a u32 has no other precondition. The other process
        // has ended when this is called.
        let [step, errno] = self
            .0
            .each_ref()
            .map(|cell| unsafe { cell.get().read_volatile() });
        (step, errno as Errno)
    }

    pub(crate) fn set(&self, step: u32, errno: Errno) {
        for (cell, value) in self.0.iter().zip([step, errno.unsigned_abs()]) {
            // SAFETY: as for reading; nobody else of this process holds a reference to what is in the cell.
            unsafe { cell.get().write_volatile(value) };
        }
    }
}

/// Maps the two words.
pub(crate) fn shared() -> Result<&'static Shared> {
    const READ_AND_WRITE: usize = 3;
    const SHARED_AND_ANONYMOUS: usize = 0x21;
    let arguments = [
        0,
        size_of::<Shared>(),
        READ_AND_WRITE,
        SHARED_AND_ANONYMOUS,
        int(-1),
        0,
    ];
    let address = call(nr::MMAP, &arguments)?;
    // SAFETY: the kernel just made a zeroed, page-aligned mapping of at least that size, which is never unmapped; cells
    // of integers have no invalid values.
    Ok(unsafe { &*(address as *const Shared) })
}

/// The wait status of a child.
pub(crate) fn wait(child: c_int) -> c_int {
    let mut status: c_int = 0;
    match retry(|| call(nr::WAIT4, &[int(child), ptr_mut(&mut status), 0, 0])) {
        Ok(_) => status,
        // No such child: then nothing is known of how it ended.
        Err(_) => 0x7e,
    }
}

pub(crate) fn close(descriptor: usize) {
    let _ = call(nr::CLOSE, &[descriptor]);
}

/// A mount namespace of its own with all capabilities: as it is for root, else with a user namespace.
pub(crate) fn private_mounts() -> Result<()> {
    if unshare(CLONE_NEWNS).is_err() {
        unshare(CLONE_NEWNS | CLONE_NEWUSER)?;
    }
    let none = Path::EMPTY;
    mount(none, Path::new(b"/\0"), none, MS_REC | MS_PRIVATE, none)
}
