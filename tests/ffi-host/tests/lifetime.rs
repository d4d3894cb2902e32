//! What a host leaves when it is killed: no process, whatever the command did to get away, and no file.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Ground, VICTIM_HOST};
use ringfence::blocking;

const REPETITIONS: usize = 100;
/// Fewer where only the descriptors are another matter.
const REPETITIONS_WITH_FORK: usize = 20;
/// Everything must be gone this long after the host.
const AT_MOST: Duration = Duration::from_secs(1);

/// A process that cannot be taken for a later one with its number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    number: u32,
    started: String,
}

/// The fields of `/proc/N/stat` that follow the name, unless the process has ended: state, parent, …
fn fields(number: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<String> = rest.split(' ').map(str::to_owned).collect();
    (!["Z", "X"].contains(&fields[0].as_str())).then_some(fields)
}

fn process(number: u32) -> Option<Process> {
    let started = fields(number)?.get(19)?.clone();
    Some(Process { number, started })
}

fn is_alive(known: &Process) -> bool {
    process(known.number).as_ref() == Some(known)
}

/// Everything that descends from a process; orphans inside have their init as parent, so they are found too.
fn descendants(of: u32) -> BTreeSet<Process> {
    let all: Vec<u32> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .collect();
    let mut family = BTreeSet::from([of]);
    loop {
        let before = family.len();
        let parent = |number: &u32| fields(*number).and_then(|fields| fields[1].parse().ok());
        let more: Vec<u32> = all
            .iter()
            .copied()
            .filter(|number| parent(number).is_some_and(|parent| family.contains(&parent)))
            .collect();
        family.extend(more);
        if family.len() == before {
            break;
        }
    }
    family.remove(&of);
    family.into_iter().filter_map(process).collect()
}

struct Host {
    child: Child,
    /// The fork that holds the host's descriptors.
    holder: Option<u32>,
}

impl Host {
    fn start(ground: &Ground, text: &str, fork: bool) -> Self {
        let path = |name| ground.at(name).display().to_string();
        let mut command = Command::new(VICTIM_HOST);
        command
            .args(["hold", &path("w"), &path("s"), text])
            .stdout(Stdio::piped());
        if fork {
            command.arg("fork");
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let holder: u32 = line
            .strip_prefix("ready ")
            .unwrap_or_else(|| panic!("{line:?}"))
            .trim()
            .parse()
            .unwrap();
        Self {
            child,
            holder: (holder != 0).then_some(holder),
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(holder) = self.holder {
            // SAFETY: a child of the host that does nothing but hold descriptors until it is killed.
            unsafe { libc::kill(holder.cast_signed(), libc::SIGKILL) };
        }
    }
}

/// S-25: a command that leaves session and parents, writes on, and ignores what can be ignored.
const ESCAPE: &str = "trap '' HUP INT TERM
    setsid sh -c 'sleep 2; touch alive' &
    (setsid sh -c 'trap \"\" HUP INT TERM; while :; do sleep 0.2; done' &) &
    sh -c 'sleep 300 & sleep 300 & :'
    sleep 0.05; echo x; sleep 300; sleep 300";

fn is_cleaned_up(fork: bool) {
    let ground = Ground::new();
    let mut fewest = usize::MAX;
    for round in 0..(if fork { REPETITIONS_WITH_FORK } else { REPETITIONS }) {
        let mut host = Host::start(&ground, ESCAPE, fork);
        let mut tree = descendants(host.child.id());
        tree.retain(|process| Some(process.number) != host.holder);
        fewest = fewest.min(tree.len());
        host.child.kill().unwrap();
        let killed = Instant::now();
        host.child.wait().unwrap();
        while tree.iter().any(is_alive) {
            assert!(
                killed.elapsed() < AT_MOST,
                "round {round}: {:?} live on",
                tree.iter().filter(|p| is_alive(p)).collect::<Vec<_>>()
            );
            sleep(Duration::from_millis(2));
        }
        if fork {
            assert!(
                host.holder.and_then(process).is_some(),
                "the fork did not hold anything"
            );
        }
        // The next set sweeps, also while the fork still holds the owner's file.
        let entries = || fs::read_dir(ground.at("s")).unwrap().map(|entry| entry.unwrap());
        let left = || entries().filter(|entry| entry.file_name() != ".rf-locks").count();
        assert_eq!(left(), 1, "round {round}: this control shows nothing");
        let set = blocking::ExecutorSet::from(ground.set(&ground.profile()).build().unwrap());
        assert_eq!(
            left(),
            1,
            "round {round}: something was left beside the new set's directory"
        );
        assert!(set.close().is_clean());
        assert_eq!(entries().count(), 0, "round {round}");
    }
    // Zygote, two inits with their command's processes at least, and what the command started.
    assert!(
        fewest >= 8,
        "only {fewest} processes were found, so they were not looked for properly"
    );
    sleep(Duration::from_millis(2200));
    assert!(!ground.at("w/alive").exists(), "somebody lived on and wrote");
}

/// EXE-24: an executor's environment is what it was when it was made, whatever becomes of the host's.
#[test]
fn exe_24_a_later_change_of_the_environment_reaches_no_command() {
    let ground = Ground::new();
    let path = |name| ground.at(name).display().to_string();
    let mut host = Command::new(VICTIM_HOST);
    host.args(["late", &path("w"), &path("s")]).env("LANG", "early");
    let printed = host.output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&printed.stdout),
        "0\nearly\n",
        "{printed:?}"
    );
}

// S-25, LIF-19
#[test]
fn s_25_nothing_outlives_a_killed_host() {
    is_cleaned_up(false);
}

/// End of file on the host's sockets would not be seen here: the fork has them.
#[test]
fn s_25_nothing_outlives_a_killed_host_whose_fork_holds_its_descriptors() {
    is_cleaned_up(true);
}

/// The control: plain children of a killed host live on.
#[test]
fn without_confinement_they_would_live_on() {
    let ground = Ground::new();
    let mut host = Command::new("/bin/sh");
    host.args([
        "-c",
        "setsid sh -c 'touch alive; exec sleep 300' & while :; do sleep 1; done",
    ]);
    let mut host = host.current_dir(ground.at("w")).spawn().unwrap();
    while !ground.at("w/alive").exists() {
        sleep(Duration::from_millis(5));
    }
    let tree = descendants(host.id());
    host.kill().unwrap();
    host.wait().unwrap();
    sleep(Duration::from_millis(200));
    let survivors: Vec<&Process> = tree.iter().filter(|process| is_alive(process)).collect();
    for survivor in &survivors {
        // SAFETY: processes this test started, identified by number and start time just now.
        unsafe { libc::kill(survivor.number.cast_signed(), libc::SIGKILL) };
    }
    assert!(!survivors.is_empty());
}
