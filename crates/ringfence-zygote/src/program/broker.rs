//! The broker: makes names where Landlock keeps the command from making any.
//!
//! What is closed and does not exist can't be mounted over, and Landlock's rights are about directories, not about
//! names in them. So a *guarded directory* lacks the rights to make names; a filter leaves the calls that do to
//! process 1 of the spawn, which is in the same namespaces, and in the command's Landlock domain but for those rights.
//! It finds the directory that is meant, once and for all, refuses the names that are closed in it, and makes the
//! others itself. Whatever lies elsewhere, and whatever it does not understand, goes on in the kernel, which decides as
//! if nobody had asked; so no decision of the broker depends on memory or paths that the command may change meanwhile.

use super::plan::Plan;
use super::sys::{self, Answer, Call, Errno, Fd, Path};

mod caller;
mod guards;
mod layers;
mod path;
mod wanted;

use caller::Caller;
pub(crate) use guards::Guards;
use layers::Layers;
use path::{Place, own_descriptor, place, resolve};
use wanted::{Asked, At, Wanted};

/// Bytes of a path with its NUL (`PATH_MAX`).
const PATH_BYTES: usize = 4096;
/// Links that a path may lead through (path_resolution(7)).
const MOST_LINKS: usize = 40;
/// How often a file that comes and goes is tried to be opened or made.
const TRIES: usize = 16;

/// Who answers the calls of one spawn.
pub(crate) struct Broker<'a> {
    listener: Fd,
    guards: Guards<'a>,
    umask: Umask,
    layers: Layers,
    /// The mount that is the root, where others may have another one.
    root: Option<u64>,
    /// Room for what is read of the caller.
    texts: [&'static mut [u8]; 2],
}

/// What is known of the file mode creation masks of the spawn's processes: to ask for one takes longer than much of the
/// rest.
#[derive(Clone, Copy)]
enum Umask {
    /// All have the one they began with.
    Same(usize),
    /// Somebody has set another one.
    Different,
}

impl<'a> Broker<'a> {
    /// The broker for whoever sends the listener of its filter; whoever can't install one sends none, and says why itself.
    ///
    /// `nested` tells whether commands may make namespaces of their own.
    pub(crate) fn receive(
        guards: Guards<'a>,
        from: &Fd,
        target: i32,
        nested: bool,
    ) -> sys::Result<Option<Self>> {
        let (_, [listener, ..]) = sys::receive(from.raw(), &mut [0])?;
        let Some(listener) = listener else {
            return Ok(None);
        };
        sys::take_turns(&listener);
        let text = || sys::map(PATH_BYTES, None);
        let own = sys::umask(0);
        sys::umask(own);
        let root = if nested {
            let root = sys::open(Path::new(b"/\0"), sys::O_PATH | sys::O_CLOEXEC)?;
            Some(sys::site(&root)?.mount)
        } else {
            None
        };
        Ok(Some(Self {
            listener,
            guards,
            umask: Umask::Same(own),
            layers: Layers::new(target.cast_unsigned()),
            root,
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
        let caller = Caller::new(call.thread, self.root);
        match wanted::of(call)? {
            Asked::Name(wanted) => {
                // In this order: then it was this caller who was asked about, not who has its number now.
                let is_outside =
                    !self.layers.may_be_inside(&caller) && sys::still_waits(&self.listener, call);
                return is_outside.then(|| self.name(&caller, wanted))?;
            }
            // What follows the kernel does; here it is remembered.
            Asked::Umask { mask } => self.umask = self.umask.after(mask),
            Asked::Layer => self.layers.enter(&caller),
            Asked::Adoption => self.layers.adopt(),
            Asked::Sister => self.layers.give_away(&caller),
        }
        None
    }

    /// What a call that makes a name gets.
    fn name(&mut self, caller: &Caller, wanted: Wanted) -> Option<Answer> {
        match wanted {
            Wanted::File { at, flags, mode } => self.file(caller, at, flags, mode),
            Wanted::Directory { at, mode } => {
                let [path, _] = &mut self.texts;
                let place = caller.place(at, path)?;
                self.umask.take_on(caller)?;
                self.guards
                    .make(&place, |place| sys::mkdir(&place.directory, place.name, mode))
            }
            Wanted::Node { at, mode } => {
                let [path, _] = &mut self.texts;
                let place = caller.place(at, path).filter(Place::is_plain)?;
                self.umask.take_on(caller)?;
                self.guards
                    .make(&place, |place| sys::mknod(&place.directory, place.name, mode))
            }
            Wanted::SymbolicLink { content, at } => {
                let [path, target] = &mut self.texts;
                let target = caller.text(content, target)?;
                let place = caller.place(at, path).filter(Place::is_plain)?;
                self.guards
                    .make(&place, |place| sys::symlink(target, &place.directory, place.name))
            }
            Wanted::HardLink { old, new, flags } => self.hard_link(caller, old, new, flags),
            Wanted::Rename { old, new, flags } => self.rename(caller, old, new, flags),
            Wanted::Socket {
                socket,
                address,
                length,
            } => self.socket(caller, socket, address, length),
        }
    }

    /// Opens a file that may have to be made, wherever links lead.
    fn file(&mut self, caller: &Caller, (at, path): At, flags: u64, mode: u64) -> Option<Answer> {
        let [text, target] = &mut self.texts;
        let mut length = caller.read_text(path, text)?;
        let mut base = caller.base(at, text)?;
        for _ in 0..MOST_LINKS {
            let place = place(base, text.get_mut(..length)?).filter(Place::is_plain)?;
            if let Some(errno) = self.guards.refused(&place)? {
                return Some(Answer::Fail(errno));
            }
            self.umask.take_on(caller)?;
            match open_or_make(&place, flags, mode) {
                Opened::File(file) => {
                    return Some(Answer::File {
                        file,
                        closes: flags & sys::O_CLOEXEC != 0,
                        truncates: truncates_later(flags),
                    });
                }
                Opened::Failed(errno) => return Some(Answer::Fail(errno)),
                Opened::OfTheKernel => return None,
                Opened::Link => {}
            }
            length = sys::read_link(&place.directory, place.name, target).ok()?;
            *target.get_mut(length)? = 0;
            length += 1;
            let is_absolute = target.first() == Some(&b'/');
            base = (!is_absolute).then_some(place.directory);
            core::mem::swap(text, target);
        }
        Some(Answer::Fail(sys::ELOOP))
    }

    /// Gives a file another name.
    fn hard_link(&mut self, caller: &Caller, old: At, new: At, flags: usize) -> Option<Answer> {
        let [old_path, new_path] = &mut self.texts;
        let to = caller.place(new, new_path).filter(Place::is_plain)?;
        let length = caller.read_text(old.1, old_path)?;
        let text = old_path.get(..length)?;
        let is_empty = flags & sys::AT_EMPTY_PATH != 0 && length == 1;
        let follows = flags & sys::AT_SYMLINK_FOLLOW != 0;
        let file = if is_empty {
            caller.descriptor(old.0)?
        } else if !follows {
            let from = caller.place(old, old_path).filter(Place::is_plain)?;
            self.guards.around(&from.site)?;
            let link = |to: &Place<'_>| sys::link(from.directory.raw(), from.name, &to.directory, to.name, 0);
            return self.guards.make(&to, link);
        } else if let Some(number) = own_descriptor(text) {
            caller.descriptor(number)?
        } else {
            let base = caller.base(old.0, text)?;
            resolve(base.as_ref(), Path::new(text), 0).ok()?
        };
        self.guards.around(&sys::site(&file).ok()?)?;
        let mut buffer = [0; 32];
        let source = sys::descriptor_path(&file, &mut buffer);
        let follow = sys::AT_SYMLINK_FOLLOW;
        self.guards.make(&to, |to| {
            sys::link(sys::CWD, source, &to.directory, to.name, follow)
        })
    }

    /// Moves what has a name to another one, or exchanges them.
    fn rename(&mut self, caller: &Caller, old: At, new: At, flags: usize) -> Option<Answer> {
        let [old_path, new_path] = &mut self.texts;
        let from = caller.place(old, old_path)?;
        let to = caller.place(new, new_path)?;
        self.guards.around(&from.site)?;
        if flags & sys::RENAME_EXCHANGE != 0
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

    /// Gives a socket a path, by which it is known from then on.
    fn socket(&mut self, caller: &Caller, socket: i32, address: u64, length: usize) -> Option<Answer> {
        let [text, given] = &mut self.texts;
        let path = caller.socket_path(address, length, given)?;
        let text = text.get_mut(..path.bytes().len() + 1)?;
        text.copy_from_slice(path.with_nul());
        let base = caller.base(sys::CWD, text)?;
        let place = place(base, text).filter(Place::is_plain)?;
        self.guards.around(&place.site)?;
        self.umask.take_on(caller)?;
        let socket = caller.take_descriptor(socket)?;
        // A name that is closed nowhere can be made by the whole path, whatever is on the way meanwhile; where one is,
        // the directory that was found is the one to make it in.
        let (directory, address) = if self.guards.is_closed_anywhere(place.name) {
            (None, place.name)
        } else {
            (caller.base(sys::CWD, path.bytes())?, path)
        };
        self.guards.make(&place, |place| {
            sys::fchdir(directory.as_ref().unwrap_or(&place.directory))?;
            let bound = sys::bind_path(&socket, address);
            sys::chdir(Path::new(b"/\0"))?;
            bound
        })
    }
}

/// What came of opening a file.
enum Opened {
    File(Fd),
    Failed(Errno),
    /// There is a link, which is to be followed.
    Link,
    /// There is something that the kernel opens in its own time, without making anything.
    OfTheKernel,
}

fn open_or_make(place: &Place<'_>, flags: u64, mode: u64) -> Opened {
    for _ in 0..TRIES {
        match sys::open_at(
            &place.directory,
            place.name,
            flags | sys::O_EXCL | sys::O_NOCTTY,
            mode,
        ) {
            Ok(file) if flags & sys::O_EXCL == 0 && can_be_opened(&file, flags) => {
                return Opened::OfTheKernel;
            }
            Ok(file) => return Opened::File(file),
            Err(sys::EEXIST) if flags & sys::O_EXCL == 0 => {}
            Err(errno) => return Opened::Failed(errno),
        }
        match open_what_exists(place, flags) {
            // Gone again, or another thing than it was just now.
            Err(sys::ENOENT) => {}
            Err(sys::ELOOP) if flags & sys::O_NOFOLLOW == 0 => {}
            Err(sys::ENXIO | sys::EAGAIN) => return Opened::OfTheKernel,
            Err(errno) => return Opened::Failed(errno),
            Ok(opened) => return opened,
        }
    }
    Opened::OfTheKernel
}

/// Whether whoever had a file made can open it as well, which takes a third of the time that handing over a descriptor
/// does: its mode may allow less than whoever makes a file is given.
fn can_be_opened(file: &Fd, flags: u64) -> bool {
    const OWNER_READS: u16 = 0o400;
    const OWNER_WRITES: u16 = 0o200;
    let needed = match flags & sys::O_ACCMODE {
        _ if flags & sys::O_TRUNC != 0 => OWNER_READS | OWNER_WRITES,
        0 => OWNER_READS,
        sys::O_WRONLY => OWNER_WRITES,
        _ => OWNER_READS | OWNER_WRITES,
    };
    sys::site(file).is_ok_and(|site| site.mode & needed == needed)
}

/// Opens a regular file. Nothing else is touched: whoever waits for the other end of a pipe would find one, and be left.
fn open_what_exists(place: &Place<'_>, flags: u64) -> sys::Result<Opened> {
    let seen = sys::open_at(&place.directory, place.name, sys::O_PATH | sys::O_NOFOLLOW, 0)?;
    match sys::site(&seen)?.mode & sys::S_IFMT {
        sys::S_IFREG => {}
        sys::S_IFLNK if flags & sys::O_NOFOLLOW != 0 => return Err(sys::ELOOP),
        sys::S_IFLNK => return Ok(Opened::Link),
        // What may have to be made is never a directory.
        sys::S_IFDIR => return Err(sys::EISDIR),
        _ => return Ok(Opened::OfTheKernel),
    }
    // Whoever has a lease on it is not to keep this process waiting.
    let mut ours = flags & !(sys::O_CREAT | sys::O_CLOEXEC) | sys::O_NONBLOCK | sys::O_NOCTTY;
    if truncates_later(flags) {
        ours &= !sys::O_TRUNC;
    }
    let resolve = sys::RESOLVE_NO_SYMLINKS;
    let file = sys::open_resolving(place.directory.raw(), place.name, ours | sys::O_CLOEXEC, resolve)?;
    if sys::site(&file)?.mode & sys::S_IFMT != sys::S_IFREG {
        return Ok(Opened::OfTheKernel);
    }
    if flags & sys::O_NONBLOCK == 0 {
        sys::set_status_flags(&file, flags)?;
    }
    Ok(Opened::File(file))
}

/// Whether a file loses its content once the caller has its descriptor, as it would not if there were no room for one.
const fn truncates_later(flags: u64) -> bool {
    flags & sys::O_TRUNC != 0 && flags & sys::O_ACCMODE != 0
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
            sys::umask(caller.umask()?);
        }
        Some(())
    }
}
