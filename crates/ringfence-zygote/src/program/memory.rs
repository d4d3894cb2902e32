//! The four memory routines the compiler calls, since there is no libc to bring them.
//!
//! Loops over volatile accesses cannot be turned back into calls of themselves.

/// Copies `n` bytes; the ranges do not overlap.
///
/// # Safety
/// `n` bytes at `from` are readable and `n` bytes at `to` writable.
#[cfg_attr(any(zygote_program, probe_program), unsafe(no_mangle))]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    for i in 0..n {
        // SAFETY: `i < n`, and the caller vouches for `n` readable bytes at `from`.
        let byte = unsafe { from.add(i).read_volatile() };
        // SAFETY: `i < n`, and the caller vouches for `n` writable bytes at `to`.
        unsafe { to.add(i).write_volatile(byte) };
    }
    to
}

/// Copies `n` bytes between ranges that may overlap.
///
/// # Safety
/// As for [`memcpy`].
#[cfg_attr(any(zygote_program, probe_program), unsafe(no_mangle))]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    if to.cast_const() <= from {
        // SAFETY: a forward copy never reads a byte it has overwritten when `to` is not behind `from`.
        return unsafe { memcpy(to, from, n) };
    }
    for i in (0..n).rev() {
        // SAFETY: `i < n`, and the caller vouches for `n` readable bytes at `from`.
        let byte = unsafe { from.add(i).read_volatile() };
        // SAFETY: `i < n`, and the caller vouches for `n` writable bytes at `to`.
        unsafe { to.add(i).write_volatile(byte) };
    }
    to
}

/// Sets `n` bytes.
///
/// # Safety
/// `n` bytes at `to` are writable.
#[cfg_attr(any(zygote_program, probe_program), unsafe(no_mangle))]
unsafe extern "C" fn memset(to: *mut u8, value: i32, n: usize) -> *mut u8 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "C passes the byte in an int"
    )]
    let byte = value as u8;
    for i in 0..n {
        // SAFETY: `i < n`, and the caller vouches for `n` writable bytes at `to`.
        unsafe { to.add(i).write_volatile(byte) };
    }
    to
}

/// Compares `n` bytes.
///
/// # Safety
/// `n` bytes at `left` and `right` are readable.
#[cfg_attr(any(zygote_program, probe_program), unsafe(no_mangle))]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, n: usize) -> i32 {
    for i in 0..n {
        // SAFETY: `i < n`, and the caller vouches for `n` readable bytes at `left`.
        let l = unsafe { left.add(i).read_volatile() };
        // SAFETY: `i < n`, and the caller vouches for `n` readable bytes at `right`.
        let r = unsafe { right.add(i).read_volatile() };
        if l != r {
            return i32::from(l) - i32::from(r);
        }
    }
    0
}

/// Tells whether `n` bytes differ.
///
/// # Safety
/// As for [`memcmp`].
#[cfg_attr(any(zygote_program, probe_program), unsafe(no_mangle))]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, n: usize) -> i32 {
    // SAFETY: the caller's promise is the one `memcmp` asks for.
    unsafe { memcmp(left, right, n) }
}
