//! What is not the command's: processes, sockets, networks, descriptors and devices of the host.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use ringfence::{Axis, Clause};
use ringfence_zygote::attempt::{Call, SEPARATE};
use rustix::io::{FdFlags, fcntl_setfd};

use super::calls::{B, HERE, P, Q, R, call, n, opening, reaching};
use super::{Lasting, Need, Operation, Planned};
use crate::linux::tree::{self, Layout};

/// Everything that a command must not reach, alive for a whole run of the suite.
#[derive(Debug)]
pub(crate) struct Outsiders {
    /// Waits for a request that never comes.
    victim: Child,
    tcp: TcpListener,
    udp: Echo,
    abstract_name: Vec<u8>,
    abstract_socket: UnixListener,
    /// Open in this process, and not close-on-exec.
    descriptor: File,
}

/// What is put into each directory of a tree for one run.
#[derive(Debug)]
pub(crate) struct Listeners(#[expect(dead_code, reason = "they listen")] Vec<UnixListener>);

/// The name of a listening socket in a directory.
pub(crate) const SOCKET: &str = "host.sock";

/// Binds to a port that the kernel gives nobody who asks for any: whoever calls it from a network without a receiver, and got
/// the same port, would reach itself.
fn at_known_port<T>(bind: impl Fn(u16) -> io::Result<T>) -> io::Result<T> {
    let mut refusal = io::Error::from(io::ErrorKind::AddrInUse);
    for port in 20_000..=u16::MAX / 2 {
        match bind(port) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => refusal = error,
            bound => return bound,
        }
    }
    Err(refusal)
}

/// Answers what it is sent.
#[derive(Debug)]
struct Echo {
    address: std::net::SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    fn new() -> io::Result<Self> {
        let socket = at_known_port(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)))?;
        let address = socket.local_addr()?;
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thread = thread::spawn(move || {
            let mut byte = [0];
            while !is_over.load(Ordering::Acquire) {
                if let Ok((_, from)) = socket.recv_from(&mut byte) {
                    // Whoever asked may be gone.
                    let _ = socket.send_to(&byte, from);
                }
            }
        });
        Ok(Self {
            address,
            over,
            thread: Some(thread),
        })
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        let woken =
            UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.send_to(&[0], self.address));
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl Outsiders {
    /// Starts them; `directory` holds the victim's program.
    pub(crate) fn new(directory: &Path) -> io::Result<Self> {
        let program = directory.join("victim");
        tree::program(&program)?;
        let victim = Command::new(&program)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        let abstract_name = format!("ringfence-conformance-{}", victim.id()).into_bytes();
        let descriptor = File::open("/dev/null")?;
        fcntl_setfd(&descriptor, FdFlags::empty())?;
        let tcp = at_known_port(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)))?;
        tcp.set_nonblocking(true)?;
        let abstract_socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name)?)?;
        abstract_socket.set_nonblocking(true)?;
        Ok(Self {
            victim,
            tcp,
            udp: Echo::new()?,
            abstract_socket,
            abstract_name,
            descriptor,
        })
    }

    /// Takes the connections that wait: once there are too many, the next one is not answered any more, and whoever makes
    /// it waits for minutes.
    pub(crate) fn accept(&self) {
        while self.tcp.accept().is_ok() {}
        while self.abstract_socket.accept().is_ok() {}
    }

    /// Listens in the directories of a tree whose names leave room for that.
    pub(crate) fn listen(layout: &Layout) -> Listeners {
        let paths = layout.directories.iter().map(|directory| directory.join(SOCKET));
        Listeners(paths.filter_map(|path| UnixListener::bind(path).ok()).collect())
    }

    pub(crate) fn attempts(&self) -> Vec<Planned> {
        let mut all = self.processes();
        all.extend(self.networks());
        all.extend(devices());
        all.push(plan(
            "use a descriptor it was not given",
            Need::Lack(Clause::Descriptors),
            vec![call(
                libc::SYS_fcntl,
                &[n(self.descriptor.as_raw_fd()), n(libc::F_GETFD)],
            )],
            &[],
        ));
        all.push(plan(
            "read a file of the system",
            Need::Use(0, Axis::Read),
            vec![
                call(libc::SYS_openat, &[HERE, P]),
                call(libc::SYS_read, &[R, B, n(10)]),
            ],
            &[Path::new("/etc/passwd")],
        ));
        all
    }

    /// The victim, and this process, which is the supervisor.
    fn processes(&self) -> Vec<Planned> {
        let numbers = [self.victim.id(), std::process::id()].map(|id| i32::try_from(id).unwrap_or(-1));
        numbers.into_iter().flat_map(process).collect()
    }

    fn networks(&self) -> Vec<Planned> {
        /// Seconds and microseconds, after which nobody answers any more.
        const PATIENCE: [u64; 2] = [2, 0];
        let port = |address: io::Result<std::net::SocketAddr>| address.map_or(0, |address| address.port());
        let inet = |port: u16| {
            let mut address = 2_u16.to_ne_bytes().to_vec();
            address.extend(port.to_be_bytes());
            address.extend([127, 0, 0, 1]);
            address.extend([0; 8]);
            address
        };
        let connect = |name, kind: i32, port, mut more: Vec<Call>| {
            let mut calls = vec![
                opening(libc::SYS_socket, &[n(libc::AF_INET), n(kind), n(0)]),
                call(libc::SYS_connect, &[R, P, n(16)]),
            ];
            calls.append(&mut more);
            let mut planned = plan(name, Need::Network, calls, &[]);
            planned.attempt.data = vec![inet(port), PATIENCE.map(u64::to_ne_bytes).concat()];
            planned
        };
        let name = &self.abstract_name;
        let mut address = 1_u16.to_ne_bytes().to_vec();
        address.push(0);
        address.extend(name);
        let length = i32::try_from(address.len()).unwrap_or_default();
        let mut local = plan(
            "connect to an abstract socket",
            Need::Lack(Clause::AbstractSockets),
            vec![
                opening(libc::SYS_socket, &[n(libc::AF_UNIX), n(libc::SOCK_STREAM), n(0)]),
                call(libc::SYS_connect, &[R, P, length.into()]),
            ],
            &[],
        );
        local.attempt.data = vec![address];
        vec![
            connect(
                "connect by TCP",
                libc::SOCK_STREAM,
                port(self.tcp.local_addr()),
                Vec::new(),
            ),
            // Sending succeeds whoever is there; the answer tells.
            connect(
                "send by UDP",
                libc::SOCK_DGRAM,
                self.udp.address.port(),
                vec![
                    call(
                        libc::SYS_setsockopt,
                        &[R, n(libc::SOL_SOCKET), n(libc::SO_RCVTIMEO), Q, n(16)],
                    ),
                    call(libc::SYS_sendto, &[R, P, n(1), n(0), n(0), n(0)]),
                    call(libc::SYS_recvfrom, &[R, B, n(1), n(0), n(0), n(0)]),
                ],
            ),
            local,
        ]
    }
}

impl Drop for Outsiders {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

fn plan(operation: &'static str, need: Need, calls: Vec<Call>, paths: &[&Path]) -> Planned {
    let shape = Operation {
        name: operation,
        needs: &[],
        steps: &[],
        undo: &[],
        flags: SEPARATE,
        lasting: Lasting::Nothing,
    };
    let data = paths
        .iter()
        .map(|path| path.as_os_str().as_bytes().to_vec())
        .collect();
    let mut planned = Planned::new(&shape, paths, data);
    planned.needs = vec![need];
    planned.attempt.calls = calls;
    planned
}

/// What one process can do to another.
fn process(id: i32) -> Vec<Planned> {
    const SEIZE: i32 = 0x4206;
    let isolated = |name, calls| plan(name, Need::Lack(Clause::ProcessIsolation), calls, &[]);
    let pidfd = || opening(libc::SYS_pidfd_open, &[n(id), n(0)]);
    let mut all = vec![
        isolated("signal a process", vec![call(libc::SYS_kill, &[n(id), n(0)])]),
        isolated(
            "trace a process",
            vec![call(libc::SYS_ptrace, &[n(SEIZE), n(id), n(0), n(0)])],
        ),
        isolated("open a pidfd", vec![pidfd()]),
        isolated(
            "signal by pidfd",
            vec![pidfd(), call(libc::SYS_pidfd_send_signal, &[R, n(0), n(0), n(0)])],
        ),
        isolated(
            "take a descriptor of a process",
            vec![pidfd(), call(libc::SYS_pidfd_getfd, &[R, n(0), n(0)])],
        ),
        isolated(
            "see the limits of a process",
            vec![call(libc::SYS_prlimit64, &[id.into(), 7.into(), 0.into(), B])],
        ),
    ];
    // An address where nothing is: whoever is told so was allowed to look.
    let vector = [4096_u64, 1].map(u64::to_ne_bytes).concat();
    let mut memory = isolated(
        "read memory of a process",
        vec![reaching(
            libc::SYS_process_vm_readv,
            &[id.into(), P, 1.into(), P, 1.into(), 0.into()],
            libc::EFAULT,
        )],
    );
    memory.attempt.data = vec![vector];
    all.push(memory);
    for (name, what) in [
        ("open the memory of a process", "mem"),
        ("read the environment of a process", "environ"),
        ("read the maps of a process", "maps"),
        ("enter the root of a process", "root/"),
        ("list descriptors of a process", "fd/"),
    ] {
        let mut peek = isolated(
            name,
            vec![opening(libc::SYS_openat, &[HERE, P, n(libc::O_RDONLY)])],
        );
        peek.attempt.data = vec![format!("/proc/{id}/{what}").into_bytes()];
        all.push(peek);
    }
    all
}

/// Sockets of the host that were there before the command.
pub(crate) fn sockets(layout: &Layout) -> impl Iterator<Item = Planned> {
    layout.directories.iter().filter_map(|directory| {
        let path = directory.join(SOCKET);
        let mut planned = plan(
            "connect to a socket of the host",
            Need::Impossible("sockets of the host that exist when a command starts are masked"),
            vec![
                opening(libc::SYS_socket, &[n(libc::AF_UNIX), n(libc::SOCK_STREAM), n(0)]),
                call(libc::SYS_connect, &[R, P, n(110)]),
            ],
            &[&path],
        );
        planned.attempt.data = vec![address(&path)?];
        Some(planned)
    })
}

/// The address of a socket with a path; none where the path is too long for one.
pub(crate) fn address(path: &Path) -> Option<Vec<u8>> {
    const LONGEST: usize = 107;
    let path = path.as_os_str().as_bytes();
    if path.len() > LONGEST {
        return None;
    }
    let mut address = 1_u16.to_ne_bytes().to_vec();
    address.extend(path);
    address.resize(110, 0);
    Some(address)
}

/// Devices, and files of the kernel that change the host.
fn devices() -> Vec<Planned> {
    let open = |path: &str, flags: i32, needs: &[Need]| {
        let path = PathBuf::from(path);
        let call = opening(
            libc::SYS_openat,
            &[HERE, P, (flags | libc::O_NOCTTY | libc::O_NONBLOCK).into()],
        );
        let mut planned = plan("open a device", Need::Nothing, vec![call], &[&path]);
        planned.needs = needs.to_vec();
        planned
    };
    let both = [Need::Use(0, Axis::Read), Need::Use(0, Axis::Write)];
    let usual = [
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
    ];
    let usual = usual.map(|path| open(path, libc::O_RDWR, &both));
    let others = [
        "/dev/mem",
        "/dev/kmsg",
        "/dev/port",
        "/dev/vda",
        "/dev/sda",
        "/dev/nvme0n1",
        "/dev/kvm",
        "/dev/fuse",
        "/dev/net/tun",
        "/dev/loop-control",
        "/dev/console",
        "/dev/tty0",
        "/dev/vsock",
        "/dev/uinput",
        "/dev/rtc0",
    ];
    let closed = [Need::Impossible("it is not among the devices of a command")];
    let others = others.map(|path| open(path, libc::O_RDONLY, &closed));
    let settings = [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sysrq-trigger",
        "/proc/kcore",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ];
    let harmful = [Need::Impossible("settings of the kernel belong to the host")];
    let settings = settings.map(|path| open(path, libc::O_WRONLY, &harmful));
    usual.into_iter().chain(others).chain(settings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;
    use std::time::Duration;

    #[test]
    fn connections_are_answered_however_many_there_were() {
        let directory = tempfile::tempdir().unwrap();
        let outsiders = Outsiders::new(directory.path()).unwrap();
        let address = outsiders.tcp.local_addr().unwrap();
        for _ in 0..100 {
            for _ in 0..100 {
                TcpStream::connect_timeout(&address, Duration::from_millis(500)).unwrap();
            }
            outsiders.accept();
        }
    }
}
