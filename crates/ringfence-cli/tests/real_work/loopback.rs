//! Servers and clients on the private loopback.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use ringfence::blocking::ExecutorSet;
use ringfence::{Access, Host, Profile, ProfileConfig, Verdict};

use crate::support::{Place, installed};

/// Serves one request, and says on which port as soon as it can be reached.
const SERVER: &str = "\
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'served ' + self.path.encode())
    def log_message(self, *arguments):
        pass
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.handle_request()
";

const CLIENT: &str = "\
import sys, urllib.request
print(urllib.request.urlopen(f'http://localhost:{sys.argv[1]}/page', timeout=10).read().decode())
";

fn write_server_and_client(directory: &Path) {
    fs::write(directory.join("server.py"), SERVER).unwrap();
    fs::write(directory.join("client.py"), CLIENT).unwrap();
}

#[test]
fn a_loopback_server_and_its_client_in_one_command() {
    if !installed("real_work_loopback", &[&["python3", "--version"]]) {
        return;
    }
    let place = Place::new();
    write_server_and_client(place.workspace());
    let script = r#"
        mkfifo port && { python3 server.py >port & }
        read -r number <port && python3 client.py "$number" && wait
    "#;
    let done = place.sh(&[], script).succeeded();
    assert_eq!(done.stdout, "served /page\n");
}

/// The commands of one executor share a loopback; another executor's is not theirs.
#[test]
fn a_loopback_server_and_its_client_in_two_commands_of_one_executor() {
    if !installed("real_work_loopback_across_commands", &[&["python3", "--version"]]) {
        return;
    }
    let (workspace, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_server_and_client(workspace.path());
    let config = ProfileConfig {
        workspace: workspace.path().into(),
        workspace_access: Verdict::READ_WRITE,
        command: Access::Allow,
        ..ProfileConfig::default()
    };
    let profile = Profile::new(&config, &Host).unwrap();
    let builder = ringfence::ExecutorSet::builder(profile);
    let set: ExecutorSet = builder
        .scratch_root(scratch.path())
        .max_executors(2)
        .build()
        .unwrap()
        .into();
    let (executor, stranger) = (set.executor("one").unwrap(), set.executor("two").unwrap());

    let server = executor.command("python3").arg("server.py");
    let mut server = server.stderr(ringfence::Stdio::Inherit).spawn().unwrap();
    let mut port = String::new();
    let mut output = BufReader::new(server.take_stdout().expect("a pipe"));
    output.read_line(&mut port).unwrap();

    let client = ["python3", "client.py", port.trim()];
    let refused = stranger.run_argv(workspace.path(), client).unwrap();
    assert!(
        !refused.success() && refused.stdout.to_text().contains("Connection refused"),
        "another executor reached it: {refused:?}"
    );
    let served = executor.run_argv(workspace.path(), client).unwrap();
    assert_eq!(
        (served.code(), served.stdout.to_text().as_str()),
        (Some(0), "served /page\n")
    );
    assert!(server.wait().unwrap().success());
    let closed = set.close();
    assert!(closed.problems.is_empty(), "{closed:?}");
    assert_eq!(
        fs::read_dir(scratch.path()).unwrap().count(),
        0,
        "something is left"
    );
}
