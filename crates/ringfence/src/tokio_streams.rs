//! The streams of a command for tokio.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

use crate::end::{End, end_of_terminal, write_to};
use crate::input::{ChildStdin, EofNotDelivered, closed};
use crate::output::Output;

/// The reading end of a command's output, as tokio reads it. Dropping it closes the end; a read that is given up has
/// taken nothing.
#[derive(Debug)]
pub struct AsyncOutput(Kind);

#[derive(Debug)]
enum Kind {
    Pipe(pipe::Receiver),
    Terminal(Arc<End>),
    Nothing,
}

impl AsyncOutput {
    pub(crate) fn new(output: Output) -> io::Result<Self> {
        Ok(Self(match output {
            Output::Pipe(pipe) => {
                let end = OwnedFd::from(pipe);
                rustix::io::ioctl_fionbio(&end, true)?;
                Kind::Pipe(pipe::Receiver::from_owned_fd(end)?)
            }
            Output::Terminal(end) => {
                end.register_receiver()?;
                Kind::Terminal(end)
            }
            Output::Nothing => Kind::Nothing,
        }))
    }
}

impl AsyncRead for AsyncOutput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Kind::Pipe(pipe) => Pin::new(pipe).poll_read(context, buffer),
            Kind::Terminal(end) => {
                let count = match ready!(end.poll_read(context, buffer.initialize_unfilled())) {
                    Some(read) => read?,
                    None => 0,
                };
                buffer.advance(count);
                Poll::Ready(Ok(()))
            }
            Kind::Nothing => Poll::Ready(Ok(())),
        }
    }
}

/// A command's standard input, as tokio writes it. Shutting it down, or dropping the last clone, delivers the end of
/// file; a write that is given up has written nothing.
#[derive(Clone, Debug)]
pub struct AsyncStdin(ChildStdin);

impl ChildStdin {
    /// The same end as tokio's `AsyncWrite`; clones of it stay usable, and block.
    ///
    /// # Errors
    /// When the descriptor can't be registered with the runtime.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled, as all of tokio's I/O types do.
    pub fn into_async(self) -> io::Result<AsyncStdin> {
        self.0.end.register_sender()?;
        Ok(AsyncStdin(self))
    }
}

impl AsyncStdin {
    /// See [`ChildStdin::close`].
    ///
    /// # Errors
    /// As there.
    pub fn close(&self) -> Result<(), EofNotDelivered> {
        self.0.close()
    }
}

impl AsyncWrite for AsyncStdin {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let input = &self.0.0;
        if input.is_closed() {
            return Poll::Ready(Err(closed()));
        }
        let count = ready!(input.end.poll_write(context, buffer)).unwrap_or_else(|| Err(closed()))?;
        input.note(&buffer[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.close().map_err(io::Error::other))
    }
}

/// What an end has to do with a runtime, through duplicates of its descriptor.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    receiver: Option<pipe::Receiver>,
    sender: Option<pipe::Sender>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Registered {
    /// Wakes whoever waits, after the end was cut off.
    pub(crate) fn wake(&self) {
        self.reader
            .iter()
            .chain(&self.writer)
            .for_each(Waker::wake_by_ref);
    }
}

impl End {
    /// Lets a runtime watch it for reading.
    fn register_receiver(&self) -> io::Result<()> {
        self.with_registered(|descriptor, registered| {
            if let (Some(descriptor), None) = (descriptor, &registered.receiver) {
                let own = descriptor.try_clone()?;
                registered.receiver = Some(pipe::Receiver::from_owned_fd_unchecked(own)?);
            }
            Ok(())
        })
    }

    /// Lets a runtime watch it for writing.
    fn register_sender(&self) -> io::Result<()> {
        self.with_registered(|descriptor, registered| {
            if let (Some(descriptor), None) = (descriptor, &registered.sender) {
                let own = descriptor.try_clone()?;
                registered.sender = Some(pipe::Sender::from_owned_fd_unchecked(own)?);
            }
            Ok(())
        })
    }

    /// `None` when it was cut off.
    fn poll_read(&self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<Option<io::Result<usize>>> {
        self.with_registered(|_, registered| {
            registered.reader = Some(context.waker().clone());
            let Some(receiver) = &registered.receiver else {
                return Poll::Ready(None);
            };
            loop {
                ready!(receiver.poll_read_ready(context))?;
                let read = || Ok(end_of_terminal(rustix::io::read(receiver, &mut *buffer))?);
                match receiver.try_io(read) {
                    Err(error) if is_passing(&error) => {}
                    done => return Poll::Ready(Some(done)),
                }
            }
        })
    }

    /// `None` when it was cut off.
    fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Option<io::Result<usize>>> {
        self.with_registered(|_, registered| {
            registered.writer = Some(context.waker().clone());
            let Some(sender) = &registered.sender else {
                return Poll::Ready(None);
            };
            loop {
                ready!(sender.poll_write_ready(context))?;
                match sender.try_io(|| Ok(write_to(sender.as_fd(), bytes)?)) {
                    Err(error) if is_passing(&error) => {}
                    done => return Poll::Ready(Some(done)),
                }
            }
        })
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
