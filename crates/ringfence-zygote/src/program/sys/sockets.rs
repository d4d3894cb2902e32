//! Sockets and what they carry.

use core::ffi::c_int;

use super::{Fd, Result, call, fd, int, nr, ptr, ptr_mut, retry};

/// Kinds of socket pairs.
pub(crate) const SOCK_STREAM: usize = 1;
pub(crate) const SOCK_SEQPACKET: usize = 5;

pub(crate) fn socketpair(kind: usize) -> Result<[Fd; 2]> {
    const AF_UNIX: usize = 1;
    const SOCK_CLOEXEC: usize = 0o2_000_000;
    let mut pair: [c_int; 2] = [-1, -1];
    call(
        nr::SOCKETPAIR,
        &[AF_UNIX, kind | SOCK_CLOEXEC, 0, ptr_mut(&mut pair)],
    )?;
    Ok(pair.map(Fd))
}

#[repr(C)]
struct IoVec {
    base: usize,
    length: usize,
}

#[repr(C)]
struct MessageHeader {
    name: usize,
    name_length: u32,
    vectors: usize,
    vector_count: usize,
    control: usize,
    control_length: usize,
    flags: c_int,
}

/// `struct cmsghdr` followed by at most four descriptors.
#[repr(C)]
struct Rights {
    length: usize,
    level: c_int,
    kind: c_int,
    fds: [c_int; 4],
}

const SOL_SOCKET: c_int = 1;
const SCM_RIGHTS: c_int = 1;
const CMSG_HEADER: usize = 16;

/// Sends bytes and up to four descriptors as one message.
pub(crate) fn send<const N: usize>(to: c_int, bytes: &[u8], fds: &[c_int; N]) -> Result<usize> {
    const { assert!(N <= 4, "Rights has room for four") };
    const MSG_NOSIGNAL: usize = 0x4000;
    let mut rights = Rights {
        length: CMSG_HEADER + size_of_val(fds),
        level: SOL_SOCKET,
        kind: SCM_RIGHTS,
        fds: [-1; 4],
    };
    for (slot, fd) in rights.fds.iter_mut().zip(fds) {
        *slot = *fd;
    }
    let vector = IoVec {
        base: ptr(bytes),
        length: bytes.len(),
    };
    let control = if fds.is_empty() { 0 } else { ptr(&rights) };
    let control_length = if fds.is_empty() {
        0
    } else {
        (rights.length + 7) & !7
    };
    let message = MessageHeader {
        name: 0,
        name_length: 0,
        vectors: ptr(&vector),
        vector_count: 1,
        control,
        control_length,
        flags: 0,
    };
    retry(|| call(nr::SENDMSG, &[int(to), ptr(&message), MSG_NOSIGNAL]))
}

/// Receives bytes and up to three descriptors.
pub(crate) fn receive(from: c_int, bytes: &mut [u8]) -> Result<(usize, [Option<Fd>; 3])> {
    const MSG_CMSG_CLOEXEC: usize = 0x4000_0000;
    let mut rights = Rights {
        length: 0,
        level: 0,
        kind: 0,
        fds: [-1; 4],
    };
    let vector = IoVec {
        base: ptr_mut(bytes),
        length: bytes.len(),
    };
    let mut message = MessageHeader {
        name: 0,
        name_length: 0,
        vectors: ptr(&vector),
        vector_count: 1,
        control: ptr_mut(&mut rights),
        // No room for more than three: the kernel closes what does not fit.
        control_length: CMSG_HEADER + 3 * size_of::<c_int>(),
        flags: 0,
    };
    let count = retry(|| call(nr::RECVMSG, &[int(from), ptr_mut(&mut message), MSG_CMSG_CLOEXEC]))?;
    let are_rights = message.control_length >= CMSG_HEADER
        && rights.level == SOL_SOCKET
        && rights.kind == SCM_RIGHTS
        && rights.length >= CMSG_HEADER;
    let carried = if are_rights {
        (rights.length - CMSG_HEADER) / size_of::<c_int>()
    } else {
        0
    };
    let [a, b, c, _] = rights.fds;
    let mut fds = [None, None, None];
    for ((slot, raw), _) in fds.iter_mut().zip([a, b, c]).zip(0..carried) {
        *slot = Some(Fd(raw));
    }
    Ok((count, fds))
}

/// Brings the interface `lo` of the current network namespace up.
pub(crate) fn loopback_up() -> Result<()> {
    #[repr(C)]
    struct InterfaceRequest {
        name: [u8; 16],
        flags: i16,
        pad: [u8; 22],
    }
    const AF_INET: usize = 2;
    const SOCK_DGRAM_CLOEXEC: usize = 2 | 0o2_000_000;
    const SIOCSIFFLAGS: usize = 0x8914;
    const IFF_UP: i16 = 1;
    let socket = fd(call(nr::SOCKET, &[AF_INET, SOCK_DGRAM_CLOEXEC, 0]))?;
    let mut request = InterfaceRequest {
        name: [0; 16],
        flags: IFF_UP,
        pad: [0; 22],
    };
    request.name[..2].copy_from_slice(b"lo");
    call(
        nr::IOCTL,
        &[int(socket.raw()), SIOCSIFFLAGS, ptr_mut(&mut request)],
    )
    .map(drop)
}
