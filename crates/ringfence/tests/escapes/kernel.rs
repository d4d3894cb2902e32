//! The kernel itself: calls that lead past every rule, other entries to it, and its own files.

use std::fs;
use std::path::PathBuf;

use crate::common::skip;
use crate::ground::{Ground, is_root, was_there};

#[test]
fn no_uncommon_interface_of_the_kernel_is_open() {
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    fence.resists_what_there_is("interfaces", include_str!("attacks/interfaces.py"), &[]);
}

/// What a user keeps in its keyring is for no command.
#[test]
fn no_key_of_the_user_is_read_or_made() {
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    let script = include_str!("attacks/keys.py");
    // Made outside, where it stays for as long as the keyring.
    ground.control(script, &["make"]).all_worked();
    fence.resists(script, &["use"]);
    fence.attack(script, &["make"]).none_worked();
    ground.control(script, &["remove"]).all_worked();
}

/// The entry of 32-bit programs, and that of programs with short pointers, have other numbers for the same calls.
#[test]
#[cfg(target_arch = "x86_64")]
fn no_other_entry_leads_past_the_filter() {
    let ground = Ground::new();
    let fence = ground.fence(|_| ());
    let script = include_str!("attacks/entries.py");
    let control = ground.control(script, &[]);
    let tried = fence.attack(script, &[]);
    tried.none_worked();
    for way in ["compat", "short_pointers"] {
        // A program that tries is no ordinary one.
        tried.ended(way, "SIGSYS");
        if !control.worked().any(|worked| worked == way) {
            skip("other entries", &format!("this kernel has no {way}"));
        }
    }
}

/// The kernel looks at half of a register; a filter that looks at all of it is led astray by the other half.
#[test]
fn no_high_bits_lead_past_the_filter() {
    let ground = Ground::new();
    ground
        .fence(|_| ())
        .resists(include_str!("attacks/high_bits.py"), &[]);
}

/// As user id 0 a command would own them.
#[test]
fn no_setting_of_the_kernel_can_be_written() {
    let ground = Ground::new();
    for all in [false, true] {
        let fence = ground.fence(|profile| {
            if all {
                profile.host_access = ringfence::Verdict::READ_ONLY;
            }
        });
        let script = include_str!("attacks/settings.py");
        fence.resists_what_there_is("settings of the kernel", script, &[]);
    }
}

#[test]
fn s_21_no_control_group_can_be_made_or_left() {
    let ground = Ground::new();
    let name = format!("rf-escape-{}", std::process::id());
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let groups = |line: &str| {
        line.contains(" - cgroup")
            .then(|| PathBuf::from(line.split(' ').nth(4).unwrap()))
    };
    let groups: Vec<PathBuf> = mounts.lines().filter_map(groups).collect();
    let script = include_str!("attacks/control_groups.py");
    let mut words = vec![name.as_str()];
    words.extend(groups.iter().map(|group| group.to_str().unwrap()));
    let happened = || {
        let made = groups.iter().map(|group| was_there(&group.join(&name)));
        made.fold(false, |any, one| any | one)
    };
    for all in [false, true] {
        let fence = ground.fence(|profile| {
            if all {
                profile.host_access = ringfence::Verdict::READ_ONLY;
            }
        });
        if is_root() && !groups.is_empty() {
            assert!(ground.control(script, &words).has_worked());
            assert!(happened());
        }
        fence.attack(script, &words).none_worked();
        assert!(!happened());
    }
}

#[test]
fn no_device_of_the_host_can_be_opened() {
    let ground = Ground::new();
    let fence = ground.fence(|profile| profile.host_access = ringfence::Verdict::READ_ONLY);
    fence.resists_what_there_is("devices of the host", include_str!("attacks/devices.py"), &[]);
}
