//! The broker: makes names where Landlock keeps the command from making any.
//!
//! What is closed and does not exist can't be mounted over, and Landlock's rights are about directories, not about
//! names in them. So a *guarded directory* lacks the rights to make names; a filter leaves the calls that do to
//! process 1 of the spawn, which is in the same namespaces and in no Landlock domain. It finds the directory that is
//! meant, once and for all, refuses the names that are closed in it, and makes the others itself. Whatever lies
//! elsewhere, and whatever it does not understand, goes on in the kernel, which decides as if nobody had asked; so no
//! decision of the broker depends on memory or paths that the command may change meanwhile.
//!
//! All guarded directories are roots of mounts: nobody moves them, and the mount an object lies in tells whether it is
//! theirs.

use super::plan::{Guard, Plan};
use super::sys::{self, Answer, Call, Errno, Fd, Path, Site};
use super::{At, Outcome};
use crate::wire::Step;

mod wanted;

use wanted::Wanted;

/// Bytes of a path with its NUL (`PATH_MAX`).
const PATH_BYTES: usize = 4096;
/// Links that a path may lead through (path_resolution(7)).
const MOST_LINKS: usize = 40;
/// `AT_SYMLINK_FOLLOW`.
const FOLLOW: usize = 0x400;
/// `AT_EMPTY_PATH`.
const EMPTY: usize = 0x1000;

/// Who answers the calls of one spawn.
pub(crate) struct Broker<'a> {
    listener: Fd,
    guards: Guards<'a>,
    umask: Umask,
    texts: [&'static mut [u8]; 2],
}

/// What is known of the file mode creation masks of the spawn's processes: to ask for one takes longer than all the rest.
#[derive(Clone, Copy)]
enum Umask {
    /// All have the one they began with.
    Same(usize),
    /// Somebody has set another one.
    Different,
}

/// The guarded directories of a spawn.
pub(crate) struct Guards<'a> {
    plan: Plan<'a>,
    /// Their mounts, in the plan's order.
    mounts: &'static [u8],
}

/// Where a name is, or is to be made.
struct Place<'t> {
    directory: Fd,
    site: Site,
    name: Path<'t>,
    /// Whether slashes follow it: only a directory can be meant.
    is_directory: bool,
}

impl<'a> Broker<'a> {
    /// The broker for whoever sends the listener of its filter; whoever can't install one sends none, and says why itself.
    pub(crate) fn receive(guards: Guards<'a>, from: &Fd) -> sys::Result<Option<Self>> {
        let (_, [listener, ..]) = sys::receive(from.raw(), &mut [0])?;
        let Some(listener) = listener else {
            return Ok(None);
        };
        sys::take_turns(&listener);
        let text = || sys::map(PATH_BYTES, None);
        let own = sys::umask(0);
        sys::umask(own);
        Ok(Some(Self {
            listener,
            guards,
            umask: Umask::Same(own),
            texts: [text()?, text()?],
        }))
    }

    pub(crate) const fn listener(&self) -> &Fd {
        &self.listener
    }

    /// Answers one call.
    pub(crate) fn serve(&mut self) {
        // It may have ended meanwhile.
        if let Ok(call) = sys::next_call(&self.listener) {
            let answer = self.answer(&call).unwrap_or(Answer::Continue);
            sys::answer(&self.listener, &call, answer);
        }
    }

    /// What a call gets; nothing where the kernel is to see to it.
    fn answer(&mut self, call: &Call) -> Option<Answer> {
        let caller = Caller(call.thread);
        match wanted::of(call)? {
            Wanted::Umask { mask } => {
                self.umask = self.umask.after(mask);
                // It is the caller's own.
                None
            }
            Wanted::File {
                at,
                path,
                flags,
                mode,
            } => self.file(&caller, at, path, flags, mode),
            Wanted::Directory { at, path, mode } => {
                let [text, _] = &mut self.texts;
                let place = caller.place(at, path, text)?;
                self.umask.take_on(&caller)?;
                let make = |place: &Place<'_>| sys::mkdir(&place.directory, place.name, mode);
                self.guards.make(&place, make)
            }
            Wanted::Node { at, path, mode } => {
                let [text, _] = &mut self.texts;
                let place = caller.place(at, path, text).filter(Place::is_plain)?;
                self.umask.take_on(&caller)?;
                let make = |place: &Place<'_>| sys::mknod(&place.directory, place.name, mode);
                self.guards.make(&place, make)
            }
            Wanted::Link { content, at, path } => {
                let [text, other] = &mut self.texts;
                let content = caller.text(content, other)?;
                let place = caller.place(at, path, text).filter(Place::is_plain)?;
                let make = |place: &Place<'_>| sys::symlink(content, &place.directory, place.name);
                self.guards.make(&place, make)
            }
            Wanted::Name { old, new, flags } => self.name(&caller, old, new, flags),
            Wanted::Move { old, new, flags } => self.move_(&caller, old, new, flags),
            Wanted::Socket {
                socket,
                address,
                length,
            } => self.socket(&caller, socket, address, length),
        }
    }

    /// Opens a file that may have to be made.
    fn file(&mut self, caller: &Caller, at: i32, path: u64, flags: u64, mode: u64) -> Option<Answer> {
        let [text, content] = &mut self.texts;
        let mut length = caller.read_text(path, text)?;
        let mut base = caller.base(at, text)?;
        for _ in 0..MOST_LINKS {
            let place = place(base, text.get_mut(..length)?).filter(Place::is_plain)?;
            if let Some(errno) = self.guards.refused(&place)? {
                return Some(Answer::Fail(errno));
            }
            self.umask.take_on(caller)?;
            let closes = flags & sys::O_CLOEXEC != 0;
            let open = |ours| sys::open_at(&place.directory, place.name, flags | ours, mode);
            match open(sys::O_EXCL) {
                Ok(file) => return Some(Answer::File(file, closes)),
                Err(sys::EEXIST) if flags & sys::O_EXCL == 0 => {}
                Err(errno) => return Some(Answer::Fail(errno)),
            }
            // Whoever waits for the other end of a pipe, or for a lease to be given back, is not to be this process.
            match open(sys::O_NOFOLLOW | sys::O_NONBLOCK | sys::O_NOCTTY) {
                Ok(file) if is_regular(&file, flags)? => return Some(Answer::File(file, closes)),
                Err(sys::ELOOP) if flags & sys::O_NOFOLLOW == 0 => {}
                // There is something that the kernel opens in its own time, without making anything.
                Ok(_) | Err(sys::ENXIO | sys::EAGAIN) => return None,
                Err(errno) => return Some(Answer::Fail(errno)),
            }
            length = sys::read_link(&place.directory, place.name, content).ok()?;
            *content.get_mut(length)? = 0;
            length += 1;
            base = if content.first() == Some(&b'/') {
                None
            } else {
                Some(place.directory)
            };
            core::mem::swap(text, content);
        }
        Some(Answer::Fail(sys::ELOOP))
    }

    /// Gives a file another name.
    fn name(&mut self, caller: &Caller, old: (i32, u64), new: (i32, u64), flags: usize) -> Option<Answer> {
        let [text, other] = &mut self.texts;
        let to = caller.place(new.0, new.1, other).filter(Place::is_plain)?;
        if flags & (FOLLOW | EMPTY) == 0 {
            let from = caller.place(old.0, old.1, text).filter(Place::is_plain)?;
            self.guards.around(&from.site)?;
            let link = |to: &Place<'_>| sys::link(from.directory.raw(), from.name, &to.directory, to.name, 0);
            return self.guards.make(&to, link);
        }
        let length = caller.read_text(old.1, text)?;
        let file = if flags & EMPTY != 0 && length == 1 {
            caller.descriptor(old.0)?
        } else if let Some(number) = own_descriptor(text.get(..length)?) {
            caller.descriptor(number)?
        } else {
            let base = caller.base(old.0, text)?;
            let path = Path::new(text.get(..length)?);
            resolve(base.as_ref(), path, 0).ok()?
        };
        self.guards.around(&sys::site(&file).ok()?)?;
        let mut buffer = [0; 32];
        let source = sys::descriptor_path(&file, &mut buffer);
        let link = |to: &Place<'_>| sys::link(sys::CWD, source, &to.directory, to.name, FOLLOW);
        self.guards.make(&to, link)
    }

    /// Moves what has a name to another one, or exchanges them.
    fn move_(&mut self, caller: &Caller, old: (i32, u64), new: (i32, u64), flags: usize) -> Option<Answer> {
        const EXCHANGE: usize = 2;
        let [text, other] = &mut self.texts;
        let from = caller.place(old.0, old.1, text)?;
        let to = caller.place(new.0, new.1, other)?;
        self.guards.around(&from.site)?;
        if flags & EXCHANGE != 0
            && let Some(errno) = self.guards.refused(&from)?
        {
            return Some(Answer::Fail(errno));
        }
        if from.is_directory || to.is_directory {
            let directory = sys::O_PATH | sys::O_DIRECTORY | sys::O_NOFOLLOW;
            sys::open_at(&from.directory, from.name, directory, 0).ok()?;
        }
        let rename = |to: &Place<'_>| sys::rename(&from.directory, from.name, &to.directory, to.name, flags);
        self.guards.make(&to, rename)
    }

    /// Gives a socket a path, by which it is known from then on: its name in the directory.
    fn socket(&mut self, caller: &Caller, socket: i32, address: u64, length: u64) -> Option<Answer> {
        const AF_UNIX: [u8; 2] = 1u16.to_ne_bytes();
        const FAMILY: usize = size_of::<u16>();
        let [text, address_bytes] = &mut self.texts;
        let length = usize::try_from(length).ok().filter(|length| *length <= 110)?;
        let bytes = address_bytes.get_mut(..length)?;
        if sys::read_memory(caller.0, address, bytes).ok()? != length {
            return None;
        }
        let path = bytes.strip_prefix(&AF_UNIX)?;
        let end = path.iter().position(|byte| *byte == 0).unwrap_or(length - FAMILY);
        // Without a first byte it is an abstract name, or none.
        let path = path.get(..end).filter(|path| !path.is_empty())?;
        text.get_mut(..end)?.copy_from_slice(path);
        *text.get_mut(end)? = 0;
        let base = caller.base(sys::CWD, text)?;
        let place = place(base, text.get_mut(..=end)?).filter(Place::is_plain)?;
        self.guards.around(&place.site)?;
        self.umask.take_on(caller)?;
        let ours = sys::take_descriptor(caller.status()?.process, socket).ok()?;
        let bind = |place: &Place<'_>| {
            sys::fchdir(&place.directory)?;
            let bound = sys::bind_here(&ours, place.name);
            sys::chdir(Path::new(b"/\0"))?;
            bound
        };
        self.guards.make(&place, bind)
    }
}

impl<'a> Guards<'a> {
    /// Finds those of the plan; nothing where there are none.
    pub(crate) fn find(plan: &Plan<'a>) -> Outcome<'a, Option<Self>> {
        plan.check(Step::Broker)?;
        let count = plan.guard_count();
        if count == 0 {
            return Ok(None);
        }
        let mounts = sys::map(count * size_of::<u64>(), None).at(Step::Broker)?;
        for (slot, guard) in mounts.chunks_exact_mut(size_of::<u64>()).zip(plan.guards()) {
            let open = sys::open(guard.path, sys::O_PATH | sys::O_DIRECTORY | sys::O_CLOEXEC);
            let site = open.and_then(|directory| sys::site(&directory));
            let site = site.at_path(Step::Broker, guard.path)?;
            if !site.is_root {
                return Err(sys::EINVAL).at_path(Step::Broker, guard.path);
            }
            slot.copy_from_slice(&site.mount.to_ne_bytes());
        }
        let plan = plan.clone();
        Ok(Some(Self { plan, mounts }))
    }

    /// The guarded directory in whose mount something lies.
    fn around(&self, site: &Site) -> Option<Guard<'a>> {
        let of = site.mount.to_ne_bytes();
        let mounts = self.mounts.chunks_exact(size_of::<u64>());
        let mut guards = mounts.zip(self.plan.guards());
        guards.find_map(|(mount, guard)| (mount == of).then_some(guard))
    }

    /// How a guarded name is refused if it is closed; nothing for a place that is not guarded.
    fn refused(&self, place: &Place<'_>) -> Option<Option<Errno>> {
        let mut closed = self.around(&place.site)?.names;
        let is_closed = place.site.is_root && closed.any(|name| name.bytes() == place.name.bytes());
        Some(is_closed.then_some(sys::EACCES))
    }

    /// Makes a name where it is guarded and not closed.
    fn make(&self, place: &Place<'_>, make: impl FnOnce(&Place<'_>) -> sys::Result<()>) -> Option<Answer> {
        if let Some(errno) = self.refused(place)? {
            return Some(Answer::Fail(errno));
        }
        Some(match make(place) {
            Ok(()) => Answer::Done,
            Err(errno) => Answer::Fail(errno),
        })
    }
}

/// Whether what was opened is a regular file, which has the flags that were asked for then.
fn is_regular(file: &Fd, flags: u64) -> Option<bool> {
    if sys::site(file).ok()?.kind != sys::S_IFREG {
        return Some(false);
    }
    if flags & sys::O_NONBLOCK == 0 {
        sys::set_status_flags(file, flags).ok()?;
    }
    Some(true)
}

impl Umask {
    /// What is known after somebody has set one.
    fn after(self, mask: usize) -> Self {
        match self {
            Self::Same(same) if same == mask => self,
            _ => Self::Different,
        }
    }

    /// Makes the caller's this process's.
    fn take_on(self, caller: &Caller) -> Option<()> {
        if matches!(self, Self::Different) {
            sys::umask(caller.status()?.umask);
        }
        Some(())
    }
}

/// The thread that made a call.
struct Caller(u32);

/// What the kernel says of a process.
struct Status {
    umask: usize,
    process: u32,
}

impl Caller {
    /// The place that a path means to the caller.
    fn place<'t>(&self, at: i32, path: u64, text: &'t mut [u8]) -> Option<Place<'t>> {
        let length = self.read_text(path, text)?;
        let base = self.base(at, text)?;
        place(base, text.get_mut(..length)?)
    }

    /// A string of the caller's.
    fn text<'t>(&self, address: u64, to: &'t mut [u8]) -> Option<Path<'t>> {
        let length = self.read_text(address, to)?;
        to.get(..length).map(Path::new)
    }

    /// Reads a string; its length with the NUL.
    fn read_text(&self, address: u64, to: &mut [u8]) -> Option<usize> {
        const USUAL: usize = 256;
        for most in [USUAL, to.len()] {
            let to = to.get_mut(..most)?;
            let count = sys::read_memory(self.0, address, to).ok()?;
            let end = to.get(..count)?.iter().position(|byte| *byte == 0);
            if let Some(end) = end {
                return Some(end + 1);
            }
        }
        None
    }

    /// Where a path begins; within, nothing for the root, which is this process's as well.
    fn base(&self, at: i32, path: &[u8]) -> Option<Option<Fd>> {
        match path.first() {
            Some(b'/') => Some(None),
            _ if at == sys::CWD => self.open(b"/cwd", None).map(Some),
            _ => self.descriptor(at).map(Some),
        }
    }

    /// What a descriptor of the caller's is open for.
    fn descriptor(&self, number: i32) -> Option<Fd> {
        self.open(b"/fd/", Some(number.cast_unsigned()))
    }

    fn open(&self, name: &[u8], number: Option<u32>) -> Option<Fd> {
        let mut path = Text::new();
        self.push_directory(&mut path);
        path.push(name);
        if let Some(number) = number {
            path.push_number(number);
        }
        sys::open(path.end(), sys::O_PATH | sys::O_CLOEXEC).ok()
    }

    fn push_directory(&self, path: &mut Text) {
        path.push(b"/proc/");
        path.push_number(self.0);
    }

    /// Its file mode creation mask, and the process it is a thread of.
    fn status(&self) -> Option<Status> {
        let mut path = Text::new();
        self.push_directory(&mut path);
        path.push(b"/status");
        let file = sys::open(path.end(), sys::O_CLOEXEC).ok()?;
        let mut start = [0; 128];
        let count = sys::read(file.raw(), &mut start).ok()?;
        let lines = || {
            start
                .get(..count)
                .unwrap_or_default()
                .split(|byte| *byte == b'\n')
        };
        // The kernel writes what could end a line in the name as `\n`.
        let value = |name: &[u8], radix: u32| {
            let digits = lines().find_map(|line| line.strip_prefix(name))?;
            number(digits, radix)
        };
        Some(Status {
            umask: value(b"Umask:\t", 8)? as usize,
            process: value(b"Tgid:\t", 10)?,
        })
    }
}

/// A path that is put together.
struct Text {
    bytes: [u8; 64],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Self {
            bytes: [0; 64],
            length: 0,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            // One byte stays for the NUL.
            if self.length + 1 < self.bytes.len() {
                self.bytes[self.length] = *byte;
                self.length += 1;
            }
        }
    }

    fn push_number(&mut self, mut number: u32) {
        let mut digits = [0; 10];
        let mut start = digits.len();
        loop {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[start..]);
    }

    fn end(&self) -> Path<'_> {
        Path::new(&self.bytes[..=self.length])
    }
}

/// Splits a path, which ends in a NUL, and finds the directory it leads to.
fn place(base: Option<Fd>, path: &mut [u8]) -> Option<Place<'_>> {
    let (directory, name, is_directory) = split(path)?;
    let directory = match base {
        Some(base) if directory.bytes() == b"." => base,
        base => resolve(base.as_ref(), directory, sys::O_DIRECTORY).ok()?,
    };
    let site = sys::site(&directory).ok()?;
    Some(Place {
        directory,
        site,
        name,
        is_directory,
    })
}

/// Finds what a path leads to. Links of `/proc` would lead elsewhere than for the caller.
fn resolve(base: Option<&Fd>, path: Path<'_>, flags: u64) -> sys::Result<Fd> {
    let base = base.map_or(sys::CWD, Fd::raw);
    let flags = flags | sys::O_PATH | sys::O_CLOEXEC;
    sys::open_resolving(base, path, flags, sys::RESOLVE_NO_MAGICLINKS)
}

/// The directory, the last name, and whether slashes follow it. Nothing where there is no last name: what such paths
/// lead to exists, or is refused by the kernel.
fn split(path: &mut [u8]) -> Option<(Path<'_>, Path<'_>, bool)> {
    let whole = path.len().checked_sub(1)?;
    let end = path.get(..whole)?.iter().rposition(|byte| *byte != b'/')? + 1;
    *path.get_mut(end)? = 0;
    let start = path
        .get(..end)?
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |slash| slash + 1);
    let is_directory = end < whole;
    if matches!(path.get(start..end)?, b"." | b"..") {
        return None;
    }
    let directory: &[u8] = match start {
        0 => b".\0",
        1 => b"/\0",
        _ => {
            *path.get_mut(start - 1)? = 0;
            path.get(..start)?
        }
    };
    Some((
        Path::new(directory),
        Path::new(path.get(start..=end)?),
        is_directory,
    ))
}

/// The number in a path that names a descriptor of whoever uses it.
fn own_descriptor(path: &[u8]) -> Option<i32> {
    let path = path.strip_suffix(b"\0")?;
    let digits = path
        .strip_prefix(b"/proc/self/fd/")
        .or_else(|| path.strip_prefix(b"/proc/thread-self/fd/"))
        .or_else(|| path.strip_prefix(b"/dev/fd/"))?;
    number(digits, 10).and_then(|number| i32::try_from(number).ok())
}

/// A number in digits of a radix.
fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let add = |value: u32, digit: &u8| {
        let digit = char::from(*digit).to_digit(radix)?;
        value.checked_mul(radix)?.checked_add(digit)
    };
    let value = digits.iter().try_fold(0, add)?;
    (!digits.is_empty()).then_some(value)
}

impl Place<'_> {
    /// Whether no slashes follow the name; where they do, nothing but a directory can be made.
    fn is_plain(&self) -> bool {
        !self.is_directory
    }
}

#[cfg(test)]
#[path = "broker_tests.rs"]
mod tests;
