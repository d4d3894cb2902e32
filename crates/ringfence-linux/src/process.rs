//! One running command: events, signals, kill.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ringfence_backend::{
    Containment, Event, ExitStatus, HostDeath, Lifetime, LifetimeContainment, Signal, SignalError, Stream,
    Usage, Watch,
};
use ringfence_host::cgroup::Scope;
use ringfence_policy::{Limit, Report};
use ringfence_zygote::wire::{EMPTY_TAG, EXIT_TAG, Failure, Step};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::process::{Signal as KernelSignal, pidfd_send_signal};

use crate::limits;
use crate::zygote::{Spare, Zygote, decode_failure, tag};

/// A spawn that has been given its command.
#[derive(Debug)]
pub(crate) struct Process {
    spare: Spare,
    has_terminal: bool,
    /// The master of the terminal, until it is hung up.
    terminal: Mutex<Option<Arc<Stream>>>,
    /// By which number the zygote holds a terminal of the host's for this command.
    restored: Mutex<Option<u32>>,
    progress: Mutex<Progress>,
    /// A zygote lives as long as anything it started, and no longer: handles may outlive their command.
    zygote: Mutex<Option<Arc<Zygote>>>,
    report: Arc<Report>,
    /// The control group of its limits.
    group: Mutex<Group>,
}

/// What counts a command's processes.
#[derive(Debug)]
enum Group {
    There(Scope),
    /// Nobody is left to count, or nobody ever counted.
    Gone(Usage),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The program may not have been executed yet.
    Starting,
    Running,
    /// Process 1 stopped talking without a report: it was killed, and its tree with it.
    Dying,
    /// The command has ended; something of its tree may be left.
    Exited,
    /// Nothing is left, which has still to be said.
    Empty,
    Over,
}

impl Process {
    pub(crate) fn new(
        mut spare: Spare,
        zygote: Arc<Zygote>,
        report: Arc<Report>,
        scope: Option<Scope>,
    ) -> Self {
        let terminal = spare.terminal.take().map(Arc::new);
        Self {
            spare,
            has_terminal: terminal.is_some(),
            terminal: Mutex::new(terminal),
            restored: Mutex::new(None),
            progress: Mutex::new(Progress::Starting),
            zygote: Mutex::new(Some(zygote)),
            report,
            group: Mutex::new(scope.map_or_else(|| Group::Gone(Usage::default()), Group::There)),
        }
    }

    fn group(&self) -> MutexGuard<'_, Group> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing of the command is left: neither is its control group, though somebody may hold on to this for long
    /// (PRC-12). What it counted stays known.
    fn let_group_go(&self) {
        let mut group = self.group();
        if let Group::There(scope) = &*group {
            *group = Group::Gone(used(scope));
        }
    }

    /// What the command's process said before it executed the program, or that it has.
    fn start_event(&self) -> Option<Event> {
        match receive(&self.spare.command)? {
            // Every copy of the other end is closed by execve(2), or by death; the report tells which.
            Received::Closed => Some(Event::Started),
            Received::Message(message) => Some(failure(&message)),
        }
    }

    fn advance(&self, progress: &mut Progress) -> Option<Event> {
        match *progress {
            // Whatever happens, the command's socket closes before its end is reported, so what it has to say about
            // the start comes first: an end is never looked at before.
            Progress::Starting => {
                let event = self.start_event()?;
                *progress = if event == Event::Started {
                    Progress::Running
                } else {
                    Progress::Over
                };
                Some(event)
            }
            Progress::Running | Progress::Dying => self.exit_event(progress),
            Progress::Exited => {
                let empty = match receive(&self.spare.reports) {
                    Some(Received::Message(message)) => tag(&message) == Some(EMPTY_TAG),
                    Some(Received::Closed) | None => false,
                };
                if !empty && !self.is_process_1_gone() {
                    return None;
                }
                *progress = Progress::Over;
                Some(Event::Empty)
            }
            Progress::Empty => {
                *progress = Progress::Over;
                Some(Event::Empty)
            }
            Progress::Over => None,
        }
    }

    fn leave_terminal_to(&self, zygote: Option<&Zygote>) {
        let restored = self
            .restored
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let (Some(zygote), Some(number)) = (zygote, restored) {
            zygote.forget_terminal(number);
        }
    }

    fn exit_event(&self, progress: &mut Progress) -> Option<Event> {
        if *progress == Progress::Running {
            match receive(&self.spare.reports)? {
                Received::Closed => *progress = Progress::Dying,
                Received::Message(message) => match exit(&message) {
                    Some((status, empty)) => {
                        *progress = if empty { Progress::Empty } else { Progress::Exited };
                        return Some(Event::Exited(status));
                    }
                    // Once the program runs, whatever else process 1 says means that it can't go on.
                    None => {
                        self.kill();
                        *progress = Progress::Dying;
                    }
                },
            }
        }
        self.is_process_1_gone().then(|| {
            *progress = Progress::Empty;
            Event::Exited(ExitStatus::Killed)
        })
    }

    /// A pidfd is readable once the process has ended, which for process 1 means: and all others.
    fn is_process_1_gone(&self) -> bool {
        is_readable(&self.spare.pidfd)
    }

    fn terminal_master(&self) -> MutexGuard<'_, Option<Arc<Stream>>> {
        self.terminal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self, signal: Signal) -> Result<(), SignalError> {
        let everyone = u32::from(self.has_terminal);
        let request = [signal.number().to_ne_bytes(), everyone.to_ne_bytes()].concat();
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        match send(&self.spare.reports, &request, flags) {
            Ok(_) => Ok(()),
            Err(Errno::PIPE | Errno::CONNRESET) => Err(SignalError::Ended),
            Err(errno) => Err(SignalError::Failed {
                errno: errno.raw_os_error(),
            }),
        }
    }
}

impl Containment for Process {
    fn lifetime(&self) -> Lifetime {
        Lifetime::new(
            LifetimeContainment::Enforced,
            "a pid namespace of its own: the kernel kills every process of it with the first one",
            HostDeath::Killed,
        )
    }

    fn report(&self) -> Arc<Report> {
        Arc::clone(&self.report)
    }

    fn descriptors(&self, watch: Watch) -> Vec<BorrowedFd<'_>> {
        let end = [self.spare.reports.as_fd(), self.spare.pidfd.as_fd()];
        match watch {
            Watch::StartAndEnd => [[self.spare.command.as_fd()].as_slice(), &end].concat(),
            Watch::End => end.to_vec(),
        }
    }

    fn next_event(&self) -> Option<Event> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let event = self.advance(&mut progress);
        if *progress == Progress::Over {
            self.let_group_go();
        }
        event
    }

    fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        if signal == Signal::Interrupt
            && let Some(terminal) = &*self.terminal_master()
        {
            return ringfence_os::terminal::interrupt_foreground(terminal.as_fd()).map_err(|error| {
                SignalError::Failed {
                    errno: error.raw_os_error().unwrap_or_default(),
                }
            });
        }
        self.request(signal)
    }

    fn kill(&self) {
        // Ended already is as good as killed.
        let _ = pidfd_send_signal(&self.spare.pidfd, KernelSignal::KILL);
    }

    fn terminal(&self) -> Option<Arc<Stream>> {
        self.terminal_master().clone()
    }

    fn restore_at_host_death(&self, terminal: BorrowedFd<'_>) -> io::Result<()> {
        let zygote = self.zygote.lock().unwrap_or_else(PoisonError::into_inner);
        // After the command's end nobody changes the terminal for it.
        let Some(zygote) = &*zygote else { return Ok(()) };
        let number = zygote
            .restore_at_death(terminal)
            .map_err(|failed| io::Error::from_raw_os_error(failed.errno))?;
        let mut restored = self.restored.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(former) = restored.replace(number) {
            zygote.forget_terminal(former);
        }
        Ok(())
    }

    fn leave_terminal(&self) {
        let zygote = self.zygote.lock().unwrap_or_else(PoisonError::into_inner);
        self.leave_terminal_to(zygote.as_deref());
    }

    fn afterwards(&self) -> Option<Box<dyn FnOnce() + Send>> {
        let mut holder = self.zygote.lock().unwrap_or_else(PoisonError::into_inner);
        // In one step, so that nothing is left with a zygote that nobody asks any more.
        self.leave_terminal_to(holder.as_deref());
        let zygote = holder.take()?;
        Some(Box::new(move || zygote.make_ready()))
    }

    fn hang_up(&self) {
        drop(self.terminal_master().take());
    }

    fn usage(&self) -> Usage {
        match &*self.group() {
            Group::There(scope) => used(scope),
            Group::Gone(used) => used.clone(),
        }
    }

    fn exceeded(&self) -> Option<Limit> {
        let Group::There(scope) = &*self.group() else {
            return None;
        };
        let breaches = scope.breaches();
        let killed = breaches.memory_kills.is_some_and(|processes| processes > 0);
        let used_up = breaches.cpu_time_over.map(|_| Limit::CpuTime);
        killed.then_some(Limit::Memory).or(used_up)
    }

    fn next_look(&self) -> Option<Duration> {
        let Group::There(scope) = &*self.group() else {
            return None;
        };
        // A group that can't be read any more keeps no limit: then it is looked at soon, and the command ended.
        let used = scope.cpu_time_used().unwrap_or(Duration::MAX);
        let by_time = scope.next_look(used);
        let by_memory = scope.usage().peak_memory_bytes.map(|_| MEMORY_PACE);
        by_time.into_iter().chain(by_memory).min()
    }
}

fn used(scope: &Scope) -> Usage {
    let used = scope.usage();
    let touched = scope.breaches().refused_processes.is_some_and(|times| times > 0);
    Usage {
        peak_memory_bytes: used.peak_memory_bytes,
        peak_processes: used.peak_processes.map(|peak| peak.saturating_sub(limits::INIT)),
        cpu_time: used.cpu_time,
        touched: touched.then_some(Limit::Processes).into_iter().collect(),
    }
}

/// How often a tree with a memory limit is asked whether the kernel has killed one of its processes for it: the others
/// are ended then.
const MEMORY_PACE: Duration = Duration::from_millis(50);

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        self.leave_terminal();
    }
}

enum Received {
    Message(Vec<u8>),
    Closed,
}

/// The next message; `None` when there is none yet.
fn receive(from: &OwnedFd) -> Option<Received> {
    let mut bytes = [0u8; size_of::<Failure>()];
    loop {
        match recv(from, &mut bytes, RecvFlags::DONTWAIT) {
            Ok((0, _)) => return Some(Received::Closed),
            Ok((count, _)) => return Some(Received::Message(bytes[..count].to_vec())),
            // Reset: the other end closed with a request unread; what it said before that comes next.
            Err(Errno::INTR | Errno::CONNRESET) => {}
            Err(Errno::AGAIN) => return None,
            Err(_) => return Some(Received::Closed),
        }
    }
}

pub(crate) fn failure(message: &[u8]) -> Event {
    let unreadable = || crate::zygote::failed(Step::Command, Errno::PROTO);
    let mut failed = decode_failure(message).unwrap_or_else(unreadable);
    let is_changed = failed.step == Step::Chdir.name() && failed.errno == Errno::STALE.raw_os_error();
    match failed.path.take_if(|_| is_changed) {
        Some(path) => Event::Changed { path },
        None => Event::SetupFailed(failed),
    }
}

/// How the command ended, and whether nothing else of its tree is left; `None` if the message is about something else.
pub(crate) fn exit(message: &[u8]) -> Option<(ExitStatus, bool)> {
    if tag(message) != Some(EXIT_TAG) {
        return None;
    }
    let word = |at: usize| message.get(at..at + 4)?.try_into().ok().map(i32::from_ne_bytes);
    Some((exit_status(word(4)?), word(8)? == 1))
}

/// A wait status as `wait4(2)` encodes it.
fn exit_status(status: i32) -> ExitStatus {
    let signal = status & 0x7F;
    if signal == 0 {
        ExitStatus::Exited(status >> 8 & 0xFF)
    } else {
        ExitStatus::Signaled {
            signal,
            core: status & 0x80 != 0,
        }
    }
}

fn is_readable(fd: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    matches!(
        poll(
            &mut fds,
            Some(&Timespec {
                tv_sec: 0,
                tv_nsec: 0
            })
        ),
        Ok(1)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_has_the_name_callers_look_for() {
        assert_eq!(Step::Exec.name(), ringfence_backend::SetupFailed::EXECUTE);
    }

    #[test]
    fn wait_statuses_are_told_apart() {
        assert_eq!(exit_status(0), ExitStatus::Exited(0));
        assert_eq!(exit_status(7 << 8), ExitStatus::Exited(7));
        assert_eq!(exit_status(255 << 8), ExitStatus::Exited(255));
        assert_eq!(
            exit_status(15),
            ExitStatus::Signaled {
                signal: 15,
                core: false
            }
        );
        assert_eq!(
            exit_status(11 | 0x80),
            ExitStatus::Signaled {
                signal: 11,
                core: true
            }
        );
    }
}
