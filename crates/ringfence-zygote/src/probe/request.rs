//! The request as the probe reads it: in place.

use crate::sys;
use crate::wire::Reader;

pub(crate) const MAGIC: u32 = 0x5246_5001;
pub(crate) const SEPARATE: u8 = 1;
pub(crate) const PRIVILEGED: u8 = 2;
const CLOSES: u8 = 1;
pub(crate) const DATA: u8 = 1;
pub(crate) const RESULT: u8 = 2;
pub(crate) const BUFFER: u8 = 3;
pub(crate) const BUFFER_BYTES: usize = 4096;
pub(crate) const MOST_CALLS: usize = 8;
const MOST_DATA: usize = 6;

/// One attempt.
pub(crate) struct Attempt<'a> {
    pub(crate) flags: u8,
    /// Each with its NUL.
    pub(crate) data: [&'a [u8]; MOST_DATA],
    pub(crate) calls: Calls,
    pub(crate) undo: Calls,
}

/// One system call.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) number: u32,
    /// An errno that also means success; 0 for none.
    pub(crate) reached: sys::Errno,
    pub(crate) closes: bool,
    /// Kind and value.
    pub(crate) arguments: [(u8, u64); 6],
}

/// The calls of an attempt.
pub(crate) struct Calls {
    all: [Call; MOST_CALLS],
    count: usize,
}

impl Calls {
    pub(crate) fn as_slice(&self) -> &[Call] {
        self.all.get(..self.count).unwrap_or(&[])
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    fn parse(reader: &mut Reader<'_>) -> Option<Self> {
        let none = Call {
            number: 0,
            reached: 0,
            closes: false,
            arguments: [(0, 0); 6],
        };
        let mut calls = Self {
            all: [none; MOST_CALLS],
            count: usize::try_from(reader.u32()?).ok()?,
        };
        for call in calls.all.get_mut(..calls.count)? {
            call.number = reader.u32()?;
            call.reached = sys::Errno::try_from(reader.u32()?).ok()?;
            call.closes = reader.u8()? & CLOSES != 0;
            for argument in &mut call.arguments {
                *argument = (reader.u8()?, reader.u64()?);
            }
        }
        Some(calls)
    }
}

/// The attempts of a request, in order; `Some(None)` at the first that does not parse.
pub(crate) struct Attempts<'a> {
    reader: Reader<'a>,
    left: u32,
}

impl<'a> Attempts<'a> {
    pub(crate) fn parse(body: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        let left = reader.u32()?;
        Some(Self { reader, left })
    }

    fn attempt(&mut self) -> Option<Attempt<'a>> {
        let flags = self.reader.u8()?;
        let mut data: [&[u8]; MOST_DATA] = [b"\0"; MOST_DATA];
        let count = usize::try_from(self.reader.u32()?).ok()?;
        for slot in data.get_mut(..count)? {
            *slot = self.reader.bytes()?;
        }
        let calls = Calls::parse(&mut self.reader)?;
        let undo = Calls::parse(&mut self.reader)?;
        Some(Attempt {
            flags,
            data,
            calls,
            undo,
        })
    }
}

impl<'a> Iterator for Attempts<'a> {
    type Item = Option<Attempt<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.attempt())
    }
}

/// The body of the request on standard input.
pub(crate) fn read() -> Option<&'static [u8]> {
    let mut header = [0; 8];
    fill(&mut header)?;
    let mut reader = Reader::new(&header);
    if reader.u32()? != MAGIC {
        return None;
    }
    let body = sys::map(usize::try_from(reader.u32()?).ok()?, None).ok()?;
    fill(body)?;
    Some(body)
}

fn fill(mut to: &mut [u8]) -> Option<()> {
    while !to.is_empty() {
        match sys::read(0, to) {
            Ok(0) | Err(_) => return None,
            Ok(count) => to = to.get_mut(count..)?,
        }
    }
    Some(())
}
