//! The file view is made of mounts: nobody inside can change them, or see what they hide.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use ringfence::{Root, Verdict};

use crate::ground::{Ground, is_root, was_there};

fn ground() -> Ground {
    let ground = Ground::new();
    ground.hide("w/hidden");
    ground.write("w/closed/kept", "kept");
    std::fs::create_dir(ground.at("w/empty")).unwrap();
    ground
}

fn resists(script: &str) {
    let ground = ground();
    let fence = ground.fence(|profile| {
        profile
            .roots
            .push(Root::file(ground.at("w/hidden"), Verdict::DENY));
        profile
            .roots
            .push(Root::directory(ground.at("w/closed"), Verdict::READ_ONLY));
    });
    fence.withstands(script, &[], &|| {
        // Who only reads leaves this instead.
        was_there(&ground.at("w/told")) | was_there(&ground.at("w/closed/new"))
    });
}

#[test]
fn nothing_uncovers_what_a_mount_hides() {
    resists(include_str!("attacks/uncover.py"));
}

#[test]
fn nothing_makes_a_read_only_mount_writable() {
    resists(include_str!("attacks/make_writable.py"));
}

#[test]
fn no_filesystem_can_be_mounted() {
    let ground = ground();
    ground
        .fence(|_| ())
        .resists(include_str!("attacks/mount_new.py"), &[]);
}

#[test]
fn no_other_root_can_be_entered() {
    let ground = ground();
    ground
        .fence(|_| ())
        .resists(include_str!("attacks/other_root.py"), &[]);
}

#[test]
fn no_namespace_can_be_made_or_entered() {
    let ground = ground();
    ground
        .fence(|_| ())
        .resists(include_str!("attacks/namespaces.py"), &[]);
}

#[test]
fn no_device_node_can_be_made_or_used() {
    let ground = ground();
    let fence = ground.fence(|_| ());
    let script = include_str!("attacks/device_nodes.py");
    if is_root() {
        fence.withstands(script, &["make"], &|| {
            was_there(&ground.at("w/null")) | was_there(&ground.at("w/disk"))
        });
        // Nor does one work that somebody else has made.
        ground.control(
            "import os; os.mknod(W + '/null', 0o20666, os.makedev(1, 3)); print('x worked')",
            &[],
        );
        fence.resists(script, &["use"]);
    } else {
        // The kernel lets nobody else make one, confined or not; see the run as root.
        fence.attack(script, &["make"]).none_worked();
    }
}

/// A filesystem mounted beneath a readable place, which a read-only mount of the place alone leaves writable.
#[test]
fn no_submount_of_a_readable_place_can_be_written() {
    let mut again = Command::new("unshare");
    again
        .arg("-Urm")
        .arg(std::env::current_exe().unwrap())
        .args(["mounts::attacked_beside_a_submount", "--exact", "--ignored"])
        .env("RINGFENCE_ESCAPES_SUBMOUNT", "1");
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("test result: ok. 1 passed"), "{said}");
}

/// What runs in a mount namespace of its own.
#[test]
#[ignore = "run by another test, in a mount namespace"]
fn attacked_beside_a_submount() {
    if std::env::var_os("RINGFENCE_ESCAPES_SUBMOUNT").is_none() {
        return;
    }
    let ground = Ground::new();
    for below in ["o/shown/below", "w/kept/below"] {
        std::fs::create_dir_all(ground.at(below)).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "tmpfs"]).arg(ground.at(below));
        assert!(mount.status().unwrap().success());
        ground.write(&format!("{below}/file"), "kept");
    }
    let fence = ground.fence(|profile| {
        for place in ["o/shown", "w/kept"] {
            let root = Root::directory(ground.at(place), Verdict::READ_ONLY);
            profile.roots.push(root);
        }
    });
    for below in ["o/shown/below", "w/kept/below"] {
        let script = include_str!("attacks/submounts.py");
        let file = ground.at(below).join("file");
        let mode = || file.metadata().unwrap().permissions().mode() & 0o777;
        let happened = || {
            let changed = (mode() == 0o640) | was_there(&ground.at(below).join("new"));
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
            changed
        };
        fence.withstands(script, &[ground.at(below).to_str().unwrap()], &happened);
    }
}
