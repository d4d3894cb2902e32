//! What the kernel's system-call filters can do.

use std::io;

/// Whether a filter can leave calls to a listener that nothing but the end of the calling process disturbs: Linux 5.19.
/// Changes nothing.
///
/// Source: `seccomp(2)`, flags `SECCOMP_FILTER_FLAG_NEW_LISTENER` and `SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`.
#[must_use]
pub fn has_listeners() -> bool {
    const SET_MODE_FILTER: libc::c_uint = 1;
    const NEW_LISTENER: libc::c_uint = 1 << 3;
    const WAIT_KILLABLE_RECV: libc::c_uint = 1 << 5;
    // SAFETY: without a program nothing is installed, whatever the flags are; the kernel finds that the null pointer leads
    // nowhere.
    unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            SET_MODE_FILTER,
            NEW_LISTENER | WAIT_KILLABLE_RECV,
            std::ptr::null::<libc::c_void>(),
        );
    }
    // Flags that it does not know come first.
    io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}
