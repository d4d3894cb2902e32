//! What is tried in a case: every operation, inside each place, at it, beside it, through links, and at outsiders.

pub(crate) mod calls;
pub(crate) mod files;
pub(crate) mod kernel;
pub(crate) mod outsiders;

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ringfence::{Axis, Clause};
use ringfence_zygote::attempt::{Attempt, SEPARATE};

use super::tree::{CONTENT, DIRECTORY, EMPTY, FILE, Layout, MATCHES, PROGRAM};
use calls::Step;
use outsiders::Outsiders;

/// What an operation needs; all of it must be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Using the object that the path with this index leads to.
    Use(usize, Axis),
    /// Going into the directory with this index.
    Enter(usize),
    /// That the name with this index comes, goes, or comes to mean another object.
    Name(usize),
    /// That the second path is a name on the same mount as the first.
    Together,
    /// That the backend does not bring this clause about.
    Lack(Clause),
    /// The host's network.
    Network,
    /// Nothing: it is part of what every command can do.
    Nothing,
    /// What no command ever has.
    Impossible(&'static str),
}

/// What stays when it has worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasting {
    Nothing,
    /// The first path is a file with [`CONTENT`].
    File,
    /// The first path is a directory.
    Directory,
    /// The file has one byte more.
    Byte,
    /// The file has [`CONTENT`] again.
    Content,
}

/// An operation of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) needs: &'static [Need],
    pub(crate) steps: &'static [Step],
    /// Puts back what was there.
    pub(crate) undo: &'static [Step],
    pub(crate) flags: u8,
    pub(crate) lasting: Lasting,
}

/// One attempt with what has to hold for it to work.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) operation: &'static str,
    /// What the needs are about.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) needs: Vec<Need>,
    pub(crate) lasting: Lasting,
    pub(crate) attempt: Attempt,
}

impl Planned {
    pub(crate) fn new(operation: &Operation, paths: &[&Path], data: Vec<Vec<u8>>) -> Self {
        let calls = |steps: &[Step]| steps.iter().map(Step::call).collect();
        Self {
            operation: operation.name,
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            needs: operation.needs.to_vec(),
            lasting: operation.lasting,
            attempt: Attempt {
                flags: operation.flags,
                data,
                calls: calls(operation.steps),
                undo: calls(operation.undo),
            },
        }
    }
}

/// What is tried in every case alike: what it is about is not in the tree.
pub(crate) fn everywhere(outsiders: &Outsiders) -> Vec<Planned> {
    let mut all = outsiders.attempts();
    all.extend(kernel::attempts());
    all
}

/// What is tried in the tree of a case.
pub(crate) fn plan(layout: &Layout) -> Vec<Planned> {
    let mut plan = Plan::default();
    let directories = &layout.directories;
    for (index, directory) in directories.iter().enumerate() {
        // The top is what surrounds the places; what is above it belongs to the suite.
        let itself = index > 0;
        plan.directory(directory, itself);
        plan.between(directory, &directories[(index + 1) % directories.len()]);
        if layout.has_matches {
            for name in MATCHES {
                plan.content(&directory.join(name));
            }
        }
    }
    for file in &layout.files {
        plan.program(file);
    }
    for absent in &layout.absent {
        plan.absent(absent, &absent.with_file_name(FILE), directories);
    }
    for (link, target) in &layout.links {
        plan.through(link, target);
    }
    for (second, _) in &layout.hard_links {
        plan.content(second);
    }
    plan.all.extend(outsiders::sockets(layout));
    plan.all
}

#[derive(Default)]
struct Plan {
    all: Vec<Planned>,
}

impl Plan {
    fn add(&mut self, operation: &Operation, paths: &[&Path], content: &[u8]) {
        let mut data: Vec<Vec<u8>> = paths.iter().map(|path| bytes(path)).collect();
        data.resize(2, Vec::new());
        data.push(content.to_vec());
        self.all.push(Planned::new(operation, paths, data));
    }

    /// The operations on what a directory holds, and on itself.
    fn directory(&mut self, directory: &Path, itself: bool) {
        self.content(&directory.join(FILE));
        self.content(&directory.join(DIRECTORY).join(FILE));
        self.program(&directory.join(PROGRAM));
        for name in [DIRECTORY, EMPTY] {
            let (from, to) = (directory.join(name), directory.join("directory-moved"));
            self.add(&files::RENAME, &[&from, &to], b"");
        }
        self.add(&files::REMOVE_DIRECTORY, &[&directory.join(EMPTY)], b"");
        self.add(
            &files::EXCHANGE,
            &[&directory.join(FILE), &directory.join(EMPTY)],
            b"",
        );
        self.add(&files::LIST, &[directory], b"");
        self.add(&files::LIST, &[&directory.join(DIRECTORY)], b"");
        self.add(&files::UNNAMED_FILE, &[directory], b"");
        self.names(&directory.join("new-name"));
        self.add(&files::CREATE_AND_LEAVE, &[&directory.join("new-file")], CONTENT);
        self.add(
            &files::MAKE_DIRECTORY_AND_LEAVE,
            &[&directory.join("new-directory")],
            CONTENT,
        );
        if !itself {
            return;
        }
        for operation in [
            &files::CHANGE_DIRECTORY_MODE,
            &files::CHANGE_OWNER,
            &files::CHANGE_TIMES,
        ] {
            self.add(operation, &[directory], b"");
        }
        self.attribute(directory);
        self.add(
            &files::RENAME,
            &[directory, &directory.with_file_name("place-moved")],
            b"",
        );
        // Out of the directory again, by a relative path.
        let above = directory.with_file_name(FILE);
        let data = vec![bytes(directory), b"../file".to_vec(), Vec::new()];
        self.all
            .push(Planned::new(&files::ESCAPE, &[directory, &above], data));
    }

    /// The operations on a file with [`CONTENT`].
    fn content(&mut self, path: &Path) {
        self.file(path, CONTENT);
        for operation in [
            &files::EMPTY_AND_WRITE,
            &files::TRUNCATE,
            &files::CHANGE_FILE_MODE,
            &files::REMOVE,
        ] {
            self.add(operation, &[path], CONTENT);
        }
        self.add(&files::APPEND, &[path], b"+");
    }

    /// The operations on a program.
    fn program(&mut self, path: &Path) {
        let beginning = &ringfence_zygote::attempt::IMAGE[..CONTENT.len()];
        self.file(path, beginning);
        for operation in [&files::EXECUTE, &files::CHANGE_PROGRAM_MODE] {
            self.add(operation, &[path], b"");
        }
    }

    /// The operations on any file, whose beginning is given.
    fn file(&mut self, path: &Path, beginning: &[u8]) {
        for operation in [
            &files::READ,
            &files::WRITE,
            &files::MAP_WRITABLE,
            &files::MAP_EXECUTABLE,
            &files::CHANGE_OWNER,
            &files::CHANGE_TIMES,
        ] {
            self.add(operation, &[path], beginning);
        }
        self.attribute(path);
        self.add(&files::RENAME, &[path, &path.with_file_name("file-moved")], b"");
        self.add(&files::LINK, &[path, &path.with_file_name("file-linked")], b"");
    }

    fn attribute(&mut self, path: &Path) {
        let data = vec![bytes(path), b"user.ringfence".to_vec(), b"x".to_vec()];
        self.all.push(Planned::new(&files::SET_ATTRIBUTE, &[path], data));
    }

    /// Every way for a name to come.
    fn names(&mut self, path: &Path) {
        self.add(&files::CREATE, &[path], CONTENT);
        self.add(&files::MAKE_DIRECTORY, &[path], b"");
        self.add(&files::MAKE_FIFO, &[path], b"");
        self.add(&files::MAKE_DEVICE, &[path], b"");
        let data = vec![bytes(path), b"nowhere".to_vec(), Vec::new()];
        self.all.push(Planned::new(&files::MAKE_LINK, &[path], data));
        if let Some(address) = outsiders::address(path) {
            self.add(&files::BIND, &[path], &address);
        }
    }

    fn absent(&mut self, path: &Path, file: &Path, directories: &[PathBuf]) {
        self.names(path);
        // Only places that are directories have a file beside the name.
        if directories
            .iter()
            .any(|directory| Some(&**directory) == path.parent())
        {
            self.add(&files::RENAME, &[file, path], b"");
            self.add(&files::LINK, &[file, path], b"");
        }
    }

    /// From one directory into another.
    fn between(&mut self, from: &Path, to: &Path) {
        self.add(
            &files::RENAME_INTO,
            &[&from.join(FILE), &to.join("moved-in")],
            b"",
        );
        self.add(
            &files::RENAME_INTO,
            &[&from.join(DIRECTORY), &to.join("directory-in")],
            b"",
        );
        self.add(&files::LINK_INTO, &[&from.join(FILE), &to.join("linked-in")], b"");
    }

    /// Through a symbolic link to a directory.
    fn through(&mut self, link: &Path, _target: &Path) {
        let file = link.join(FILE);
        for operation in [
            &files::READ,
            &files::WRITE,
            &files::TRUNCATE,
            &files::CHANGE_TIMES,
            &files::REMOVE,
        ] {
            self.add(operation, &[&file], CONTENT);
        }
        self.add(&files::EXECUTE, &[&link.join(PROGRAM)], b"");
        self.add(&files::LIST, &[link], b"");
        self.add(&files::CREATE, &[&link.join("through-link")], CONTENT);
        self.add(&files::RENAME, &[link, &link.with_file_name("link-moved")], b"");
    }
}

/// Only what changes nothing but the process that tries it can be tried in the probe itself.
pub(crate) const APART: u8 = SEPARATE;

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}
