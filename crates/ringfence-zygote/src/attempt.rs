//! What the probe is asked to try, as the host writes it.
//!
//! The probe is a second static program beside the zygote: it makes the system calls it is told, one attempt after the
//! other, and prints for each a line of JSON with its index and the errno of the first call that failed (0: all of
//! them worked). Names never appear in what it prints, so they can contain whatever they like.
//!
//! An attempt is data, so that whoever writes a test decides what is tried, and the program stays small enough to be
//! read. It does what it is told: give it only lists of your own making.

use crate::{Put, Unencodable, count};

/// The program, to be executed from a file; it reads one request from standard input.
pub static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe"));

/// First word of a request; changes with every change of the layout.
pub const MAGIC: u32 = 0x5246_5001;
/// Attempt flag: in a process of its own, which ends with it.
pub const SEPARATE: u8 = 1;
/// Attempt flag: after entering a private mount namespace with all capabilities, so that nothing of it reaches the host.
pub const PRIVILEGED: u8 = 2;
/// Call flag: the result is a descriptor, to be closed when the attempt is over.
pub const CLOSES: u8 = 1;

/// Kinds of arguments on the wire.
pub const WORD: u8 = 0;
/// See [`WORD`].
pub const DATA: u8 = 1;
/// See [`WORD`].
pub const RESULT: u8 = 2;
/// See [`WORD`].
pub const BUFFER: u8 = 3;

/// Bytes of the buffer behind [`Argument::Buffer`].
pub const BUFFER_BYTES: usize = 4096;
/// Results that later calls of an attempt can refer to.
pub const MOST_CALLS: usize = 8;

/// One argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// This number.
    Word(u64),
    /// The address of a byte string of the attempt, which ends in a NUL.
    Data(u8),
    /// What an earlier call of the attempt gave.
    Result(u8),
    /// The address of [`BUFFER_BYTES`] zeroed bytes.
    Buffer,
}

impl From<i32> for Argument {
    /// Sign-extended, as a register holds an `int`.
    #[expect(
        clippy::cast_sign_loss,
        reason = "the kernel reads the low half as the signed int it was"
    )]
    fn from(value: i32) -> Self {
        Self::Word(i64::from(value) as u64)
    }
}

/// One system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its number.
    pub number: u32,
    /// Its arguments; the rest is 0.
    pub arguments: Vec<Argument>,
    /// An errno that also means success: whoever gets it has reached what was to be reached.
    pub reached: i32,
    /// Whether the result is a descriptor, to be closed when the attempt is over.
    pub closes: bool,
}

/// System calls that together are one attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// [`SEPARATE`], [`PRIVILEGED`].
    pub flags: u8,
    /// Byte strings the calls refer to.
    pub data: Vec<Vec<u8>>,
    /// All must succeed.
    pub calls: Vec<Call>,
    /// Made when all succeeded, whatever they answer: they put back what was there.
    pub undo: Vec<Call>,
}

/// The request for these attempts.
///
/// # Errors
/// More than 4 GiB of anything, or more calls than [`MOST_CALLS`].
pub fn encode(attempts: &[Attempt]) -> Result<Vec<u8>, Unencodable> {
    let mut body = Vec::new();
    body.put_u32(count(attempts.len())?);
    for attempt in attempts {
        body.push(attempt.flags);
        body.put_u32(count(attempt.data.len())?);
        for data in &attempt.data {
            // Addresses of sockets contain NULs, so there is no check for them.
            body.put_u32(count(data.len())?);
            body.extend_from_slice(data);
            body.push(0);
        }
        for calls in [&attempt.calls, &attempt.undo] {
            if calls.len() > MOST_CALLS {
                return Err(Unencodable::TooLong);
            }
            body.put_u32(count(calls.len())?);
            calls.iter().for_each(|call| put(&mut body, call));
        }
    }
    let mut request = Vec::with_capacity(8 + body.len());
    request.put_u32(MAGIC);
    request.put_u32(count(body.len())?);
    request.extend_from_slice(&body);
    Ok(request)
}

fn put(body: &mut Vec<u8>, call: &Call) {
    body.put_u32(call.number);
    body.put_u32(call.reached.unsigned_abs());
    body.push(if call.closes { CLOSES } else { 0 });
    let none = std::iter::repeat(&Argument::Word(0));
    for argument in call.arguments.iter().chain(none).take(6) {
        let (kind, value) = match argument {
            Argument::Word(value) => (WORD, *value),
            Argument::Data(index) => (DATA, u64::from(*index)),
            Argument::Result(index) => (RESULT, u64::from(*index)),
            Argument::Buffer => (BUFFER, 0),
        };
        body.push(kind);
        body.put_u64(value);
    }
}

#[cfg(all(
    test,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod tests {
    use super::*;
    use crate::probe_body::request;

    #[test]
    fn what_the_host_writes_the_probe_reads() {
        let call = |number| Call {
            number,
            arguments: vec![(-100).into(), Argument::Data(0), Argument::Result(1)],
            reached: 22,
            closes: true,
        };
        let attempt = Attempt {
            flags: SEPARATE,
            data: vec![b"/w\n[x]\xff".to_vec(), b"\0\x02".to_vec()],
            calls: vec![call(257), call(0)],
            undo: vec![call(3)],
        };
        let bytes = encode(&[attempt.clone(), attempt]).unwrap();
        let mut attempts = request::Attempts::parse(&bytes[8..]).unwrap();
        for _ in 0..2 {
            let read = attempts.next().unwrap().unwrap();
            assert_eq!((read.flags, read.calls.len(), read.undo.len()), (SEPARATE, 2, 1));
            assert_eq!(read.data[0], b"/w\n[x]\xff\0");
            assert_eq!(read.data[1], b"\0\x02\0");
            let first = &read.calls.as_slice()[0];
            assert_eq!((first.number, first.reached, first.closes), (257, 22, true));
            assert_eq!(first.arguments[0], (WORD, u64::MAX - 99));
            assert_eq!(first.arguments[2], (RESULT, 1));
        }
        assert!(attempts.next().is_none());
    }

    #[test]
    fn a_request_that_was_cut_off_does_not_parse() {
        let bytes = encode(&[Attempt::default()]).unwrap();
        let cut = request::Attempts::parse(&bytes[8..bytes.len() - 1]).and_then(|mut all| all.next());
        assert!(matches!(cut, Some(None)));
    }
}
