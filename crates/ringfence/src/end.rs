//! One end of a stream that can be cut off at any time, whoever is reading or writing it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// A descriptor that is closed by [`End::sever`] at once, even while somebody waits on it.
#[derive(Debug)]
pub(crate) struct End {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// `None` once it was cut off.
    descriptor: Option<Arc<OwnedFd>>,
    /// Made for the first caller who has to wait: hung up, it wakes all of them.
    wake: Option<Wake>,
    #[cfg(feature = "tokio")]
    registered: crate::tokio_streams::Registered,
}

#[derive(Debug)]
struct Wake {
    waited_for: Arc<OwnedFd>,
    /// Closing it is the signal.
    _held: OwnedFd,
}

/// Which way a caller waits for.
#[derive(Clone, Copy, Debug)]
enum Way {
    In,
    Out,
}

impl End {
    /// Takes a descriptor over. Its open file description must be of this process alone: it will not block.
    pub(crate) fn new(descriptor: Arc<OwnedFd>) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&descriptor, true)?;
        Ok(Self {
            state: Mutex::new(State {
                descriptor: Some(descriptor),
                wake: None,
                #[cfg(feature = "tokio")]
                registered: crate::tokio_streams::Registered::default(),
            }),
        })
    }

    /// The writing end of a pipe.
    pub(crate) fn writer(writer: io::PipeWriter) -> io::Result<Self> {
        Self::new(Arc::new(writer.into()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The descriptor, unless it was cut off.
    pub(crate) fn descriptor(&self) -> Option<Arc<OwnedFd>> {
        self.lock().descriptor.clone()
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn is_severed(&self) -> bool {
        self.lock().descriptor.is_none()
    }

    /// Closes it: whoever waits is released, and the other side sees the end as soon as they have let go.
    pub(crate) fn sever(&self) {
        let mut state = self.lock();
        let gone = (state.descriptor.take(), state.wake.take());
        #[cfg(feature = "tokio")]
        let gone = (gone, std::mem::take(&mut state.registered));
        drop(state);
        #[cfg(feature = "tokio")]
        gone.1.wake();
        drop(gone);
    }

    /// Reads what there is, or waits for it; `None` when it was cut off.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        self.wait_for(Way::In, |descriptor| {
            end_of_terminal(rustix::io::read(descriptor, &mut *buffer))
        })
    }

    /// Writes what there is room for; `None` when it was cut off.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> Option<io::Result<usize>> {
        let descriptor = self.descriptor()?;
        Some(write_to(descriptor.as_fd(), bytes).map_err(io::Error::from))
    }

    /// Waits until there is room, or somebody calls [`End::wake`]; `None` when it was cut off.
    pub(crate) fn wait_for_room(&self) -> Option<io::Result<()>> {
        let descriptor = self.descriptor()?;
        self.wait(&descriptor, Way::Out)
    }

    /// Has everybody who waits look again.
    pub(crate) fn wake(&self) {
        let mut state = self.lock();
        drop(state.wake.take());
        #[cfg(feature = "tokio")]
        state.registered.wake();
    }

    /// Does something without blocking, as often as it takes; `None` when it was cut off meanwhile.
    fn wait_for<T>(
        &self,
        way: Way,
        mut act: impl FnMut(BorrowedFd<'_>) -> rustix::io::Result<T>,
    ) -> Option<io::Result<T>> {
        loop {
            let descriptor = self.descriptor()?;
            match act(descriptor.as_fd()) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => match self.wait(&descriptor, way)? {
                    Ok(()) => {}
                    Err(error) => return Some(Err(error)),
                },
                done => return Some(done.map_err(io::Error::from)),
            }
        }
    }

    /// Waits until the descriptor is ready or cut off.
    fn wait(&self, descriptor: &OwnedFd, way: Way) -> Option<io::Result<()>> {
        let wake = {
            let mut state = self.lock();
            state.descriptor.as_ref()?;
            match &state.wake {
                Some(wake) => Arc::clone(&wake.waited_for),
                None => match io::pipe() {
                    Ok((reader, writer)) => {
                        let waited_for = Arc::new(OwnedFd::from(reader));
                        state.wake = Some(Wake {
                            waited_for: Arc::clone(&waited_for),
                            _held: writer.into(),
                        });
                        waited_for
                    }
                    Err(error) => return Some(Err(error)),
                },
            }
        };
        let flags = match way {
            Way::In => PollFlags::IN,
            Way::Out => PollFlags::OUT,
        };
        let mut fds = [PollFd::new(descriptor, flags), PollFd::new(&wake, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => Some(Ok(())),
            Err(error) => Some(Err(error.into())),
        }
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn with_registered<T>(
        &self,
        f: impl FnOnce(Option<&Arc<OwnedFd>>, &mut crate::tokio_streams::Registered) -> T,
    ) -> T {
        let mut state = self.lock();
        let State {
            descriptor,
            registered,
            ..
        } = &mut *state;
        f(descriptor.as_ref(), registered)
    }
}

pub(crate) fn write_to(descriptor: BorrowedFd<'_>, bytes: &[u8]) -> rustix::io::Result<usize> {
    let written = ringfence_os::pipe::write(descriptor, bytes);
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// The end of a terminal's output is no error: Linux answers EIO once nobody has the other side open (TTY-7).
pub(crate) fn end_of_terminal(result: rustix::io::Result<usize>) -> rustix::io::Result<usize> {
    match result {
        Err(Errno::IO) => Ok(0),
        other => other,
    }
}
