//! From the first instruction to the last line of the answer.

// As a module of the library this is compiled for the lints and the tests only.
#![cfg_attr(
    not(probe_program),
    allow(dead_code, reason = "the library never runs the program")
)]

mod answer;
pub(crate) mod request;

use crate::sys::{self, calls, calls::Shared};
use answer::{Answers, Result};
use request::{Attempt, Attempts, Call, PRIVILEGED, SEPARATE};

/// The entry point, called once on the initial stack.
pub(crate) extern "C" fn main() -> ! {
    let worked = serve();
    sys::exit(if worked.is_some() { 0 } else { 1 })
}

/// Tries everything there is on standard input.
fn serve() -> Option<()> {
    let request = request::read()?;
    let shared = calls::shared().ok()?;
    let buffer = sys::map(request::BUFFER_BYTES, None).ok()?;
    let mut answers = Answers::new();
    for attempt in Attempts::parse(request)? {
        let attempt = attempt?;
        let result = if attempt.flags & SEPARATE != 0 {
            apart(&attempt, shared, buffer)
        } else {
            here(&attempt, buffer, &mut |_, _| {})
        };
        answers.add(&result);
    }
    answers.flush();
    Some(())
}

/// One attempt in a child, which says in shared memory how far it has come: a call that does not return, since it
/// executed a program, leaves word of where that was.
fn apart(attempt: &Attempt<'_>, shared: &Shared, buffer: &mut [u8]) -> Result {
    shared.set(0, calls::NOT_STARTED);
    match sys::fork(calls::SIGNAL_CHILD) {
        Err(errno) => Result::failed(errno, 0),
        Ok(sys::Forked::Child) => {
            if attempt.flags & PRIVILEGED != 0
                && let Err(errno) = calls::private_mounts()
            {
                shared.set(0, errno);
                sys::exit(0);
            }
            let result = here(attempt, buffer, &mut |step, number| {
                let state = if number == calls::EXECVE { 0 } else { calls::INSIDE };
                shared.set(step, state);
            });
            shared.set(result.step, result.errno);
            sys::exit(0)
        }
        Ok(sys::Forked::Parent(child, _)) => {
            let status = calls::wait(child);
            let (step, errno) = shared.get();
            match status & 0x7f {
                0 => Result::failed(errno, step),
                signal => Result {
                    errno: 0,
                    signal,
                    step,
                },
            }
        }
    }
}

/// One attempt in this process; `before` hears of each call.
fn here(attempt: &Attempt<'_>, buffer: &mut [u8], before: &mut dyn FnMut(u32, u32)) -> Result {
    buffer.fill(0);
    let calls = attempt.calls.as_slice();
    let mut results = [0; request::MOST_CALLS];
    let mut worked = Result::failed(0, 0);
    for (call, slot) in calls.iter().zip(0..results.len()) {
        before(worked.step, call.number);
        match make(call, attempt, &results, buffer) {
            // A child that was made would go on with the attempt, and tell of it in the place of a later one.
            Ok(0) if call.number == calls::CLONE => sys::exit(0),
            Ok(result) => results[slot] = result,
            Err(reached) if reached == call.reached => {}
            Err(errno) => {
                worked.errno = errno;
                break;
            }
        }
        worked.step += 1;
    }
    close(calls, &results);
    if worked.errno == 0 {
        let undo = attempt.undo.as_slice();
        results = [0; request::MOST_CALLS];
        for (call, slot) in undo.iter().zip(0..results.len()) {
            results[slot] = make(call, attempt, &results, buffer).unwrap_or(0);
        }
        close(undo, &results);
    }
    worked
}

/// Closes what the calls opened.
fn close(calls: &[Call], results: &[usize; request::MOST_CALLS]) {
    for (call, result) in calls.iter().zip(results) {
        // 0 is standard input, which no call gives, or a call that was not made.
        if call.closes && *result != 0 {
            calls::close(*result);
        }
    }
}

fn make(
    call: &Call,
    attempt: &Attempt<'_>,
    results: &[usize; request::MOST_CALLS],
    buffer: &mut [u8],
) -> sys::Result<usize> {
    let argument = |(kind, value): (u8, u64)| {
        #[expect(clippy::cast_possible_truncation, reason = "64-bit targets only")]
        let value = value as usize;
        match kind {
            request::DATA => attempt.data.get(value).map_or(0, |data| data.as_ptr() as usize),
            request::RESULT => results.get(value).copied().unwrap_or(0),
            request::BUFFER => buffer.as_ptr() as usize,
            _ => value,
        }
    };
    calls::make(call.number, call.arguments.map(argument))
}
