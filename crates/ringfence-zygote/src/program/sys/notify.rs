//! Listening to a system-call filter, and acting for whoever made the call (`seccomp_unotify(2)`).

use core::ffi::c_int;

use super::{EINVAL, Fd, Result, call, fd, generic, int, nr, ptr, ptr_mut, retry};

/// A call that waits for an answer: `struct seccomp_notif`.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Call {
    id: u64,
    /// The thread that made it.
    pub(crate) thread: u32,
    flags: u32,
    pub(crate) number: c_int,
    architecture: u32,
    instruction: u64,
    pub(crate) arguments: [u64; 6],
}

/// What a call gets.
pub(crate) enum Answer {
    /// The kernel makes it, as if nobody had asked.
    Continue,
    /// It has been done.
    Done,
    Fail(super::Errno),
    /// A descriptor for this file.
    File {
        file: Fd,
        /// Whether it closes with `execve(2)`.
        closes: bool,
        /// Whether the file is to be an empty one then.
        truncates: bool,
    },
}

/// Installs a filter as [`super::seccomp_filter`] does; whoever has the descriptor answers the calls that the program
/// leaves to it. A call that has been taken is interrupted by nothing but the end of its process (Linux 5.19).
pub(crate) fn seccomp_listener(program: &[u8]) -> Result<Fd> {
    const NEW_LISTENER: usize = 1 << 3;
    const WAIT_KILLABLE_RECV: usize = 1 << 5;
    super::install(program, NEW_LISTENER | WAIT_KILLABLE_RECV).and_then(|raw| fd(Ok(raw)))
}

/// Has whoever calls and whoever answers take turns on one processor, which saves waking another one (Linux 6.6).
pub(crate) fn take_turns(listener: &Fd) {
    const SET_FLAGS: usize = 0x4008_2104;
    const SYNC_WAKE_UP: usize = 1;
    // Older kernels wake another one.
    let _ = call(nr::IOCTL, &[int(listener.raw()), SET_FLAGS, SYNC_WAKE_UP]);
}

/// Takes the next call.
pub(crate) fn next_call(listener: &Fd) -> Result<Call> {
    const RECEIVE: usize = 0xC050_2100;
    let mut taken = Call::default();
    retry(|| call(nr::IOCTL, &[int(listener.raw()), RECEIVE, ptr_mut(&mut taken)]))?;
    Ok(taken)
}

/// Whether a call still waits, so that its thread is the one that made it.
pub(crate) fn still_waits(listener: &Fd, of: &Call) -> bool {
    const ID_VALID: usize = 0x4008_2102;
    call(nr::IOCTL, &[int(listener.raw()), ID_VALID, ptr(&of.id)]).is_ok()
}

/// Answers a call. Whoever has ended meanwhile needs no answer.
pub(crate) fn answer(listener: &Fd, to: &Call, answer: Answer) {
    let (value, error, continues) = match answer {
        Answer::Continue => (0, 0, true),
        Answer::Done => (0, 0, false),
        Answer::Fail(errno) => (0, errno, false),
        Answer::File {
            file,
            closes,
            truncates,
        } => match give(listener, to, &file, closes) {
            // Not in one step with the answer: whoever goes on would find the file still open here, and so neither
            // execute nor lock it.
            Ok(number) => {
                let truncated = if truncates { super::truncate(&file) } else { Ok(()) };
                drop(file);
                (number, truncated.err().unwrap_or(0), false)
            }
            Err(errno) => (0, errno, false),
        },
    };
    /// `struct seccomp_notif_resp`.
    #[repr(C)]
    struct Response {
        id: u64,
        value: i64,
        error: i32,
        flags: u32,
    }
    const SEND: usize = 0xC018_2101;
    let response = Response {
        id: to.id,
        value,
        error: -error,
        flags: u32::from(continues),
    };
    let _ = retry(|| call(nr::IOCTL, &[int(listener.raw()), SEND, ptr(&response)]));
}

/// Puts a file into the caller's table, which has not gone on yet; its number there.
fn give(listener: &Fd, to: &Call, file: &Fd, closes: bool) -> Result<i64> {
    /// `struct seccomp_notif_addfd`.
    #[repr(C)]
    struct Added {
        id: u64,
        flags: u32,
        from: c_int,
        number: u32,
        file_flags: u32,
    }
    const ADD: usize = 0x4018_2103;
    #[expect(clippy::cast_possible_truncation, reason = "a flag below bit 32")]
    let file_flags = if closes { super::O_CLOEXEC as u32 } else { 0 };
    let added = Added {
        id: to.id,
        flags: 0,
        from: file.raw(),
        number: 0,
        file_flags,
    };
    let number = retry(|| call(nr::IOCTL, &[int(listener.raw()), ADD, ptr(&added)]))?;
    Ok(i64::from(super::to_int(number)))
}

/// Reads what is at an address of a thread's memory: as much as there is, up to a whole page and the rest of another.
pub(crate) fn read_memory(thread: u32, address: u64, to: &mut [u8]) -> Result<usize> {
    #[repr(C)]
    struct Part {
        address: usize,
        length: usize,
    }
    const PAGE: usize = 4096;
    let address = usize::try_from(address).map_err(|_| EINVAL)?;
    // A part is read whole or not at all.
    let first = to.len().min(PAGE - address % PAGE);
    let theirs = [
        Part {
            address,
            length: first,
        },
        Part {
            address: address.wrapping_add(first),
            length: to.len() - first,
        },
    ];
    let own = Part {
        address: ptr_mut(to),
        length: to.len(),
    };
    call(
        nr::PROCESS_VM_READV,
        &[thread as usize, ptr(&own), 1, ptr(&theirs), theirs.len(), 0],
    )
}

/// A descriptor of our own for an open file of a process.
pub(crate) fn take_descriptor(process: u32, number: c_int) -> Result<Fd> {
    take(process, 0, number)
}

/// The same of a thread, whatever table of descriptors it has (Linux 6.9).
pub(crate) fn take_descriptor_of_thread(thread: u32, number: c_int) -> Result<Fd> {
    const PIDFD_THREAD: usize = 0o200;
    take(thread, PIDFD_THREAD, number)
}

fn take(of: u32, flags: usize, number: c_int) -> Result<Fd> {
    let pidfd = fd(call(generic::PIDFD_OPEN, &[of as usize, flags]))?;
    fd(call(generic::PIDFD_GETFD, &[int(pidfd.raw()), int(number), 0]))
}
