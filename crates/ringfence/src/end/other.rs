//! One end of a stream that can be cut off, where nothing but pipes exist and waiting for them can't be interrupted.

use std::io::{self, PipeWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A pipe that [`End::sever`] closes, as soon as a write that is waiting is done.
#[derive(Debug)]
pub(crate) struct End(Mutex<Option<Arc<PipeWriter>>>);

impl End {
    #[expect(clippy::unnecessary_wraps, reason = "on other systems it can fail")]
    pub(crate) fn writer(writer: PipeWriter) -> io::Result<Self> {
        Ok(Self(Mutex::new(Some(Arc::new(writer)))))
    }

    fn writing(&self) -> Option<Arc<PipeWriter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn sever(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Writes, waiting for room.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> Option<io::Result<usize>> {
        Some((&*self.writing()?).write(bytes))
    }

    /// There is nothing to wait for: writing waits.
    pub(crate) fn wait_for_room(&self) -> Option<io::Result<()>> {
        self.writing().map(|_| Ok(()))
    }

    pub(crate) const fn wake(&self) {}
}
