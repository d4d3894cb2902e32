//! Shells with job control, and what jobs leave behind.

use std::fs;

use ringfence::Ending;

use crate::common::session::Session;
use crate::common::{Fixture, eventually};
use crate::{at_terminal, installed, sit_down, succeeds};

#[test]
fn bash_stops_jobs_and_takes_them_up_again() {
    if !installed("interactive_bash", &["bash"]) {
        return;
    }
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let shell = at_terminal(&executor, &["bash", "--norc", "--noprofile", "-i"]);
    let mut session = sit_down(shell.env("PS1", "ready> "));
    // Neither that there is no job control nor that the terminal's group can't be set.
    assert!(!session.see("ready> ").contains("bash:"));
    // Nothing is forked once it has started: a shell that is stopped between vfork(2) and execve(2) never gets to be.
    session
        .type_in("sh -c 'sleep 60 & trap \"echo resu\"med CONT; echo star\"\"ted; while :; do wait; done'\r");
    session.see("started");
    session.type_in("\x1a");
    session.see("Stopped");
    session.see("ready> ");
    session.type_in("fg\r");
    // Said by the job, which the shell lets go on once the terminal is the job's.
    session.see("resumed");
    session.type_in("\x03");
    session.see("ready> ");
    session.type_in("echo status $?; jobs; exit 7\r");
    session.see("status 130\r\n");
    assert_eq!(session.rest(), "exit\r\n");
    assert_eq!(session.process.wait_all().unwrap().ended, Ending::Exited(7));
}

/// As a build tool leaves a server behind for the next build.
#[test]
fn a_daemon_of_a_build_does_not_survive_it() {
    if !installed("interactive_daemon", &["setsid"]) {
        return;
    }
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    // No other process of the host has this in its command line.
    let name = fixture.path("build daemon").display().to_string();
    let script = r#"
        (setsid sh -c 'echo >started; while :; do sleep 0.05; done' "$0" </dev/null >/dev/null 2>&1 &)
        until test -e started; do sleep 0.05; done
        echo bui""lt; read -r _
    "#;
    let mut session = sit_down(at_terminal(&executor, &["sh", "-c", script, &name]));
    session.see("built");
    let daemons = || processes_with(&name);
    // The build itself, its daemon, and what that has just forked.
    assert!(daemons() > 1);
    session.type_in("\r");
    assert_eq!(session.process.wait().unwrap().ended, Ending::Exited(0));
    succeeds(&session);
    // The terminal is at its end although the daemon never closed anything of it.
    assert_eq!(session.rest(), "\r\n\r\n");
    eventually("the end of the daemon", || daemons() == 0);
}

/// How many processes of the host, whatever namespaces they are in, have this among their arguments.
fn processes_with(argument: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            line.split(|byte| *byte == 0)
                .any(|part| part == argument.as_bytes())
        })
        .count()
}

#[test]
fn stty_changes_the_terminal_for_whoever_comes_next() {
    if !installed("interactive_stty", &["stty"]) {
        return;
    }
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let script = "stty size; stty rows 30 cols 100; stty size; stty -a | head -n 1; saved=$(stty -g); \
                  stty raw; stty sane; stty \"$saved\"; echo end";
    let mut session = sit_down(at_terminal(&executor, &["sh", "-c", script]));
    let screen = session.rest();
    let expected = "24 200\r\n30 100\r\nspeed 38400 baud; rows 30; columns 100; line = 0;\r\nend\r\n";
    assert_eq!(screen, expected);
    succeeds(&session);
}

#[test]
fn python_evaluates_what_is_typed() {
    if !installed("interactive_python", &["python3"]) {
        return;
    }
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session: Session = sit_down(at_terminal(&executor, &["/usr/bin/python3", "-q", "-i"]));
    session.see(">>> ");
    session.type_in("6 * 7\r");
    session.see("42");
    session.see(">>> ");
    session.type_in("import os; os.isatty(0) and print('term' + 'inal')\r");
    session.see("terminal");
    session.see(">>> ");
    session.type_in("\x04");
    succeeds(&session);
}
