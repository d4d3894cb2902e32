//! Reading a captured stream without blocking.

use std::io::{self, PipeReader};

#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
#[cfg(unix)]
use std::sync::Arc;

use ringfence_backend::Notifier;

#[cfg(unix)]
use crate::end::{End, end_of_terminal};

/// The reading end of a captured stream.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) enum CapturePipe {
    Pipe(PipeReader),
    Terminal(Arc<End>),
}

#[cfg(unix)]
impl CapturePipe {
    pub(crate) fn new(pipe: PipeReader, _: &Notifier) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self::Pipe(pipe))
    }

    /// Reads what is there; `WouldBlock` when that is nothing, 0 at the end of the stream.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => io::Read::read(pipe, buffer),
            Self::Terminal(end) => match end.descriptor() {
                Some(master) => Ok(end_of_terminal(rustix::io::read(&master, buffer))?),
                None => Ok(0),
            },
        }
    }

    /// Calls `f` with what becomes readable, if there is anything.
    pub(crate) fn with_descriptor<R>(&self, f: impl FnOnce(BorrowedFd<'_>) -> R) -> Option<R> {
        match self {
            Self::Pipe(pipe) => Some(f(pipe.as_fd())),
            Self::Terminal(end) => end.descriptor().map(|master| f(master.as_fd())),
        }
    }
}

/// The reading end of a captured stream; a thread does the blocking reads.
#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct CapturePipe {
    chunks: std::sync::mpsc::Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

#[cfg(not(unix))]
impl CapturePipe {
    pub(crate) fn new(mut pipe: PipeReader, notifier: &Notifier) -> io::Result<Self> {
        /// Chunks in flight; the reader waits when nobody takes them.
        const QUEUE: usize = 16;
        let (sender, chunks) = std::sync::mpsc::sync_channel(QUEUE);
        let notifier = notifier.clone();
        std::thread::Builder::new()
            .name("ringfence-pipe".to_owned())
            .spawn(move || {
                let mut buffer = vec![0; 16 * 1024];
                while let Ok(count @ 1..) = io::Read::read(&mut pipe, &mut buffer) {
                    if sender.send(buffer[..count].to_vec()).is_err() {
                        return;
                    }
                    notifier.notify();
                }
                drop(sender);
                notifier.notify();
            })?;
        Ok(Self {
            chunks,
            rest: Vec::new(),
        })
    }

    /// Reads what is there; `WouldBlock` when that is nothing, 0 at the end of the stream.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use std::sync::mpsc::TryRecvError;
        if self.rest.is_empty() {
            match self.chunks.try_recv() {
                Ok(chunk) => self.rest = chunk,
                Err(TryRecvError::Empty) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(TryRecvError::Disconnected) => return Ok(0),
            }
        }
        let count = self.rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(count)
    }
}
