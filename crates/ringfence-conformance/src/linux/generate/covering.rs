//! A few cases, written by hand, that between them need every kind of rule.

use ringfence::{Access, Protection, Verdict};

use super::{Case, Entry, Place, Shape};

const READ: Verdict = Verdict::READ_ONLY.with_execute(Access::Deny);
const DATA: Verdict = Verdict::READ_WRITE.with_execute(Access::Deny);
const WRITE: Verdict = Verdict {
    read: Access::Deny,
    execute: Access::Deny,
    write: Access::Allow,
};

/// In these the number of a directory is its place in the list plus 2.
const TOP: usize = 0;
const WORKSPACE: usize = 1;

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    vec![inside(), beside()]
}

/// Closed places of every kind in a writable workspace: only the view can subtract.
fn inside() -> Case {
    let places = vec![
        place(
            WORKSPACE,
            "read-only",
            Shape::Directory,
            Entry::Root(Verdict::READ_ONLY),
        ),
        place(WORKSPACE, "closed", Shape::Directory, Entry::Root(Verdict::DENY)),
        place(WORKSPACE, "secret", Shape::File, Entry::Guard(Protection::Secret)),
        place(
            WORKSPACE,
            "between/protected",
            Shape::File,
            Entry::Guard(Protection::Protect),
        ),
        place(
            WORKSPACE,
            "absent",
            Shape::Absent,
            Entry::Guard(Protection::Protect),
        ),
        place(WORKSPACE, "data", Shape::Directory, Entry::Root(DATA)),
        place(WORKSPACE, "between", Shape::Directory, Entry::Nothing),
    ];
    Case {
        places,
        patterns: vec![("**/.env", Protection::Secret)],
        links: vec![(WORKSPACE, 3)],
        ..empty(Access::Deny)
    }
}

/// Open places beside the workspace, each with another set of rights: Landlock alone can hold that.
fn beside() -> Case {
    let places = vec![
        place(TOP, "read", Shape::Directory, Entry::Root(READ)),
        place(TOP, "run", Shape::Directory, Entry::Root(Verdict::READ_ONLY)),
        place(TOP, "data", Shape::Directory, Entry::Root(DATA)),
        place(TOP, "write", Shape::Directory, Entry::Root(WRITE)),
        place(TOP, "file", Shape::File, Entry::Root(READ)),
    ];
    Case {
        places,
        ..empty(Access::Allow)
    }
}

fn empty(network: Access) -> Case {
    Case {
        host: Verdict::DENY,
        workspace: Verdict::READ_WRITE,
        network,
        places: Vec::new(),
        patterns: Vec::new(),
        links: Vec::new(),
        hard_links: Vec::new(),
        presets: false,
    }
}

fn place(parent: usize, name: &str, shape: Shape, rule: Entry) -> Place {
    Place {
        parent,
        name: name.into(),
        shape,
        rule,
    }
}
