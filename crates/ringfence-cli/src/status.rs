//! Exit statuses, as shells and `timeout(1)` use them.

use ringfence::{Ending, RunError};

/// ringfence itself failed; the command did not run.
pub(crate) const OWN_FAILURE: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
const TIMED_OUT: u8 = 124;
/// As after `SIGKILL`, which is what ended it.
const KILLED: u8 = 137;
const CANCELLED: u8 = 130;
const SIGNAL_BASE: i32 = 128;

const ENOENT: i32 = 2;
const ENOTDIR: i32 = 20;

/// The status for a command that was executed.
pub(crate) fn of_ending(ending: Ending) -> u8 {
    match ending {
        Ending::Exited(code) => low_byte(code),
        Ending::Signaled { signal, .. } => of_signal(signal),
        Ending::TimedOut => TIMED_OUT,
        Ending::Cancelled => CANCELLED,
        Ending::LimitExceeded(_) | Ending::OwnerClosed | _ => KILLED,
    }
}

/// The status of what a signal ended.
pub(crate) fn of_signal(signal: i32) -> u8 {
    low_byte(SIGNAL_BASE + signal)
}

/// The status for a command that was not.
pub(crate) fn of_run_error(error: &RunError) -> u8 {
    match error {
        RunError::Setup(failed) if failed.is_execute() => match failed.errno {
            ENOENT | ENOTDIR => NOT_FOUND,
            _ => NOT_EXECUTABLE,
        },
        _ => OWN_FAILURE,
    }
}

fn low_byte(code: i32) -> u8 {
    u8::try_from(code & 0xFF).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringfence::{Limit, SetupFailed};

    #[test]
    fn endings_have_the_statuses_shells_use() {
        assert_eq!(of_ending(Ending::Exited(0)), 0);
        assert_eq!(of_ending(Ending::Exited(255)), 255);
        assert_eq!(
            of_ending(Ending::Signaled {
                signal: 15,
                core: false
            }),
            143
        );
        assert_eq!(of_ending(Ending::TimedOut), 124);
        assert_eq!(of_ending(Ending::LimitExceeded(Limit::Output)), 137);
        assert_eq!(of_ending(Ending::OwnerClosed), 137);
    }

    #[test]
    fn only_the_last_step_is_the_programs_fault() {
        let failed = |step, errno| {
            of_run_error(&RunError::Setup(SetupFailed {
                step,
                errno,
                path: None,
            }))
        };
        assert_eq!(failed(SetupFailed::EXECUTE, 2), 127);
        assert_eq!(failed(SetupFailed::EXECUTE, 20), 127);
        assert_eq!(failed(SetupFailed::EXECUTE, 13), 126);
        assert_eq!(failed(SetupFailed::EXECUTE, 8), 126);
        assert_eq!(failed("build the file view", 2), 125);
        assert_eq!(of_run_error(&RunError::ExecutorClosed), 125);
    }
}
