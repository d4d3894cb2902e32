//! Prompts for passwords, which are read from the terminal whatever standard input is, and not shown.

use crate::common::Fixture;
use crate::{at_terminal, installed, sit_down, succeeds};

#[test]
fn a_password_is_read_from_the_terminal_and_not_shown() {
    if !installed("interactive_password", &["bash"]) {
        return;
    }
    let script = "exec </dev/null; read -rs -p 'Password: ' secret </dev/tty; echo \"length ${#secret}\"; \
                  stty -a </dev/tty | grep -ow -e '-\\?echo'";
    asks_for_password(&["bash", "-c", script], "echo\r\n");
}

#[test]
fn getpass_of_python_reads_from_the_terminal_and_does_not_show_it() {
    if !installed("interactive_getpass", &["python3"]) {
        return;
    }
    let script = "exec </dev/null; exec /usr/bin/python3 -W error -c \
                  'import getpass; print(\"length\", len(getpass.getpass()))'";
    asks_for_password(&["sh", "-c", script], "");
}

#[track_caller]
fn asks_for_password(arguments: &[&str], then: &str) {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session = sit_down(at_terminal(&executor, arguments));
    session.see("Password: ");
    session.type_in("sesame\r");
    let screen = session.rest();
    assert_eq!(screen.trim_start(), format!("length 6\r\n{then}"));
    succeeds(&session);
}
