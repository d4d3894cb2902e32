use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ringfence_policy::{Kind, Resolve, StandIn};
use tempfile::TempDir;

use super::{Occupied, Placeholders, sweep};
use crate::Host;

struct Ground {
    top: TempDir,
    locks: TempDir,
}

impl Ground {
    fn new() -> Self {
        Self {
            top: tempfile::tempdir().unwrap(),
            locks: tempfile::tempdir().unwrap(),
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    fn owner(&self, journal: &str) -> Placeholders {
        Placeholders::new(self.locks.path().join(journal), self.locks.path().to_owned())
    }
}

#[test]
fn s_01_a_placeholder_is_gone_with_its_owner() {
    let ground = Ground::new();
    let mut owner = ground.owner("journal");
    let (link, file) = (ground.at(".git"), ground.at("commondir"));
    assert_eq!(owner.occupy(&link, StandIn::Link).unwrap(), Occupied::Placeholder);
    assert_eq!(
        owner.occupy(&file, StandIn::File(".\n")).unwrap(),
        Occupied::Placeholder
    );
    assert_eq!(
        owner.occupy(&file, StandIn::File(".\n")).unwrap(),
        Occupied::Placeholder
    );
    assert!(
        link.is_symlink() && !link.exists(),
        "nothing is there to whoever opens it"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), ".\n");
    assert_eq!(Host.resolve(&link).unwrap().kind, Kind::Absent);
    assert_eq!(Host.resolve(&link).unwrap().path, link);
    drop(owner);
    assert_eq!(fs::read_dir(ground.top.path()).unwrap().count(), 0);
    assert_eq!(fs::read_dir(ground.locks.path()).unwrap().count(), 0);
}

#[test]
fn what_was_there_before_stays() {
    let ground = Ground::new();
    let mut owner = ground.owner("journal");
    fs::create_dir(ground.at("empty")).unwrap();
    fs::write(ground.at("file"), ".\n").unwrap();
    std::os::unix::fs::symlink("nowhere", ground.at("link")).unwrap();
    for name in ["empty", "link"] {
        assert_eq!(
            owner.occupy(&ground.at(name), StandIn::Link).unwrap(),
            Occupied::Genuine
        );
    }
    fs::write(ground.at("file"), "another").unwrap();
    assert_eq!(
        owner.occupy(&ground.at("file"), StandIn::File(".\n")).unwrap(),
        Occupied::Genuine
    );
    drop(owner);
    assert!(ground.at("empty").is_dir() && ground.at("file").is_file() && ground.at("link").is_symlink());
}

#[test]
fn what_somebody_put_to_use_stays() {
    let ground = Ground::new();
    let mut owner = ground.owner("journal");
    owner.occupy(&ground.at("l"), StandIn::Link).unwrap();
    owner.occupy(&ground.at("f"), StandIn::File("")).unwrap();
    owner.occupy(&ground.at("moved"), StandIn::File("")).unwrap();
    fs::remove_file(ground.at("l")).unwrap();
    fs::create_dir(ground.at("l")).unwrap();
    fs::write(ground.at("f"), "x").unwrap();
    fs::rename(ground.at("moved"), ground.at("elsewhere")).unwrap();
    fs::write(ground.at("moved"), "").unwrap();
    drop(owner);
    assert!(ground.at("l").is_dir() && ground.at("f").exists() && ground.at("moved").exists());
}

#[test]
fn the_last_of_several_users_removes_it() {
    for stand_in in [StandIn::Link, StandIn::File(".\n")] {
        let ground = Ground::new();
        let (mut first, mut second) = (ground.owner("one"), ground.owner("two"));
        let path = ground.at(".git");
        assert_eq!(first.occupy(&path, stand_in).unwrap(), Occupied::Placeholder);
        assert_eq!(second.occupy(&path, stand_in).unwrap(), Occupied::Placeholder);
        drop(first);
        assert!(path.is_symlink() || path.exists());
        drop(second);
        assert!(!path.is_symlink() && !path.exists());
    }
}

#[test]
fn no_link_on_the_way_is_followed() {
    let ground = Ground::new();
    fs::create_dir(ground.at("victim")).unwrap();
    std::os::unix::fs::symlink("victim", ground.at("way")).unwrap();
    let mut owner = ground.owner("journal");
    assert!(owner.occupy(&ground.at("way/.git"), StandIn::Link).is_err());
    assert_eq!(fs::read_dir(ground.at("victim")).unwrap().count(), 0);
}

#[test]
fn what_a_dead_owner_left_is_swept_and_nothing_else() {
    let ground = Ground::new();
    let mut dead = ground.owner("journal");
    let mut live = ground.owner("other");
    for name in ["a", "b", "shared"] {
        dead.occupy(&ground.at(name), StandIn::Link).unwrap();
    }
    live.occupy(&ground.at("shared"), StandIn::Link).unwrap();
    // Death closes its descriptors, and with them its locks; the journal stays.
    dead.held.clear();
    let journal = std::mem::take(&mut dead.journal);
    drop(dead);
    fs::remove_file(ground.at("b")).unwrap();
    fs::write(ground.at("b"), "").unwrap();
    assert_eq!(sweep(&journal, ground.locks.path()).unwrap(), [ground.at("a")]);
    assert!(!ground.at("a").is_symlink() && ground.at("b").exists() && ground.at("shared").is_symlink());
    drop(live);
    assert!(!ground.at("shared").is_symlink());
}

#[test]
fn a_journal_cut_short_is_read_as_far_as_it_goes() {
    let ground = Ground::new();
    std::os::unix::fs::symlink(super::NOWHERE, ground.at(".ringfence-1-0")).unwrap();
    let path = super::hex(ground.at(".ringfence-1-0").to_str().unwrap().as_bytes());
    let journal = ground.locks.path().join("journal");
    fs::write(&journal, format!("0 0 @ {path}\n12 7 0")).unwrap();
    let swept = |journal| sweep(journal, ground.locks.path()).unwrap();
    assert_eq!(swept(&journal), [ground.at(".ringfence-1-0")]);
    assert_eq!(swept(&ground.at("missing")), Vec::<PathBuf>::new());
}

/// In several threads of several processes: the test runs itself.
#[test]
fn many_that_come_and_go_always_find_it_and_leave_nothing() {
    const PLACE: &str = "RINGFENCE_TEST_PLACE";
    if let Some(place) = std::env::var_os(PLACE) {
        return come_and_go(place.as_ref());
    }
    let place = tempfile::tempdir().unwrap();
    for directory in ["top", "locks"] {
        fs::create_dir(place.path().join(directory)).unwrap();
    }
    let this = "placeholder::tests::many_that_come_and_go_always_find_it_and_leave_nothing";
    let again = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", this]).env(PLACE, place.path());
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    for child in [again(), again(), again()] {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
    for directory in ["top", "locks"] {
        assert_eq!(fs::read_dir(place.path().join(directory)).unwrap().count(), 0);
    }
}

fn come_and_go(place: &Path) {
    let (top, locks) = (place.join("top"), place.join("locks"));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (top, locks) = (&top, &locks);
            scope.spawn(move || {
                for round in 0..100 {
                    let journal = format!("journal-{}-{thread}-{round}", std::process::id());
                    let mut owner = Placeholders::new(locks.join(journal), locks.clone());
                    let (name, stand_in) = match round % 2 {
                        0 => ("link", StandIn::Link),
                        _ => ("file", StandIn::File("x")),
                    };
                    let occupied = owner.occupy(&top.join(name), stand_in).unwrap();
                    assert_eq!(occupied, Occupied::Placeholder);
                    assert!(top.join(name).symlink_metadata().is_ok());
                }
            });
        }
    });
}
