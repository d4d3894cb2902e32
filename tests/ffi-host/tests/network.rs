//! The network: a command reaches its own loopback and nothing of the host's, or, when the profile allows the
//! network, what the host has but still none of its local sockets.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use common::{Attempt, Fence, Ground, Running};
use ringfence::{Access, Clause, Discharge, Mechanism};

/// What the host offers: servers on its loopback, and one with an abstract name.
struct Services {
    tcp: u16,
    udp: u16,
    name: String,
}

impl Services {
    /// Serves until the test process ends.
    fn start() -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let name = format!("rf-{}-{:?}", std::process::id(), thread::current().id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let local = UnixListener::bind_addr(&address).unwrap();
        let services = Self {
            tcp: tcp.local_addr().unwrap().port(),
            udp: udp.local_addr().unwrap().port(),
            name,
        };
        thread::spawn(move || greet(tcp.incoming()));
        thread::spawn(move || greet(local.incoming()));
        thread::spawn(move || {
            while let Ok((_, from)) = udp.recv_from(&mut [0; 8]) {
                let _ = udp.send_to(b"hello", from);
            }
        });
        services
    }

    fn line(&self, text: &str) -> String {
        text.replace("{tcp}", &self.tcp.to_string())
            .replace("{udp}", &self.udp.to_string())
            .replace("{name}", &self.name)
    }
}

fn greet(connections: impl Iterator<Item = std::io::Result<impl Write>>) {
    for mut connection in connections.flatten() {
        let _ = connection.write_all(b"hello");
    }
}

#[test]
fn the_loopback_inside_works_in_one_command_and_across_two() {
    let fence = Fence::new();
    let attack = common::ATTACK;
    assert_eq!(
        fence.succeeds(&format!(
            "{attack} serve {{w}}/port & {attack} fetch {{w}}/port && wait"
        )),
        "done\ndone"
    );
    let server = fence.attacker("serve {w}/other").spawn().unwrap();
    assert_eq!(fence.attack("fetch {w}/other"), Attempt::Done(String::new()));
    assert!(server.wait().unwrap().success());
}

#[test]
fn without_network_nothing_of_the_host_is_reached() {
    let services = Services::start();
    let fence = Fence::new();
    for (line, errno) in [
        ("tcp 127.0.0.1 {tcp}", "ECONNREFUSED"),
        ("tcp localhost {tcp}", "ECONNREFUSED"),
        ("tcp ::ffff:127.0.0.1 {tcp}", "ECONNREFUSED"),
        ("tcp-fast-open 127.0.0.1 {tcp}", "ECONNREFUSED"),
        ("udp 127.0.0.1 {udp}", "ECONNREFUSED"),
    ] {
        let line = services.line(line);
        fence.control(&line).printed();
        assert_eq!(fence.attack(&line), Attempt::refused(errno), "{line}");
    }
    // No way leads anywhere else.
    for line in ["tcp 203.0.113.7 80", "tcp 2001:db8::7 80", "udp 203.0.113.7 53"] {
        let Attempt::Refused(errno) = fence.attack(line) else {
            panic!("{line}")
        };
        assert!(
            ["ENETUNREACH", "errno 99"].contains(&errno.as_str()),
            "{line}: {errno}"
        );
    }
    // The same port is the command's own inside.
    let own = format!("abstract {}", services.name);
    fence.control(&own).printed();
    assert_eq!(fence.attack(&own), Attempt::refused("ECONNREFUSED"));
}

/// Sockets of the host in the workspace, bound by an absolute and by a relative path, before the command starts.
fn pathname_sockets(network: Access) {
    let ground = Ground::new();
    ground.write("w/file", "mine\n");
    std::fs::create_dir(ground.at("w/dir")).unwrap();
    let stream = UnixListener::bind(ground.at("w/stream")).unwrap();
    let datagram = UnixDatagram::bind(ground.at("w/dir/datagram")).unwrap();
    // A server that was bound by a relative path belongs to another process.
    let mut relative = Command::new(common::ATTACK);
    relative
        .args(["unix-serve", "relative"])
        .current_dir(ground.at("w"))
        .stdout(Stdio::null());
    let _relative = Running(relative.spawn().unwrap());
    let begun = std::time::Instant::now();
    while !ground.at("w/relative").exists() {
        assert!(begun.elapsed().as_secs() < 5, "no server");
        thread::yield_now();
    }
    thread::spawn(move || greet(stream.incoming()));
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        while datagram.recv(&mut [0; 8]).is_ok() {
            let _ = sender.send(());
        }
    });
    let mut profile = ground.profile();
    profile.network = network;
    let fence = ground.fence(&profile);
    for line in [
        "unix {w}/stream",
        "unix {w}/relative",
        "unix-datagram {w}/dir/datagram",
    ] {
        fence.control(line).printed();
    }
    received.recv_timeout(std::time::Duration::from_secs(5)).unwrap();
    for line in [
        "unix {w}/stream",
        "unix {w}/relative",
        "unix-datagram {w}/dir/datagram",
    ] {
        let Attempt::Refused(errno) = fence.attack(line) else {
            panic!("{line} worked inside")
        };
        assert!(
            ["EACCES", "ECONNREFUSED"].contains(&errno.as_str()),
            "{line}: {errno}"
        );
    }
    // One made while the executor is there is hidden from the next command.
    let later = UnixListener::bind(fence.at("w/later")).unwrap();
    thread::spawn(move || greet(later.incoming()));
    fence.control("unix {w}/later").printed();
    let Attempt::Refused(_) = fence.attack("unix {w}/later") else {
        panic!("a later socket was reached")
    };
    assert!(received.try_recv().is_err(), "a datagram from inside arrived");
    // What is no socket is as it was.
    assert_eq!(fence.attack("append {w}/file"), Attempt::Done(String::new()));
    // What masks can't close is said, and the guarantee is not claimed.
    let report = fence.executor.report();
    let mut entries = report.entries().iter();
    let entry = entries.find(|entry| entry.obligation.clause == Clause::HostSockets);
    match &entry.unwrap().discharge {
        Discharge::Enforced { mechanism } => assert!(
            mechanism
                .iter()
                .any(|one| matches!(one, Mechanism::Landlock { abi: 9.. })),
            "{mechanism:?}"
        ),
        Discharge::Unenforced { why } => {
            assert!(why.contains("another network namespace"), "{why}");
            let guarantees = report.guarantees();
            assert!(!guarantees.contains(ringfence::Guarantees::PROCESS_BOUNDARY));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn sockets_of_the_host_are_hidden_without_network() {
    pathname_sockets(Access::Deny);
}

#[test]
fn sockets_of_the_host_are_hidden_with_network() {
    pathname_sockets(Access::Allow);
}

#[test]
fn with_network_the_host_is_reached_but_not_its_abstract_sockets() {
    let services = Services::start();
    let fence = Fence::with(|_, profile| profile.network = Access::Allow);
    for line in ["tcp 127.0.0.1 {tcp}", "udp 127.0.0.1 {udp}"] {
        assert_eq!(
            fence.attack(&services.line(line)),
            Attempt::Done(String::new()),
            "{line}"
        );
    }
    let report = fence.executor.report();
    let about = |clause| {
        &report
            .entries()
            .iter()
            .find(|entry| entry.obligation.clause == clause)
            .unwrap()
            .discharge
    };
    let own = services.line("abstract {name}");
    fence.control(&own).printed();
    match (about(Clause::AbstractSockets), fence.attack(&own)) {
        (Discharge::Enforced { mechanism }, attempt) => {
            assert!(
                matches!(mechanism[..], [Mechanism::Landlock { abi: 6.. }]),
                "{mechanism:?}"
            );
            assert_eq!(attempt, Attempt::refused("EPERM"));
        }
        // Then the report says so, and the guarantee is not claimed.
        (Discharge::Unenforced { .. }, _) => {
            common::skip(
                "abstract sockets",
                "Landlock is older than ABI 6; the report says so",
            );
            assert!(
                !report
                    .guarantees()
                    .contains(ringfence::Guarantees::PROCESS_BOUNDARY)
            );
        }
        other => panic!("{other:?}"),
    }
}

/// Names are resolved with the host's configuration.
#[test]
fn with_network_names_are_resolved() {
    let test = "names";
    let Some(python) = common::python(test) else {
        return;
    };
    let fence = Fence::with(|_, profile| profile.network = Access::Allow);
    let text = format!(
        "{python} -c 'import socket; print(socket.getaddrinfo(\"localhost\", 80, socket.AF_INET)[0][4][0])'"
    );
    assert_eq!(fence.succeeds(&text), "127.0.0.1");
    assert_eq!(
        std::fs::read_to_string("/etc/resolv.conf")
            .unwrap_or_default()
            .trim_end(),
        fence.succeeds("cat /etc/resolv.conf 2>/dev/null || true"),
    );
}
