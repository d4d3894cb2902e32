//! Runs at a terminal: the command has one of its own, and the user's is as before afterwards (S-28, S-29).

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on fails"
)]

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OutputModes, Termios, Winsize, tcgetattr, tcsetwinsize};
use support::{Place, RINGFENCE};

/// A terminal with a user at it.
struct Outer {
    place: Place,
    master: File,
    seen: String,
    child: Child,
}

impl Outer {
    /// What is started has the terminal as its controlling one and is in the foreground of it.
    fn start(program: &str, arguments: &[&str]) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let outer = File::from(master);
        size(&outer, 30, 100);
        let name = ptsname(&outer, Vec::new()).unwrap().into_string().unwrap();
        let slave = File::options().read(true).write(true).open(&name).unwrap();
        let place = Place::new();
        // Whoever runs the tests may ignore signals, and so would what they start.
        let mut command = place.unconfined("env");
        command.args(["--default-signal=INT,TERM,HUP,TSTP,TTIN,TTOU", "TERM=xterm"]);
        command.args(["setsid", "--ctty", program]).args(arguments);
        command.stdin(slave.try_clone().unwrap());
        command.stdout(slave.try_clone().unwrap()).stderr(slave);
        let child = command.spawn().unwrap();
        drop(command);
        Self {
            place,
            master: outer,
            seen: String::new(),
            child,
        }
    }

    fn ringfence(arguments: &[&str]) -> Self {
        Self::start(RINGFENCE, &[&["run"], arguments].concat())
    }

    fn type_in(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the text is on the screen, and forgets what was before it.
    #[track_caller]
    fn see(&mut self, text: &str) {
        let patience = Instant::now() + Duration::from_secs(20);
        while !self.seen.contains(text) {
            assert!(Instant::now() < patience, "{text:?} is not in {:?}", self.seen);
            assert!(self.read(), "{text:?} is not in {:?}, which is all", self.seen);
        }
        let end = self.seen.find(text).unwrap() + text.len();
        self.seen.drain(..end);
    }

    /// Reads what comes within a moment; `false` when there is nothing to come.
    fn read(&mut self) -> bool {
        let moment = Timespec {
            tv_sec: 0,
            tv_nsec: 100_000_000,
        };
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        if poll(&mut fds, Some(&moment)).unwrap() == 0 {
            return true;
        }
        let mut buffer = [0; 4096];
        match self.master.read(&mut buffer) {
            Ok(count @ 1..) => {
                self.seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
                true
            }
            _ => false,
        }
    }

    /// The processes that have the terminal open, as far as this user may know.
    fn holders(&self) -> Vec<String> {
        // Not by its name, which the command's own terminal may have, too.
        let identity = |path: &Path| path.metadata().map(|seen| (seen.dev(), seen.ino())).ok();
        let name = ptsname(&self.master, Vec::new()).unwrap().into_string().unwrap();
        let terminal = identity(Path::new(&name));
        let ids = std::fs::read_dir("/proc").unwrap().flatten();
        let ids = ids.filter_map(|entry| entry.file_name().into_string().ok());
        let ids = ids.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        let holds = |id: &String| {
            let open = std::fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten();
            let mut open = open.flatten();
            open.any(|entry| identity(&entry.path()) == terminal)
        };
        let us = std::process::id().to_string();
        ids.filter(holds).filter(|id| *id != us).collect()
    }

    fn settings(&self) -> Termios {
        tcgetattr(&self.master).unwrap()
    }

    fn is_raw(&self) -> bool {
        !self.settings().local_modes.contains(LocalModes::ICANON)
    }

    /// Whether every key is for the command: a shell edits lines itself, too, but lets the terminal translate what it
    /// prints.
    fn is_relayed(&self) -> bool {
        self.is_raw() && !self.settings().output_modes.contains(OutputModes::OPOST)
    }

    #[track_caller]
    fn eventually(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let patience = Instant::now() + Duration::from_secs(20);
        while !is_so(self) {
            assert!(Instant::now() < patience, "{what}: {:?}", self.seen);
            self.read();
        }
    }

    fn end(mut self) -> i32 {
        let mut status = None;
        self.eventually("the end", |outer| {
            status = outer.child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(self.place.leftovers(), Vec::<PathBuf>::new());
        status.and_then(|status| status.code()).unwrap_or(-1)
    }

    /// The program: what leads to it executes it, and forks nothing.
    fn leader(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(master: &File, rows: u16, columns: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(master, size).unwrap();
}

const SHELL: [&str; 4] = ["--", "bash", "--norc", "--noprofile"];

#[test]
fn s_29_a_shell_has_job_control_and_the_size_of_the_terminal() {
    let mut outer = Outer::ringfence(&[&SHELL[..], &["-i"]].concat());
    let before = outer.settings();
    outer.type_in("stty size; tty; echo rea''dy\n");
    outer.see("30 100");
    outer.see("/dev/pts/0");
    outer.see("ready");
    assert!(!outer.seen.contains("no job control"));
    outer.type_in("sh -c 'echo star''ted; exec sleep 100'\n");
    outer.see("started");
    outer.type_in("\x1a");
    outer.see("Stopped");
    outer.see("exec sleep 100'\r\n");
    outer.type_in("fg\n");
    outer.see("exec sleep 100'\r\n");
    outer.type_in("\x03");
    outer.type_in("echo st''atus $?\n");
    outer.see("status 130");
    size(&outer.master, 40, 120);
    outer.eventually("the new size", |outer| {
        outer.type_in("stty size\n");
        outer.read();
        outer.seen.contains("40 120")
    });
    outer.type_in("exit 7\n");
    outer.eventually("the settings from before", |outer| !outer.is_raw());
    assert_eq!(format!("{:?}", outer.settings()), format!("{before:?}"));
    assert_eq!(outer.end(), 7);
}

#[test]
fn s_29_typing_ctrl_c_ends_a_command_that_does_nothing_about_it() {
    let mut outer = Outer::ringfence(&["--", "sh", "-c", "echo rea''dy; exec sleep 100"]);
    outer.see("ready");
    outer.eventually("raw mode", |outer| outer.is_raw());
    outer.type_in("\x03");
    assert_eq!(outer.end(), 128 + 2);
}

#[test]
fn s_29_a_full_screen_program_works() {
    if !support::installed("s_29_a_full_screen_program_works", &[&["less", "--version"]]) {
        return;
    }
    let mut outer = Outer::ringfence(&["--", "sh", "-c", "seq 1 200 >lines; exec less lines"]);
    outer.see("29\r\n");
    outer.type_in("G");
    outer.see("200");
    outer.type_in("q");
    assert_eq!(outer.end(), 0);
}

// S-29: also when nobody of this program is left to do it.
#[test]
fn s_29_the_settings_come_back_when_the_host_is_killed() {
    let mut outer = Outer::ringfence(&["--", "sh", "-c", "echo rea''dy; exec sleep 100"]);
    let before = outer.settings();
    outer.see("ready");
    outer.eventually("raw mode", |outer| outer.is_raw());
    let ours = outer.child.id();
    let keeper = std::fs::read_to_string(format!("/proc/{ours}/task/{ours}/children")).unwrap();
    let allowed = [ours.to_string(), keeper.trim().to_owned()];
    let holders = outer.holders();
    assert!(holders.contains(&allowed[0]), "this finds nobody");
    assert!(
        holders.iter().all(|holder| allowed.contains(holder)),
        "{holders:?} hold the terminal, and not only {allowed:?}"
    );
    kill_process(outer.leader(), Signal::KILL).unwrap();
    outer.eventually("the settings from before", |outer| !outer.is_raw());
    assert_eq!(format!("{:?}", outer.settings()), format!("{before:?}"));
}

#[test]
fn s_29_the_settings_come_back_when_ringfence_is_asked_to_end() {
    let mut outer = Outer::ringfence(&["--", "sh", "-c", "echo rea''dy; exec sleep 100"]);
    outer.see("ready");
    outer.eventually("raw mode", |outer| outer.is_raw());
    kill_process(outer.leader(), Signal::TERM).unwrap();
    outer.eventually("the settings from before", |outer| !outer.is_raw());
    assert_eq!(outer.end(), 128 + 15);
}

#[test]
fn ctrl_z_stops_ringfence_with_what_it_runs_and_fg_lets_them_go_on() {
    // Typed into the command's terminal, or into the user's.
    for input in ["", "</dev/null"] {
        let mut outer = Outer::start("bash", &["--norc", "--noprofile", "-i"]);
        let ticks = outer.place.workspace().join("ticks");
        let count = || std::fs::metadata(&ticks).map_or(0, |file| file.len());
        let script = "while :; do echo tick >>ticks; sleep 0.1; done";
        outer.type_in(&format!("{RINGFENCE} run -- sh -c '{script}' {input}\n"));
        outer.eventually("the command", |_| count() > 0);
        if input.is_empty() {
            outer.eventually("raw mode", |outer| outer.is_relayed());
        }
        outer.type_in("\x1a");
        outer.see("Stopped");
        let stopped = count();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(count(), stopped);
        outer.type_in("fg\n");
        outer.eventually("the command again", |_| count() > stopped);
        if input.is_empty() {
            outer.eventually("raw mode again", |outer| outer.is_relayed());
        }
        outer.type_in("\x03");
        // It is echoed, and then comes the shell's prompt.
        outer.see("^C");
        outer.see("?2004h");
        outer.type_in("echo st''atus $?; exit 0\n");
        outer.see("status 130");
        assert_eq!(outer.end(), 0);
    }
}

// What is typed into the shell meanwhile is not for it, and must not stop it either.
#[test]
fn s_29_a_run_that_was_put_into_the_background_goes_on() {
    let mut outer = Outer::start("bash", &["--norc", "--noprofile", "-i"]);
    let ticks = outer.place.workspace().join("ticks");
    let count = || std::fs::metadata(&ticks).map_or(0, |file| file.len());
    let script = "while :; do echo tick >>ticks; sleep 0.1; done";
    outer.type_in(&format!("{RINGFENCE} run -- sh -c '{script}'\n"));
    outer.eventually("raw mode", |outer| outer.is_relayed());
    outer.type_in("\x1a");
    outer.see("Stopped");
    outer.type_in("bg\n");
    let stopped = count();
    outer.eventually("the command again", |_| count() > stopped);
    for number in 0..5 {
        outer.type_in(&format!("echo for-the-she''ll-{number}\n"));
        outer.see(&format!("for-the-shell-{number}"));
        std::thread::sleep(Duration::from_millis(100));
    }
    let typed = count();
    outer.eventually("the command still", |_| count() > typed);
    outer.type_in("jobs; kill %1; wait; exit 0\n");
    outer.see("Running");
    assert_eq!(outer.end(), 0);
}

// S-28
#[test]
fn s_28_nothing_can_be_typed_into_the_users_terminal() {
    const PUSH: &str = "foreach (0, 1, 2) { open(my $t, '+<&=', $_); print ioctl($t, 0x5412, my $c = 'x') ? \
                        \"pushed\\n\" : \"refused\\n\" } open(my $t, '+<', '/dev/tty') or exit; \
                        print ioctl($t, 0x5412, my $c = 'x') ? \"pushed\\n\" : \"refused\\n\"";
    let mut control = Outer::start("perl", &["-e", PUSH]);
    control.eventually("the control", |outer| outer.child.try_wait().unwrap().is_some());
    if !control.seen.contains("pushed") {
        // Linux 6.2 and later can do without it altogether.
        let line = "SKIP s_28_nothing_can_be_typed_into_the_users_terminal: dev.tty.legacy_tiocsti is off\n";
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        return;
    }
    let mut outer = Outer::ringfence(&["--", "perl", "-e", PUSH]);
    outer.eventually("the attack", |outer| outer.child.try_wait().unwrap().is_some());
    while outer.read() && outer.seen.matches("refused").count() < 4 {}
    assert!(!outer.seen.contains("pushed"), "{:?}", outer.seen);
    assert_eq!(outer.seen.matches("refused").count(), 4, "{:?}", outer.seen);
}

// S-28, S-29: what the user types into the shell is not for a command in the background.
#[test]
fn s_28_a_command_in_the_background_can_not_read_the_users_terminal() {
    const READ: &str = "foreach (0, 1, 2) { open(my $t, '+<&=', $_) or next; sysread($t, my $key, 1) \
                        and print \"read $key\\n\" }";
    let script = format!("{RINGFENCE} run -- perl -e '{READ}' & sleep 3; read line; echo got $line; kill %1");
    let mut outer = Outer::start("bash", &["-mc", &script]);
    std::thread::sleep(Duration::from_secs(1));
    outer.type_in("secret\n");
    outer.see("got secret");
    assert!(!outer.seen.contains("read s"), "{:?}", outer.seen);
}

#[test]
fn streams_that_go_elsewhere_are_no_terminal_and_those_that_do_not_are() {
    let script = format!(
        "{RINGFENCE} run -- sh -c 'for fd in 0 1 2; do test -t $fd; echo $fd: $? >&2; done' </dev/null | cat; \
         {RINGFENCE} run --tty never -- sh -c 'for fd in 0 1 2; do test -t $fd; echo never $fd: $? >&2; done'; \
         echo x | {RINGFENCE} run --tty always -- sh -c 'test -t 0; echo always $?' >always; cat always"
    );
    let mut outer = Outer::start("sh", &["-c", &script]);
    for text in [
        "0: 1",
        "1: 1",
        "2: 0",
        "never 0: 1",
        "never 1: 1",
        "never 2: 1",
        "always 0",
    ] {
        outer.see(text);
    }
    assert_eq!(outer.end(), 0);
}

// S-28: wherever its output goes, and whatever the user wants of terminals.
#[test]
fn s_28_a_command_that_writes_elsewhere_can_not_change_or_read_the_users_terminal() {
    for options in ["", "--tty never"] {
        let attack = "for fd in 0 1 2; do stty raw -echo <&$fd; done 2>/dev/null; ls -l /proc/self/fd";
        let script = format!("{RINGFENCE} run {options} -- sh -c '{attack}' | cat; stty -a; echo d''one");
        let mut outer = Outer::start("bash", &["-c", &script]);
        let name = ptsname(&outer.master, Vec::new()).unwrap().into_string().unwrap();
        let mut all = String::new();
        outer.eventually("the end", |outer| {
            all.push_str(&std::mem::take(&mut outer.seen));
            outer.read();
            all.contains("done")
        });
        assert!(all.contains(" icanon") && all.contains(" echo "), "{all:?}");
        let standard = all
            .lines()
            .filter(|line| line.contains(" -> ") && line.contains(&name));
        // Its own may have the same name; what it reads from is none.
        let input = standard.filter(|line| line.contains(" 0 -> "));
        assert_eq!(input.collect::<Vec<_>>(), Vec::<&str>::new());
    }
}

// The end of a command does not wait for somebody to read what it wrote.
#[test]
fn a_run_whose_output_nobody_reads_can_be_ended() {
    let limits = "--timeout 1s --output-limit 100M";
    let flood = format!("({RINGFENCE} run {limits} -- yes; echo status $? >&2) | sleep 100");
    let mut outer = Outer::start("bash", &["-c", &flood]);
    outer.see("status 124");
}

#[test]
fn a_command_that_is_stopped_hears_that_it_is_to_end() {
    let mut outer = Outer::ringfence(&["--", "sh", "-c", "echo rea''dy; kill -STOP $$"]);
    outer.see("ready");
    std::thread::sleep(Duration::from_millis(200));
    kill_process(outer.leader(), Signal::TERM).unwrap();
    assert_eq!(outer.end(), 128 + 15);
}

#[test]
fn keys_of_a_pipe_end_a_program_that_edits_lines_itself() {
    let script = format!("echo 'echo in''side' | {RINGFENCE} run --tty always -- bash --norc --noprofile -i");
    let mut outer = Outer::start("sh", &["-c", &script]);
    outer.see("inside");
    assert_eq!(outer.end(), 0);
}

#[test]
fn the_commands_terminal_has_the_settings_of_the_users() {
    let script = format!("stty erase ^H intr ^X; {RINGFENCE} run -- stty -a");
    let mut outer = Outer::start("sh", &["-c", &script]);
    outer.see("intr = ^X");
    outer.see("erase = ^H");
    assert_eq!(outer.end(), 0);
}

// S-29: after a stop that nobody can catch, and one after which the terminal is the shell's.
#[test]
fn s_29_a_stop_leaves_the_terminal_to_the_shell() {
    let mut outer = Outer::start("bash", &["--norc", "--noprofile", "-i"]);
    outer.type_in(&format!("{RINGFENCE} run -- sh -c 'echo rea''dy; exec cat'\n"));
    outer.see("ready");
    outer.eventually("raw mode", |outer| outer.is_raw());
    let run = format!("/proc/{0}/task/{0}/children", outer.child.id());
    let run: i32 = std::fs::read_to_string(run).unwrap().trim().parse().unwrap();
    let run = Pid::from_raw(run).unwrap();
    kill_process(run, Signal::STOP).unwrap();
    outer.see("Stopped");
    outer.type_in("fg\n");
    outer.see("exec cat'");
    outer.eventually("raw mode again", |outer| outer.is_relayed());
    outer.type_in("typed\n");
    outer.see("typed\r\ntyped");
    outer.type_in("\x04");
    // The shell's prompt.
    outer.see("?2004h");
    outer.type_in("exit 0\n");
    assert_eq!(outer.end(), 0);
}
