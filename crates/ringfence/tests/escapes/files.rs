//! Protected files, secrets, and what is outside: by other names, by other ways, through other processes.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use ringfence::{Access, ProfileConfig, Root, Verdict};

use crate::ground::{Ground, PYTHON};

/// `kept` is protected, `closed` a secret, `o/shown` readable; `x` and `mine` are the command's own, and so is `n/data`,
/// which is a root in which nothing can be executed.
fn ground() -> Ground {
    let ground = Ground::new();
    for name in [
        "w/a/b/kept/inner",
        "w/n/data/kept/inner",
        "w/a/file",
        "o/shown/file",
        "o/shown/d/file",
    ] {
        ground.write(name, "kept");
    }
    fs::copy("/bin/sleep", ground.at("w/a/b/kept/program")).unwrap();
    ground.write("w/x/y/inner", "mine");
    ground.write("w/mine", "mine");
    ground.hide("w/closed/secret");
    ground.hide("w/.env");
    ground
}

fn profile(ground: &Ground, profile: &mut ProfileConfig) {
    let roots = [
        Root::directory(ground.at("w/a/b/kept"), Verdict::READ_ONLY),
        Root::directory(
            ground.at("w/n/data"),
            Verdict::READ_WRITE.with_execute(Access::Deny),
        ),
        Root::directory(ground.at("w/n/data/kept"), Verdict::READ_ONLY),
        Root::file(ground.at("w/a/file"), Verdict::READ_ONLY),
        Root::directory(ground.at("w/closed"), Verdict::DENY),
        Root::directory(ground.at("o/shown"), Verdict::READ_ONLY),
    ];
    profile.roots.extend(roots);
}

/// Everything that can be told of what must not change.
fn look(ground: &Ground) -> String {
    use std::os::unix::fs::MetadataExt;
    let mut all = String::new();
    let mut open: Vec<PathBuf> = ["w/a/b/kept", "w/n/data/kept", "w/a/file", "w/closed", "o"]
        .map(|top| ground.at(top))
        .into();
    while let Some(path) = open.pop() {
        let Ok(seen) = path.symlink_metadata() else {
            all += &format!("{} is gone\n", path.display());
            continue;
        };
        let mut content = DefaultHasher::new();
        if seen.is_dir() {
            let mut entries: Vec<PathBuf> = fs::read_dir(&path)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            entries.sort();
            open.extend(entries);
        } else if seen.is_file() {
            fs::read(&path).unwrap().hash(&mut content);
        }
        // Who reads changes nothing but the time of access.
        let owner = (seen.uid(), seen.gid(), seen.mode(), seen.nlink());
        let object = (seen.ino(), seen.ctime(), seen.ctime_nsec(), content.finish());
        all += &format!("{} {owner:?} {object:?}\n", path.display());
    }
    all
}

/// Each way by itself, on fresh ground: it works and changes something unconfined, and does neither inside.
fn change(script: &str, ways: &[&str]) {
    for way in ways {
        let free = ground();
        let before = look(&free);
        free.control(script, &[way]).all_worked();
        assert_ne!(before, look(&free), "unconfined, {way} changes nothing");
    }
    let ground = ground();
    let fence = ground.fence(|config| profile(&ground, config));
    let before = look(&ground);
    for way in ways {
        fence.attack(script, &[way]).none_worked();
        assert_eq!(before, look(&ground), "inside, {way} changed something");
    }
}

/// What is read can only be told by the secret itself, which the fence looks for in all that is said.
fn read(script: &str) {
    let ground = ground();
    ground
        .fence(|config| profile(&ground, config))
        .resists(script, &[]);
}

#[test]
fn no_ancestor_of_a_protected_name_can_be_renamed() {
    change(
        include_str!("attacks/ancestors.py"),
        &[
            "parent",
            "grandparent",
            "above_a_root",
            "exchange_ancestor",
            "replace_by_link",
            "through_a_descriptor",
            "move_to_the_private_directory",
        ],
    );
}

#[test]
fn no_hard_link_leads_into_or_out_of_a_protected_place() {
    change(
        include_str!("attacks/hard_links.py"),
        &[
            "out_of_a_directory",
            "of_a_file",
            "into_a_directory",
            "by_descriptor",
            "unnamed_file",
            "out_of_a_readable_place",
        ],
    );
}

#[test]
fn nothing_protected_is_replaced_or_exchanged() {
    change(
        include_str!("attacks/replace.py"),
        &[
            "exchange_directory",
            "exchange_file",
            "exchange_content",
            "rename_over_a_file",
            "rename_out",
            "rename_in",
            "remove",
        ],
    );
}

#[test]
fn no_descriptor_leads_past_the_rules() {
    change(
        include_str!("attacks/descriptors.py"),
        &[
            "directory_before_a_rename",
            "reopened_for_writing",
            "relative_to_a_protected_directory",
            "working_directory",
            "through_a_thread",
            "truncate_by_descriptor",
            "descriptor_of_a_path",
            "running_program",
        ],
    );
}

#[test]
fn nothing_about_protected_files_can_be_changed_either() {
    change(
        include_str!("attacks/metadata.py"),
        &[
            "mode",
            "mode_by_descriptor",
            "mode_of_a_directory",
            "owner",
            "times",
            "times_by_descriptor",
            "attribute",
            "attribute_by_descriptor",
            "flags",
        ],
    );
}

#[test]
fn proc_and_links_show_nothing_of_what_is_hidden() {
    read(include_str!("attacks/magic_links.py"));
}

/// As the program that a host runs to confine can be overwritten by what it runs in other tools.
#[test]
fn the_program_of_process_1_is_out_of_reach() {
    let ground = ground();
    let script = include_str!("attacks/program.py");
    let host = std::process::id().to_string();
    ground.control(script, &[&host]).all_worked();
    ground.fence(|_| ()).attack(script, &["1"]).none_worked();
}

/// A program without a file runs, and is as confined as any other.
#[test]
fn a_program_in_memory_stays_confined() {
    let ground = ground();
    let fence = ground.fence(|config| profile(&ground, config));
    fence.resists(include_str!("attacks/memory_program.py"), &[]);
    let allowed = "
@way
def runs():
    file = os.memfd_create('p', 0)
    os.write(file, open('/bin/echo', 'rb').read())
    sure(subprocess.run([f'/proc/self/fd/{file}', 'x'], pass_fds=[file]).returncode == 0)
";
    let said = fence.attacker(allowed, &[]).output().unwrap().stdout.to_text();
    assert_eq!(said, "x\nruns worked \n");
}

/// Named pipes can be written on a read-only mount: whoever listens on the host would obey.
#[test]
fn no_named_pipe_of_the_host_is_written() {
    use std::io::Read;
    use std::os::unix::fs::OpenOptionsExt;
    let ground = ground();
    let places = ["o/shown/pipe", "w/a/b/kept/pipe", "w/.git/hooks/pipe"].map(|place| ground.at(place));
    fs::create_dir_all(ground.at("w/.git/hooks")).unwrap();
    for place in &places {
        let made = Command::new("mkfifo").arg(place).status().unwrap();
        assert!(made.success());
    }
    let fence = ground.fence(|config| profile(&ground, config));
    for place in &places {
        let open = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
            .open(place);
        let pipe = open.unwrap();
        let script = "
@way
def write_to_a_pipe():
    write(ARGUMENTS[0], 'obey')
";
        fence.withstands(script, &[place.to_str().unwrap()], &|| {
            (&pipe).read(&mut [0; 16]).is_ok()
        });
    }
}

/// A name that changes between a harmless file and a link to what is closed, 10 000 times.
#[test]
fn symlink_races_are_not_won() {
    for way in ["write", "read", "create", "rename", "through_a_directory"] {
        let script = include_str!("attacks/races.py");
        let free = ground();
        let before = look(&free);
        free.control(script, &[way, "10000"]).all_worked();
        assert!(way == "read" || before != look(&free), "unconfined, {way}");
        let ground = ground();
        let fence = ground.fence(|config| profile(&ground, config));
        let before = look(&ground);
        fence.attack(script, &[way, "10000"]).none_worked();
        assert_eq!(before, look(&ground), "inside, {way} changed something");
    }
}

/// What a command of another profile does to names while the host makes the view of this one.
#[test]
fn no_race_of_another_command_leads_the_host_astray() {
    let ground = Ground::new();
    fs::create_dir_all(ground.at("w/.git/objects")).unwrap();
    fs::create_dir_all(ground.at("o/victim")).unwrap();
    symlink(ground.at("o/victim"), ground.at("w/link")).unwrap();
    let before = look_at(&ground, "o");
    let other = ground.fence(|config| config.presets.clear());
    let swapper = "import ctypes, os, sys
call = ctypes.CDLL(None).renameat2
print('ready', flush=True)
while os.path.exists('.git') or os.path.islink('.git'):
    call(-100, b'.git', -100, b'link', 2)";
    let process = other.executor.command(PYTHON).args(["-c", swapper]);
    let process = process.current_dir(ground.at("w")).spawn().unwrap();
    let mut made = 0;
    for _ in 0..100 {
        let set = ground.fixture.set_with(&ground.fixture.config());
        // The host may notice and refuse.
        made += u32::from(
            set.executor("a")
                .is_ok_and(|executor| executor.run_command(ground.at("w"), "true").is_ok()),
        );
        drop(set);
    }
    assert_eq!(before, look_at(&ground, "o"), "after {made} executors");
    drop(process);
}

fn look_at(ground: &Ground, top: &str) -> Vec<PathBuf> {
    let mut found = vec![ground.at(top)];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        if path.is_dir() && !path.is_symlink() {
            let entries = fs::read_dir(path).unwrap();
            found.extend(entries.map(|entry| entry.unwrap().path()));
        }
        next += 1;
    }
    found.sort();
    found
}

/// A file of the host's that is a command's input can be read as it is open, and that is all. Protected files in an open
/// place could be opened anew, and are refused.
#[test]
fn a_standard_stream_is_not_reopened_for_more() {
    let script = include_str!("attacks/streams.py");
    for name in ["w/a/file", "w/a/b/kept/inner", "o/shown/file", "o/secret"] {
        let free = ground();
        let streams = |ground: &Ground| {
            let log = fs::OpenOptions::new()
                .append(true)
                .open(ground.at("w/closed/secret"));
            (fs::File::open(ground.at(name)).unwrap(), log.unwrap())
        };
        let (input, log) = streams(&free);
        let output = free
            .attacker(script, &[])
            .stdin(input)
            .stderr(log)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            said.contains("write_input worked") && said.contains("read_log worked"),
            "{said}"
        );
        assert_eq!(fs::read_to_string(free.at(name)).unwrap(), "evil");

        let ground = ground();
        let fence = ground.fence(|config| {
            profile(&ground, config);
            // Else the directory around the workspace is a private one, which hides what happens here.
            let around = ground.at("w").parent().unwrap().to_owned();
            config.roots.push(Root::directory(around, Verdict::DENY));
        });
        let before = look(&ground);
        let (input, log) = streams(&ground);
        for (input, log) in [(Some(input), None), (None, Some(log))] {
            let mut command = fence.attacker(script, &[]);
            let kept = input.is_some() && name.starts_with("w/") || log.is_some();
            if let Some(input) = input {
                command = command.stdin(ringfence::Stdio::Owned(input.into()));
            }
            if let Some(log) = log {
                command = command.stderr(ringfence::Stdio::Owned(log.into()));
            }
            match command.output() {
                Ok(outcome) => {
                    assert!(!kept, "{name}");
                    fence.tried(&outcome).none_worked();
                }
                Err(error) => {
                    let said = error.to_string();
                    assert!(kept && said.contains("pass it through a pipe"), "{name}: {said}");
                }
            }
        }
        assert_eq!(before, look(&ground), "{name}");
    }
}
