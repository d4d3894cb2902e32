use std::fs;
use std::path::PathBuf;

use ringfence_policy::StandIn;
use tempfile::TempDir;

use super::{Occupied, Placeholders, sweep};

struct Ground {
    top: TempDir,
}

impl Ground {
    fn new() -> Self {
        Self {
            top: tempfile::tempdir().unwrap(),
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    fn owner(&self, journal: &str) -> Placeholders {
        Placeholders::new(self.at(journal))
    }
}

#[test]
fn s_01_a_placeholder_is_gone_with_its_owner() {
    let ground = Ground::new();
    let mut owner = ground.owner("journal");
    let (directory, file) = (ground.at(".git"), ground.at(".mcp.json"));
    assert_eq!(
        owner.occupy(&directory, StandIn::Directory).unwrap(),
        Occupied::Placeholder
    );
    assert_eq!(
        owner.occupy(&file, StandIn::File("{}\n")).unwrap(),
        Occupied::Placeholder
    );
    assert_eq!(
        owner.occupy(&file, StandIn::File("{}\n")).unwrap(),
        Occupied::Placeholder
    );
    assert!(directory.is_dir());
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}\n");
    drop(owner);
    assert_eq!(fs::read_dir(ground.top.path()).unwrap().count(), 0);
}

#[test]
fn what_was_there_before_stays() {
    let ground = Ground::new();
    let mut owner = ground.owner("journal");
    fs::create_dir(ground.at("empty")).unwrap();
    fs::write(ground.at("file"), "").unwrap();
    std::os::unix::fs::symlink("nowhere", ground.at("link")).unwrap();
    assert_eq!(
        owner.occupy(&ground.at("empty"), StandIn::Directory).unwrap(),
        Occupied::Genuine
    );
    assert_eq!(
        owner.occupy(&ground.at("file"), StandIn::File("")).unwrap(),
        Occupied::Genuine
    );
    assert_eq!(
        owner.occupy(&ground.at("link"), StandIn::File("")).unwrap(),
        Occupied::Genuine
    );
    drop(owner);
    assert!(ground.at("empty").is_dir() && ground.at("file").is_file() && ground.at("link").is_symlink());
}

#[test]
fn what_somebody_put_to_use_stays() {
    let ground = Ground::new();
    let mut owner = ground.owner("journal");
    owner.occupy(&ground.at("d"), StandIn::Directory).unwrap();
    owner.occupy(&ground.at("f"), StandIn::File("")).unwrap();
    owner.occupy(&ground.at("moved"), StandIn::File("")).unwrap();
    fs::write(ground.at("d/config"), "x").unwrap();
    fs::write(ground.at("f"), "x").unwrap();
    fs::rename(ground.at("moved"), ground.at("elsewhere")).unwrap();
    fs::write(ground.at("moved"), "").unwrap();
    drop(owner);
    assert!(ground.at("d/config").exists() && ground.at("f").exists() && ground.at("moved").exists());
}

#[test]
fn the_last_of_several_users_removes_it() {
    let ground = Ground::new();
    let (mut first, mut second) = (ground.owner("one"), ground.owner("two"));
    let path = ground.at(".git");
    assert_eq!(
        first.occupy(&path, StandIn::Directory).unwrap(),
        Occupied::Placeholder
    );
    assert_eq!(
        second.occupy(&path, StandIn::Directory).unwrap(),
        Occupied::Placeholder
    );
    drop(first);
    assert!(path.is_dir());
    drop(second);
    assert!(!path.exists());
}

#[test]
fn what_a_dead_owner_left_is_swept_and_nothing_else() {
    let ground = Ground::new();
    let mut dead = ground.owner("journal");
    let mut live = ground.owner("other");
    for name in ["a", "b", "shared"] {
        dead.occupy(&ground.at(name), StandIn::Directory).unwrap();
    }
    live.occupy(&ground.at("shared"), StandIn::Directory).unwrap();
    // Death closes its descriptors, and with them its locks; the journal stays.
    dead.held.clear();
    fs::copy(ground.at("journal"), ground.at("kept")).unwrap();
    drop(dead);
    fs::rename(ground.at("kept"), ground.at("journal")).unwrap();
    fs::write(ground.at("b/used"), "").unwrap();
    assert_eq!(sweep(&ground.at("journal")).unwrap(), [ground.at("a")]);
    assert!(!ground.at("a").exists() && ground.at("b/used").exists() && ground.at("shared").exists());
    drop(live);
    assert!(!ground.at("shared").exists());
}

#[test]
fn a_journal_cut_short_is_read_as_far_as_it_goes() {
    let ground = Ground::new();
    fs::create_dir(ground.at("a")).unwrap();
    let path = super::hex(ground.at("a").to_str().unwrap().as_bytes());
    fs::write(ground.at("journal"), format!("0 0 / {path}\n12 7 0")).unwrap();
    assert_eq!(sweep(&ground.at("journal")).unwrap(), [ground.at("a")]);
    assert_eq!(sweep(&ground.at("missing")).unwrap(), Vec::<PathBuf>::new());
}
