//! Servers of the host: whoever reaches one that obeys is out.

use std::cell::RefCell;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use ringfence::{Access, ProfileConfig, Root, Verdict};

use crate::common::skip;
use crate::ground::{Ground, PYTHON, is_root};

/// A host process that serves, and says what it was asked.
struct Server {
    process: Child,
    output: BufReader<ChildStdout>,
    /// The ports of its loopback servers, and a name for those without a path.
    words: Vec<String>,
}

impl Server {
    /// Serves by each kind of socket in the directory, by an abstract name, and on the loopback.
    fn in_directory(directory: &Path, secret: &Path) -> Self {
        let mut command = Command::new(PYTHON);
        let script = include_str!("attacks/server.py");
        command.args(["-c", script]).args([directory, secret]);
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        Self {
            process,
            output,
            words: line.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// Whether anybody asked since this was asked last.
    fn was_asked(&mut self) -> bool {
        self.process.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut asked = false;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            match line.trim_end() {
                "answered" => return asked,
                "" => panic!("the server is gone"),
                _ => asked = true,
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// A server with its sockets in this directory, before the command starts.
fn withstands(directory: &str, script: &str, change: &dyn Fn(&Ground, &mut ProfileConfig)) {
    let ground = Ground::new();
    std::fs::create_dir_all(ground.at(directory)).unwrap();
    let place = ground.at(directory);
    let server = RefCell::new(Server::in_directory(&place, &ground.at("o/secret")));
    let fence = ground.fence(|profile| change(&ground, profile));
    let ports = server.borrow().words.clone();
    let mut words = vec![place.to_str().unwrap()];
    words.extend(ports.iter().map(String::as_str));
    fence.withstands(script, &words, &|| server.borrow_mut().was_asked());
}

const BY_PATH: &str = include_str!("attacks/sockets_by_path.py");

fn shown(ground: &Ground, profile: &mut ProfileConfig) {
    let root = Root::directory(ground.at("o/shown"), Verdict::READ_ONLY);
    profile.roots.push(root);
}

fn everything(_: &Ground, profile: &mut ProfileConfig) {
    profile.host_access = Verdict::READ_ONLY;
    profile.network = Access::Allow;
}

#[test]
fn s_34_no_socket_in_a_readable_place_is_reached() {
    withstands("o/shown", BY_PATH, &shown);
}

#[test]
fn no_socket_in_the_workspace_is_reached() {
    withstands("w", BY_PATH, &|_, _| ());
    withstands("w/deep/er", BY_PATH, &|_, _| ());
}

#[test]
fn no_socket_in_a_protected_place_is_reached() {
    withstands("w/kept", BY_PATH, &|ground, profile| {
        let root = Root::directory(ground.at("w/kept"), Verdict::READ_ONLY);
        profile.roots.push(root);
    });
}

/// Nobody else can open a directory of somebody else's: what is in it needs no hiding, which it makes impossible.
#[test]
fn a_socket_behind_the_directory_of_another_user_holds_nobody_up() {
    if !is_root() {
        skip(
            "a_socket_behind_the_directory_of_another_user_holds_nobody_up",
            "making directories of other users needs root",
        );
        return;
    }
    let ground = Ground::new();
    let place = ground.at("w/theirs");
    std::fs::create_dir(&place).unwrap();
    let mut server = Server::in_directory(&place, &ground.at("o/secret"));
    std::fs::set_permissions(&place, Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(&place, Some(65534), Some(65534)).unwrap();
    ground.fence(|_| ()).resists(BY_PATH, &[place.to_str().unwrap()]);
    assert!(server.was_asked(), "the control did not ask");
}

/// Where the sockets of the system and of sessions are, nothing of the host is there at all.
#[test]
fn no_socket_in_a_temporary_directory_is_reached() {
    withstands("o", BY_PATH, &|_, _| ());
    // Even if all of the host is shown, and its network.
    withstands("o", BY_PATH, &everything);
}

/// Session bus, key agent, container engine: by the variables that lead there, and by their usual names.
#[test]
fn no_session_bus_or_container_engine_is_reached() {
    for change in [&everything as &dyn Fn(&Ground, &mut ProfileConfig), &|_, _| ()] {
        let ground = Ground::new();
        let place = ground.at("o/run");
        std::fs::create_dir(&place).unwrap();
        let mut server = Server::in_directory(&place, &ground.at("o/secret"));
        let script = include_str!("attacks/services.py");
        let stream = place.join("stream").to_str().unwrap().to_owned();
        let variables = [
            ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={stream}")),
            ("DOCKER_HOST", format!("unix://{stream}")),
            ("SSH_AUTH_SOCK", stream.clone()),
            ("XDG_RUNTIME_DIR", place.to_str().unwrap().to_owned()),
        ];
        let mut control = ground.attacker(script, &[]);
        let output = control.envs(variables.clone()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said.matches("worked").count(), variables.len(), "{said}");
        assert!(server.was_asked());
        let fence = ground.fence(|profile| change(&ground, profile));
        // Whoever passes them on passes on names that lead nowhere.
        let mut command = fence.attacker(script, &[]);
        for (name, value) in variables {
            command = command.env(name, value);
        }
        fence.tried(&command.output().unwrap()).none_worked();
        assert!(!server.was_asked());
    }
}

#[test]
fn no_abstract_socket_is_reached() {
    for network in [Access::Deny, Access::Allow] {
        withstands("o", include_str!("attacks/sockets_abstract.py"), &|_, profile| {
            profile.network = network;
        });
    }
}

#[test]
fn no_server_on_the_hosts_loopback_is_reached() {
    withstands("o", include_str!("attacks/sockets_network.py"), &|_, _| ());
}

/// Without a name of its own a server gets a port of the host: nobody outside can connect to it.
#[test]
fn nobody_is_served_without_a_network() {
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    let script = include_str!("attacks/serve.py");
    let connect = |port: String| {
        let port: u16 = port.parse().ok()?;
        std::net::TcpStream::connect(("127.0.0.1", port)).ok()
    };
    let visit = || {
        let file = ground.at("w/port");
        let patience = std::time::Instant::now() + Duration::from_secs(20);
        loop {
            if let Ok(port) = std::fs::read_to_string(&file) {
                std::fs::remove_file(&file).unwrap();
                return connect(port).is_some();
            }
            assert!(std::time::Instant::now() < patience, "nobody serves");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    for way in ["bound", "unbound"] {
        std::thread::scope(|scope| {
            let visitor = scope.spawn(visit);
            ground.control(script, &[way]).all_worked();
            assert!(visitor.join().unwrap(), "{way}");
            let visitor = scope.spawn(visit);
            fence.attack(script, &[way]).none_worked();
            assert!(!visitor.join().unwrap(), "{way}");
        });
    }
}

#[test]
fn no_uncommon_socket_can_be_made() {
    let ground = Ground::new();
    let script = include_str!("attacks/socket_families.py");
    for network in [Access::Deny, Access::Allow] {
        let fence = ground.fence(|profile| profile.network = network);
        fence.resists_what_there_is("families of sockets", script, &[]);
    }
}
