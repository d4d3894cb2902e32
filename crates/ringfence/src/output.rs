//! The reading ends of a command's standard output and standard error.

use std::io::{self, PipeReader, Read};

#[cfg(unix)]
use std::sync::Arc;

#[cfg(unix)]
use crate::end::End;

/// The reading end of a command's standard output; with a terminal, of everything that appears on it.
///
/// It ends when nobody of the command's tree is left to write, and what is unread then can still be read. What is not
/// read keeps the command waiting.
#[derive(Debug)]
pub struct ChildStdout(pub(crate) Output);

/// The reading end of a command's standard error; with a terminal, which shows both, it is empty.
#[derive(Debug)]
pub struct ChildStderr(pub(crate) Output);

#[derive(Debug)]
pub(crate) enum Output {
    Pipe(PipeReader),
    #[cfg(unix)]
    Terminal(Arc<End>),
    #[cfg(unix)]
    Nothing,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.read(buffer),
            // Hung up from this side, it ends as well.
            #[cfg(unix)]
            Self::Terminal(end) => end.read(buffer).unwrap_or(Ok(0)),
            #[cfg(unix)]
            Self::Nothing => Ok(0),
        }
    }
}

/// What the reading ends have in common.
macro_rules! reading_end {
    ($name:ident) => {
        impl Read for $name {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0.read(buffer)
            }
        }

        #[cfg(all(unix, feature = "tokio"))]
        impl $name {
            /// The same stream as tokio's `AsyncRead`.
            ///
            /// # Errors
            /// When the descriptor can't be registered with the runtime.
            ///
            /// # Panics
            /// Outside of a tokio runtime with I/O enabled, as all of tokio's I/O types do.
            pub fn into_async(self) -> io::Result<crate::tokio_streams::AsyncOutput> {
                crate::tokio_streams::AsyncOutput::new(self.0)
            }
        }
    };
}

reading_end!(ChildStdout);
reading_end!(ChildStderr);
