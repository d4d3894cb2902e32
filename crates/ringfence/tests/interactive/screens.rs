//! Programs that take the whole screen.

use std::fs;

use crate::common::Fixture;
use crate::{at_terminal, installed, sit_down, succeeds};

#[test]
fn vim_writes_a_file() {
    if !installed("interactive_vim", &["vim"]) {
        return;
    }
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session = sit_down(at_terminal(&executor, &["vim", "letter"]));
    let mut screen = session.see("\"letter\" [New]");
    session.type_in("i");
    screen += &session.see("INSERT");
    session.type_in("Dear reader\rgoodbye");
    screen += &session.see("goodbye");
    session.type_in("\x1b:wq\r");
    screen += &session.see("written");
    screen += &session.rest();
    succeeds(&session);
    assert_eq!(
        fs::read_to_string(fixture.path("letter")).unwrap(),
        "Dear reader\ngoodbye\n"
    );
    // Nothing it starts with is missing: it would say so, by number.
    assert!(!screen.contains("E484") && !screen.contains("rror"), "{screen:?}");
}

#[test]
fn less_searches_and_quits() {
    if !installed("interactive_less", &["less"]) {
        return;
    }
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut lines: Vec<String> = (1..=500).map(|number| format!("line {number}")).collect();
    lines[399].push_str(" needle");
    fs::write(fixture.path("lines"), lines.join("\n")).unwrap();
    let mut session = sit_down(at_terminal(&executor, &["less", "lines"]));
    let screen = session.see("line 23");
    assert!(!screen.contains("not fully functional"), "{screen:?}");
    session.type_in("/need.e\r");
    session.see("line 400");
    session.see("line 422");
    session.type_in("G");
    session.see("line 500");
    session.type_in("q");
    succeeds(&session);
}

#[test]
fn top_draws_what_runs_and_quits() {
    if !installed("interactive_top", &["top"]) {
        return;
    }
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session = sit_down(at_terminal(&executor, &["top"]));
    session.see("load average");
    session.see("PID");
    session.see("top");
    session.type_in("q");
    succeeds(&session);
}

#[test]
fn git_rebases_with_editors_that_have_the_terminal() {
    if !installed("interactive_rebase", &["git", "vim"]) {
        return;
    }
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    // The first editor is one at the screen, the second says what it has.
    let script = r#"
        set -e
        git init --quiet project; cd project
        export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.com
        for number in one two three; do
            echo $number >$number; git add $number; git commit --quiet --message $number
        done
        printf '%s\n' '#!/bin/sh' 'test -t 0 && test -t 1 && tty >"$(git rev-parse --show-toplevel)/seen"' >editor
        printf '%s\n' 'echo "all three" >"$1"' >>editor
        chmod +x editor
        GIT_SEQUENCE_EDITOR=vim GIT_EDITOR="$PWD/editor" git rebase --interactive HEAD~2
        git log --format='%s;' | tr -d '\n'; cat seen; stty -a | grep -o -e '-\?icanon'
    "#;
    let mut session = sit_down(at_terminal(&executor, &["sh", "-c", script]));
    session.see("git-rebase-todo\" ");
    session.see("# Rebase");
    session.type_in(":2s/pick/squash/\r:wq\r");
    session.see("Successfully rebased");
    session.see("\n");
    let screen = session.rest();
    assert_eq!(screen, "all three;one;/dev/pts/0\r\nicanon\r\n");
    succeeds(&session);
}
