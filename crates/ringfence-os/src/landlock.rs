//! What the kernel's Landlock can do.

use std::io;

/// Landlock's ABI version; `None` where it is not built in or switched off.
///
/// Source: `landlock_create_ruleset(2)`, flag `LANDLOCK_CREATE_RULESET_VERSION`.
#[must_use]
pub fn abi() -> Option<u32> {
    query(VERSION).ok()
}

/// Whether Landlock is part of the kernel and was switched off when it started.
#[must_use]
pub fn is_switched_off() -> bool {
    matches!(query(VERSION), Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP))
}

const VERSION: libc::c_uint = 1;
const ERRATA: libc::c_uint = 2;

/// Landlock's errata bitmask: bit *n* − 1 is set when erratum *n* is fixed; `None` where the kernel cannot say.
///
/// Source: `landlock_create_ruleset(2)`, flag `LANDLOCK_CREATE_RULESET_ERRATA`.
#[must_use]
pub fn errata() -> Option<u32> {
    query(ERRATA).ok()
}

fn query(flag: libc::c_uint) -> io::Result<u32> {
    // SAFETY: with a query flag the call takes a null pointer and size 0 and reads and writes no memory.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0usize,
            flag,
        )
    };
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}
