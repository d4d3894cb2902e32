//! The host program may be anything: no call in `main`, any number of threads, any runtime, any language, whatever it
//! does with children and signals.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use common::Ground;
use ringfence::{CancelToken, Ending};

/// Many commands at once on all threads of a runtime that starts and reaps children of its own meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tokio_host_with_several_threads() {
    let ground = Ground::new();
    let set = ground.set(&ground.profile()).build().unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..24 {
        let set = set.clone();
        tasks.spawn(async move {
            let executor = set.executor(&format!("key-{}", number % 3)).await.unwrap();
            let own = tokio::process::Command::new("true").status();
            let text = format!("echo {number}; sleep 0.02; exit {number}");
            let (outcome, own) = tokio::join!(executor.shell(text).output(), own);
            assert!(own.unwrap().success());
            let outcome = outcome.unwrap();
            assert_eq!(outcome.ended, Ending::Exited(number));
            assert_eq!(outcome.stdout.to_text(), format!("{number}\n"));
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert!(set.close().await.is_clean());
}

/// A command outlives the runtime that started it, and can still be cancelled.
#[test]
fn a_runtime_may_end_before_its_commands() {
    let ground = Ground::new();
    let set = ground.set(&ground.profile()).build().unwrap();
    let token = CancelToken::new();
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap()
    };
    let first = runtime();
    let process = first.block_on(async {
        let executor = set.executor("test").await.unwrap();
        executor
            .shell("sleep 300")
            .cancel_on(&token)
            .spawn()
            .await
            .unwrap()
    });
    first.shutdown_timeout(Duration::from_secs(5));
    token.cancel();
    let outcome = runtime().block_on(process.wait_all()).unwrap();
    assert_eq!(outcome.ended, Ending::Cancelled);
}

/// The shared library with the C interface, beside the test or one directory above it.
fn library() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let directories = here.ancestors().skip(1).take(2);
    let mut candidates = directories.map(|directory| directory.join("libffi_host.so"));
    candidates
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("no library near {}", here.display()))
}

/// What each Python host does before it calls: `run(text)` gives exit code and output.
const PRELUDE: &str = r#"
import ctypes, os, signal, sys, threading, time
library, workspace, scratch = sys.argv[1:]
function = ctypes.CDLL(library).ringfence_run
function.argtypes = [ctypes.c_char_p] * 4 + [ctypes.c_size_t]
def run(text):
    out = ctypes.create_string_buffer(4096)
    code = function(workspace.encode(), scratch.encode(), text.encode(), out, len(out))
    return code, out.value.decode()
def check(text, code, output):
    found = run(text)
    assert found == (code, output), found
"#;

const HOSTS: &[(&str, &str)] = &[
    (
        "plain",
        "check('echo $((6 * 7)); exit 5', 5, '42\\n'); check('cat /etc/passwd >/dev/null && echo read', 0, 'read\\n')",
    ),
    (
        "refuses",
        "code, out = run('ls /var/lib'); assert code not in (0, -2), (code, out); assert 'No such' in out, out",
    ),
    (
        "says why nothing ran",
        "workspace = '/nowhere'; code, out = run('true'); assert code == -2 and 'nowhere' in out, (code, out)",
    ),
    (
        "threads",
        r"
failed = []
def work(number):
    for round in range(5):
        found = run(f'echo {number}-{round}')
        if found != (0, f'{number}-{round}\n'): failed.append(found)
threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
assert not failed, failed",
    ),
    (
        "forked before",
        r"
check('echo first', 0, 'first\n')
child = os.fork()
if child == 0:
    time.sleep(60); os._exit(0)
try: check('echo second', 0, 'second\n')
finally: os.kill(child, 9); os.waitpid(child, 0)",
    ),
    (
        "works in a forked child",
        r"
check('echo parent', 0, 'parent\n')
child = os.fork()
if child == 0:
    os._exit(0 if run('echo child') == (0, 'child\n') else 1)
assert os.waitpid(child, 0)[1] == 0",
    ),
    (
        "handles SIGCHLD",
        r"
reaped = []
def reap(*_):
    try:
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if pid == 0: break
            reaped.append(pid)
    except ChildProcessError: pass
signal.signal(signal.SIGCHLD, reap)
for _ in range(5): check('echo signal; exit 3', 3, 'signal\n')
own = os.fork()
if own == 0: os._exit(0)
begun = time.time()
while own not in reaped and time.time() - begun < 5: time.sleep(0.01)
assert reaped == [own], (own, reaped)",
    ),
    (
        "ignores SIGCHLD",
        r"
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(3): check('sleep 0.01; echo ignored; exit 3', 3, 'ignored\n')",
    ),
    (
        "waits for any child",
        r"
stop = threading.Event()
def wait():
    while not stop.is_set():
        try: os.waitpid(-1, 0)
        except ChildProcessError: time.sleep(0.0005)
waiter = threading.Thread(target=wait); waiter.start()
try:
    for _ in range(10): check('echo any; exit 4', 4, 'any\n')
finally: stop.set(); waiter.join()",
    ),
    (
        "waits for any child with __WALL",
        r"
stop = threading.Event()
libc = ctypes.CDLL(None, use_errno=True)
def wait():
    status = ctypes.c_int()
    while not stop.is_set():
        if libc.waitpid(-1, ctypes.byref(status), 0x40000000) < 0: time.sleep(0.0005)
waiter = threading.Thread(target=wait); waiter.start()
try:
    for _ in range(10): check('echo wall; exit 4', 4, 'wall\n')
finally: stop.set(); waiter.join()",
    ),
];

#[test]
fn a_python_host() {
    let Some(python) = common::python("python host") else {
        return;
    };
    if cfg!(target_feature = "crt-static") {
        common::skip("python host", "a static target has no shared library");
        return;
    }
    let mut failed = Vec::new();
    for (name, text) in HOSTS {
        let ground = Ground::new();
        let output = Command::new(python)
            .args(["-c", &format!("{PRELUDE}\n{text}")])
            .args([library(), ground.at("w"), ground.at("s")])
            .output()
            .unwrap();
        let left = std::fs::read_dir(ground.at("s")).unwrap().count();
        if !output.status.success() || left != 0 {
            let said = String::from_utf8_lossy(&output.stderr);
            failed.push(format!(
                "{name}: {:?}, {left} directories left, {said}",
                output.status
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
