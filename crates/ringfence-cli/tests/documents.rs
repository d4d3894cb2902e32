//! Help, man pages and completions: all made from the one table of options.

#![cfg(target_os = "linux")]

mod support;

use support::{Place, assert_snapshot};

#[test]
fn help_texts_are_as_reviewed() {
    let place = Place::new();
    for (name, arguments) in [
        ("help.txt", &["--help"][..]),
        ("help-run.txt", &["run", "--help"]),
        ("help-run-short.txt", &["run", "-h"]),
        ("help-explain.txt", &["explain", "--help"]),
        ("help-doctor.txt", &["doctor", "--help"]),
        ("help-conformance.txt", &["conformance", "--help"]),
        ("help-man.txt", &["man", "--help"]),
        ("help-completions.txt", &["completions", "--help"]),
    ] {
        let done = place.ringfence(arguments).succeeded();
        assert_eq!(done.stderr, "");
        assert_snapshot(name, &done.stdout);
    }
}

#[test]
fn man_pages_are_troff() {
    let place = Place::new();
    for task in [
        &[][..],
        &["run"],
        &["explain"],
        &["doctor"],
        &["conformance"],
        &["man"],
        &["completions"],
    ] {
        let page = place.ringfence([&["man"], task].concat()).succeeded().stdout;
        for part in [".TH ringfence", ".SH NAME", ".SH SYNOPSIS"] {
            assert!(page.contains(part), "{task:?} has no {part}");
        }
    }
}

#[test]
fn completions_are_for_the_shell_that_is_named() {
    let place = Place::new();
    for (shell, part) in [
        ("bash", "complete -F _ringfence"),
        ("zsh", "#compdef ringfence"),
        ("fish", "complete -c ringfence"),
        ("elvish", "edit:completion:arg-completer[ringfence]"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = place.ringfence(["completions", shell]).succeeded().stdout;
        assert!(script.contains(part), "{shell} has no {part}");
    }
}
