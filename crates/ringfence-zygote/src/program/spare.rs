//! A spare: process 1 of a spawn with its command's process already made, confined and waiting.
//!
//! Everything that does not depend on the command happens here, before the host asks: pid and mount
//! namespace, `/proc`, Landlock, the system-call filter, session and limits. What is left for the spawn is
//! one message, three `dup3(2)`, `chdir(2)` and `execve(2)`.

use super::broker::{Broker, Guards};
use super::plan::Plan;
use super::sys::{self, Fd, Forked, Path, Poll};
use super::terminal::Terminal;
use super::{At, Failed, Held, Outcome, bytes_of, report, view};
use crate::wire::{self, CommandHeader, Exit, Reader, SignalRequest, Step};

/// Makes a spare and sends the host its three descriptors: command socket, report socket, pidfd.
pub(crate) fn make<'a>(plan: &Plan<'a>, held: &Held, to: &Fd, terminal: bool) -> Outcome<'a, ()> {
    plan.check(Step::Spare)?;
    let [command, command_host] = sys::socketpair(sys::SOCK_STREAM).at(Step::Spare)?;
    let [reports, reports_host] = sys::socketpair(sys::SOCK_SEQPACKET).at(Step::Spare)?;
    let flags = sys::CLONE_NEWNS | sys::CLONE_NEWPID | sys::CLONE_PIDFD;
    match sys::fork(flags | sys::SIGCHLD as usize).at(Step::Spare)? {
        Forked::Parent(_, pidfd) => {
            // Before the host can hear from the spare: to it, a closed command socket means that the program runs.
            drop((command, reports));
            let pidfd = pidfd.ok_or(sys::EINVAL).at(Step::Spare)?;
            let fds = [command_host.raw(), reports_host.raw(), pidfd.raw()];
            sys::send(to.raw(), &wire::READY_TAG.to_ne_bytes(), &fds)
                .at(Step::Spare)
                .map(drop)
        }
        Forked::Child => {
            // Only the host may hold the host's ends: their closing is what ends a spare.
            drop((command_host, reports_host));
            held.close();
            if to.raw() != held.control.raw() {
                drop(Fd::owned(to.raw()));
            }
            let mut command = Some(command);
            // With a terminal comes a `/dev/pts` of its own, which only opening finds.
            let objects = (!terminal).then_some(&held.objects);
            if let Err(failed) = run(plan, objects, &mut command, &reports, terminal) {
                // Until the command's process exists, the host listens here for what went wrong.
                report(command.as_ref().unwrap_or(&reports), &failed);
            }
            sys::exit(1)
        }
    }
}

/// Process 1 of the spawn: prepares, starts the command's process, and stays as its init.
fn run<'a>(
    plan: &Plan<'a>,
    objects: Option<&Objects>,
    command: &mut Option<Fd>,
    reports: &Fd,
    terminal: bool,
) -> Outcome<'a, ()> {
    sys::disposition(sys::SIGCHLD, false).at(Step::Spare)?;
    if !plan.has(wire::NO_PROC) {
        plan.check(Step::SpawnProc)?;
        mount_proc(plan).at_path(Step::SpawnProc, PROC)?;
    }
    let slave = if terminal {
        let Terminal { master, slave } = Terminal::open(plan)?;
        sys::send(reports.raw(), &wire::READY_TAG.to_ne_bytes(), &[master.raw()]).at(Step::Terminal)?;
        Some(slave)
    } else {
        None
    };
    let mut ruleset = build_ruleset(plan, objects)?;
    let guards = Guards::find(plan)?;
    if guards.is_some() {
        // The broker can do no more than the command, but for making names.
        let whole = ruleset.replace(build_making(plan)?);
        plan.check(Step::Landlock)?;
        whole
            .map_or(Ok(()), |whole| sys::landlock_restrict_self(&whole))
            .at(Step::Landlock)?;
    }
    let hand_over = || sys::socketpair(sys::SOCK_STREAM).at(Step::Broker);
    let pair = guards.is_some().then(hand_over).transpose()?;
    let (asks, answers) = pair.map_or((None, None), |[asks, answers]| (Some(asks), Some(answers)));
    match sys::fork(sys::SIGCHLD as usize).at(Step::Spare)? {
        Forked::Parent(target, _) => {
            drop((command.take(), ruleset, asks));
            sys::drop_capabilities().at(Step::Spare)?;
            let broker = match guards.zip(answers) {
                Some((guards, from)) => {
                    Broker::receive(guards, &from, target, plan.has(wire::NESTED_NAMESPACES))
                        .at(Step::Broker)?
                }
                None => None,
            };
            supervise(target, reports, slave, broker)
        }
        Forked::Child => {
            drop((Fd::owned(reports.raw()), answers));
            if let Some(command) = command
                && let Err(failed) = become_command(plan, command, ruleset, slave.as_ref(), asks)
            {
                report(command, &failed);
            }
            // The status is never looked at: the report on the command socket came first.
            sys::exit(126)
        }
    }
}

fn mount_proc(plan: &Plan<'_>) -> sys::Result<()> {
    let open = |path: &'static [u8]| sys::open(Path::new(path), sys::O_PATH | sys::O_CLOEXEC);
    sys::attach(&view::new_proc(plan)?, &open(b"/proc\0")?)?;
    let null = open(b"/dev/null\0")?;
    let mask = |path: &'static [u8]| match open(path) {
        // Not in this kernel.
        Err(sys::ENOENT) => Ok(()),
        file => sys::attach(&sys::clone_tree(&null)?, &file?),
    };
    KEYS.iter().try_for_each(|path| mask(path))?;
    if plan.has(wire::READ_ONLY_PROC) {
        KERNEL.iter().try_for_each(|path| mask(path))?;
    }
    Ok(())
}

const PROC: Path<'static> = Path::literal(b"/proc\0");

/// They describe the keys of all processes of the user, whatever namespace they are in.
const KEYS: [&[u8]; 2] = [b"/proc/keys\0", b"/proc/key-users\0"];
/// Readable by user id 0 alone: what they tell of the kernel's memory helps to attack it.
const KERNEL: [&[u8]; 6] = [
    b"/proc/kpageflags\0",
    b"/proc/kpagecount\0",
    b"/proc/kpagecgroup\0",
    b"/proc/slabinfo\0",
    b"/proc/vmallocinfo\0",
    b"/proc/timer_list\0",
];

/// What the first rules are about, opened once for all spawns: in each of them it would be two thirds of the work.
pub(crate) struct Objects([Option<Fd>; 64]);

impl Objects {
    pub(crate) const NONE: Self = Self([const { None }; 64]);

    /// What can't be opened is for the spawn to tell.
    pub(crate) fn open(plan: &Plan<'_>) -> Self {
        let mut objects = Self::NONE;
        for (slot, rule) in objects.0.iter_mut().zip(plan.rules()) {
            *slot = open_object(rule.path).ok();
        }
        objects
    }
}

/// The executor's rules plus one for this spawn's own `/proc`, which is a filesystem of its own.
fn build_ruleset<'a>(plan: &Plan<'a>, objects: Option<&Objects>) -> Outcome<'a, Option<Fd>> {
    plan.check(Step::Ruleset)?;
    if plan.handled == 0 {
        return Ok(None);
    }
    let ruleset = sys::landlock_create(plan.handled, plan.scopes).at(Step::Ruleset)?;
    let mut opened = objects.map_or(&[][..], |objects| &objects.0).iter();
    for rule in plan.rules() {
        match opened.next() {
            Some(Some(object)) => {
                sys::landlock_allow(&ruleset, rule.access, object).at_path(Step::Ruleset, rule.path)?;
            }
            _ => allow(&ruleset, rule.path, rule.access)?,
        }
    }
    if !plan.has(wire::NO_PROC) {
        allow(&ruleset, PROC, plan.proc_access)?;
    }
    Ok(Some(ruleset))
}

/// A second layer for the command alone, which keeps it from making names but in free directories. What was one and is
/// none any more is free in no way.
fn build_making<'a>(plan: &Plan<'a>) -> Outcome<'a, Fd> {
    /// `LANDLOCK_ACCESS_FS_REFER`: a layer that does not speak of it refuses it.
    const REFER: u64 = 1 << 13;
    let root = Path::literal(b"/\0");
    // Process 1 is to be out of reach, which it would not be in the same scope.
    let ruleset = sys::landlock_create(plan.making | REFER, plan.scopes).at(Step::Ruleset)?;
    allow(&ruleset, root, REFER)?;
    for path in plan.free.clone() {
        if let Ok(directory) = open_object(path) {
            sys::landlock_allow(&ruleset, plan.making | REFER, &directory).at_path(Step::Ruleset, path)?;
        }
    }
    Ok(ruleset)
}

fn open_object(path: Path<'_>) -> sys::Result<Fd> {
    let resolve = sys::RESOLVE_NO_SYMLINKS | sys::RESOLVE_NO_MAGICLINKS;
    sys::open_resolving(sys::CWD, path, sys::O_PATH | sys::O_CLOEXEC, resolve)
}

fn allow<'a>(ruleset: &Fd, path: Path<'a>, access: u64) -> Outcome<'a, ()> {
    let object = open_object(path).at_path(Step::Ruleset, path)?;
    sys::landlock_allow(ruleset, access, &object).at_path(Step::Ruleset, path)
}

/// Reaps, forwards signals, and reports the command's end and that nothing else of the spawn is left. Until then it keeps
/// the terminal open: the end of its output is the end of the whole spawn.
fn supervise<'a>(
    target: i32,
    reports: &Fd,
    terminal: Option<Fd>,
    mut broker: Option<Broker<'a>>,
) -> Outcome<'a, ()> {
    const CHILD_ENDED: u64 = 1 << (sys::SIGCHLD - 1);
    /// Passed over by poll(2).
    const NOBODY: i32 = -1;
    sys::signal_mask(CHILD_ENDED).at(Step::Spare)?;
    let children = sys::signalfd(CHILD_ENDED).at(Step::Spare)?;
    // It may have ended before that was listened for.
    let mut child_ended = true;
    loop {
        if child_ended && let Some(status) = reap(target)? {
            end(status, reports, terminal);
        }
        let mut fds = [
            Poll::readable(children.raw()),
            Poll::readable(reports.raw()),
            Poll::readable(broker.as_ref().map_or(NOBODY, |broker| broker.listener().raw())),
        ];
        sys::poll(&mut fds).at(Step::Spare)?;
        let [ended, asked, called] = fds.map(|fd| fd.is_ready());
        child_ended = ended;
        if let Some(broker) = broker.as_mut().filter(|_| called) {
            broker.serve();
        }
        if child_ended {
            let mut info = [0u8; 128];
            let _ = sys::read(children.raw(), &mut info);
        }
        if asked && !forward_signal(target, reports) {
            // The host closed its end. Process 1 takes everything with it.
            sys::exit(0);
        }
    }
}

/// The command's wait status once it has ended; reaps orphans on the way.
fn reap<'a>(target: i32) -> Outcome<'a, Option<i32>> {
    while let Some((pid, status)) = sys::wait_any(true).at(Step::Spare)? {
        if pid == target {
            return Ok(Some(status));
        }
    }
    Ok(None)
}

/// The command is over: says so at once, and then ends the rest, which may take its time.
fn end(status: i32, reports: &Fd, mut terminal: Option<Fd>) -> ! {
    // Whoever has lost its parent comes here, so without a child there is nobody.
    let empty = matches!(sys::wait_any(true), Err(sys::ECHILD));
    if empty {
        // Before the word that nothing is left: whoever reads then finds the end.
        drop(terminal.take());
    }
    let exit = Exit {
        tag: wire::EXIT_TAG,
        status,
        empty: u32::from(empty),
    };
    let _ = sys::send(reports.raw(), bytes_of(&exit), &[]);
    if !empty {
        end_all_others();
        drop(terminal);
        let _ = sys::send(reports.raw(), &wire::EMPTY_TAG.to_ne_bytes(), &[]);
    }
    // The kernel wants to run whoever reads this right here, so its own end, which takes its time, waits until the host
    // has closed the socket.
    let _ = sys::read(reports.raw(), &mut [0]);
    sys::exit(0)
}

/// Kills and reaps until this process has no child.
fn end_all_others() {
    const SIGKILL: i32 = 9;
    while let Ok(Some(_)) = {
        let _ = sys::kill(-1, SIGKILL);
        sys::wait_any(false)
    } {}
}

/// Passes one requested signal on; `false` when the host is gone.
fn forward_signal(target: i32, reports: &Fd) -> bool {
    let mut request = [0u8; size_of::<SignalRequest>()];
    match sys::read(reports.raw(), &mut request) {
        Ok(0) | Err(_) => false,
        Ok(_) => {
            let mut reader = Reader::new(&request);
            if let (Some(signal), Some(everyone)) = (reader.u32(), reader.u32()) {
                let to = if everyone == 1 { -1 } else { -target };
                // The group is gone when the command is; then there is nothing to tell it.
                let _ = sys::kill(to, signal.cast_signed());
            }
            true
        }
    }
}

/// The command's process: confines itself, waits for its command, and executes it.
fn become_command<'a>(
    plan: &Plan<'a>,
    command: &Fd,
    ruleset: Option<Fd>,
    terminal: Option<&Fd>,
    asks: Option<Fd>,
) -> Outcome<'a, ()> {
    const RLIMIT_CORE: usize = 4;
    plan.check(Step::Session)?;
    sys::setsid().at(Step::Session)?;
    if let Some(terminal) = terminal {
        sys::control_terminal(terminal).at(Step::Terminal)?;
    }
    // Not 0: only 1 also keeps a crash from starting the host's core dump handler, which runs as root (core(5)).
    sys::set_limit(RLIMIT_CORE, 1).at(Step::Session)?;
    sys::drop_capabilities().at(Step::Session)?;
    plan.check(Step::Landlock)?;
    if let Some(ruleset) = ruleset {
        sys::landlock_restrict_self(&ruleset).at(Step::Landlock)?;
    }
    if let Some(asks) = asks {
        let listener = sys::seccomp_listener(plan.asking).at(Step::Broker)?;
        sys::send(asks.raw(), &[0], &[listener.raw()]).at(Step::Broker)?;
    }
    plan.check(Step::Filter)?;
    sys::seccomp_filter(plan.filter).at(Step::Filter)?;
    await_command(plan, command, terminal)
}

fn await_command<'a>(plan: &Plan<'a>, command: &Fd, terminal: Option<&Fd>) -> Outcome<'a, ()> {
    let mut head = [0u8; size_of::<CommandHeader>()];
    let (count, streams) = sys::receive(command.raw(), &mut head).at(Step::Command)?;
    if count == 0 {
        // A spare that was never used.
        sys::exit(0);
    }
    plan.check(Step::Command)?;
    read_rest(command, &mut head, count).at(Step::Command)?;
    let mut head = Reader::new(&head);
    let header = header(&mut head).ok_or(sys::EPROTO).at(Step::Command)?;
    let body = sys::map(header.length as usize, None).at(Step::Command)?;
    read_rest(command, body, 0).at(Step::Command)?;
    let [Some(input), Some(output), Some(error)] = streams else {
        return Err(sys::EPROTO).at(Step::Command);
    };
    place(&[input, output, error], command, terminal, header.terminal).at(Step::Session)?;
    execute(plan, &header, body)
}

fn read_rest(from: &Fd, buffer: &mut [u8], mut filled: usize) -> sys::Result<()> {
    while filled < buffer.len() {
        match sys::read(from.raw(), &mut buffer[filled..])? {
            0 => return Err(sys::EPROTO),
            count => filled += count,
        }
    }
    Ok(())
}

pub(crate) fn header(reader: &mut Reader<'_>) -> Option<CommandHeader> {
    let header = CommandHeader {
        magic: reader.u32()?,
        length: reader.u32()?,
        programs: reader.u32()?,
        arguments: reader.u32()?,
        environment: reader.u32()?,
        limits: reader.u32()?,
        terminal: reader.u32()?,
    };
    (header.magic == wire::COMMAND_MAGIC).then_some(header)
}

/// Puts the three streams on 0, 1 and 2, or the terminal in place of those whose bit is set; whatever else is open closes
/// with `execve(2)`.
fn place(streams: &[Fd; 3], command: &Fd, terminal: Option<&Fd>, bits: u32) -> sys::Result<()> {
    debug_assert!(command.raw() > 2);
    // The streams may sit on 0 to 2 themselves: they are lifted out of the way before they are placed.
    let mut lifted = [0; 3];
    for ((slot, stream), bit) in lifted.iter_mut().zip(streams).zip(0..) {
        let stream = match terminal {
            Some(terminal) if bits >> bit & 1 == 1 => terminal,
            None if bits >> bit & 1 == 1 => return Err(sys::EPROTO),
            _ => stream,
        };
        *slot = sys::duplicate_above(stream.raw(), 3)?.into_raw();
    }
    for (number, raw) in (0..).zip(lifted) {
        sys::duplicate(raw, number)?;
    }
    Ok(())
}

fn execute<'a>(plan: &Plan<'a>, header: &CommandHeader, body: &'static [u8]) -> Outcome<'a, ()> {
    let mut reader = Reader::new(body);
    let malformed = Failed {
        step: Step::Command,
        errno: sys::EPROTO,
        path: &[],
    };
    let limits = reader.clone();
    for _ in 0..header.limits {
        reader.u32();
        reader.u64();
    }
    let (Some(directory), Some(device), Some(inode)) = (reader.bytes(), reader.u64(), reader.u64()) else {
        return Err(malformed);
    };
    let programs = reader.clone();
    for _ in 0..header.programs {
        reader.bytes();
    }
    let Some(name) = reader.clone().bytes() else {
        return Err(malformed);
    };
    let Some(arguments) = strings(&mut reader, header.arguments)? else {
        return Err(malformed);
    };
    let Some(environment) = strings(&mut reader, header.environment)? else {
        return Err(malformed);
    };
    if !reader.is_empty() {
        return Err(malformed);
    }
    plan.check(Step::Chdir)?;
    let directory = Path::new(directory);
    enter(directory, (device, inode)).at_path(Step::Chdir, directory)?;
    limit(limits, header.limits).at(Step::Session)?;
    plan.check(Step::Exec)?;
    let attempts = programs_of(programs, header.programs);
    Err(try_programs(attempts, Path::new(name), arguments, environment))
}

/// Enters the working directory, if it is still the one that was meant.
fn enter(directory: Path<'_>, (device, inode): (u64, u64)) -> sys::Result<()> {
    sys::chdir(directory)?;
    if inode != 0 {
        let here = sys::stat_here()?;
        if (here.device, here.inode) != (device, inode) {
            return Err(sys::ESTALE);
        }
    }
    Ok(())
}

/// Last of all: nothing of ours is to need what the command must not have.
fn limit(mut limits: Reader<'_>, count: u32) -> sys::Result<()> {
    for _ in 0..count {
        if let (Some(resource), Some(value)) = (limits.u32(), limits.u64()) {
            sys::set_limit(resource as usize, value)?;
        }
    }
    Ok(())
}

fn programs_of(mut reader: Reader<'static>, count: u32) -> impl Iterator<Item = Path<'static>> {
    (0..count).map_while(move |_| reader.bytes().map(Path::new))
}

/// Tries the candidates in order, as `execvp(3)` does: a missing one is passed over, and a refusal is remembered
/// in case nothing else is found. What is found nowhere is reported by the name it was called by.
fn try_programs(
    candidates: impl Iterator<Item = Path<'static>>,
    name: Path<'static>,
    arguments: &[u64],
    environment: &[u64],
) -> Failed<'static> {
    let failed = |errno, path: Path<'static>| Failed {
        step: Step::Exec,
        errno,
        path: path.bytes(),
    };
    let mut refused = None;
    for path in candidates {
        match sys::execute(path, arguments, environment) {
            sys::ENOENT | sys::ENOTDIR => {}
            sys::EACCES => refused = Some(path),
            errno => return failed(errno, path),
        }
    }
    refused.map_or_else(|| failed(sys::ENOENT, name), |path| failed(sys::EACCES, path))
}

/// The addresses of `count` strings, ending in a zero, as `execve(2)` takes them.
fn strings<'a>(reader: &mut Reader<'static>, count: u32) -> Outcome<'a, Option<&'static [u64]>> {
    let count = count as usize;
    let words = sys::map_words(count + 1).at(Step::Command)?;
    for word in words.iter_mut().take(count) {
        let Some(string) = reader.bytes() else {
            return Ok(None);
        };
        *word = Path::new(string).address() as u64;
    }
    Ok(Some(words))
}
