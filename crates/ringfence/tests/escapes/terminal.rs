//! The caller's terminal: what is typed into it the caller's shell obeys.

use std::process::Command;

use crate::common::skip;
use crate::ground::{Ground, PYTHON};

const AT_TERMINAL: &str = include_str!("attacks/at_terminal.py");

/// Runs a command line at a new terminal, which controls it; what it said, and what was typed meanwhile.
fn at_terminal(command: &Command) -> (String, String) {
    let mut terminal = Command::new(PYTHON);
    terminal.args(["-c", AT_TERMINAL]);
    terminal.arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        terminal.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        terminal.env(name, value.unwrap());
    }
    let output = terminal.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let (said, typed) = said.split_once("typed: ").unwrap();
    (said.to_owned(), typed.trim_end().to_owned())
}

#[test]
fn s_28_nothing_is_typed_into_the_callers_terminal() {
    let script = include_str!("attacks/terminal.py");
    let ground = Ground::new();
    let (said, typed) = at_terminal(&ground.attacker(script, &[]));
    if said.contains("push_standard_input EIO") {
        return skip(
            "s_28_nothing_is_typed_into_the_callers_terminal",
            "this kernel lets nobody type",
        );
    }
    assert!(!said.contains(" E") && typed.contains("obey"), "{said} {typed}");

    let mut again = Command::new(std::env::current_exe().unwrap());
    again
        .args([
            "terminal::attacked_at_a_terminal",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env("RINGFENCE_ESCAPES_TERMINAL", "1");
    let (said, typed) = at_terminal(&again);
    assert!(said.contains("test result: ok. 1 passed"), "{said}");
    assert_eq!(typed, "", "{said}");
}

/// What runs at the terminal of the test above.
#[test]
#[ignore = "run by another test, at a terminal"]
fn attacked_at_a_terminal() {
    if std::env::var_os("RINGFENCE_ESCAPES_TERMINAL").is_none() {
        return;
    }
    assert!(std::fs::File::open("/dev/tty").is_ok(), "there is no terminal");
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    let script = include_str!("attacks/terminal.py");
    let command = fence
        .attacker(script, &[])
        .stdin(ringfence::Stdio::Inherit)
        .stderr(ringfence::Stdio::Inherit);
    fence.tried(&command.output().unwrap()).none_worked();
}
