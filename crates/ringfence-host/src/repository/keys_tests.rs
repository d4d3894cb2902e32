use std::collections::HashSet;

use super::super::config::parse;
use super::*;

fn dangerous(text: &str) -> bool {
    let settings = parse(text.as_bytes()).unwrap();
    assert_eq!(settings.len(), 1, "{text}");
    is_dangerous(&settings[0])
}

#[test]
fn rows_are_names_as_git_folds_them_each_once() {
    let mut seen = HashSet::new();
    for (name, _) in ROWS {
        assert_eq!(*name, name.to_ascii_lowercase());
        assert!(Parts::of(name.as_bytes()).is_some());
        assert!(seen.insert(name), "{name}");
    }
}

#[test]
fn names_are_told_apart_by_section_subsection_and_key() {
    for text in [
        "[Core]FSMonitor=x",
        "[filter.x]clean=y",
        "[filter \"a.b.c\"]clean=x",
        "[includeIf \"gitdir:~/a.b/\"]path=x",
        "[http \"https://example.com\"]proxy=x",
        "[sendemail]toCmd=x",
        "[sendemail \"me\"]toCmd=x",
        "[protocol \"ext\"]allow=always",
    ] {
        assert!(dangerous(text), "{text}");
    }
    for text in [
        "fsmonitor=x",
        "[core \"\"]fsmonitor=x",
        "[core \"x\"]fsmonitor=x",
        "[filter]clean=x",
        "[filter \"x\"]required",
        "[core]bare=false",
        "[remote \"origin\"]fetch=+refs/heads/*:refs/remotes/origin/*",
        "[protocol \"file\"]allow=always",
    ] {
        assert!(!dangerous(text), "{text}");
    }
}

#[test]
fn values_matter_where_most_of_them_are_harmless() {
    for text in [
        "[alias]a=!sh",
        "[alias]a=-c core.fsmonitor=x status",
        "[alias]a=\" '-c' core.fsmonitor=x status\"",
        "[alias \"a\"]b=!sh",
        "[alias \"a\"]command=!sh",
        "[alias]a",
        "[core]fsmonitor=true x",
        "[pager]log=less",
        "[submodule \"x\"]update=!sh",
        "[merge]tool=../../x",
        "[sendemail]smtpServer=/usr/bin/msmtp",
        "[remote \"x\"]url=ext::sh -c x",
        "[remote \"x\"]vcs=svn",
        "[url \"ext::sh \"]insteadOf=https:",
    ] {
        assert!(dangerous(text), "{text}");
    }
    for text in [
        "[alias]a=status --short",
        "[core]fsmonitor",
        "[core]fsmonitor=TRUE",
        "[core]fsmonitor=0",
        "[pager]log=off",
        "[submodule \"x\"]update=rebase",
        "[merge]tool=vimdiff",
        "[sendemail]smtpServer=mail.example.com",
        "[remote \"x\"]url=ssh://[::1]/x",
        "[remote \"x\"]url=host:a::b",
        "[remote \"x\"]url=/a::b",
        "[url \"https://\"]insteadOf=git:",
    ] {
        assert!(!dangerous(text), "{text}");
    }
}
