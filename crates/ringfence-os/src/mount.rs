//! What the kernel's mount calls can do.

use std::io;

/// Whether there is `mount_setattr(2)`, which gives a whole tree of mounts its attributes. Changes nothing.
#[must_use]
pub fn has_tree_attributes() -> bool {
    const NO_DIRECTORY: libc::c_int = -1;
    // SAFETY: a structure of size 0 is refused before anything else is looked at, so neither pointer is read.
    unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            NO_DIRECTORY,
            c"".as_ptr(),
            0u32,
            std::ptr::null::<libc::c_void>(),
            0usize,
        );
    }
    io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS)
}
