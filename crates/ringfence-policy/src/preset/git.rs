//! What makes the host's next git command run a program, as reviewed data.
//!
//! A repository is known by what is in its directory, wherever that is: `.git` of a working tree, `modules` and
//! `worktrees` inside it, a bare repository. Rules for a new row: changing the file makes an ordinary git command of
//! the host (`status`, `diff`, `commit`, what an editor or a prompt runs) start a program or use another repository's
//! settings. The names not listed here (objects, refs, index, `info`) are what git commands inside must write.

use super::Place::{Repository, RepositoryPart};
use super::Row;
use super::StandIn::{File, Link, Nothing};
use crate::guard::Protection::Protect;

const fn row(place: super::Place, reason: &'static str) -> Row {
    Row {
        place,
        protection: Protect,
        reason,
    }
}

pub(super) const ROWS: &[Row] = &[
    row(
        Repository("config", Link),
        "it names programs that git runs: fsmonitor, filters, pagers, aliases",
    ),
    row(
        Repository("config.worktree", Link),
        "settings of one working tree, as dangerous as config",
    ),
    row(
        Repository("hooks", Link),
        "git runs what is in it, some of it even for a mere status",
    ),
    // The file must be there to be closed, and `./` says what its absence says, to libgit2 as well.
    row(
        Repository("commondir", File("./\n")),
        "it leads git to the settings of another repository",
    ),
    row(
        Repository("gitdir", Nothing),
        "it leads git to another working tree",
    ),
    row(
        Repository("remotes", Link),
        "it leads fetch and push to repositories whose hooks run",
    ),
    row(
        Repository("branches", Link),
        "it leads fetch and push to repositories whose hooks run",
    ),
    // Without one of these git takes a directory for no repository, and looks for another one around it.
    row(
        RepositoryPart("objects"),
        "without it git looks for another repository around this one",
    ),
    row(
        RepositoryPart("refs"),
        "without it git looks for another repository around this one",
    ),
    row(
        RepositoryPart("modules"),
        "the repositories of submodules are in it",
    ),
    row(
        RepositoryPart("worktrees"),
        "what linked working trees are led to is in it",
    ),
];
