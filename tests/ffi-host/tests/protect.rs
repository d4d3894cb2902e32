//! Files that must not change: protected ones inside of the workspace and all outside of it, by every way there is
//! to change one.
//!
//! Each row first runs unconfined on ground of its own, where it must work; then inside, where it must be refused
//! with the given errno, and nothing on the host may be different afterwards.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{Attempt, Fence, Ground, snapshot};
use ringfence::{ExecutorError, Guard, Root, Verdict, blocking};

/// `w/a/b/kept` is a protected directory, `w/a/file` a protected file; `w/mine` and `w/x` are the command's own.
fn lay_out(ground: &Ground) {
    ground.write("w/a/b/kept/inner", "kept\n");
    ground.write("w/a/b/kept/more/inner", "kept\n");
    ground.write("w/a/file", "kept\n");
    ground.write("w/mine", "mine\n");
    ground.write("w/a/mine", "mine\n");
    ground.write("w/x/y/z", "mine\n");
    symlink("kept", ground.at("w/a/b/way")).unwrap();
}

fn protect(ground: &Ground) -> Vec<Root> {
    vec![
        Root::directory(ground.at("w/a/b/kept"), Verdict::READ_ONLY),
        Root::file(ground.at("w/a/file"), Verdict::READ_ONLY),
        Root::directory(ground.at("o"), Verdict::READ_ONLY),
    ]
}

/// The errno a directory gives that is mounted read-only, and one that is a mount point.
const READ_ONLY: &str = "EROFS";
const MOUNTED: &str = "EBUSY";
/// Between two mounts nothing can be moved or linked.
const ACROSS: &str = "EXDEV";

/// Attacks on what lies in a protected directory.
const IN_DIRECTORY: &[(&str, &str)] = &[
    ("append {w}/a/b/kept/inner", READ_ONLY),
    ("overwrite {w}/a/b/kept/inner", READ_ONLY),
    ("truncate {w}/a/b/kept/inner", READ_ONLY),
    ("chmod {w}/a/b/kept/inner", READ_ONLY),
    ("chmod {w}/a/b/kept", READ_ONLY),
    ("chown {w}/a/b/kept/inner", READ_ONLY),
    ("utimes {w}/a/b/kept/inner", READ_ONLY),
    ("setxattr {w}/a/b/kept/inner", READ_ONLY),
    ("unlink {w}/a/b/kept/inner", READ_ONLY),
    ("create {w}/a/b/kept/new", READ_ONLY),
    ("mkdir {w}/a/b/kept/new", READ_ONLY),
    ("symlink inner {w}/a/b/kept/new", READ_ONLY),
    ("rename {w}/a/b/kept/inner {w}/a/b/kept/new", READ_ONLY),
    ("append {w}/a/b/way/inner", READ_ONLY),
    ("append {w}/a/b/kept/more/inner", READ_ONLY),
    ("create {w}/x/../a/b/kept/new", READ_ONLY),
    ("rename {w}/mine {w}/a/b/kept/inner", ACROSS),
    ("exchange {w}/mine {w}/a/b/kept/inner", ACROSS),
    ("link {w}/mine {w}/a/b/kept/new", READ_ONLY),
    ("link {w}/a/b/kept/inner {w}/x/alias", ACROSS),
    ("rename {w}/a/b/kept/inner {w}/x/taken", ACROSS),
];

/// Attacks on a protected file.
const ON_FILE: &[(&str, &str)] = &[
    ("append {w}/a/file", READ_ONLY),
    ("overwrite {w}/a/file", READ_ONLY),
    ("truncate {w}/a/file", READ_ONLY),
    ("chmod {w}/a/file", READ_ONLY),
    ("utimes {w}/a/file", READ_ONLY),
    ("unlink {w}/a/file", MOUNTED),
    ("rename {w}/a/file {w}/a/moved", MOUNTED),
    ("rename {w}/a/mine {w}/a/file", MOUNTED),
    ("exchange {w}/a/mine {w}/a/file", MOUNTED),
    ("rename {w}/mine {w}/a/file", ACROSS),
    ("link {w}/a/file {w}/a/alias", ACROSS),
];

/// Attacks on the way to a protected name: moving an ancestor aside, and putting another one in its place.
const ON_ANCESTORS: &[(&str, &str)] = &[
    ("rename {w}/a/b/kept {w}/a/b/aside", MOUNTED),
    ("rename {w}/a/b {w}/a/aside", MOUNTED),
    ("rename {w}/a {w}/aside", MOUNTED),
    ("exchange {w}/x {w}/a", MOUNTED),
    ("exchange {w}/a {w}/x", MOUNTED),
    ("exchange {w}/x/y {w}/a/b", ACROSS),
    ("rename {w}/a/b {w}/x/b", ACROSS),
    ("rename {w} {t}/aside", "EBUSY"),
];

/// Attacks on what is outside of the workspace and readable.
const OUTSIDE: &[(&str, &str)] = &[
    ("append {o}/secret", READ_ONLY),
    ("truncate {o}/secret", READ_ONLY),
    ("chmod {o}/secret", READ_ONLY),
    ("utimes {o}/secret", READ_ONLY),
    ("unlink {o}/secret", READ_ONLY),
    ("create {o}/new", READ_ONLY),
    ("mkdir {o}/new", READ_ONLY),
    ("rmdir {o}/d", READ_ONLY),
    ("rename {o}/secret {o}/moved", READ_ONLY),
    ("rename {w}/mine {o}/new", ACROSS),
    ("rename {o}/secret {w}/new", ACROSS),
    ("link {o}/secret {w}/new", ACROSS),
    ("exchange {o}/secret {w}/mine", ACROSS),
];

fn protects(rows: &[(&str, &str)]) {
    resists(lay_out, protect, rows);
}

/// Runs each row unconfined on ground of its own, and inside on one that must stay as it is.
fn resists(lay_out: fn(&Ground), roots: fn(&Ground) -> Vec<Root>, rows: &[(&str, &str)]) {
    let fence = Fence::with(|ground, profile| {
        lay_out(ground);
        profile.roots.extend(roots(ground));
    });
    let before = (snapshot(&fence.at("w")), snapshot(&fence.at("o")));
    for (line, errno) in rows {
        let elsewhere = Ground::new();
        lay_out(&elsewhere);
        elsewhere.control(line).printed();
        assert_eq!(fence.attack(line), Attempt::refused(errno), "inside, `{line}`");
    }
    assert!(
        before == (snapshot(&fence.at("w")), snapshot(&fence.at("o"))),
        "the host was changed"
    );
}

#[test]
fn a_protected_directory_keeps_its_content() {
    protects(IN_DIRECTORY);
}

#[test]
fn a_protected_file_keeps_its_content_and_name() {
    protects(ON_FILE);
}

#[test]
fn no_ancestor_of_a_protected_name_can_be_moved() {
    protects(ON_ANCESTORS);
}

#[test]
fn what_is_readable_outside_stays_as_it_is() {
    protects(OUTSIDE);
}

/// Beside a protected name everything works: new files, renames within and between directories, links, atomic saves.
#[test]
fn work_beside_a_protected_name_is_not_hindered() {
    let fence = Fence::with(|ground, profile| {
        lay_out(ground);
        profile.roots.extend(protect(ground));
    });
    for line in [
        "create {w}/a/new",
        "create {w}/a/b/new",
        "rename {w}/a/new {w}/a/newer",
        "rename {w}/mine {w}/x/mine",
        "exchange {w}/x/mine {w}/x/y/z",
        "link {w}/x/mine {w}/x/y/alias",
        "symlink mine {w}/x/link",
        "truncate {w}/x/mine",
        "chmod {w}/x",
        "utimes {w}/x/mine",
        "overwrite {w}/x/save",
        "rename {w}/x/save {w}/x/mine",
        "rename {w}/x {w}/moved",
        "unlink {w}/a/newer",
    ] {
        assert_eq!(fence.attack(line), Attempt::Done(String::new()), "`{line}`");
    }
    assert_eq!(fs::read_to_string(fence.at("w/moved/mine")).unwrap(), "attack\n");
}

/// Nothing of the host that the profile does not name can be read, by its name, by a link, or by its number.
#[test]
fn what_is_not_readable_is_not_there() {
    let fence = Fence::with(|ground, _| {
        symlink(ground.at("o/secret"), ground.at("w/link")).unwrap();
        symlink("../o/secret", ground.at("w/relative")).unwrap();
    });
    fence.resists(
        "reading outside",
        &[
            ("read {o}/secret", "ENOENT"),
            ("read {w}/../o/secret", "ENOENT"),
            ("read {w}/link", "ENOENT"),
            ("read {w}/relative", "ENOENT"),
            ("list {o}", "ENOENT"),
            ("stat {o}/secret", "ENOENT"),
            ("stat {o}", "ENOENT"),
            ("append {o}/secret", "ENOENT"),
            ("read /proc/self/root{o}/secret", "ENOENT"),
            ("by-handle {o}/secret", "ENOENT"),
        ],
    );
    assert_eq!(
        fence.attack("read /proc/1/root{o}/secret"),
        Attempt::refused("EACCES")
    );
    // A file of its own can be asked for its number, but not opened by it.
    assert_eq!(fence.attack("create {w}/own"), Attempt::Done(String::new()));
    fence.resists("files by number", &[("by-handle {w}/own", "EPERM")]);
}

/// A directory that is denied within the readable workspace shows neither content nor names.
#[test]
fn a_denied_place_in_the_workspace_is_closed() {
    resists(
        |ground| {
            ground.write("w/closed/secret", "secret\n");
            ground.write("w/mine/file", "mine\n");
            fs::create_dir(ground.at("w/closed/empty")).unwrap();
        },
        |ground| vec![Root::directory(ground.at("w/closed"), Verdict::DENY)],
        &[
            ("list {w}/closed", "EACCES"),
            ("create {w}/closed/new", "EACCES"),
            ("rmdir {w}/closed/empty", "EACCES"),
            ("unlink {w}/closed/secret", "EACCES"),
            ("chmod {w}/closed", "EROFS"),
            ("rename {w}/closed {w}/open", "EBUSY"),
            ("exchange {w}/closed {w}/mine", "EBUSY"),
            ("rename {w}/closed/secret {w}/taken", "EACCES"),
            ("link {w}/closed/secret {w}/taken", "EACCES"),
        ],
    );
}

/// A device node of one's own is a way past every rule about paths; as root only, since others may not make one.
#[test]
fn device_nodes_cannot_be_made() {
    let fence = Fence::new();
    // By Landlock, else for want of the capability.
    let refusals = ["EACCES", "EPERM"].map(Attempt::refused);
    assert!(refusals.contains(&fence.attack("mknod {w}/null")));
    if fence.works("device nodes", "mknod {w}/null") {
        // One that is there already does not work either.
        assert_eq!(fence.attack("open-to-write {w}/null"), Attempt::refused("EACCES"));
    }
}

/// A second name in the writable part opens a protected file. That is found when the policy is compiled, and since the
/// profile needs the boundary of writing, no executor is built; the error tells both names.
fn is_refused_for_its_names(kept: &str, root: fn(&Ground) -> Root) {
    let ground = Ground::new();
    ground.write(kept, "kept\n");
    let mut profile = ground.profile();
    profile.roots.push(root(&ground));
    let build = || {
        let set = blocking::ExecutorSet::from(ground.set(&profile).build().unwrap());
        set.executor("test").map(drop)
    };
    build().unwrap_or_else(|error| panic!("with one name: {error}"));
    fs::hard_link(ground.at(kept), ground.at("w/alias")).unwrap();
    let Err(ExecutorError::Unavailable(unavailable)) = build() else {
        panic!("{kept} can be written as w/alias, and nobody says so");
    };
    let said = format!("{unavailable:?}");
    assert!(said.contains("HardLinks"), "{said}");
    for name in [kept, "w/alias"] {
        assert!(
            said.contains(ground.at(name).to_str().unwrap()),
            "{name} is not named: {said}"
        );
    }
}

#[test]
fn a_second_name_of_a_protected_file_is_reported() {
    is_refused_for_its_names("w/kept", |ground| {
        Root::file(ground.at("w/kept"), Verdict::READ_ONLY)
    });
}

#[test]
fn a_second_name_of_a_file_in_a_protected_directory_is_reported() {
    is_refused_for_its_names("w/hooks/kept", |ground| {
        Root::directory(ground.at("w/hooks"), Verdict::READ_ONLY)
    });
}

/// Protecting a place closes it and opens nothing: in a directory of which commands have their own, the host's files
/// stay as unreadable as they were, whatever commands can do in theirs.
#[test]
fn protecting_opens_nothing_in_a_private_directory() {
    let fence = Fence::with(|ground, profile| {
        profile.guards.push(Guard::protect(ground.at("o")));
        profile.guards.push(Guard::protect(ground.at("absent")));
    });
    for line in ["read {o}/secret", "list {o}", "append {o}/secret"] {
        assert!(
            matches!(fence.control(line), Attempt::Done(_)),
            "unconfined, `{line}`"
        );
        assert!(
            matches!(fence.attack(line), Attempt::Refused(_)),
            "inside, `{line}`"
        );
    }
}

/// A root in the workspace that allows what the workspace does is no mount of its own, and yet must not be moved away
/// from around a protected name.
#[test]
fn a_writable_root_around_a_protected_name_cannot_be_moved() {
    let rows = [
        ("rename {w}/x {w}/gone", MOUNTED),
        ("rename {w}/x/y {w}/x/gone", MOUNTED),
    ];
    for (line, errno) in rows {
        let lay_out = |ground: &Ground| ground.write("w/x/y/z", "kept\n");
        let unconfined = Ground::new();
        lay_out(&unconfined);
        assert!(
            matches!(unconfined.control(line), Attempt::Done(_)),
            "unconfined, `{line}`"
        );
        let fence = Fence::with(|ground, profile| {
            lay_out(ground);
            profile
                .roots
                .push(Root::directory(ground.at("w/x"), Verdict::READ_WRITE));
            profile.guards.push(Guard::protect(ground.at("w/x/y/z")));
            profile.guards.push(Guard::protect(ground.at("w/x/absent")));
        });
        assert_eq!(fence.attack(line), Attempt::refused(errno), "inside, `{line}`");
    }
}
