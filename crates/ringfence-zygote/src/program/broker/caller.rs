//! Whoever made a call: what is in its memory, what its descriptors are open for.

use super::path::{Text, number, place};
use super::wanted::At;
use super::{Fd, Path, Place, sys};

pub(super) struct Caller {
    /// The thread, or another process that is asked about.
    thread: u32,
    /// The mount that must be its root, where some have another one.
    root: Option<u64>,
}

impl Caller {
    pub(super) const fn new(thread: u32, root: Option<u64>) -> Self {
        Self { thread, root }
    }

    /// The place that a path means to the caller.
    pub(super) fn place<'t>(&self, (at, path): At, text: &'t mut [u8]) -> Option<Place<'t>> {
        let length = self.read_text(path, text)?;
        let base = self.base(at, text)?;
        place(base, text.get_mut(..length)?)
    }

    /// A string of the caller's.
    pub(super) fn text<'t>(&self, address: u64, to: &'t mut [u8]) -> Option<Path<'t>> {
        let length = self.read_text(address, to)?;
        to.get(..length).map(Path::new)
    }

    /// Reads a string; its length with the NUL.
    pub(super) fn read_text(&self, address: u64, to: &mut [u8]) -> Option<usize> {
        const USUAL: usize = 256;
        for most in [USUAL, to.len()] {
            let to = to.get_mut(..most)?;
            let count = sys::read_memory(self.thread, address, to).ok()?;
            let end = to.get(..count)?.iter().position(|byte| *byte == 0);
            if let Some(end) = end {
                return Some(end + 1);
            }
        }
        None
    }

    /// The path in a socket address; nothing where it has none.
    pub(super) fn socket_path<'t>(&self, address: u64, length: usize, to: &'t mut [u8]) -> Option<Path<'t>> {
        const AF_UNIX: [u8; 2] = 1u16.to_ne_bytes();
        /// Of `struct sockaddr_un`.
        const MOST: usize = 110;
        let bytes = to.get_mut(..length).filter(|bytes| bytes.len() <= MOST)?;
        if sys::read_memory(self.thread, address, bytes).ok()? != length {
            return None;
        }
        let path = bytes.strip_prefix(&AF_UNIX)?;
        let end = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
        // Without a first byte it is an abstract name, or none.
        let end = AF_UNIX.len() + Some(end).filter(|end| *end > 0)?;
        *to.get_mut(end)? = 0;
        to.get(AF_UNIX.len()..=end).map(Path::new)
    }

    /// Where a path begins; within, nothing for the root, which is this process's as well.
    pub(super) fn base(&self, at: i32, path: &[u8]) -> Option<Option<Fd>> {
        let base = match path.first() {
            Some(b'/') => None,
            _ if at == sys::CWD => Some(self.open(b"/cwd", None)?),
            _ => Some(self.descriptor(at)?),
        };
        // Last: who enters another root first, and then a directory there, is seen.
        self.shares_root().then_some(base)
    }

    /// Whether a path leads the caller where it leads this process.
    fn shares_root(&self) -> bool {
        let is_it = |own| {
            let root = self.open(b"/root", None).and_then(|root| sys::site(&root).ok());
            root.is_some_and(|root| root.is_root && root.mount == own)
        };
        self.root.is_none_or(is_it)
    }

    /// What a descriptor of the caller's is open for.
    pub(super) fn descriptor(&self, number: i32) -> Option<Fd> {
        self.open(b"/fd/", Some(number.cast_unsigned()))
    }

    /// A descriptor of our own for the same open file.
    pub(super) fn take_descriptor(&self, number: i32) -> Option<Fd> {
        let of_thread = sys::take_descriptor_of_thread(self.thread, number);
        let of_process = || sys::take_descriptor(self.process()?, number).ok();
        let taken = of_thread.ok().or_else(of_process)?;
        // A thread may have a table of its own, of which older kernels know nothing.
        let identity = |of: &Fd| sys::stat(of.raw()).map(|seen| (seen.device, seen.inode)).ok();
        (identity(&taken)? == identity(&self.descriptor(number)?)?).then_some(taken)
    }

    /// Its file mode creation mask.
    pub(super) fn umask(&self) -> Option<usize> {
        self.value(b"Umask:\t", 8).map(|mask| mask as usize)
    }

    /// The process it is a thread of.
    pub(super) fn process(&self) -> Option<u32> {
        self.value(b"Tgid:\t", 10)
    }

    /// Whether there is no such process any more; where that can't be told, there is.
    pub(super) fn is_gone(&self) -> bool {
        matches!(
            sys::open(self.directory().end(), sys::O_PATH | sys::O_CLOEXEC),
            Err(sys::ENOENT | sys::ESRCH)
        )
    }

    /// The process whose child it is.
    pub(super) fn parent(&self) -> Option<u32> {
        self.value(b"PPid:\t", 10)
    }

    /// A number that the kernel says of it.
    fn value(&self, name: &[u8], radix: u32) -> Option<u32> {
        let mut path = self.directory();
        path.push(b"/status");
        let file = sys::open(path.end(), sys::O_CLOEXEC).ok()?;
        // The process whose child it is comes seventh, within 200 bytes, since a name has 15.
        let mut start = [0; 256];
        let count = sys::read(file.raw(), &mut start).ok()?;
        // What could end a line in the name of the program is written as `\n`.
        let mut lines = start.get(..count)?.split(|byte| *byte == b'\n');
        lines
            .find_map(|line| line.strip_prefix(name))
            .and_then(|digits| number(digits, radix))
    }

    fn open(&self, name: &[u8], number: Option<u32>) -> Option<Fd> {
        let mut path = self.directory();
        path.push(name);
        if let Some(number) = number {
            path.push_number(number);
        }
        sys::open(path.end(), sys::O_PATH | sys::O_CLOEXEC).ok()
    }

    fn directory(&self) -> Text {
        let mut path = Text::new();
        path.push(b"/proc/");
        path.push_number(self.thread);
        path
    }
}
