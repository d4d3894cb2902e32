use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::{FileLock, table};

/// Another process: this program, which runs the given test and finds the path in the environment.
const PATH: &str = "RINGFENCE_TEST_LOCK";

fn another_process(test: &str, path: &Path) -> (Child, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--nocapture", &format!("file_lock::tests::{test}")]);
    let mut child = command.env(PATH, path).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = lines.filter_map(|line| Some(line.unwrap().split_once("said: ")?.1.to_owned()));
    let said = said.next().unwrap_or_default();
    (child, said)
}

/// Says it to the process that started this one, and waits to be killed.
fn say(what: &str) -> ! {
    println!("said: {what}");
    loop {
        std::thread::park();
    }
}

fn given() -> Option<PathBuf> {
    std::env::var_os(PATH).map(PathBuf::from)
}

fn file(place: &TempDir) -> PathBuf {
    place.path().canonicalize().unwrap().join("lock")
}

#[test]
fn one_has_it_alone_or_any_number_share_it() {
    let place = tempfile::tempdir().unwrap();
    let path = file(&place);
    let first = FileLock::take(&path).unwrap().unwrap();
    assert!(FileLock::take(&path).unwrap().is_none());
    assert!(FileLock::try_share(&path).unwrap().is_none());
    first.open_to_others().unwrap();
    let second = FileLock::try_share(&path).unwrap().unwrap();
    assert!(FileLock::take(&path).unwrap().is_none());
    drop(first);
    assert!(FileLock::take(&path).unwrap().is_none());
    drop(second);
    drop(FileLock::take(&path).unwrap().unwrap());
}

#[test]
fn other_processes_respect_it_while_its_process_lives() {
    if let Some(path) = given() {
        let _lock = FileLock::try_share(&path).unwrap().unwrap();
        say("shared");
    }
    let place = tempfile::tempdir().unwrap();
    let path = file(&place);
    let (mut other, said) = another_process("other_processes_respect_it_while_its_process_lives", &path);
    assert_eq!(said, "shared");
    assert!(FileLock::take(&path).unwrap().is_none());
    drop(FileLock::try_share(&path).unwrap().unwrap());
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(FileLock::take(&path).unwrap().is_some());
}

#[test]
fn it_ends_with_its_process_though_another_inherited_the_file() {
    if let Some(path) = given() {
        let _lock = FileLock::take(&path).unwrap().unwrap();
        let inherited = table().get(&path).unwrap().file.try_clone().unwrap();
        let mut sleep = Command::new("sleep");
        sleep.arg("60").stdin(inherited).stdout(Stdio::null());
        let mut heir = sleep.spawn().unwrap();
        println!("said: {}", heir.id());
        heir.wait().unwrap();
    }
    let place = tempfile::tempdir().unwrap();
    let path = file(&place);
    let test = "it_ends_with_its_process_though_another_inherited_the_file";
    let (mut other, heir) = another_process(test, &path);
    assert!(FileLock::take(&path).unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
    let taken = FileLock::take(&path).unwrap().is_some();
    let heir = rustix::process::Pid::from_raw(heir.parse().unwrap()).unwrap();
    rustix::process::kill_process(heir, rustix::process::Signal::KILL).unwrap();
    assert!(taken);
}
