//! Traps that other tools have fallen into: each first as it goes without confinement, or without the option that
//! closes it, then as it goes inside, and what is said about it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[path = "cases/hosts.rs"]
mod hosts;
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Place, RINGFENCE, installed};

/// Everything beneath a directory, sorted.
fn names(top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![top.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

/// What `explain` says of an operation that is denied.
fn denied(place: &Place, arguments: &[&str]) -> String {
    let done = place.ringfence([&["explain"], arguments].concat());
    assert_eq!(done.status, 1, "{done:?}");
    done.stdout
}

/// The names lead where they led, and the directory a command works in opens nothing.
#[test]
fn s_05_a_workspace_and_a_tmpdir_named_by_links_are_what_the_links_lead_to() {
    let place = Place::new();
    let (link, real) = (place.file("link"), place.file("real"));
    fs::create_dir_all(real.join(".git")).unwrap();
    symlink("real", &link).unwrap();
    symlink(place.scratch(), real.join("tmp")).unwrap();
    let named = |path: &Path| path.to_str().unwrap().to_owned();
    let git = named(&link.join(".git"));
    let ringfence = |directory: &Path, arguments: &[&str]| {
        let mut command = place.command(arguments);
        command
            .current_dir(directory)
            .env("PWD", directory)
            .env("TMPDIR", link.join("tmp"));
        place.finish(command.spawn().unwrap())
    };
    let script = r#"pwd -L; touch a && mktemp >made && test -f "$(cat made)" && touch .git/x"#;
    let run = |options: &[&str]| {
        ringfence(
            &link,
            &[&["run", "--without", "git"], options, &["--", "sh", "-c", script]].concat(),
        )
    };
    run(&[]).succeeded();
    fs::remove_file(real.join(".git/x")).unwrap();
    fs::remove_file(real.join("a")).unwrap();

    let done = run(&["--protect", &git]);
    assert_eq!(
        (done.status, done.stdout),
        (1, format!("{}\n", link.display())),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("'.git/x': Read-only file system"),
        "{}",
        done.stderr
    );
    assert!(real.join("a").exists() && !real.join(".git/x").exists());
    // The private directory was where TMPDIR leads, and is gone.
    let made = fs::read_to_string(real.join("made")).unwrap();
    let scratch = fs::canonicalize(place.scratch()).unwrap();
    assert!(made.starts_with(&named(&scratch)), "{made}");
    assert!(!Path::new(made.trim_end()).exists());

    let explained = ringfence(
        &link,
        &[
            "explain",
            "--without",
            "git",
            "--protect",
            &git,
            ".git/x",
            "write",
        ],
    );
    let (link, real) = (link.display(), fs::canonicalize(&real).unwrap());
    for said in [
        format!("by the link {link} -> real\n"),
        format!("denied: the profile's guard 0, at {}/.git\n", real.display()),
        format!("to open it: leave out --protect {git}\n"),
    ] {
        assert!(explained.stdout.contains(&said), "{said:?}: {}", explained.stdout);
    }
    assert_eq!(explained.status, 1);

    // From elsewhere, the workspace is the same, and elsewhere is closed.
    let elsewhere = place.file("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let script = format!("pwd -L; touch b; touch {}/c", elsewhere.display());
    let done = ringfence(
        &elsewhere,
        &["run", "--workspace", &link.to_string(), "--", "sh", "-c", &script],
    );
    assert_eq!((done.status, done.stdout), (1, format!("{link}\n")));
    assert!(real.join("b").exists() && !elsewhere.join("c").exists());
}

/// What confines a command is not found by its name, so it may be a secret of the command's.
#[test]
fn s_14_ringfence_itself_may_be_secret() {
    let place = Place::new();
    fs::create_dir(place.file("bin")).unwrap();
    // By another process: one that this one forks meanwhile would hold the new program open for writing.
    let copied = Command::new("cp").arg(RINGFENCE).arg(place.file("bin")).status();
    assert!(copied.unwrap().success());
    let own = place.file("bin/ringfence");
    let length = fs::metadata(&own).unwrap().len();
    let run = |options: &[&str]| {
        let script = "echo ran; head -c 4 bin/ringfence | tail -c 3";
        let mut command = place.unconfined(own.to_str().unwrap());
        command.args([&["run"], options, &["--", "sh", "-c", script]].concat());
        place.finish(command.spawn().unwrap())
    };
    assert_eq!(run(&[]).succeeded().stdout, "ran\nELF");
    for secret in ["bin", "bin/ringfence"] {
        let done = run(&["--secret", secret]).succeeded();
        assert_eq!(done.stdout, "ran\n", "{done:?}");
        assert!(
            done.stderr
                .contains("bin/ringfence' for reading: Permission denied"),
            "{done:?}"
        );
        let said = denied(&place, &["--secret", secret, "bin/ringfence", "read"]);
        let at = fs::canonicalize(place.file(secret)).unwrap();
        let expected = format!("denied: the profile's guard 0, at {}\n", at.display());
        assert!(said.contains(&expected), "{said}");
        assert!(
            said.contains(&format!("to open it: leave out --secret {secret}\n")),
            "{said}"
        );
    }
    assert_eq!(fs::metadata(&own).unwrap().len(), length);
    assert_eq!(names(&place.file("bin")), [own]);
}

/// A tool that keeps what it has built in a cache: it says what is there already, and adds something.
const BUILD: &str = r#"
    for cache in "${CARGO_HOME:-$HOME/.cargo}/registry" "${PIP_CACHE_DIR:-$HOME/.cache/pip}/http" \
        "${GOCACHE:-$HOME/.cache/go-build}" "${npm_config_cache:-$HOME/.npm}/_cacache"; do
        mkdir -p "$cache" && ls "$cache" && echo built >"$cache/new" || exit
    done
"#;

/// The caches are in the private home directory unless one is kept; those of the host are of no use to a command, and
/// stay as they are.
#[test]
fn s_17_caches_are_private_or_kept_and_never_those_of_the_host() {
    let place = Place::new();
    let caches = [
        ".cache/go-build",
        ".cache/pip/http",
        ".cargo/registry",
        ".npm/_cacache",
    ];
    let home = || {
        let home = tempfile::tempdir().unwrap();
        for cache in caches {
            fs::create_dir_all(home.path().join(cache)).unwrap();
            fs::write(home.path().join(cache).join("old"), "").unwrap();
        }
        home
    };
    let build = |home: &Path, options: &[&str]| {
        let mut command = place.command([&["run"], options, &["--", "sh", "-c", BUILD]].concat());
        command
            .env("HOME", home)
            .env("XDG_CACHE_HOME", home.join("kept"))
            .env_remove("CARGO_HOME");
        place.finish(command.spawn().unwrap())
    };
    let free = home();
    let unconfined = place
        .unconfined("sh")
        .args(["-c", BUILD])
        .env_clear()
        .env("HOME", free.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&unconfined.stdout), "old\n".repeat(4));
    assert!(free.path().join(".cargo/registry/new").exists());

    let home = home();
    let before = names(home.path());
    // As other tools have it: the caches are there and can't be used.
    let readable = home.path().to_str().unwrap();
    let options = ["--home", "real", "--ro", readable];
    let done = build(home.path(), &options);
    assert_ne!(done.status, 0, "{done:?}");
    assert!(
        done.stderr
            .contains("/.cargo/registry/new: Read-only file system"),
        "{done:?}"
    );
    let file = format!("{readable}/.cargo/registry/new");
    let said = denied(&place, &[&options[..], &[&file, "write"]].concat());
    assert!(
        said.contains(&format!("{file} (does not exist)\n"))
            && said.contains(&format!(
                "denied: the profile's additional root 0, at {readable}\n"
            )),
        "{said}"
    );
    // By default they can, each run has its own, and nobody gets to see another's.
    for _ in 0..2 {
        let done = build(home.path(), &[]).succeeded();
        assert_eq!(done.stdout, "", "{done:?}");
    }
    assert_eq!(names(home.path()), before);
    // Only one that is asked for is kept.
    for (options, found) in [
        (&["--cache", "cargo"][..], ""),
        (&["--cache", "cargo"], "new\n"),
        (&[], ""),
    ] {
        let done = build(home.path(), options).succeeded();
        assert_eq!(done.stdout, found, "{options:?}: {done:?}");
    }
    assert!(!home.path().join(".cargo/registry/new").exists());
    assert!(
        home.path()
            .join("kept/ringfence/caches/cargo/registry/new")
            .exists()
    );
}

/// A variable that makes a program run code, its value, and a command that obeys it.
type Loader = (&'static str, String, &'static [&'static str]);

/// Each adds a line to the file `fired` of the workspace: the name of the variable, and for a library which program
/// loaded it. What is not installed is left out, and that is said.
fn loaders(place: &Place) -> Vec<Loader> {
    let fired = place.file("fired").display().to_string();
    let canary = |name: &str, content: &str| {
        place.write(name, &content.replace("FIRED", &fired));
        place.file(name).display().to_string()
    };
    let has = |program: &str| {
        let test = format!("loaders of {program}");
        installed(&test, &[&[program, "--version"]])
    };
    let mut loaders: Vec<Loader> = vec![(
        "ENV",
        canary("env.sh", "echo ENV >>'FIRED'\n"),
        &["sh", "-i", "-c", "true"],
    )];
    if has("bash") {
        let value = canary("bash_env.sh", "echo BASH_ENV >>'FIRED'\n");
        loaders.push(("BASH_ENV", value, &["bash", "-c", "true"]));
    }
    if has("python3") {
        let value = canary("startup.py", "print('PYTHONSTARTUP', file=open('FIRED', 'a'))\n");
        loaders.push(("PYTHONSTARTUP", value, &["python3", "-i"]));
    }
    if has("node") {
        let program = "require('fs').appendFileSync('FIRED', 'NODE_OPTIONS\\n')\n";
        let value = format!("--require={}", canary("require.js", program));
        loaders.push(("NODE_OPTIONS", value, &["node", "-e", "0"]));
    }
    if has("git") {
        let initialized = place.unconfined("git").args(["init", "-q"]).status();
        assert!(initialized.unwrap().success());
        let hook = canary("hook.sh", "echo GIT_CONFIG_PARAMETERS >>'FIRED'\n");
        let value = format!("'core.fsmonitor=sh {hook}'");
        loaders.push(("GIT_CONFIG_PARAMETERS", value, &["git", "status"]));
    }
    if has("cc") {
        let program = "#define _GNU_SOURCE\n#include <errno.h>\n#include <stdio.h>\n\
                       __attribute__((constructor)) static void fire(void) {\n\
                           FILE *file = fopen(\"FIRED\", \"a\");\n\
                           if (!file) return;\n\
                           fprintf(file, \"LD_PRELOAD %s\\n\", program_invocation_short_name);\n\
                           fclose(file);\n\
                       }\n";
        let (source, library) = (canary("preload.c", program), place.file("preload.so"));
        let mut compiler = place.unconfined("cc");
        compiler
            .args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(source);
        assert!(compiler.status().unwrap().success());
        loaders.push(("LD_PRELOAD", library.display().to_string(), &["true"]));
    }
    loaders
}

/// Neither what confines the command nor the command obeys them; the program that the user starts is the user's.
#[test]
fn s_32_variables_that_load_code_are_obeyed_by_nobody_unless_passed_on_by_name() {
    let place = Place::new();
    for (variable, value, command) in loaders(&place) {
        let variables = [(variable, value.as_str())];
        let fired = || {
            let file = place.file("fired");
            let lines = fs::read_to_string(&file).unwrap_or_default();
            let _ = fs::remove_file(file);
            let lines = lines.lines().filter(|line| *line != "LD_PRELOAD ringfence");
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let expected = match variable {
            "LD_PRELOAD" => vec![format!("LD_PRELOAD {}", command[0])],
            _ => vec![variable.to_owned()],
        };
        let mut unconfined = place.unconfined(command[0]);
        unconfined.args(&command[1..]).envs(variables);
        assert!(unconfined.output().unwrap().status.success());
        assert_eq!(fired(), expected, "without confinement");

        let run = |options: &[&str]| {
            let arguments = [&["run"], options, &["--"], command].concat();
            place.ringfence_with(&variables, &arguments).succeeded()
        };
        let done = run(&["-v"]);
        assert_eq!(fired(), [""; 0], "{variable}");
        assert!(!done.stderr.contains("at a risk"), "{done:?}");
        let said = denied(&place, &[&format!("env:{variable}"), "read"]);
        for expected in [
            "denied: only a rule for its very name passes it on: it ",
            "environment: enforced by the environment's allowlist",
            &format!("to open it: --env {variable}\n"),
        ] {
            assert!(said.contains(expected), "{said}");
        }

        let done = run(&["-v", "--env", variable]);
        assert_eq!(fired(), expected, "passed on");
        let said = format!("at a risk: {variable} is passed on: it ");
        assert!(done.stderr.contains(&said), "{done:?}");
    }
}
