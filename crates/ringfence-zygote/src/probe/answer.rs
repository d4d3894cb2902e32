//! The answer: a line of JSON for each attempt.

use crate::sys;

/// What became of an attempt.
pub(crate) struct Result {
    /// 0 if all its calls worked.
    pub(crate) errno: sys::Errno,
    /// The signal that ended it, or 0.
    pub(crate) signal: i32,
    /// How many of its calls worked.
    pub(crate) step: u32,
}

impl Result {
    pub(crate) const fn failed(errno: sys::Errno, step: u32) -> Self {
        let signal = 0;
        Self { errno, signal, step }
    }
}

/// Lines for standard output, written some at a time.
pub(crate) struct Answers {
    bytes: [u8; 4096],
    length: usize,
    next: u32,
}

impl Answers {
    /// Room for the longest line.
    const LINE: usize = 80;

    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; 4096],
            length: 0,
            next: 0,
        }
    }

    pub(crate) fn add(&mut self, result: &Result) {
        if self.length + Self::LINE > self.bytes.len() {
            self.flush();
        }
        let numbers = [
            (&b"{\"index\":"[..], self.next),
            (b",\"errno\":", result.errno.unsigned_abs()),
            (b",\"signal\":", result.signal.unsigned_abs()),
            (b",\"step\":", result.step),
        ];
        for (key, number) in numbers {
            self.push(key);
            self.number(number);
        }
        self.push(b"}\n");
        self.next += 1;
    }

    pub(crate) fn flush(&mut self) {
        let mut rest = self.bytes.get(..self.length).unwrap_or(&[]);
        while !rest.is_empty() {
            match sys::write(1, rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or(&[]),
                // Nobody reads any more.
                Err(_) => break,
            }
        }
        self.length = 0;
    }

    fn number(&mut self, number: u32) {
        let mut digits = [0; 10];
        let mut rest = number;
        let mut first = digits.len();
        loop {
            first -= 1;
            let digit = b'0' + (rest % 10) as u8;
            digits[first] = digit;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.push(&digits[first..]);
    }

    fn push(&mut self, bytes: &[u8]) {
        if let Some(to) = self.bytes.get_mut(self.length..self.length + bytes.len()) {
            to.copy_from_slice(bytes);
            self.length += bytes.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_json() {
        let mut answers = Answers::new();
        answers.add(&Result::failed(13, 2));
        answers.add(&Result {
            errno: 0,
            signal: 31,
            step: 0,
        });
        let text = core::str::from_utf8(&answers.bytes[..answers.length]).unwrap();
        assert_eq!(
            text,
            "{\"index\":0,\"errno\":13,\"signal\":0,\"step\":2}\n{\"index\":1,\"errno\":0,\"signal\":31,\"step\":0}\n"
        );
    }
}
