use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ringfence_policy::{Kind, Resolve, StandIn};
use tempfile::TempDir;

use super::{Occupied, Placeholders, sweep, sweep_locks};
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
        Placeholders::new(self.locks.path().join(journal), self.locks.path().join("locks"))
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
    assert_eq!(
        sweep(&journal, &ground.locks.path().join("locks")).unwrap(),
        [ground.at("a")]
    );
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
    let swept = |journal| sweep(journal, &ground.locks.path().join("locks")).unwrap();
    assert_eq!(swept(&journal), [ground.at(".ringfence-1-0")]);
    assert_eq!(swept(&ground.at("missing")), Vec::<PathBuf>::new());
}

/// Where another process works, which runs a test of this file.
const PLACE: &str = "RINGFENCE_TEST_PLACE";

fn place_of_another() -> Option<PathBuf> {
    std::env::var_os(PLACE).map(PathBuf::from)
}

fn another_process(test: &str, place: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("placeholder::tests::{test}")]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.env(PLACE, place).spawn().unwrap()
}

fn ground_of_two() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("top")).unwrap();
    place
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_locks_of_a_killed_process_are_swept_and_no_others() {
    if let Some(place) = place_of_another() {
        let journal = place.join("journal");
        let mut owner = Placeholders::new(journal, place.join("locks"));
        owner.occupy(&place.join("top/theirs"), StandIn::Link).unwrap();
        File::create(place.join("ready")).unwrap();
        loop {
            std::thread::park();
        }
    }
    let place = ground_of_two();
    let (top, locks) = (place.path().join("top"), place.path().join("locks"));
    let mut other = another_process(
        "the_locks_of_a_killed_process_are_swept_and_no_others",
        place.path(),
    );
    while !place.path().join("ready").exists() {
        assert!(other.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    let mut owner = Placeholders::new(place.path().join("ours"), locks.clone());
    owner.occupy(&top.join("ours"), StandIn::Link).unwrap();
    sweep_locks(&locks).unwrap();
    assert!(locks.exists(), "both use it");
    owner.remove().unwrap();
    assert!(locks.exists(), "the other one uses it");
    other.kill().unwrap();
    other.wait().unwrap();
    sweep_locks(&locks).unwrap();
    assert!(!locks.exists());
    assert_eq!(names(&top), ["theirs"], "the other one's journal tells of it");
    assert_eq!(
        sweep(&place.path().join("journal"), &locks).unwrap(),
        [top.join("theirs")]
    );
    sweep_locks(&locks).unwrap();
}

#[test]
fn nobody_who_sweeps_keeps_a_user_from_removing_its_placeholder() {
    if let Some(place) = place_of_another() {
        // Until the pipe that is its standard input is closed.
        let end = std::thread::spawn(|| std::io::stdin().read_to_end(&mut Vec::new()));
        while !end.is_finished() {
            sweep_locks(&place.join("locks")).unwrap();
            std::thread::sleep(Duration::from_micros(20));
        }
        return;
    }
    let place = ground_of_two();
    let (top, locks) = (place.path().join("top"), place.path().join("locks"));
    let this = "nobody_who_sweeps_keeps_a_user_from_removing_its_placeholder";
    let sweeper = || another_process(this, place.path());
    let sweepers = [sweeper(), sweeper()];
    for round in 0..500 {
        let mut owner = Placeholders::new(place.path().join("journal"), locks.clone());
        owner.occupy(&top.join("link"), StandIn::Link).unwrap();
        owner.remove().unwrap();
        assert_eq!(names(&top), Vec::<String>::new(), "round {round}");
    }
    for sweeper in sweepers {
        assert!(sweeper.wait_with_output().unwrap().status.success());
    }
    assert!(!locks.exists());
}

/// In several threads of several processes.
#[test]
fn many_that_come_and_go_always_find_it_and_leave_nothing() {
    if let Some(place) = place_of_another() {
        return come_and_go(&place);
    }
    let place = ground_of_two();
    let this = "many_that_come_and_go_always_find_it_and_leave_nothing";
    let again = || another_process(this, place.path());
    for child in [again(), again(), again()] {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
    assert_eq!(names(&place.path().join("top")), Vec::<String>::new());
    assert_eq!(names(place.path()), ["top"]);
}

fn come_and_go(place: &Path) {
    let (top, locks) = (place.join("top"), place.join("locks"));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (top, locks) = (&top, &locks);
            scope.spawn(move || {
                for round in 0..100 {
                    let journal = format!("journal-{}-{thread}-{round}", std::process::id());
                    // As every new set does.
                    sweep_locks(locks).unwrap();
                    let mut owner = Placeholders::new(top.with_file_name(journal), locks.clone());
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

#[test]
fn placeholders_are_names_of_one_link_where_there_can_be_such() {
    use std::os::unix::fs::MetadataExt;
    let ground = Ground::new();
    let mut owner = ground.owner("journal");
    for name in ["a", "b", "c"] {
        owner.occupy(&ground.at(name), StandIn::Link).unwrap();
    }
    let seen = |name| ground.at(name).symlink_metadata().unwrap();
    assert_eq!((seen("b").ino(), seen("c").nlink()), (seen("a").ino(), 3));
    // Without the first one the link is still there; without any it is made anew.
    for gone in [["a", "d"].as_slice(), &["b", "c", "d", "e"]] {
        let (last, gone) = gone.split_last().unwrap();
        for name in gone {
            fs::remove_file(ground.at(name)).unwrap();
        }
        owner.occupy(&ground.at(last), StandIn::Link).unwrap();
        assert!(super::is_link(&ground.at(last)));
    }
    owner.remove().unwrap();
    assert_eq!(names(ground.top.path()), Vec::<String>::new());
}
