//! Starting a zygote and taking spares from it.

use std::ffi::OsStr;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use ringfence_backend::{SetupFailed, Terminal};
use ringfence_os::spawn;
use ringfence_zygote::plan::Plan;
use ringfence_zygote::wire::{
    Beginning, FAILURE_TAG, Failure, PLAN, READY_TAG, RESTORE_REQUEST, SPARE_REQUEST, Step, TERMINAL_REQUEST,
    USER_NAMESPACE,
};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, send, sendmsg, socketpair,
};
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::ahead::Ahead;
use crate::image;

/// Spares kept for an executor that is in use: with the second, a command that follows another at once does not
/// wait.
const READY: usize = 2;

/// A running zygote; dropping it ends every process of its executor.
#[derive(Debug)]
pub(crate) struct Zygote {
    /// Whether it has a user namespace of its own.
    pub(crate) user_namespace: bool,
    control: OwnedFd,
    /// Spares that have been asked for and not been taken.
    coming: AtomicUsize,
    /// Whether a command has ended.
    served: AtomicBool,
    /// Numbers given to terminals whose settings it holds.
    terminals: AtomicU32,
    /// Process 1 of the executor's pid namespace.
    pidfd: OwnedFd,
    reaped: AtomicBool,
}

/// A zygote whose namespaces are in the making; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Begun {
    beginning: Beginning,
    ends: Unfinished,
}

/// A zygote whose view is in the making; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Building {
    user_namespace: bool,
    /// Whether it could be asked for everything.
    sent: Result<(), Errno>,
    ends: Unfinished,
}

/// What belongs to a zygote that is not ready; nothing once somebody else has it.
#[derive(Debug)]
struct Unfinished(Option<Ends>);

#[derive(Debug)]
struct Ends {
    control: OwnedFd,
    /// The process that makes the namespaces, whose successor is their process 1.
    first: OwnedFd,
}

impl Begun {
    /// Starts one. The directory is for a host that allows no executable memory.
    pub(crate) fn new(beginning: Beginning, base: &Path) -> Result<Self, SetupFailed> {
        let host = rustix::process::getpid();
        let host = pidfd_open(host, PidfdFlags::empty()).map_err(|error| failed(Step::Start, error))?;
        let flags = SocketFlags::CLOEXEC;
        let (control, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map_err(|error| failed(Step::Start, error))?;
        send(&control, &beginning.encode(), SendFlags::NOSIGNAL)
            .map_err(|error| failed(Step::Start, error))?;
        let first = image::execute(base, &[theirs.as_fd(), host.as_fd()])
            .map_err(|error| failed_io(Step::Start, &error))?;
        Ok(Self {
            beginning,
            ends: Unfinished(Some(Ends { control, first })),
        })
    }

    pub(crate) const fn beginning(&self) -> Beginning {
        self.beginning
    }

    /// Gives it its plan, and asks for the first spare.
    pub(crate) fn build(mut self, plan: &Plan) -> Result<Building, SetupFailed> {
        let bytes = plan.encode().map_err(|_| failed(Step::Plan, Errno::INVAL))?;
        let sealed = image::sealed_file("ringfence-plan", &bytes, MemfdFlags::empty())
            .map_err(|error| failed(Step::Plan, error))?;
        let Ends { control, first } = self.ends.take()?;
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let file = [sealed.as_fd()];
        ancillary.push(SendAncillaryMessage::ScmRights(&file));
        let message = [io::IoSlice::new(&[PLAN])];
        // Where it has ended it has said why.
        let sent = sendmsg(&control, &message, &mut ancillary, SendFlags::NOSIGNAL);
        // The first spare's request waits in the socket, so that the zygote needs no further wake-up for it.
        let sent = sent.and_then(|_| send(&control, &[SPARE_REQUEST], SendFlags::NOSIGNAL));
        Ok(Building {
            user_namespace: plan.flags & USER_NAMESPACE != 0,
            sent: sent.map(drop),
            ends: Unfinished(Some(Ends { control, first })),
        })
    }
}

impl Building {
    /// Waits until the view stands.
    pub(crate) fn finish(mut self) -> Result<Zygote, SetupFailed> {
        let Ends { control, first } = self.ends.take()?;
        // Two messages: the pidfd of process 1, then the word that the view stands.
        let pidfd = receive(control.as_fd()).and_then(|mut fds| fds.pop().ok_or_else(protocol));
        let reaped = spawn::reap(&first).map_err(|error| failed_io(Step::Start, &error));
        let zygote = Zygote {
            user_namespace: self.user_namespace,
            control,
            coming: AtomicUsize::new(1),
            served: AtomicBool::new(false),
            terminals: AtomicU32::new(0),
            pidfd: pidfd?,
            reaped: AtomicBool::new(false),
        };
        reaped?;
        receive(zygote.control.as_fd())?;
        self.sent.map_err(|error| failed(Step::Start, error))?;
        Ok(zygote)
    }
}

impl Unfinished {
    fn take(&mut self) -> Result<Ends, SetupFailed> {
        self.0.take().ok_or_else(protocol)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let Some(Ends { control, first }) = self.0.take() else {
            return;
        };
        let successor = receive(control.as_fd()).ok().and_then(|mut fds| fds.pop());
        for process in [Some(first), successor].into_iter().flatten() {
            let _ = pidfd_send_signal(&process, Signal::KILL);
            if let Err(error) = spawn::reap(&process) {
                tracing::warn!(%error, "a zygote that was not needed could not be reaped");
            }
        }
    }
}

/// A spawn that waits for its command.
#[derive(Debug)]
pub(crate) struct Spare {
    pub(crate) command: OwnedFd,
    pub(crate) reports: OwnedFd,
    pub(crate) pidfd: OwnedFd,
    /// The master of its terminal, if it was asked for with one.
    pub(crate) terminal: Option<OwnedFd>,
}

impl Spare {
    fn of(fds: Vec<OwnedFd>) -> Result<Self, SetupFailed> {
        let [command, reports, pidfd] = <[OwnedFd; 3]>::try_from(fds).map_err(|_| protocol())?;
        Ok(Self {
            command,
            reports,
            pidfd,
            terminal: None,
        })
    }
}

impl Zygote {
    /// Starts a zygote and waits until its view stands; one spare is in the making when this returns.
    ///
    /// Where user namespaces can't be had, a caller with user id 0 has real capabilities that do instead.
    pub(crate) fn start(plan: &Plan, ahead: &Ahead) -> Result<Self, SetupFailed> {
        // One that was begun before may not see what was mounted since; then another one does.
        if let Some((_, begun)) = ahead.take(plan.beginning())
            && let Ok(zygote) = begun.build(plan).and_then(Building::finish)
        {
            return Ok(zygote);
        }
        match Self::start_now(plan) {
            Err(failed) if is_namespace_step(&failed) && rustix::process::geteuid().is_root() => {
                let flags = plan.flags & !USER_NAMESPACE;
                Self::start_now(&Plan {
                    flags,
                    ..plan.clone()
                })
                .map_err(|_| failed)
            }
            started => started,
        }
    }

    fn start_now(plan: &Plan) -> Result<Self, SetupFailed> {
        let base = Path::new(OsStr::from_bytes(&plan.base));
        Begun::new(plan.beginning(), base)?.build(plan)?.finish()
    }

    /// Takes a spare: the one that is there or in the making, else a new one. Any number of threads may do so at
    /// once.
    pub(crate) fn take_spare(&self) -> Result<Spare, SetupFailed> {
        let taken = self
            .coming
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |coming| {
                coming.checked_sub(1)
            });
        if taken.is_err() {
            request_spare(&self.control)?;
        }
        Spare::of(receive(self.control.as_fd())?)
    }

    /// Has a spare with a terminal made, which has its size from the beginning.
    pub(crate) fn make_terminal_spare(&self, terminal: &Terminal) -> Result<Spare, SetupFailed> {
        let spare = Spare::of(self.ask(&[TERMINAL_REQUEST], None)?)?;
        let master = match receive(spare.reports.as_fd()) {
            // Process 1 of the spare has ended without one; why, it said on the other socket.
            Err(gone) if is_gone(&gone) => return Err(receive(spare.command.as_fd()).err().unwrap_or(gone)),
            received => received?.pop(),
        };
        let master = master.ok_or_else(protocol)?;
        let size = Winsize {
            ws_row: terminal.rows,
            ws_col: terminal.columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let like = terminal.like.as_ref().map_or(Ok(()), |like| {
            // They go with the command's side, whichever is asked.
            tcsetattr(&master, OptionalActions::Now, &tcgetattr(like)?)
        });
        like.and_then(|()| tcsetwinsize(&master, size))
            .map_err(|error| failed(Step::Terminal, error))?;
        Ok(Spare {
            terminal: Some(master),
            ..spare
        })
    }

    /// Has the present settings of a terminal put back when this process is gone; gives what to forget it by.
    pub(crate) fn restore_at_death(&self, terminal: BorrowedFd<'_>) -> Result<u32, SetupFailed> {
        let number = self.terminals.fetch_add(1, Ordering::Relaxed);
        let request = restore_request(number);
        self.ask(&request, Some(terminal))?;
        Ok(number)
    }

    /// Has nothing put back under this number any more. Does not wait for that.
    pub(crate) fn forget_terminal(&self, number: u32) {
        // One that has ended holds no terminal.
        let _ = send(&self.control, &restore_request(number), SendFlags::NOSIGNAL);
    }

    /// Asks for something whose answer comes on a socket of its own, so that nobody else takes it.
    fn ask(&self, request: &[u8], with: Option<BorrowedFd<'_>>) -> Result<Vec<OwnedFd>, SetupFailed> {
        let pair = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        );
        let (answer, theirs) = pair.map_err(|error| failed(Step::Start, error))?;
        let fds: Vec<BorrowedFd<'_>> = [theirs.as_fd()].into_iter().chain(with).collect();
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        sendmsg(
            &self.control,
            &[io::IoSlice::new(request)],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        )
        .map_err(|error| failed(Step::Start, error))?;
        drop(fds);
        drop(theirs);
        receive(answer.as_fd())
    }

    /// Kills it and everything it started.
    pub(crate) fn kill(&self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }

    /// Kills it and waits until it and everything it started are gone.
    pub(crate) fn end(&self) {
        self.kill();
        self.reaped.store(true, Ordering::Relaxed);
        if let Err(error) = spawn::reap(&self.pidfd) {
            tracing::warn!(%error, "the zygote could not be reaped");
        }
    }

    /// Has spares made for the next commands, up to [`READY`]. Called when a command has ended, so that the work
    /// does not compete with it. After the first one it does nothing: often that is the only one.
    pub(crate) fn make_ready(&self) {
        if !self.served.swap(true, Ordering::Relaxed) {
            return;
        }
        let one_more = |coming| (coming < READY).then_some(coming + 1);
        while self
            .coming
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more)
            .is_ok()
        {
            // A zygote that has ended is noticed by whoever takes the next spare.
            let _ = request_spare(&self.control);
        }
    }
}

impl Drop for Zygote {
    /// Kills it, and has it reaped by a thread of its own: the end of a whole pid namespace takes its time, and this
    /// may be the thread that watches other commands.
    fn drop(&mut self) {
        if *self.reaped.get_mut() {
            return;
        }
        self.kill();
        let Ok(pidfd) = self.pidfd.try_clone() else { return };
        let reaping = std::thread::Builder::new()
            .name("ringfence-reap".to_owned())
            .spawn(move || {
                if let Err(error) = spawn::reap(&pidfd) {
                    tracing::warn!(%error, "the zygote could not be reaped");
                }
            });
        if let Err(error) = reaping {
            tracing::warn!(%error, "no thread to reap the zygote");
        }
    }
}

fn is_namespace_step(failed: &SetupFailed) -> bool {
    failed.step == Step::Unshare.name() || failed.step == Step::IdMap.name()
}

/// Whether a failure only says that the zygote has ended.
pub(crate) fn is_gone(failed: &SetupFailed) -> bool {
    failed.step == Step::Start.name() && failed.errno == Errno::PIPE.raw_os_error()
}

fn restore_request(number: u32) -> Vec<u8> {
    [&[RESTORE_REQUEST][..], &number.to_ne_bytes()].concat()
}

fn request_spare(control: &OwnedFd) -> Result<(), SetupFailed> {
    send(control, &[SPARE_REQUEST], SendFlags::NOSIGNAL)
        .map(drop)
        .map_err(|error| failed(Step::Start, error))
}

/// One message of the zygote: its descriptors if it says ready, else the failure.
fn receive(control: BorrowedFd<'_>) -> Result<Vec<OwnedFd>, SetupFailed> {
    let mut bytes = [0u8; size_of::<Failure>()];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let message = loop {
        let mut vectors = [IoSliceMut::new(&mut bytes)];
        match recvmsg(control, &mut vectors, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            // The zygote ended with a request unread; what it said before that comes next.
            Err(Errno::INTR | Errno::CONNRESET) => {}
            Err(error) => return Err(failed(Step::Start, error)),
            Ok(message) => break message,
        }
    };
    let fds = ancillary
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten()
        .collect();
    if message.bytes == 0 {
        return Err(failed(Step::Start, Errno::PIPE));
    }
    match tag(&bytes[..message.bytes]) {
        Some(READY_TAG) => Ok(fds),
        Some(FAILURE_TAG) => Err(decode_failure(&bytes[..message.bytes]).unwrap_or_else(protocol)),
        _ => Err(protocol()),
    }
}

/// The first word of a message.
pub(crate) fn tag(message: &[u8]) -> Option<u32> {
    message.first_chunk().map(|word| u32::from_ne_bytes(*word))
}

/// A [`Failure`] as the named error it is for the caller.
pub(crate) fn decode_failure(message: &[u8]) -> Option<SetupFailed> {
    use std::os::unix::ffi::OsStringExt;
    let mut reader = ringfence_zygote::wire::Reader::new(message);
    let (_, step, errno, length) = (reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?);
    let step = Step::from_wire(u8::try_from(step).ok()?)?;
    let path = message.get(16..16 + usize::try_from(length).ok()?)?;
    Some(SetupFailed {
        step: step.name(),
        errno: errno.cast_signed(),
        path: (!path.is_empty()).then(|| PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()))),
    })
}

pub(crate) fn failed(step: Step, error: Errno) -> SetupFailed {
    SetupFailed {
        step: step.name(),
        errno: error.raw_os_error(),
        path: None,
    }
}

fn failed_io(step: Step, error: &io::Error) -> SetupFailed {
    SetupFailed {
        step: step.name(),
        errno: error.raw_os_error().unwrap_or_default(),
        path: None,
    }
}

fn protocol() -> SetupFailed {
    failed(Step::Start, Errno::PROTO)
}

#[cfg(test)]
#[path = "zygote_tests.rs"]
mod tests;
