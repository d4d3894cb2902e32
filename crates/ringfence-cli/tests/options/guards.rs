//! What stays closed inside places that are otherwise open, and what is opened besides.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Done, Place, RINGFENCE, installed};

fn refused(done: &Done) {
    assert!(!matches!(done.status, 0 | 125), "{done:?}");
}

#[test]
fn a_secret_can_neither_be_read_nor_replaced() {
    let place = Place::new();
    place.write("plans.txt", "plans\n");
    let read = place.sh(&[], "cat plans.txt").succeeded();
    assert_eq!(read.stdout, "plans\n", "the control");
    let options = ["--secret", "plans.txt"];
    for script in [
        "cat plans.txt",
        "cp plans.txt copy",
        "ln plans.txt link && cat link",
        "mv plans.txt moved && cat moved",
        "echo mine >plans.txt",
        "rm plans.txt",
    ] {
        refused(&place.sh(&options, script));
        assert_eq!(
            fs::read_to_string(place.file("plans.txt")).unwrap(),
            "plans\n",
            "{script}"
        );
    }
    place.sh(&options, "echo x >other && cat other").succeeded();
}

/// A preset closes the file already; the option does without it.
#[test]
fn s_16_variables_with_secrets_are_closed_by_option_too() {
    let place = Place::new();
    place.write(".env", "KEY=1\n");
    refused(&place.sh(&[], "cat .env"));
    let without = place.sh(&["--without", "credentials"], "cat .env").succeeded();
    assert_eq!(without.stdout, "KEY=1\n", "the control");
    refused(&place.sh(&["--without", "credentials", "--secret", ".env"], "cat .env"));
}

#[test]
fn what_is_protected_can_be_read_and_not_changed() {
    let place = Place::new();
    place.write("rules/one", "one\n");
    place.sh(&[], "echo two >>rules/one").succeeded();
    let options = ["--protect", "rules"];
    let read = place.sh(&options, "cat rules/one").succeeded();
    assert_eq!(read.stdout, "one\ntwo\n");
    for script in [
        "echo three >>rules/one",
        "touch rules/new",
        "mv rules elsewhere",
        "rm -r rules",
    ] {
        refused(&place.sh(&options, script));
        assert_eq!(
            fs::read_to_string(place.file("rules/one")).unwrap(),
            "one\ntwo\n",
            "{script}"
        );
    }
}

/// A name that is not there yet is kept as well: the command can't make it.
#[test]
fn pol_63_an_absent_name_is_closed_and_nothing_is_left_in_its_place() {
    let place = Place::new();
    place.sh(&[], "echo x >hook && rm hook").succeeded();
    for option in ["--secret", "--protect"] {
        refused(&place.sh(&[option, "hook"], "echo x >hook"));
        assert!(
            place.file("hook").symlink_metadata().is_err(),
            "{option} left something"
        );
    }
}

/// One closed name costs no descriptor for each of its siblings, and no look at each of them.
#[test]
fn pol_81_a_closed_name_among_thousands_costs_few_descriptors_and_little_time() {
    const SIBLINGS: usize = 20_000;
    let place = Place::new();
    for number in 0..SIBLINGS {
        fs::write(place.file(&number.to_string()), "").unwrap();
    }
    place.write("closed", "secret\n");
    let script = "test $(ls | wc -l) -gt 20000 && echo x >>19999 && echo x >new && rm new && ! cat closed";
    for options in [
        &["--secret", "closed"][..],
        &["--secret", "closed", "--host-read", "allow"],
    ] {
        let mut command = place.unconfined("sh");
        command.args(["-c", "ulimit -n 64 && exec \"$@\"", "sh", RINGFENCE, "run"]);
        command.args(options).args(["--", "sh", "-c", script]);
        let begun = Instant::now();
        place.finish(command.spawn().unwrap()).succeeded();
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

#[test]
fn pol_21_a_path_is_literal_whatever_characters_it_has() {
    let place = Place::new();
    for name in ["a[bc]*", "ab", "acx"] {
        place.write(name, name);
    }
    let options = ["--secret", "a[bc]*"];
    refused(&place.sh(&options, "cat 'a[bc]*'"));
    let others = place.sh(&options, "cat ab acx").succeeded();
    assert_eq!(others.stdout, "abacx");
    let pattern = ["--secret", "glob:a[bc]*"];
    for name in ["ab", "acx"] {
        refused(&place.sh(&pattern, &format!("cat {name}")));
    }
    place.sh(&pattern, "cat 'a[bc]*'").succeeded();
}

#[test]
fn a_pattern_is_beneath_the_current_directory_and_covers_what_is_there() {
    let place = Place::new();
    for name in ["w[x]/one.p12", "w[x]/deep/two.p12", "wx/three.p12"] {
        place.write(name, "key\n");
    }
    let inside = place.file("w[x]");
    let run = |options: &[&str], script: &str| {
        let mut command = place.command(
            [
                &["run", "--workspace", ".."],
                options,
                &["--", "sh", "-c", script],
            ]
            .concat(),
        );
        command.current_dir(&inside).env("PWD", &inside);
        place.finish(command.spawn().unwrap())
    };
    let all = "cat one.p12 deep/two.p12 ../wx/three.p12";
    run(&[], all).succeeded();
    let options = ["--secret", "glob:**/*.p12"];
    for name in ["one.p12", "deep/two.p12"] {
        refused(&run(&options, &format!("cat {name}")));
    }
    run(&options, "cat ../wx/three.p12").succeeded();
    run(&options, "echo mine >new.p12 && cat new.p12").succeeded();
    refused(&run(&["--protect", "glob:*.p12"], "echo x >one.p12"));
    run(
        &["--protect", "glob:*.p12"],
        "cat one.p12 && echo x >deep/two.p12",
    )
    .succeeded();
}

#[test]
fn s_16_a_preset_can_be_left_out_and_a_path_be_unprotected() {
    if !installed("s_16_a_preset_can_be_left_out", &[&["git", "--version"]]) {
        return;
    }
    let place = Place::new();
    let init = place.unconfined("git").args(["init", "--quiet", "."]).status();
    assert!(init.unwrap().success());
    let settings = "git config core.fsmonitor ./evil";
    let hook = "echo evil >.git/hooks/pre-commit";
    for script in [settings, hook] {
        refused(&place.sh(&[], script));
        refused(&place.sh(&["--without", "credentials,agent-config"], script));
    }
    // The one place that is meant, and nothing beside it.
    refused(&place.sh(&["--unprotect", ".git/config"], hook));
    place.sh(&["--unprotect", ".git/hooks"], hook).succeeded();
    place
        .sh(&["--without", "git"], &format!("{settings} && {hook}"))
        .succeeded();
    let config = fs::read_to_string(place.file(".git/config")).unwrap();
    assert!(config.contains("fsmonitor"), "{config}");
}

/// All a tool says is what the system told it.
#[test]
fn the_way_to_a_git_init_that_is_refused_is_explained() {
    if !installed("a_git_init_that_is_refused", &[&["git", "--version"]]) {
        return;
    }
    let place = Place::new();
    let refused = place.sh(&[], "git init --quiet");
    assert_ne!(refused.status, 0, "{refused:?}");
    assert!(refused.stderr.contains(".git: Permission denied"), "{refused:?}");
    assert!(!place.file(".git").exists());
    let explained = place.ringfence(["explain", ".git", "write"]);
    assert!(
        explained.stdout.contains("to open it: --unprotect .git\n"),
        "{explained:?}"
    );
    place.sh(&["--unprotect", ".git"], "git init --quiet").succeeded();
}

#[test]
fn new_repositories_are_refused_if_that_is_wanted() {
    if !installed("new_repositories_are_refused", &[&["git", "--version"]]) {
        return;
    }
    let place = Place::new();
    place.sh(&[], "git init --quiet one").succeeded();
    assert!(place.file("one/.git/HEAD").exists(), "the control");
    for (name, options) in [
        ("two", &["-v", "--no-new-repos"][..]),
        ("three", &["--no-new-repos"]),
    ] {
        let done = place.sh(options, &format!("git init --quiet {name}"));
        assert!(!place.file(&format!("{name}/.git")).exists(), "{done:?}");
        let told = format!("/{name}\", which was set aside\n");
        assert!(done.stderr.contains(&told), "{done:?}");
    }
    // What could run something is told without being asked for, and its name can't forge a line.
    let text = "git init -q \"$(printf 'a\\nlevel: Full')\" && git -C a* config core.fsmonitor x";
    let done = place.sh(&[], text);
    assert!(
        done.stderr
            .contains("make git run programs: [\"core.fsmonitor\"]"),
        "{done:?}"
    );
    assert!(!done.stderr.lines().any(|line| line == "level: Full"), "{done:?}");
}

#[test]
fn namespaces_are_let_in_if_that_is_wanted() {
    if !installed("namespaces_are_let_in", &[&["unshare", "--version"]]) {
        return;
    }
    let place = Place::new();
    let text = "unshare --user --map-root-user --net --pid --fork id -u";
    let refused = place.sh(&[], text);
    assert!(refused.stderr.contains("Operation not permitted"), "{refused:?}");
    let done = place.sh(&["--nested-namespaces"], text);
    if rustix::process::geteuid().is_root() {
        assert!(
            done.stderr.contains("nested namespaces can't be allowed"),
            "{done:?}"
        );
    } else {
        assert_eq!(done.succeeded().stdout, "0\n");
    }
}

/// A path that is too long to lead anywhere hides a repository from everybody, root included.
#[test]
fn where_new_repositories_can_not_be_looked_for_is_told() {
    let place = Place::new();
    let name = "d".repeat(200);
    let text = format!(
        "mkdir -p {name}/.git/objects {name}/.git/refs && \
         for i in $(seq 21); do mkdir u && mv {name} u/ && mv u {name} || exit; done"
    );
    let done = place.sh(&["--json-report", "report.json"], &text).succeeded();
    let line = "ringfence: new repositories could not be looked for in \"/";
    let told = done
        .stderr
        .lines()
        .map(|told| told.starts_with(line) && told.contains(&name));
    assert_eq!(told.collect::<Vec<_>>(), [true], "{done:?}");
    let report = fs::read(place.file("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let named = report["result"]["unsearched"].as_array().unwrap();
    assert!(
        named.len() == 1 && named[0].as_str().unwrap().contains(&name),
        "{named:?}"
    );
    let again = place.sh(&["-v"], "true").succeeded();
    assert!(
        !again.stderr.contains("looked for"),
        "it was so before the command: {again:?}"
    );
}

#[test]
fn a_device_is_opened_by_name() {
    let opens = |device: &&str| {
        let script = format!(": <{device}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).stderr(Stdio::null());
        shell.status().is_ok_and(|status| status.success())
    };
    let candidates = [
        "/dev/kvm",
        "/dev/fuse",
        "/dev/autofs",
        "/dev/loop-control",
        "/dev/net/tun",
    ];
    let Some(device) = candidates.into_iter().find(opens) else {
        let line = b"SKIP a_device_is_opened_by_name: no such device\n";
        std::io::stderr().write_all(line).unwrap();
        return;
    };
    let place = Place::new();
    let script = format!(": <{device}");
    refused(&place.sh(&[], &script));
    place.sh(&["--device", device], &script).succeeded();
    place
        .sh(&["--device", &format!("{device}?")], &script)
        .succeeded();
    place
        .sh(&["--device", "/dev/no-such-device?"], "true")
        .succeeded();
    let done = place.sh(&["--device", "/dev/no-such-device"], "touch ran");
    assert_eq!(done.status, 125, "{done:?}");
    assert!(!place.file("ran").exists());
}
