//! System calls as an attacker makes them: by number, past the C library, with any bits in the registers.

use std::ffi::{CStr, CString};
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a step gives: nothing, or the errno that stopped it.
pub(crate) type Attempt<T = ()> = Result<T, Errno>;

/// A step of an attack: its name and what it does.
pub(crate) type Step = (&'static str, fn(&Args<'_>) -> Attempt);

/// The arguments of a step.
pub(crate) struct Args<'a>(pub(crate) &'a [String]);

impl Args<'_> {
    /// One argument as text; a missing one is an empty name, which nothing has.
    pub(crate) fn text(&self, index: usize) -> &str {
        self.0.get(index).map_or("", String::as_str)
    }

    /// One argument as the kernel takes paths.
    pub(crate) fn path(&self, index: usize) -> CString {
        CString::new(self.text(index)).unwrap_or_default()
    }

    /// One argument as a number, decimal or after `0x` hexadecimal.
    pub(crate) fn number(&self, index: usize) -> i32 {
        let text = self.text(index);
        let parsed = match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).map(u32::cast_signed),
            None => text.parse(),
        };
        parsed.unwrap_or(-1)
    }
}

/// The errno of a refused call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Self {
        Self(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(number, _)| *number == self.0) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "errno {}", self.0),
        }
    }
}

macro_rules! names {
    ($($name:ident)*) => { &[$((libc::$name, stringify!($name)),)*] };
}

const NAMES: &[(i32, &str)] = names! {
    EACCES EADDRINUSE EAFNOSUPPORT EAGAIN EBADF EBUSY ECHILD ECONNREFUSED EEXIST EFAULT EINVAL EIO EISDIR
    ELOOP EMFILE ENETUNREACH ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOMEM ENOPROTOOPT ENOSPC ENOSYS ENOTBLK
    ENOTCONN ENOTDIR ENOTEMPTY ENOTTY ENXIO EOPNOTSUPP EPERM EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE EROFS
    ESOCKTNOSUPPORT ESRCH ESTALE ETIMEDOUT EUSERS EXDEV
};

/// The upper half of a register that holds an `int`: the kernel looks at the lower half only, and so must
/// whoever filters.
const HIGH: u64 = 0xDEAD_BEEF << 32;
static SET_HIGH: AtomicBool = AtomicBool::new(false);

/// From here on, every `int` argument has something in its upper half.
pub(crate) fn set_high_bits() {
    SET_HIGH.store(true, Ordering::Relaxed);
}

/// One argument of a system call, as it stands in its register.
pub(crate) struct Arg<'a>(u64, PhantomData<&'a mut [u8]>);

impl Arg<'_> {
    /// A register of which the kernel uses all bits.
    pub(crate) const fn word(value: u64) -> Self {
        Self(value, PhantomData)
    }

    /// The null pointer.
    pub(crate) const NULL: Self = Self::word(0);
}

impl From<i32> for Arg<'_> {
    fn from(value: i32) -> Self {
        let high = if SET_HIGH.load(Ordering::Relaxed) { HIGH } else { 0 };
        // Without high bits a number is sign-extended, as a compiler does it.
        match high {
            0 => Self::word(i64::from(value).cast_unsigned()),
            _ => Self::word(high | u64::from(value.cast_unsigned())),
        }
    }
}

impl<'a> From<&'a CStr> for Arg<'a> {
    fn from(text: &'a CStr) -> Self {
        Self::word(text.as_ptr().addr() as u64)
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::word(bytes.as_ptr().expose_provenance() as u64)
    }
}

impl<'a, const N: usize> From<&'a mut [u8; N]> for Arg<'a> {
    fn from(bytes: &'a mut [u8; N]) -> Self {
        Self::word(bytes.as_mut_ptr().expose_provenance() as u64)
    }
}

/// Makes a system call.
pub(crate) fn syscall<const N: usize>(number: libc::c_long, arguments: [Arg<'_>; N]) -> Attempt<u64> {
    let mut words = [0u64; 6];
    for (word, argument) in words.iter_mut().zip(arguments) {
        *word = argument.0;
    }
    let [a, b, c, d, e, f] = words;
    // SAFETY: every address comes from a borrow in `arguments` that lives across the call and is as large as
    // the call wants; no step of this program makes a call that changes its own memory map.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 {
        return Err(io::Error::last_os_error().into());
    }
    Ok(result.cast_unsigned())
}

/// [`syscall`] with arguments converted.
macro_rules! call {
    ($number:expr $(, $argument:expr)*) => {
        $crate::sys::syscall($number, [$($crate::sys::Arg::from($argument)),*])
    };
}
pub(crate) use call;

/// Makes a system call that gives a descriptor.
macro_rules! call_fd {
    ($($call:tt)*) => {
        $crate::sys::call!($($call)*).map($crate::sys::small)
    };
}
pub(crate) use call_fd;

/// The result of a call that gives a descriptor or a process id.
pub(crate) fn small(result: u64) -> i32 {
    i32::try_from(result).unwrap_or(-1)
}

/// The outcome of a call that is known to have come past every check when it fails with this errno: an attack
/// that must not do what it would be allowed to do asks for something senseless.
pub(crate) fn reaches<T>(result: Attempt<T>, errno: i32) -> Attempt {
    match result {
        Err(Errno(found)) if found == errno => Ok(()),
        other => other.map(drop),
    }
}

/// Little-endian words in a buffer, as the kernel's structures have them.
pub(crate) fn put<const N: usize>(buffer: &mut [u8], at: usize, bytes: [u8; N]) {
    buffer[at..at + N].copy_from_slice(&bytes);
}
