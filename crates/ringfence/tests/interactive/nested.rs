//! Programs that make terminals of their own inside of the command's.

use std::fs;

use crate::common::Fixture;
use crate::{at_terminal, installed, sit_down, succeeds};

#[test]
fn tmux_runs_a_command_in_a_pane_and_its_server_ends_with_it() {
    if !installed("interactive_tmux", &["tmux"]) {
        return;
    }
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let script = r#"
        export TMUX_TMPDIR="$TMPDIR" SHELL=/bin/sh PS1='ready> '
        tmux -f /dev/null new-session -s inside
        echo left $?
    "#;
    let mut session = sit_down(at_terminal(&executor, &["sh", "-c", script]));
    // The line at the bottom.
    session.see("[inside]");
    session.type_in("echo pane $TMUX_PANE; tty\r");
    session.see("pane %0");
    session.see("/dev/pts/1");
    session.type_in("case $TMUX in \"$TMPDIR\"/*) echo 'pri'vate; esac\r");
    session.see("private");
    session.type_in("tmux kill-server\r");
    session.see("[server exited]");
    session.see("left");
    session.rest();
    succeeds(&session);
}

#[test]
fn script_records_what_a_command_shows() {
    if !installed("interactive_script", &["script"]) {
        return;
    }
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let recorded = "tty; stty size; echo re''corded";
    let mut session = sit_down(at_terminal(
        &executor,
        &["script", "-q", "-e", "-c", recorded, "typescript"],
    ));
    assert_eq!(session.rest(), "/dev/pts/1\r\n24 200\r\nrecorded\r\n");
    succeeds(&session);
    let typescript = fs::read_to_string(fixture.path("typescript")).unwrap();
    assert!(typescript.contains("24 200\r\nrecorded\r\n"), "{typescript:?}");
}
