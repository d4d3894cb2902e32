//! What a running command was asked for: one termination, one kill, nothing after its end.

use std::sync::PoisonError;

use crate::sync::Mutex;

/// The requests made to one command, told apart from its end by one lock: of an end and a kill at the same moment only
/// one happens.
#[derive(Debug)]
pub(crate) struct Requests<E> {
    state: Mutex<State<E>>,
}

#[derive(Debug)]
struct State<E> {
    ended: bool,
    killed: bool,
    /// What came of the first termination.
    terminated: Option<Result<(), E>>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer<E> {
    /// It was passed on now, with this result.
    Done(Result<(), E>),
    /// It was passed on before, with this result.
    DoneBefore(Result<(), E>),
    /// The command has ended.
    Ended,
}

impl<E: Clone> Requests<E> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                ended: false,
                killed: false,
                terminated: None,
            }),
        }
    }

    /// The command has ended: from now on nothing is passed on.
    pub(crate) fn end(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
    }

    /// Passes something on that may be asked for any number of times (SIG-4).
    pub(crate) fn pass(&self, send: impl FnOnce() -> Result<(), E>) -> Answer<E> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.ended {
            return Answer::Ended;
        }
        Answer::Done(send())
    }

    /// Asks the command to end, the first time (SIG-5).
    pub(crate) fn terminate(&self, send: impl FnOnce() -> Result<(), E>) -> Answer<E> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.ended {
            return Answer::Ended;
        }
        if let Some(result) = &state.terminated {
            return Answer::DoneBefore(result.clone());
        }
        let result = send();
        state.terminated = Some(result.clone());
        Answer::Done(result)
    }

    /// Kills the command, the first time (SIG-9).
    pub(crate) fn kill(&self, send: impl FnOnce()) -> Answer<E> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.ended {
            return Answer::Ended;
        }
        if std::mem::replace(&mut state.killed, true) {
            return Answer::DoneBefore(Ok(()));
        }
        send();
        Answer::Done(Ok(()))
    }

    pub(crate) fn is_killed(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).killed
    }
}
