//! What newer kernels offer and older ones don't: either there is another way, which holds the same, or a refusal that
//! names what is missing. A filter stands for the older kernel, so that this is tried wherever the tests run; on real
//! ones, `ci/kernels` does.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::{ATTACK, Ground, VICTIM_HOST};

/// The kernel of Debian 11.
const LINUX_5_10: &str = "without mount_setattr landlock";

/// Runs a shell text inside, from a host that went through some steps; `{o}` can be read there.
fn run_after(ground: &Ground, steps: &str, text: &str) -> String {
    let host = format!("{steps} + exec {VICTIM_HOST} run {{w}} {{t}}/s {{o}}");
    let output = Command::new(ATTACK)
        .args(ground.line(&host).split_whitespace())
        .arg(ground.line(text))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// What is refused, in the words of the C library.
fn tries(attempts: &[&str]) -> String {
    let attempts = attempts.iter().map(|attempt| {
        format!("{{ {attempt}; }} 2>&1 | grep -oE 'Read-only|Permission denied|No such file' || echo done")
    });
    attempts.collect::<Vec<_>>().join("; ")
}

#[test]
fn without_mount_setattr_and_landlock_the_view_holds() {
    let ground = Ground::new();
    ground.write("o/d/f", "f\n");
    ground.write("hidden", "f\n");
    let text = tries(&[
        "echo new >{w}/new && mv {w}/new {w}/moved && ln {w}/moved {w}/linked",
        "echo >/dev/null && echo >/tmp/new",
        "cat {o}/d/f >/dev/null",
        "echo >{o}/d/new",
        "echo >>{o}/d/f",
        "rm {o}/d/f",
        "chmod 777 {o}/d",
        "echo >/etc/new",
        "echo >/new",
        "cat {t}/hidden",
        "echo >/proc/sys/kernel/hostname",
    ]);
    let expected = [
        "done",
        "done",
        "done",
        "Read-only",
        "Read-only",
        "Read-only",
        "Read-only",
        "Read-only",
        "Read-only",
        "No such file",
    ];
    for steps in ["without mount_setattr", "without landlock", LINUX_5_10] {
        let said = run_after(&ground, steps, &text);
        let mut lines: Vec<&str> = said.lines().collect();
        assert_ne!(lines.pop(), Some("done"), "{steps}: the host's name was changed");
        assert_eq!(lines, expected, "{steps}");
        std::fs::remove_file(ground.at("w/moved")).unwrap();
        std::fs::remove_file(ground.at("w/linked")).unwrap();
    }
}

#[test]
fn without_mount_setattr_submounts_are_read_only_and_keep_their_flags() {
    let ground = Ground::new();
    let mounts = "admin + tmpfs {o}/d + mkdir {o}/d/inner + tmpfs {o}/d/inner nosuid nodev noexec + create {o}/d/inner/f \
                  + mkdir {o}/d/over + tmpfs {o}/d/over + tmpfs {o}/d/over";
    if !ground.works("mounts of an older kernel", mounts) {
        return;
    }
    let text = tries(&[
        "cat {o}/d/inner/f",
        "echo >{o}/d/new",
        "rm {o}/d/inner/f",
        "echo >{o}/d/over/new",
    ]) + "; grep {o}/d/inner /proc/self/mountinfo | cut -d' ' -f6";
    for steps in [mounts.to_owned(), format!("{mounts} + {LINUX_5_10}")] {
        let said = run_after(&ground, &steps, &text);
        let lines: Vec<&str> = said.lines().collect();
        let [content, flags] = [lines[0], lines[4]];
        assert_eq!((content, &lines[1..4]), ("done", &["Read-only"; 3][..]), "{said}");
        for flag in ["ro", "nosuid", "nodev", "noexec"] {
            assert!(
                flags.split(',').any(|found| found == flag),
                "{flag} is not in {flags}"
            );
        }
    }
}

/// A mount that can't be reached by its path can't be remounted: the directory in the way is closed for good instead.
#[test]
fn without_mount_setattr_what_cannot_be_reached_is_hidden() {
    if !common::is_root() {
        common::skip(
            "unreachable mounts",
            "only root can make a directory that its own user namespace can't search",
        );
        return;
    }
    const OTHER: u32 = 12_345;
    let ground = Ground::new();
    ground.write("o/d/closed/m/f", "f\n");
    let steps = "admin + tmpfs {o}/d/closed/m + create {o}/d/closed/m/f";
    std::os::unix::fs::chown(ground.at("o/d/closed"), Some(OTHER), Some(OTHER)).unwrap();
    std::fs::set_permissions(ground.at("o/d/closed"), Permissions::from_mode(0o700)).unwrap();
    let text = tries(&["cat {o}/d/closed/m/f", "echo >{o}/d/closed/m/f"]) + "; stat -c '%u %a' {o}/d/closed";
    let said = run_after(&ground, &format!("{steps} + {LINUX_5_10}"), &text);
    assert_eq!(said, "Permission denied\nPermission denied\n0 0\n");
}

#[test]
fn what_nothing_stands_in_for_is_named() {
    let ground = Ground::new();
    for (call, version) in [("close_range", "5.9"), ("openat2", "5.6"), ("open_tree", "5.6")] {
        let said = run_after(&ground, &format!("without {call}"), "echo ran");
        assert!(said.contains("errno: 38"), "{call}: {said}");
        let advice = [format!("{call}(2)"), format!("Linux {version} or newer")];
        assert!(
            advice.iter().all(|part| said.contains(part)),
            "{advice:?}: {said}"
        );
        assert!(!said.contains("ran\n"), "{call}: {said}");
    }
}
