//! What a command finds: its own places work, nested rules hold in any order, and the rest of the host is not there.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use common::{Attempt, Fence, Ground, VICTIM_HOST, snapshot};
use ringfence::{
    Access, Axis, BundleName, ExecutorSet, Host, Link, Profile, Root, RunError, Stdio, Verdict, blocking,
};

/// The profile most callers want: the host unreadable, workspace, HOME and TMPDIR writable, all at once.
#[test]
fn the_default_profile_works_and_shows_nothing_else() {
    let fence = Fence::new();
    let home = fence.executor.home().unwrap().to_owned();
    let temporary = fence.executor.temporary_directory().to_owned();
    let text = "echo 1 >f && mkdir d && mv f d/g && cat d/g && echo 2 >\"$HOME/h\" && echo 3 >\"$TMPDIR/t\" && mktemp >/dev/null";
    assert_eq!(fence.succeeds(text), "1");
    assert_eq!(fs::read_to_string(fence.at("w/d/g")).unwrap(), "1\n");
    assert_eq!(fs::read_to_string(home.join("h")).unwrap(), "2\n");
    assert_eq!(fs::read_to_string(temporary.join("t")).unwrap(), "3\n");
    for place in ["/var/lib", "/var/log", "/usr/../var/log"] {
        assert!(fence.works("host", &format!("list {place}")), "{place}");
        assert_eq!(
            fence.attack(&format!("list {place}")),
            Attempt::refused("ENOENT"),
            "{place}"
        );
    }
    // Where only mount points are, nobody can put anything.
    for line in [
        "create /new",
        "mkdir /new",
        "create /var/new",
        "create /usr/new",
        "create /dev/new",
    ] {
        let Attempt::Refused(errno) = fence.attack(line) else {
            panic!("`{line}` worked")
        };
        assert!(["EROFS", "EACCES"].contains(&errno.as_str()), "`{line}`: {errno}");
    }
    // Beside the workspace there is a private directory for temporary files, or nothing.
    fence.attack("create {t}/new");
    fence.attack("create {o}/new");
    assert!(!fence.at("new").exists() && !fence.at("o/new").exists());
}

/// Other executors' private files, and where a set keeps them, are out of reach.
#[test]
fn executors_do_not_see_each_other() {
    let fence = Fence::new();
    let other = fence.set.executor("other").unwrap();
    let [home, theirs] =
        [&fence.executor, &other].map(|executor| executor.home().unwrap().display().to_string());
    assert_eq!(
        fence.attack(&format!("create {home}/f")),
        Attempt::Done(String::new())
    );
    assert_ne!(home, theirs);
    let all = fence
        .executor
        .home()
        .unwrap()
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .display()
        .to_string();
    for line in [
        format!("list {theirs}"),
        format!("create {theirs}/f"),
        format!("list {all}"),
    ] {
        fence.control(&line).printed();
        let Attempt::Refused(errno) = fence.attack(&line) else {
            panic!("`{line}` worked")
        };
        assert!(
            ["ENOENT", "EACCES"].contains(&errno.as_str()),
            "`{line}`: {errno}"
        );
    }
}

/// Each root with what can be done in it; each lies in the one before or in the workspace.
const NESTED: [(&str, Verdict); 6] = [
    ("w/a", Verdict::READ_ONLY),
    ("w/a/b", Verdict::READ_WRITE),
    ("w/a/b/c", Verdict::DENY),
    ("w/a/b/c/d", Verdict::READ_ONLY),
    ("o/x", Verdict::READ_ONLY),
    ("o/x/y", Verdict::READ_WRITE),
];

/// S-06: the deepest rule decides, in whatever order the rules are written.
#[test]
fn s_06_the_deepest_rule_decides_in_any_order() {
    let lay_out = |ground: &Ground| {
        for place in NESTED.map(|(place, _)| place).iter().chain(&["w", "o"]) {
            ground.write(&format!("{place}/file"), "there\n");
        }
    };
    let elsewhere = Ground::new();
    lay_out(&elsewhere);
    for (place, _) in NESTED {
        elsewhere.control(&format!("create {{t}}/{place}/new")).printed();
    }
    let rotations = (0..NESTED.len()).map(|by| {
        let mut roots = NESTED;
        roots.rotate_left(by);
        roots
    });
    let mut reversed = NESTED;
    reversed.reverse();
    for order in rotations.chain([reversed]) {
        let fence = Fence::with(|ground, profile| {
            lay_out(ground);
            let roots = order.map(|(place, access)| Root::directory(ground.at(place), access));
            profile.roots.extend(roots);
        });
        for (place, access) in order.into_iter().chain([("w", Verdict::READ_WRITE)]) {
            let read = fence.attack(&format!("read {{t}}/{place}/file"));
            let write = fence.attack(&format!("create {{t}}/{place}/new"));
            let wanted = match access {
                // Nothing is there but the way to what is open again beneath.
                Verdict::DENY => (Attempt::refused("ENOENT"), Attempt::refused("EROFS")),
                Verdict::READ_ONLY => (Attempt::Done("there\n".to_owned()), Attempt::refused("EROFS")),
                _ => (Attempt::Done("there\n".to_owned()), Attempt::Done(String::new())),
            };
            assert_eq!((read, write), wanted, "{place} in {order:?}");
            let new = fence.at(&format!("{place}/new"));
            assert_eq!(new.exists(), access == Verdict::READ_WRITE, "{new:?} on the host");
            // And it is said which rule that was.
            let tree = fence.executor.tree();
            let decision = tree.decide(&new, Axis::Write);
            assert_eq!(decision.access, access.write, "{place} in {order:?}");
            assert_eq!(decision.rule.unwrap().path, fence.at(place), "in {order:?}");
        }
        // No rule names `o` itself.
        assert_eq!(fence.attack("read {o}/file"), Attempt::refused("ENOENT"));
        fence.attack("create {o}/new");
        assert!(!fence.at("o/new").exists());
    }
}

/// S-05: a workspace, and a scratch root, given by a link; the command keeps the name the user gave.
#[test]
fn a_workspace_may_be_named_by_a_link() {
    let ground = Ground::new();
    ground.write("w/kept/f", "kept\n");
    symlink("w", ground.at("link")).unwrap();
    symlink(ground.at("s"), ground.at("scratch")).unwrap();
    let mut profile = ground.profile();
    profile.workspace = ground.at("link");
    profile
        .roots
        .push(Root::directory(ground.at("link/kept"), Verdict::READ_ONLY));
    let set = ExecutorSet::builder(Profile::new(&profile, &Host).unwrap())
        .scratch_root(ground.at("scratch"))
        .max_executors(1)
        .bundles([BundleName::Base])
        .build()
        .unwrap();
    let set = blocking::ExecutorSet::from(set);
    let executor = set.executor("test").unwrap();
    let link = ground.at("link").display().to_string();
    let run = |command: blocking::Command| command.output().unwrap();
    let text =
        "pwd -L; pwd -P; touch a; mktemp >/dev/null && echo made; touch kept/x 2>/dev/null || echo kept";
    let named = run(executor.shell(text).current_dir(&link));
    let real = ground.at("w").display().to_string();
    assert_eq!(named.stdout.to_text(), format!("{link}\n{real}\nmade\nkept\n"));
    let through = run(executor.shell(format!("touch {link}/b && echo made")));
    assert_eq!(through.stdout.to_text(), "made\n");
    assert!(ground.at("w/a").exists() && ground.at("w/b").exists() && !ground.at("w/kept/x").exists());
}

/// S-05, for who names no directory: then it is the workspace, by the name the user gave it.
#[test]
fn the_default_directory_keeps_the_name_of_the_workspace() {
    let ground = Ground::new();
    symlink("w", ground.at("link")).unwrap();
    let mut profile = ground.profile();
    profile.workspace = ground.at("link");
    let fence = ground.fence(&profile);
    assert_eq!(fence.succeeds("pwd -P"), fence.at("w").to_str().unwrap());
    assert_eq!(fence.succeeds("pwd -L"), fence.at("link").to_str().unwrap());
}

/// S-04: where `/bin` is a link to `/usr/bin`, it is one inside too, even for who opens nothing but these places.
#[test]
fn s_04_links_of_a_merged_usr_lead_inside_where_they_lead_outside() {
    let ground = Ground::new();
    let mut profile = ground.profile();
    // Nothing has to be searched for in all of `/usr` then.
    profile.presets.clear();
    let places = ["/bin", "/lib", "/lib64", "/usr", "/etc"].map(Path::new);
    let there = places.into_iter().filter(|place| place.is_dir());
    profile.roots = there
        .map(|place| Root::directory(place, Verdict::READ_ONLY))
        .collect();
    let set = ground.set(&profile).bundles([]).build().unwrap();
    let fence = ground.fence_of(blocking::ExecutorSet::from(set));
    assert_eq!(fence.succeeds("/bin/sh -c '/usr/bin/env echo ok'"), "ok");
    for name in ["/bin", "/lib", "/lib64"] {
        let Ok(target) = fs::read_link(name) else {
            common::skip("merged /usr", &format!("{name} is no link here"));
            continue;
        };
        assert_eq!(
            fence.succeeds(&format!("readlink {name}")),
            target.to_str().unwrap()
        );
        let real = fs::canonicalize(name).unwrap();
        fence.succeeds(&format!("test {name} -ef {}", real.display()));
        // Whoever asks is told of the link, and the rule is that of where it leads.
        let link = Link {
            path: name.into(),
            target,
        };
        let decision = fence.executor.profile().decide(&Host, name.as_ref(), Axis::Read);
        let decision = decision.unwrap();
        assert_eq!(
            (decision.access, decision.resolved.links),
            (Access::Allow, vec![link.clone()])
        );
        let tree = fence.executor.tree();
        let rule = tree.decide(&real, Axis::Read).rule.unwrap();
        assert_eq!((&rule.path, &rule.links), (&real, &vec![link]));
    }
}

#[test]
fn devices_everyone_needs_work_and_others_are_not_there() {
    let fence = Fence::new();
    let text = "echo gone >/dev/null && cat /dev/null && head -c 3 /dev/zero | wc -c && head -c 3 /dev/urandom | wc -c \
                && head -c 3 /dev/random | wc -c && echo in | cat /dev/stdin && echo out >/dev/stdout \
                && echo fd | cat /dev/fd/0 && ls missing 2>/dev/null; /bin/echo full >/dev/full";
    let (_, output) = fence.shell(text);
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[..6], ["3", "3", "3", "in", "out", "fd"], "{output}");
    assert!(lines[6].contains("No space left"), "{output}");
    for device in [
        "kmsg", "mem", "port", "kvm", "vda", "sda", "net/tun", "fuse", "tty1", "console", "input",
    ] {
        assert_eq!(
            fence.attack(&format!("stat /dev/{device}")),
            Attempt::refused("ENOENT"),
            "{device}"
        );
    }
    assert!(fence.works("devices", "stat /dev/kmsg"));
}

/// A private, sized memory filesystem: what is made in it is not on the host, and it cannot fill the host's memory.
#[test]
fn temporary_places_are_private_and_sized() {
    let ground = Ground::new();
    let set = blocking::ExecutorSet::from(
        ground
            .set(&ground.profile())
            .private_bytes(2 << 20)
            .build()
            .unwrap(),
    );
    let fence = ground.fence_of(set);
    fence.control("fill {o}/full 4").printed();
    for place in ["/tmp", "/var/tmp", "/dev/shm", "/run"] {
        let file = format!("{place}/rf-private-{}", std::process::id());
        assert_eq!(
            fence.attack(&format!("create {file}")),
            Attempt::Done(String::new()),
            "{file}"
        );
        assert!(!fs::exists(&file).unwrap(), "{file} is on the host");
        // Another command of the executor shares it.
        assert_eq!(
            fence.attack(&format!("read {file}")),
            Attempt::Done("attack\n".to_owned())
        );
        assert_eq!(
            fence.attack(&format!("fill {place}/full 4")),
            Attempt::refused("ENOSPC"),
            "{place}"
        );
        assert_eq!(
            fence.attack(&format!("fill {place}/full 1")),
            Attempt::Done(String::new()),
            "{place}"
        );
    }
    let other = fence.set.executor("other").unwrap();
    let seen = other
        .shell("ls -A /tmp /var/tmp /dev/shm /run")
        .output()
        .unwrap()
        .stdout
        .to_text();
    assert!(!seen.contains("rf-private"), "another executor sees {seen}");
}

/// S-08: a place is replaced by a link after the policy was compiled, or while a command runs. Nothing starts then; what
/// has started keeps the object it was given; what the link leads to on the host stays as it is.
#[test]
fn s_08_a_place_that_was_swapped_is_not_followed() {
    // What the command shall write, which of the directories on the way there is replaced, and which place of the
    // profile is another one by that.
    for row in [
        ("w/f", "w", "w"),
        ("p/q/out/f", "p/q/out", "p/q/out"),
        ("p/q/out/f", "p", "p/q/out"),
        ("w/out/f", "w/out", "w/out"),
    ] {
        is_followed_without_confinement(row);
        for warm in [false, true] {
            swap_before(row, warm);
        }
        swap_meanwhile(row);
    }
}

fn lay_out_to_swap(ground: &Ground) {
    for file in ["w/f", "w/out/f", "p/q/out/f", "victim/f", "victim/q/out/f"] {
        ground.write(file, "old\n");
    }
}

fn fence_to_swap() -> Fence {
    Fence::with(|ground, profile| {
        lay_out_to_swap(ground);
        for root in ["w/out", "p/q/out"] {
            let root = Root::directory(ground.at(root), Verdict::READ_WRITE);
            profile.roots.push(root);
        }
    })
}

fn swap(ground: &Ground, replaced: &str) {
    fs::rename(ground.at(replaced), ground.at("moved")).unwrap();
    symlink(ground.at("victim"), ground.at(replaced)).unwrap();
}

fn is_followed_without_confinement((target, replaced, _): (&str, &str, &str)) {
    let ground = Ground::new();
    lay_out_to_swap(&ground);
    let before = snapshot(&ground.at("victim"));
    swap(&ground, replaced);
    ground.control(&format!("append {{t}}/{target}")).printed();
    assert_ne!(
        before,
        snapshot(&ground.at("victim")),
        "{replaced}: this control shows nothing"
    );
}

fn swap_before((target, replaced, place): (&str, &str, &str), warm: bool) {
    let fence = fence_to_swap();
    let line = format!("append {{t}}/{target}");
    if warm {
        assert_eq!(fence.attack(&line), Attempt::Done(String::new()));
    }
    let before = snapshot(&fence.at("victim"));
    swap(&fence, replaced);
    let error = fence.attacker(&line).current_dir("/").output().unwrap_err();
    let path = fence.at(place);
    assert_eq!(
        error.to_string(),
        format!("{path:?} changed since the policy was compiled")
    );
    assert_eq!(error, RunError::Changed { path }, "{replaced}, warm {warm}");
    assert_eq!(
        before,
        snapshot(&fence.at("victim")),
        "{replaced} led to the victim"
    );
    // What is put back is accepted again.
    fs::remove_file(fence.at(replaced)).unwrap();
    fs::rename(fence.at("moved"), fence.at(replaced)).unwrap();
    assert_eq!(
        fence.attack(&line),
        Attempt::Done(String::new()),
        "{replaced} is back"
    );
}

fn swap_meanwhile((target, replaced, _): (&str, &str, &str)) {
    let fence = fence_to_swap();
    let text = format!("echo ready; read go; echo attack >>{{t}}/{target}");
    let command = fence.executor.shell(fence.line(&text));
    let mut process = command.stdin(Stdio::Piped).spawn().unwrap();
    let (mut stdin, mut stdout) = (process.take_stdin().unwrap(), process.take_stdout().unwrap());
    stdout.read_exact(&mut [0; 6]).unwrap();
    let before = snapshot(&fence.at("victim"));
    swap(&fence, replaced);
    stdin.write_all(b"go\n").unwrap();
    let outcome = process.wait_all().unwrap();
    assert_eq!(
        before,
        snapshot(&fence.at("victim")),
        "{replaced} led to the victim"
    );
    // A link in its own workspace leads the command nowhere; any other place is still the one it was.
    let moved = fence
        .at("moved")
        .join(target.strip_prefix(replaced).unwrap().trim_start_matches('/'));
    let written = fs::read_to_string(moved).unwrap();
    let inside = replaced == "w/out";
    assert_eq!(
        (outcome.success(), written.as_str()),
        (!inside, if inside { "old\n" } else { "old\nattack\n" }),
        "{replaced}"
    );
}

/// Runs a shell text inside, from a host in a mount namespace with a memory filesystem at `{o}/d`.
fn in_mount_namespace(flags: &str, text: &str) -> Option<(Ground, String)> {
    let ground = Ground::new();
    if !ground.works("mounts of the host", &format!("admin + tmpfs {{o}}/d {flags}")) {
        return None;
    }
    let host = format!(
        "admin + tmpfs {{o}}/d {flags} + create {{o}}/d/f + exec {VICTIM_HOST} run {{w}} {{t}}/s {{o}}"
    );
    let output = Command::new(common::ATTACK)
        .args(ground.line(&host).split_whitespace())
        .arg(ground.line(text))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    Some((ground, said))
}

/// S-09: flags that the kernel locks on a mount of the host are kept, and do not keep it from being read-only.
#[test]
fn s_09_locked_flags_of_a_mount_are_kept() {
    let text = "cat {o}/d/f; touch {o}/d/new 2>&1 | grep -o Read-only; grep {o}/d /proc/self/mountinfo | cut -d' ' -f6";
    let Some((ground, said)) = in_mount_namespace("nosuid nodev noexec", text) else {
        return;
    };
    let lines: Vec<&str> = said.lines().collect();
    let [content, refused, flags] = lines[..] else {
        panic!("{said}")
    };
    assert_eq!((content, refused), ("attack", "Read-only"));
    for flag in ["ro", "nosuid", "nodev", "noexec"] {
        assert!(
            flags.split(',').any(|found| found == flag),
            "{flag} is not in {flags}"
        );
    }
    // Whoever leaves a flag out is refused, where the mount comes from another user namespace.
    let mounted = "admin + tmpfs {o}/d nosuid nodev noexec";
    ground.control(&format!("{mounted} + remount {{o}}/d")).printed();
    assert_eq!(
        ground.control(&format!("{mounted} + unshare 0x10020000 + remount {{o}}/d")),
        Attempt::refused("EPERM")
    );
    let mut profile = ground.profile();
    profile
        .roots
        .push(Root::directory(ground.at("o"), Verdict::READ_ONLY));
    let profile = Profile::new(&profile, &Host).unwrap();
    let decision = profile.decide(&Host, &ground.at("o/d/new"), Axis::Write).unwrap();
    assert_eq!(
        (decision.access, decision.rule.unwrap().path),
        (Access::Deny, ground.at("o"))
    );
}

/// A filesystem mounted beneath a read-only tree is read-only too.
#[test]
fn submounts_are_read_only_too() {
    let text = "cat {o}/d/f; touch {o}/d/new 2>&1 | grep -o Read-only; rm {o}/d/f 2>&1 | grep -o Read-only; chmod 777 {o}/d/f 2>&1 | grep -o Read-only";
    let Some((_ground, said)) = in_mount_namespace("", text) else {
        return;
    };
    assert_eq!(said, "attack\nRead-only\nRead-only\nRead-only\n");
}
