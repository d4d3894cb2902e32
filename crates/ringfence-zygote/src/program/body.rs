//! From the first instruction to the request loop.
//!
//! One zygote serves one executor. It creates the executor's namespaces, builds the file view, and then
//! keeps making *spares*: process 1 of a spawn, complete but for its one command. It ends with the host,
//! and the kernel ends everything it started.

// As a module of the library this is compiled for the lints and the tests only.
#![cfg_attr(
    not(zygote_program),
    allow(dead_code, reason = "the library never runs the program")
)]

mod broker;
mod memory;
mod namespaces;
pub(crate) mod plan;
mod remount;
pub(crate) mod spare;
pub(crate) mod sys;
mod terminal;
mod view;

use crate::wire::{self, Beginning, FAILURE_TAG, Failure, Step};
use plan::Plan;
use sys::{Errno, Fd, Path, Poll};

/// Why a step failed.
pub(crate) struct Failed<'a> {
    step: Step,
    errno: Errno,
    path: &'a [u8],
}

/// The result of a set-up step.
pub(crate) type Outcome<'a, T> = Result<T, Failed<'a>>;

/// Names the step, and the path, of a failing call.
pub(crate) trait At<'a, T> {
    fn at(self, step: Step) -> Outcome<'a, T>;
    fn at_path(self, step: Step, path: Path<'a>) -> Outcome<'a, T>;
}

impl<'a, T> At<'a, T> for sys::Result<T> {
    fn at(self, step: Step) -> Outcome<'a, T> {
        self.map_err(|errno| Failed {
            step,
            errno,
            path: &[],
        })
    }

    fn at_path(self, step: Step, path: Path<'a>) -> Outcome<'a, T> {
        self.map_err(|errno| Failed {
            step,
            errno,
            path: path.bytes(),
        })
    }
}

/// The entry point, called once on the initial stack.
pub(crate) extern "C" fn main() -> ! {
    let mut held = Held {
        control: Fd::owned(wire::CONTROL_FD),
        host: Fd::owned(wire::HOST_FD),
        terminals: [const { None }; 4],
        objects: spare::Objects::NONE,
    };
    if let Err(failed) = start(&mut held) {
        report(&held.control, &failed);
    }
    sys::exit(1)
}

/// What the zygote alone holds: no spawn gets any of it.
pub(crate) struct Held {
    control: Fd,
    /// The host's pidfd.
    host: Fd,
    /// Terminals of the host's with the settings they had, by the host's numbers.
    terminals: [Option<(u32, terminal::Settings)>; 4],
    /// What spawns make their rules of; they inherit it.
    objects: spare::Objects,
}

impl Held {
    /// Closes it, in a process that is not the zygote, all but what is meant for that.
    pub(crate) fn close(&self) {
        drop((Fd::owned(self.control.raw()), Fd::owned(self.host.raw())));
        for (_, terminal) in self.terminals.iter().flatten() {
            terminal.close();
        }
    }

    /// Remembers a terminal under a number, or forgets it.
    fn keep(&mut self, number: u32, terminal: Option<Fd>) -> sys::Result<()> {
        let is_it = |slot: &&mut Option<_>| matches!(slot, Some((other, _)) if *other == number);
        if let Some(slot) = self.terminals.iter_mut().find(is_it) {
            *slot = None;
        }
        if let Some(terminal) = terminal {
            let free = self.terminals.iter_mut().find(|slot| slot.is_none());
            *free.ok_or(sys::ENOSPC)? = Some((number, terminal::Settings::of(terminal)?));
        }
        Ok(())
    }
}

/// Creates the namespaces and continues as their process 1, which is the zygote proper.
fn start(held: &mut Held) -> Outcome<'static, ()> {
    reset_inherited_state().at(Step::Start)?;
    let beginning = Beginning::receive(&held.control)?;
    beginning.check(Step::Start)?;
    namespaces::create(&beginning)?;

    beginning.check(Step::Fork)?;
    let [first_gone, first_alive] = sys::socketpair(sys::SOCK_STREAM).at(Step::Fork)?;
    match sys::fork(sys::CLONE_PARENT | sys::CLONE_PIDFD).at(Step::Fork)? {
        sys::Forked::Parent(_, pidfd) => {
            let pidfd = pidfd.ok_or(sys::EINVAL).at(Step::Fork)?;
            // From here on the new process 1 answers; this one only hands over its pidfd.
            let _ = sys::send(held.control.raw(), &wire::READY_TAG.to_ne_bytes(), &[pidfd.raw()]);
            sys::exit(0)
        }
        sys::Forked::Child => {
            // The host must have the pidfd before it hears from this process: only then can it reap it.
            drop(first_alive);
            sys::read(first_gone.raw(), &mut [0]).at(Step::Fork)?;
            drop(first_gone);
            let Some(plan) = await_plan(held)? else {
                return Ok(());
            };
            plan.check(Step::Plan)?;
            prepare(&plan)?;
            if plan.handled != 0 {
                held.objects = spare::Objects::open(&plan);
            }
            ready(&held.control).at(Step::Start)?;
            serve(&plan, held)
        }
    }
}

/// Descriptors, signals, session and directory of whoever started the host are none of the command's.
fn reset_inherited_state() -> sys::Result<()> {
    // Occupied, so that no later descriptor gets a number the command's streams are to have.
    occupy_standard_streams()?;
    sys::close_range(wire::HOST_FD + 1, i32::MAX)?;
    for signal in 1..=64 {
        // KILL and STOP refuse, as do numbers the kernel keeps for itself.
        let _ = sys::disposition(signal, false);
    }
    sys::signal_mask(0)?;
    // Ended spares are reaped by the kernel; the host learns of their end from pidfd and socket.
    sys::disposition(sys::SIGCHLD, true)?;
    sys::setsid()
}

/// By something that tells nobody anything.
fn occupy_standard_streams() -> sys::Result<()> {
    let nothing = sys::signalfd(0)?;
    for standard in (0..3).filter(|standard| *standard != nothing.raw()) {
        sys::duplicate(nothing.raw(), standard)?;
    }
    if nothing.raw() < 3 {
        // It is one of them.
        nothing.into_raw();
    }
    Ok(())
}

/// Waits for the plan; nothing if the host is gone before it has sent one.
fn await_plan(held: &Held) -> Outcome<'static, Option<Plan<'static>>> {
    let mut fds = [
        Poll::readable(held.host.raw()),
        Poll::readable(held.control.raw()),
    ];
    sys::poll(&mut fds).at(Step::Plan)?;
    let [host_ended, _] = fds.map(|fd| fd.is_ready());
    if host_ended {
        return Ok(None);
    }
    let mut message = [0u8; 1];
    let (count, fds) = sys::receive(held.control.raw(), &mut message).at(Step::Plan)?;
    match (count, message, fds) {
        (0, ..) => Ok(None),
        (_, [wire::PLAN], [Some(file), ..]) => Plan::map(&file).map(Some),
        _ => Err(sys::EPROTO).at(Step::Plan),
    }
}

fn prepare<'a>(plan: &Plan<'a>) -> Outcome<'a, ()> {
    let mask = sys::umask(0);
    namespaces::enter(plan)?;
    view::build(plan)?;
    namespaces::drop_privileges(plan)?;
    sys::umask(mask);
    Ok(())
}

/// Answers the host's requests until it is gone.
fn serve<'a>(plan: &Plan<'a>, held: &mut Held) -> Outcome<'a, ()> {
    loop {
        let mut fds = [
            Poll::readable(held.host.raw()),
            Poll::readable(held.control.raw()),
        ];
        sys::poll(&mut fds).at(Step::Spare)?;
        let [host_ended, requested] = fds.map(|fd| fd.is_ready());
        if host_ended || requested && !answer(plan, held)? {
            // A host that dies closes its end before its pidfd tells of it.
            for (_, terminal) in held.terminals.iter().flatten() {
                terminal.restore();
            }
            return Ok(());
        }
    }
}

/// Answers one request; `false` when the host has closed its end.
fn answer<'a>(plan: &Plan<'a>, held: &mut Held) -> Outcome<'a, bool> {
    let mut request = [0u8; 5];
    let (_, fds) = match sys::receive(held.control.raw(), &mut request) {
        // Reset where it had not taken every answer.
        Ok((0, _)) | Err(sys::ECONNRESET) => return Ok(false),
        received => received.at(Step::Spare)?,
    };
    let [request, number @ ..] = request;
    match (request, fds) {
        (wire::SPARE_REQUEST, _) => {
            if let Err(failed) = spare::make(plan, held, &held.control, false) {
                report(&held.control, &failed);
            }
        }
        (wire::TERMINAL_REQUEST, [Some(to), ..]) => {
            if let Err(failed) = spare::make(plan, held, &to, true) {
                report(&to, &failed);
            }
        }
        (wire::RESTORE_REQUEST, [to, terminal, _]) => {
            let kept = held.keep(u32::from_ne_bytes(number), terminal);
            match (to, kept) {
                (Some(to), Ok(())) => drop(ready(&to)),
                (Some(to), Err(errno)) => {
                    let (step, path) = (Step::Terminal, &[][..]);
                    report(&to, &Failed { step, errno, path });
                }
                // Nobody waits for an answer.
                (None, _) => {}
            }
        }
        _ => return Err(sys::EPROTO).at(Step::Spare),
    }
    Ok(true)
}

/// Says that something stands.
fn ready(to: &Fd) -> sys::Result<()> {
    sys::send(to.raw(), &wire::READY_TAG.to_ne_bytes(), &[]).map(drop)
}

/// Tells the other end of a socket which step failed.
pub(crate) fn report(to: &Fd, failed: &Failed<'_>) {
    let mut message = Failure {
        tag: FAILURE_TAG,
        step: failed.step as u32,
        errno: failed.errno,
        path_len: 0,
        path: [0; 1024],
    };
    let length = failed.path.len().min(message.path.len());
    if let (Some(to), Some(from)) = (message.path.get_mut(..length), failed.path.get(..length)) {
        to.copy_from_slice(from);
    }
    message.path_len = u32::try_from(length).unwrap_or(0);
    let _ = sys::send(to.raw(), bytes_of(&message), &[]);
}

/// The bytes of a wire type.
pub(crate) fn bytes_of<T: wire::Plain>(value: &T) -> &[u8] {
    // SAFETY: `Plain` types are `repr(C)`, have no padding, and outlive the borrow.
    unsafe { core::slice::from_raw_parts(core::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) }
}
