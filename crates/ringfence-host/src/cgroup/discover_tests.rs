use std::fs;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::discover::System;
use super::{Cgroups, Limits, NoPlace, Place, Resource, ScopeError, Version};
use crate::testing::Tree;

const UNIFIED: &str = "30 23 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const CONTROLLERS: &str = "cgroup.controllers";
const SUBTREE: &str = "cgroup.subtree_control";
const PROCESSES: &str = "cgroup.procs";

/// A made-up host.
struct Fake {
    tree: Tree,
    /// Everything else may be written.
    denied: Vec<PathBuf>,
}

impl Fake {
    fn new(mountinfo: &str, cgroup: &str) -> Self {
        let fake = Self {
            tree: Tree::new(),
            denied: Vec::new(),
        };
        fake.file("proc/self/mountinfo", mountinfo);
        fake.file("proc/self/cgroup", cgroup);
        fake.file("sys/devices/system/cpu/online", "0-3,6\n");
        fake
    }

    fn file(&self, name: impl AsRef<Path>, text: &str) {
        fs::write(self.tree.file(name), text).unwrap();
    }

    /// A group of version 2: the controllers it has, those it passes on, its processes.
    fn unified(&self, name: &str, has: &str, passes_on: &str, processes: &str) -> PathBuf {
        let group = self.group(name, processes);
        self.file(group.join(CONTROLLERS), has);
        self.file(group.join(SUBTREE), passes_on);
        if group != self.tree.path("sys/fs/cgroup/") {
            self.file(group.join("cgroup.type"), "domain\n");
        }
        group
    }

    fn group(&self, name: &str, processes: &str) -> PathBuf {
        let group = self.tree.path("sys/fs/cgroup").join(name);
        self.file(group.join(PROCESSES), processes);
        group
    }

    fn find(&self) -> Cgroups {
        let may_write = |path: &Path| match self.denied.iter().any(|denied| denied == path) {
            true => Err(Errno::ACCESS),
            false => Ok(()),
        };
        Cgroups::find_in(&System {
            root: &self.tree.root,
            may_write: &may_write,
        })
    }

    fn deny(&mut self, path: impl AsRef<Path>) {
        self.denied.push(path.as_ref().to_owned());
    }
}

fn found(cgroups: &Cgroups, resource: Resource) -> (Version, &Path) {
    let place = cgroups.place(resource).unwrap();
    (place.version(), place.directory())
}

fn reason(cgroups: &Cgroups, resource: Resource) -> NoPlace {
    cgroups.place(resource).unwrap_err().clone()
}

/// A user's delegated group `d`, and the root, which is not the user's.
fn delegated(own: &str) -> (Fake, PathBuf) {
    let mut fake = Fake::new(UNIFIED, &format!("0::{own}\n"));
    let root = fake.unified("", "cpu memory pids", "cpu memory pids", "1\n");
    let group = fake.unified("d", "cpu memory pids", "", "");
    fake.deny(&root);
    fake.deny(root.join(PROCESSES));
    fake.deny(root.join(SUBTREE));
    (fake, group)
}

#[test]
fn a_process_below_a_delegated_group_gets_every_limit() {
    let (fake, delegated) = delegated("/d/leaf");
    let leaf = fake.unified("d/leaf", "", "", "100\n");
    let cgroups = fake.find();
    assert_eq!(
        found(&cgroups, Resource::Memory),
        (Version::V2, delegated.as_path())
    );
    assert_eq!(
        found(&cgroups, Resource::Processes),
        (Version::V2, delegated.as_path())
    );
    // No controller is needed for this one.
    assert_eq!(found(&cgroups, Resource::CpuTime), (Version::V2, leaf.as_path()));
    assert_eq!(cgroups.cpus, 5);
}

#[test]
fn a_process_in_the_delegated_group_itself_can_only_count() {
    let (fake, group) = delegated("/d");
    fake.file(group.join(PROCESSES), "100\n");
    let cgroups = fake.find();
    let occupied = NoPlace::Occupied {
        directory: group.clone(),
    };
    assert_eq!(reason(&cgroups, Resource::Memory), occupied);
    assert_eq!(reason(&cgroups, Resource::Processes), occupied);
    assert_eq!(found(&cgroups, Resource::CpuTime), (Version::V2, group.as_path()));
    assert!(occupied.hint().contains("DelegateSubgroup"));
}

#[test]
fn a_group_that_passes_controllers_on_is_taken_even_if_its_list_is_read_only() {
    let (mut fake, group) = delegated("/d/leaf");
    fake.unified("d/leaf", "memory", "", "100\n");
    fake.file(group.join(SUBTREE), "memory\n");
    fake.deny(group.join(SUBTREE));
    let cgroups = fake.find();
    assert_eq!(found(&cgroups, Resource::Memory), (Version::V2, group.as_path()));
    assert_eq!(
        reason(&cgroups, Resource::Processes).code(),
        "cgroup_not_passed_on"
    );
}

#[test]
fn an_undelegated_user_is_told_so() {
    let (mut fake, group) = delegated("/d/leaf");
    let leaf = fake.unified("d/leaf", "", "", "100\n");
    fake.deny(&leaf);
    fake.deny(&group);
    let cgroups = fake.find();
    for resource in Resource::ALL {
        let denied = NoPlace::Denied {
            version: Version::V2,
            path: leaf.clone(),
            errno: Errno::ACCESS.raw_os_error(),
        };
        assert_eq!(reason(&cgroups, resource), denied);
    }
    let limits = Limits {
        processes: Some(1),
        ..Limits::default()
    };
    let error = cgroups.scope(&limits).unwrap_err();
    assert_eq!(error.code(), "cgroup_denied");
    assert!(
        error
            .to_string()
            .starts_with("processes can't be limited for a whole tree: control groups version 2: ")
    );
}

#[test]
fn nothing_may_be_moved_below_a_group_whose_list_of_processes_is_not_writable() {
    let (mut fake, group) = delegated("/d/leaf");
    fake.unified("d/leaf", "", "", "100\n");
    fake.deny(group.join(PROCESSES));
    let denied = reason(&fake.find(), Resource::Memory);
    assert_eq!(denied.code(), "cgroup_not_passed_on");
}

#[test]
fn root_of_the_machine_can_pass_controllers_on_from_where_it_is() {
    let fake = Fake::new(UNIFIED, "0::/\n");
    let root = fake.unified("", "cpu memory pids", "", "1\n");
    let cgroups = fake.find();
    for resource in Resource::ALL {
        assert_eq!(found(&cgroups, resource), (Version::V2, root.as_path()));
    }
}

#[test]
fn root_in_a_service_takes_the_nearest_group_above() {
    let fake = Fake::new(UNIFIED, "0::/system.slice/a.service\n");
    fake.unified("", "cpu memory pids", "memory pids", "1\n");
    let slice = fake.unified("system.slice", "memory pids", "memory pids", "");
    fake.unified("system.slice/a.service", "memory pids", "", "100\n");
    let cgroups = fake.find();
    assert_eq!(found(&cgroups, Resource::Memory), (Version::V2, slice.as_path()));
    let own = slice.join("a.service");
    assert_eq!(found(&cgroups, Resource::CpuTime), (Version::V2, own.as_path()));
}

#[test]
fn threaded_groups_are_no_place() {
    let fake = Fake::new(UNIFIED, "0::/t\n");
    let root = fake.unified("", "memory", "memory", "1\n");
    let threaded = fake.unified("t", "memory", "", "100\n");
    fake.file(threaded.join("cgroup.type"), "threaded\n");
    assert_eq!(
        found(&fake.find(), Resource::CpuTime),
        (Version::V2, root.as_path())
    );
}

const LEGACY: &str = "31 30 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
    32 31 0:29 /box /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
    33 31 0:30 /box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
    34 31 0:31 /box /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
    35 31 0:32 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n";
const LEGACY_GROUPS: &str = "4:name=systemd:/pids\n3:pids:/box\n2:memory:/box/a:b\n1:cpu,cpuacct:/box\n";

#[test]
fn s_20_with_version_1_each_controller_has_a_place_of_its_own() {
    let fake = Fake::new(LEGACY, LEGACY_GROUPS);
    let memory = fake.group("memory/a:b", "100\n");
    let (pids, cpu) = (fake.group("pids", "100\n"), fake.group("cpu,cpuacct", "100\n"));
    let cgroups = fake.find();
    assert_eq!(found(&cgroups, Resource::Memory), (Version::V1, memory.as_path()));
    assert_eq!(
        found(&cgroups, Resource::Processes),
        (Version::V1, pids.as_path())
    );
    assert_eq!(found(&cgroups, Resource::CpuTime), (Version::V1, cpu.as_path()));
}

#[test]
fn s_20_hybrid_takes_controllers_from_version_1_and_counts_time_in_version_2() {
    let unified = "36 31 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let mut fake = Fake::new(&format!("{LEGACY}{unified}"), &format!("{LEGACY_GROUPS}0::/u\n"));
    let memory = fake.group("memory/a:b", "100\n");
    let (pids, cpu) = (fake.group("pids", "100\n"), fake.group("cpu,cpuacct", "100\n"));
    fake.unified("unified", "hugetlb", "", "1\n");
    let own = fake.unified("unified/u", "", "", "100\n");
    let cgroups = fake.find();
    assert_eq!(found(&cgroups, Resource::Memory), (Version::V1, memory.as_path()));
    assert_eq!(found(&cgroups, Resource::CpuTime), (Version::V2, own.as_path()));
    fake.deny(&own);
    fake.deny(own.parent().unwrap());
    fake.deny(&pids);
    let cgroups = fake.find();
    assert_eq!(found(&cgroups, Resource::CpuTime), (Version::V1, cpu.as_path()));
    // The reason is that of the version which has the controller.
    let denied = NoPlace::Denied {
        version: Version::V1,
        path: pids,
        errno: Errno::ACCESS.raw_os_error(),
    };
    assert_eq!(reason(&cgroups, Resource::Processes), denied);
}

#[test]
fn s_20_a_read_only_file_system_is_named() {
    let bound = "40 31 0:31 /box /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n\
        41 31 0:30 /box /sys/fs/cgroup/memory rw - cgroup cgroup ro,memory\n";
    let fake = Fake::new(&format!("{LEGACY}{bound}"), LEGACY_GROUPS);
    let (pids, memory) = (fake.group("pids", "100\n"), fake.group("memory/a:b", "100\n"));
    let cgroups = fake.find();
    for (resource, directory) in [(Resource::Processes, pids), (Resource::Memory, memory)] {
        let version = Version::V1;
        assert_eq!(
            reason(&cgroups, resource),
            NoPlace::ReadOnly { version, directory }
        );
    }
    let unified = Fake::new(&UNIFIED.replace("rw,nosuid", "ro,nosuid"), "0::/\n");
    unified.unified("", "memory pids", "memory pids", "1\n");
    assert_eq!(
        reason(&unified.find(), Resource::Memory).code(),
        "cgroup_read_only"
    );
}

#[test]
fn a_group_that_is_not_mounted_is_not_found() {
    for (mountinfo, cgroup, code) in [
        ("", "0::/\n", "cgroup_not_mounted"),
        (UNIFIED, "", "cgroup_not_mounted"),
        (UNIFIED, "0::/../above\n", "cgroup_elsewhere"),
        (UNIFIED, "0::/removed (deleted)\n", "cgroup_elsewhere"),
        (LEGACY, "3:pids:/other\n2:memory:/boxes\n", "cgroup_elsewhere"),
        ("\n1 2 3\n0:0 -\n", "nonsense\n:\n", "cgroup_not_mounted"),
    ] {
        let fake = Fake::new(mountinfo, cgroup);
        fake.unified("", "memory pids", "memory pids", "1\n");
        assert_eq!(reason(&fake.find(), Resource::Memory).code(), code, "{cgroup:?}");
    }
    let tree = Tree::new();
    let system = System {
        root: &tree.root,
        may_write: &|_| Ok(()),
    };
    let cgroups = Cgroups::find_in(&system);
    assert_eq!(
        reason(&cgroups, Resource::Memory).code(),
        "cgroup_tables_unreadable"
    );
    assert_eq!(cgroups.cpus, 1);
    assert_eq!(cgroups.sweep(), 0);
}

#[test]
fn odd_mount_points_are_read_as_they_are() {
    let odd = UNIFIED.replace("/sys/fs/cgroup", "/sys/fs/cgroup/with\\040blank");
    let fake = Fake::new(&odd, "0::/\n");
    let root = fake.unified("with blank", "memory", "memory", "");
    assert_eq!(
        found(&fake.find(), Resource::Memory),
        (Version::V2, root.as_path())
    );
}

#[test]
fn a_refused_limit_leaves_no_group() {
    let fake = Fake::new(LEGACY, LEGACY_GROUPS);
    let pids = fake.group("pids", "100\n");
    let limits = Limits {
        processes: Some(20),
        ..Limits::default()
    };
    // An ordinary directory has no control files.
    let error = fake.find().scope(&limits).unwrap_err();
    assert!(matches!(error, ScopeError::Write { .. }), "{error}");
    assert_eq!(fs::read_dir(pids).unwrap().count(), 1);
}

#[test]
fn places_say_what_and_where() {
    let place = Place::new(Version::V1, "/sys/fs/cgroup/pids".into(), Vec::new());
    assert_eq!(
        place.to_string(),
        "control groups version 1 below /sys/fs/cgroup/pids"
    );
}
