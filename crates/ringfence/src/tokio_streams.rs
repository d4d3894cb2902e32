//! The streams of a command for tokio.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

use crate::end::{End, end_of_terminal};
use crate::input::{ChildStdin, EofNotDelivered, closed};
use crate::output::Output;

/// The reading end of a command's output, as tokio reads it. Dropping it gives the end up; a read that is given up has
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
                end.with_registered(|descriptor, registered| {
                    if let Some(descriptor) = descriptor {
                        let own = descriptor.try_clone()?;
                        registered.receiver = Some((pipe::Receiver::from_owned_fd_unchecked(own)?, None));
                    }
                    io::Result::Ok(())
                })?;
                Kind::Terminal(end)
            }
            Output::Nothing => Kind::Nothing,
        }))
    }
}

impl Drop for AsyncOutput {
    fn drop(&mut self) {
        if let Kind::Terminal(end) = &self.0 {
            drop(end.with_registered(|_, registered| registered.receiver.take()));
        }
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
                let read = end.with_registered(|_, registered| {
                    registered.poll_read(context, buffer.initialize_unfilled())
                });
                let count = ready!(read)?;
                buffer.advance(count);
                Poll::Ready(Ok(()))
            }
            Kind::Nothing => Poll::Ready(Ok(())),
        }
    }
}

/// A command's standard input, as tokio writes it. Shutting it down delivers the end of file, and so does dropping it if
/// no clone of the [`ChildStdin`] is left; a write that is given up has written nothing.
#[derive(Debug)]
pub struct AsyncStdin {
    stdin: ChildStdin,
    /// Which of the registered senders is its own: several may wait at once.
    number: u64,
}

impl ChildStdin {
    /// The same end as tokio's `AsyncWrite`; clones of it stay usable, and block.
    ///
    /// # Errors
    /// When the descriptor can't be registered with the runtime.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled, as all of tokio's I/O types do.
    pub fn into_async(self) -> io::Result<AsyncStdin> {
        let number = self.0.end.with_registered(|descriptor, registered| {
            registered.count += 1;
            if let Some(descriptor) = descriptor {
                let own = pipe::Sender::from_owned_fd_unchecked(descriptor.try_clone()?)?;
                registered.senders.insert(registered.count, (own, None));
            }
            io::Result::Ok(registered.count)
        })?;
        Ok(AsyncStdin { stdin: self, number })
    }
}

impl AsyncStdin {
    /// See [`ChildStdin::close`].
    ///
    /// # Errors
    /// As there.
    pub fn close(&self) -> Result<(), EofNotDelivered> {
        self.stdin.close()
    }
}

impl Drop for AsyncStdin {
    fn drop(&mut self) {
        let end = &self.stdin.0.end;
        drop(end.with_registered(|_, registered| registered.senders.remove(&self.number)));
    }
}

impl AsyncWrite for AsyncStdin {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let input = &self.stdin.0;
        loop {
            if input.is_closed() {
                return Poll::Ready(Err(closed()));
            }
            let room = input
                .end
                .with_registered(|_, registered| registered.poll_room(self.number, context));
            ready!(room)?;
            // Outside of the lock, which this takes, too.
            match input.try_write(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    input
                        .end
                        .with_registered(|_, registered| registered.is_full(self.number));
                }
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.stdin.close().map_err(io::Error::other))
    }
}

/// What an end has to do with runtimes, through duplicates of its descriptor, each with whoever waits for it.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    receiver: Option<(pipe::Receiver, Option<Waker>)>,
    senders: HashMap<u64, (pipe::Sender, Option<Waker>)>,
    count: u64,
}

impl Registered {
    /// Has everybody who waits look again.
    pub(crate) fn wake(&self) {
        let reader = self.receiver.iter().flat_map(|(_, waker)| waker);
        let writers = self.senders.values().flat_map(|(_, waker)| waker);
        reader.chain(writers).for_each(Waker::wake_by_ref);
    }

    /// 0 when the end was cut off.
    fn poll_read(&mut self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let Some((receiver, waker)) = &mut self.receiver else {
            return Poll::Ready(Ok(0));
        };
        *waker = Some(context.waker().clone());
        loop {
            ready!(receiver.poll_read_ready(context))?;
            let read = || Ok(end_of_terminal(rustix::io::read(&*receiver, &mut *buffer))?);
            match receiver.try_io(read) {
                Err(error) if is_passing(&error) => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_room(&mut self, number: u64, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some((sender, waker)) = self.senders.get_mut(&number) else {
            return Poll::Ready(Err(closed()));
        };
        *waker = Some(context.waker().clone());
        sender.poll_write_ready(context)
    }

    /// There was no room after all.
    fn is_full(&self, number: u64) {
        if let Some((sender, _)) = self.senders.get(&number) {
            // That this is refused tells the runtime.
            let _: io::Result<()> = sender.try_io(|| Err(io::ErrorKind::WouldBlock.into()));
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
