//! The file view is made of mounts: nobody inside can change them, or see what they hide.

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
