//! Real work inside the default profile of `ringfence run`, as root and as an ordinary user: each test runs
//! unmodified tools and asserts what they produced, not only that they exited with 0.
//!
//! A tool that is not installed is a visible `SKIP real_work_<tool>: not installed` on standard error.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use ringfence::blocking::ExecutorSet;
use ringfence::{Access, Host, Profile, ProfileConfig, Verdict};
use support::{Place, installed};

#[test]
fn shell_pipelines_with_errors_thrown_away() {
    let script = r"
        set -e
        printf '%s\n' pear apple fig apple | sort -u | tr a-z A-Z | paste -sd, -
        ls /no/such/place 2>/dev/null || echo failed quietly
        seq 1 100000 | tail -n 1
        find / -name '*.none' >/dev/null 2>&1 || true
        (echo in a subshell; exit 3) || echo code $?
        echo background >file & wait; cat file
    ";
    let done = Place::new().sh(&[], script).succeeded();
    let expected = "APPLE,FIG,PEAR\nfailed quietly\n100000\nin a subshell\ncode 3\nbackground\n";
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), (expected, ""));
}

#[test]
fn here_documents() {
    let script = "name=world\ncat <<END >greeting\nhello $name\n$(yes x | head -n 20000)\nEND\nwc -l <greeting; head -n 1 greeting";
    let done = Place::new().sh(&[], script).succeeded();
    assert_eq!(done.stdout, "20001\nhello world\n");
}

#[test]
fn temporary_files() {
    let place = Place::new();
    let script = r#"
        set -e
        file=$(mktemp); directory=$(mktemp -d); fixed=$(mktemp /tmp/fixed.XXXXXX)
        echo content >"$file"; mv "$file" "$directory/moved"; cat "$directory/moved"
        echo "$fixed"; test -w /var/tmp; test -w /dev/shm
    "#;
    let done = place.sh(&[], script).succeeded();
    let fixed = done
        .stdout
        .strip_prefix("content\n")
        .expect("the file's content")
        .trim_end();
    assert!(fixed.starts_with("/tmp/fixed."), "{done:?}");
    assert!(
        !Path::new(fixed).exists(),
        "the command's own /tmp reached the host's"
    );
}

#[test]
fn git_init_and_commit_in_a_subdirectory() {
    if !installed("real_work_git", &[&["git", "--version"]]) {
        return;
    }
    let place = Place::new();
    let script = r#"
        set -e
        git init --quiet project && cd project
        git config user.name Somebody && git config user.email somebody@example.com
        echo one >file && git add file && git commit --quiet --message first
        git switch --quiet --create side && echo two >>file && git commit --quiet --all --message second
        git rebase --quiet HEAD~1 && git gc --quiet && git fsck --no-progress
        git status --short --branch
    "#;
    let done = place.sh(&[], script).succeeded();
    assert_eq!(done.stdout, "## side\n");
    // A host git reads what was made inside.
    let log = Command::new("git")
        .args(["-c", "safe.directory=*", "log", "--format=%s %an"])
        .current_dir(place.file("project"))
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&log.stdout),
        "second Somebody\nfirst Somebody\n"
    );
}

#[test]
fn make_and_a_c_compiler() {
    if !installed("real_work_make", &[&["make", "--version"], &["cc", "--version"]]) {
        return;
    }
    let place = Place::new();
    fs::write(place.file("answer.c"), "int answer(void) { return 42; }\n").unwrap();
    let main = "#include <stdio.h>\nint answer(void);\nint main(void) { printf(\"%d\\n\", answer()); }\n";
    fs::write(place.file("main.c"), main).unwrap();
    let makefile = "all: program\n\t./program\nprogram: main.o answer.o\n\t$(CC) -o $@ $^\n";
    fs::write(place.file("Makefile"), makefile).unwrap();
    let done = place.sh(&[], "make --jobs=2 >log && tail -n 1 log").succeeded();
    assert_eq!(done.stdout, "42\n");
    let again = place.sh(&[], "make program").succeeded();
    assert!(again.stdout.contains("up to date"), "{again:?}");
}

/// A virtual environment with its pip, and a pool, which needs semaphores in `/dev/shm`.
#[test]
fn python_environment_and_process_pool() {
    if !installed(
        "python",
        &[&["python3", "-c", "import ensurepip, venv, multiprocessing"]],
    ) {
        return;
    }
    let place = Place::new();
    let program = "\
from multiprocessing import Pool
import sys

def square(number):
    return number * number

if __name__ == '__main__':
    with Pool(2) as pool:
        print(sum(pool.map(square, range(1000))), sys.prefix != sys.base_prefix)
";
    fs::write(place.file("pool.py"), program).unwrap();
    let script = "python3 -m venv env && env/bin/python -m pip --version >pip && env/bin/python pool.py";
    let done = place.sh(&[], script).succeeded();
    assert_eq!(done.stdout, "332833500 True\n");
    let pip = fs::read_to_string(place.file("pip")).unwrap();
    assert!(
        pip.contains(place.workspace().to_str().unwrap()),
        "not the environment's pip: {pip}"
    );
}

#[test]
fn cargo_builds_and_tests_a_crate_offline() {
    if !installed(
        "real_work_cargo",
        &[&["cargo", "--version"], &["cc", "--version"]],
    ) {
        return;
    }
    let place = Place::new();
    let manifest = "[package]\nname = \"hello\"\nversion = \"1.2.3\"\nedition = \"2021\"\n";
    fs::write(place.file("Cargo.toml"), manifest).unwrap();
    fs::create_dir(place.file("src")).unwrap();
    let source = "fn main() { println!(\"hello {}\", env!(\"CARGO_PKG_VERSION\")) }\n#[test] fn adds() { assert_eq!(1 + 1, 2) }\n";
    fs::write(place.file("src/main.rs"), source).unwrap();
    let script = "cargo build --offline --quiet && target/debug/hello && cargo test --offline --quiet";
    let done = place.sh(&[], script).succeeded();
    assert!(done.stdout.starts_with("hello 1.2.3\n"), "{done:?}");
    assert!(done.stdout.contains("1 passed"), "{done:?}");
}

/// Files, a worker thread and a child process.
#[test]
fn a_node_script() {
    if !installed("real_work_node", &[&["node", "--version"]]) {
        return;
    }
    let place = Place::new();
    let program = "\
const { Worker, isMainThread, parentPort } = require('worker_threads');
if (isMainThread) {
    const fs = require('fs');
    const { execFileSync } = require('child_process');
    fs.writeFileSync('made.json', JSON.stringify({ child: execFileSync('echo', ['spoke']).toString() }));
    new Worker(__filename).on('message', (sum) => console.log(sum, fs.readFileSync('made.json', 'utf8')));
} else {
    parentPort.postMessage([1, 2, 3].reduce((a, b) => a + b));
}
";
    fs::write(place.file("script.js"), program).unwrap();
    let done = place.ringfence(["run", "--", "node", "script.js"]).succeeded();
    assert_eq!(done.stdout, "6 {\"child\":\"spoke\\n\"}\n");
}

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
