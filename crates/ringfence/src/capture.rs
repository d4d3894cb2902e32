//! Bounded capture of a stream: its beginning and its end are kept, what lies between is counted.

use std::collections::VecDeque;

/// What was captured of one stream.
///
/// Everything fits into [`Captured::head`] unless the stream was longer than the capture limit; then the first
/// and the last half of the limit are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped_bytes: u64,
    cut_off: bool,
}

impl Captured {
    /// The first bytes of the stream; all of it when [`Captured::is_complete`].
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The last bytes of a stream that was longer than the limit; else empty.
    #[must_use]
    pub fn tail(&self) -> Vec<u8> {
        self.tail.iter().copied().collect()
    }

    /// How many bytes between head and tail were not kept.
    #[must_use]
    pub const fn dropped_bytes(&self) -> u64 {
        self.dropped_bytes
    }

    /// Whether the stream was still open when the command was over, so that somebody who escaped may have written on;
    /// never where the whole process tree is known to have ended (PRC-46).
    #[must_use]
    pub const fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    /// Whether nothing was dropped or cut off.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.dropped_bytes == 0 && !self.cut_off
    }

    /// Head and tail in one piece; the gap, if there is one, does not show.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        let mut bytes = self.head;
        bytes.extend(self.tail);
        bytes
    }

    /// Everything kept, as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.clone().into_bytes()).into_owned()
    }
}

/// Captures a stream within a limit.
#[derive(Debug)]
pub(crate) struct Capture {
    captured: Captured,
    limit: usize,
}

impl Capture {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            captured: Captured::default(),
            limit,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let Captured {
            head,
            tail,
            dropped_bytes,
            ..
        } = &mut self.captured;
        let head_limit = self.limit.div_ceil(2);
        let (to_head, to_tail) = bytes.split_at(bytes.len().min(head_limit.saturating_sub(head.len())));
        head.extend_from_slice(to_head);
        tail.extend(to_tail);
        let excess = tail.len().saturating_sub(self.limit - head_limit);
        tail.drain(..excess);
        *dropped_bytes += excess as u64;
    }

    /// What was captured of a stream that ended or not; one within the limit is all head.
    pub(crate) fn finish(self, ended: bool) -> Captured {
        let mut captured = self.captured;
        captured.cut_off = !ended;
        if captured.dropped_bytes == 0 {
            captured.head.extend(std::mem::take(&mut captured.tail));
        }
        captured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(limit: usize, chunks: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(limit);
        chunks.iter().for_each(|chunk| capture.push(chunk));
        capture.finish(true)
    }

    #[test]
    fn a_stream_within_the_limit_is_kept_whole() {
        let captured = capture(10, &[b"0123", b"456789"]);
        assert_eq!(captured.head(), b"0123456789");
        assert!(captured.is_complete() && captured.tail().is_empty());
    }

    #[test]
    fn of_a_longer_stream_head_and_tail_are_kept_and_the_rest_is_counted() {
        let captured = capture(4, &[b"abc", b"defgh", b"ij"]);
        assert_eq!(captured.head(), b"ab");
        assert_eq!(captured.tail(), b"ij");
        assert_eq!(captured.dropped_bytes(), 6);
        assert_eq!(captured.into_bytes(), b"abij");
    }

    #[test]
    fn a_limit_of_zero_keeps_nothing() {
        let captured = capture(0, &[b"abc"]);
        assert_eq!((captured.head(), captured.dropped_bytes()), (&b""[..], 3));
    }
}
