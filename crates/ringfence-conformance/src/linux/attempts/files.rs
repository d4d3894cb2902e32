//! Operations on files and names, each with what it needs and how it is undone.

use ringfence::Axis::{Execute, Read, Write};
use ringfence_zygote::attempt::Argument;

use super::calls::{B, C, HERE, P, Q, R, Step, fd, n, sys};
use super::{APART, Lasting, Need, Operation};
use Need::{Enter, Impossible, Name, Together, Use};

/// As long as what a file holds.
const LENGTH: i32 = 10;
/// Of a Unix address, with its family.
const ADDRESS_BYTES: i32 = 110;
const REMOVE_DIRECTORY_FLAG: i32 = 0x200;
const EXCHANGE_FLAG: i32 = 2;
const NULL_DEVICE: i32 = 0x103;
const READ_AND_WRITE: i32 = 3;
const READ_AND_EXECUTE: i32 = 5;

const OPEN_TO_READ: Step = fd(libc::SYS_openat, &[HERE, P, n(libc::O_RDONLY)]);
const OPEN_TO_CREATE: Step = fd(
    libc::SYS_openat,
    &[
        HERE,
        P,
        n(libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL),
        n(0o644),
    ],
);
const WRITE_CONTENT: Step = sys(libc::SYS_write, &[R, C, n(LENGTH)]);
const UNLINK: Step = sys(libc::SYS_unlinkat, &[HERE, P, n(0)]);

const fn operation(name: &'static str, needs: &'static [Need], steps: &'static [Step]) -> Operation {
    Operation {
        name,
        needs,
        steps,
        undo: &[],
        flags: 0,
        lasting: Lasting::Nothing,
    }
}

const fn undone(operation: Operation, undo: &'static [Step]) -> Operation {
    Operation { undo, ..operation }
}

const fn apart(operation: Operation) -> Operation {
    Operation {
        flags: APART,
        ..operation
    }
}

const fn leaving(operation: Operation, lasting: Lasting) -> Operation {
    Operation { lasting, ..operation }
}

pub(crate) const READ: Operation = operation(
    "read",
    &[Use(0, Read)],
    &[OPEN_TO_READ, sys(libc::SYS_read, &[R, B, n(LENGTH)])],
);

pub(crate) const LIST: Operation = operation(
    "list",
    &[Use(0, Read)],
    &[
        fd(
            libc::SYS_openat,
            &[HERE, P, n(libc::O_RDONLY | libc::O_DIRECTORY)],
        ),
        sys(libc::SYS_getdents64, &[R, B, n(4096)]),
    ],
);

pub(crate) const EXECUTE: Operation = apart(operation(
    "execute",
    &[Use(0, Execute)],
    // Without a request it ends at once.
    &[
        sys(libc::SYS_close, &[n(0)]),
        sys(libc::SYS_execve, &[P, n(0), n(0)]),
    ],
));

pub(crate) const MAP_EXECUTABLE: Operation = operation(
    "map executable",
    &[Use(0, Read), Use(0, Execute)],
    &[
        OPEN_TO_READ,
        sys(
            libc::SYS_mmap,
            &[n(0), n(4096), n(READ_AND_EXECUTE), n(libc::MAP_PRIVATE), R, n(0)],
        ),
    ],
);

/// The same bytes again.
pub(crate) const WRITE: Operation = operation(
    "write",
    &[Use(0, Write)],
    &[fd(libc::SYS_openat, &[HERE, P, n(libc::O_WRONLY)]), WRITE_CONTENT],
);

pub(crate) const MAP_WRITABLE: Operation = apart(operation(
    "map writable",
    &[Use(0, Read), Use(0, Write)],
    &[
        fd(libc::SYS_openat, &[HERE, P, n(libc::O_RDWR)]),
        sys(
            libc::SYS_mmap,
            &[n(0), n(4096), n(READ_AND_WRITE), n(libc::MAP_SHARED), R, n(0)],
        ),
    ],
));

pub(crate) const EMPTY_AND_WRITE: Operation = leaving(
    operation(
        "open with O_TRUNC",
        &[Use(0, Write)],
        &[
            fd(libc::SYS_openat, &[HERE, P, n(libc::O_WRONLY | libc::O_TRUNC)]),
            WRITE_CONTENT,
        ],
    ),
    Lasting::Content,
);

pub(crate) const TRUNCATE: Operation = leaving(
    operation(
        "truncate",
        &[Use(0, Write)],
        &[sys(libc::SYS_truncate, &[P, n(LENGTH)])],
    ),
    Lasting::Content,
);

pub(crate) const APPEND: Operation = leaving(
    operation(
        "append",
        &[Use(0, Write)],
        &[
            fd(libc::SYS_openat, &[HERE, P, n(libc::O_WRONLY | libc::O_APPEND)]),
            sys(libc::SYS_write, &[R, C, n(1)]),
        ],
    ),
    Lasting::Byte,
);

pub(crate) const CHANGE_FILE_MODE: Operation = undone(
    operation(
        "chmod",
        &[Use(0, Write)],
        &[sys(libc::SYS_fchmodat, &[HERE, P, n(0o600)])],
    ),
    &[sys(libc::SYS_fchmodat, &[HERE, P, n(0o644)])],
);

pub(crate) const CHANGE_PROGRAM_MODE: Operation = undone(
    operation(
        "chmod",
        &[Use(0, Write)],
        &[sys(libc::SYS_fchmodat, &[HERE, P, n(0o700)])],
    ),
    &[sys(libc::SYS_fchmodat, &[HERE, P, n(0o755)])],
);

pub(crate) const CHANGE_DIRECTORY_MODE: Operation = CHANGE_PROGRAM_MODE;

/// To whom it belongs already, which is a change all the same.
pub(crate) const CHANGE_OWNER: Operation = operation(
    "chown",
    &[Use(0, Write)],
    &[sys(libc::SYS_fchownat, &[HERE, P, n(-1), n(-1), n(0)])],
);

pub(crate) const CHANGE_TIMES: Operation = operation(
    "utimes",
    &[Use(0, Write)],
    &[sys(libc::SYS_utimensat, &[HERE, P, n(0), n(0)])],
);

pub(crate) const SET_ATTRIBUTE: Operation = undone(
    operation(
        "setxattr",
        &[Use(0, Write)],
        &[sys(libc::SYS_setxattr, &[P, Q, C, n(1), n(0)])],
    ),
    &[sys(libc::SYS_removexattr, &[P, Q])],
);

pub(crate) const REMOVE: Operation = leaving(
    undone(
        operation("unlink", &[Name(0)], &[UNLINK]),
        &[OPEN_TO_CREATE, WRITE_CONTENT],
    ),
    Lasting::Content,
);

pub(crate) const REMOVE_DIRECTORY: Operation = undone(
    operation(
        "rmdir",
        &[Name(0)],
        &[sys(libc::SYS_unlinkat, &[HERE, P, n(REMOVE_DIRECTORY_FLAG)])],
    ),
    &[sys(libc::SYS_mkdirat, &[HERE, P, n(0o755)])],
);

pub(crate) const RENAME: Operation = undone(
    operation(
        "rename",
        &[Name(0), Name(1)],
        &[sys(libc::SYS_renameat2, &[HERE, P, HERE, Q, n(0)])],
    ),
    &[sys(libc::SYS_renameat2, &[HERE, Q, HERE, P, n(0)])],
);

pub(crate) const RENAME_INTO: Operation = Operation {
    name: "rename into another directory",
    needs: &[Name(0), Name(1), Together],
    ..RENAME
};

pub(crate) const EXCHANGE: Operation = undone(
    operation(
        "exchange",
        &[Name(0), Name(1)],
        &[sys(libc::SYS_renameat2, &[HERE, P, HERE, Q, n(EXCHANGE_FLAG)])],
    ),
    &[sys(libc::SYS_renameat2, &[HERE, P, HERE, Q, n(EXCHANGE_FLAG)])],
);

/// A second name is a way to the object: it must be one that can be written already.
pub(crate) const LINK: Operation = undone(
    operation(
        "link",
        &[Use(0, Write), Name(1), Together],
        &[sys(libc::SYS_linkat, &[HERE, P, HERE, Q, n(0)])],
    ),
    &[sys(libc::SYS_unlinkat, &[HERE, Q, n(0)])],
);

pub(crate) const LINK_INTO: Operation = Operation {
    name: "link into another directory",
    needs: &[Use(0, Write), Name(1), Together],
    ..LINK
};

pub(crate) const CREATE: Operation = undone(
    operation("create", &[Name(0)], &[OPEN_TO_CREATE, WRITE_CONTENT]),
    &[UNLINK],
);

pub(crate) const CREATE_AND_LEAVE: Operation = leaving(
    operation("create and leave", &[Name(0)], &[OPEN_TO_CREATE, WRITE_CONTENT]),
    Lasting::File,
);

pub(crate) const UNNAMED_FILE: Operation = operation(
    "create without a name",
    &[Use(0, Write)],
    &[fd(
        libc::SYS_openat,
        &[HERE, P, n(libc::O_WRONLY | libc::O_TMPFILE), n(0o600)],
    )],
);

pub(crate) const MAKE_DIRECTORY: Operation = undone(
    operation(
        "mkdir",
        &[Name(0)],
        &[sys(libc::SYS_mkdirat, &[HERE, P, n(0o755)])],
    ),
    &[sys(libc::SYS_unlinkat, &[HERE, P, n(REMOVE_DIRECTORY_FLAG)])],
);

pub(crate) const MAKE_DIRECTORY_AND_LEAVE: Operation = leaving(
    operation(
        "mkdir and leave",
        &[Name(0)],
        &[sys(libc::SYS_mkdirat, &[HERE, P, n(0o755)])],
    ),
    Lasting::Directory,
);

pub(crate) const MAKE_LINK: Operation = undone(
    operation("symlink", &[Name(0)], &[sys(libc::SYS_symlinkat, &[Q, HERE, P])]),
    &[UNLINK],
);

pub(crate) const MAKE_FIFO: Operation = undone(
    operation(
        "mknod of a fifo",
        &[Name(0)],
        &[sys(libc::SYS_mknodat, &[HERE, P, n(0o010_644), n(0)])],
    ),
    &[UNLINK],
);

pub(crate) const MAKE_DEVICE: Operation = undone(
    operation(
        "mknod of a device",
        &[Impossible("making a device needs a capability")],
        &[sys(libc::SYS_mknodat, &[HERE, P, n(0o020_666), n(NULL_DEVICE)])],
    ),
    &[UNLINK],
);

pub(crate) const BIND: Operation = undone(
    operation(
        "bind a socket",
        &[Name(0)],
        &[
            fd(libc::SYS_socket, &[n(libc::AF_UNIX), n(libc::SOCK_STREAM), n(0)]),
            sys(libc::SYS_bind, &[R, C, n(ADDRESS_BYTES)]),
        ],
    ),
    &[UNLINK],
);

pub(crate) const ESCAPE: Operation = apart(operation(
    "read by ../ from inside",
    &[Enter(0), Use(1, Read)],
    &[
        sys(libc::SYS_chdir, &[P]),
        fd(libc::SYS_openat, &[HERE, Q, n(libc::O_RDONLY)]),
        sys(libc::SYS_read, &[Argument::Result(1), B, n(LENGTH)]),
    ],
));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_that_of_what_files_hold() {
        assert_eq!(usize::try_from(LENGTH), Ok(crate::linux::tree::CONTENT.len()));
    }
}
