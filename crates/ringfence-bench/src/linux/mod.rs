//! What is measured on Linux alone: output, ends, and what live processes cost.

mod ballast;
mod ends;
mod idle;
mod streams;

use std::path::Path;

use ringfence::blocking::{Executor, ExecutorSet};

use crate::candidates::{Failure, Run};

use streams::Pieces;

pub(crate) use ends::{LAST_WORD, say_now};

/// What is not the time of one command, by the names it can be asked for.
pub(crate) const FACTS: [&str; 3] = ["idle", "executors", "ballast"];

/// Measures one of them.
pub(crate) fn facts(
    name: &str,
    set: &ExecutorSet,
    executor: &Executor,
) -> Result<Vec<(&'static str, f64)>, Failure> {
    match name {
        "idle" => idle::processes(set),
        "executors" => idle::executors(set),
        "ballast" => Ok(vec![("rss_4g_ratio", ballast::measure(executor)?)]),
        _ => Ok(Vec::new()),
    }
}

/// What is compared with its plain counterpart, with a copy of this program that commands may run.
pub(crate) fn runs<'a>(executor: &'a Executor, this: &'a Path) -> [Run<'a>; 8] {
    let plain_pipe = |pieces| move || streams::plain_pipe(pieces);
    let pipe = |pieces| move || streams::pipe(executor, pieces);
    [
        Run::new("plain_pipe", plain_pipe(Pieces::Large)).rarely(),
        Run::new("pipe", pipe(Pieces::Large))
            .beside("plain_pipe")
            .rarely(),
        Run::new("plain_small", plain_pipe(Pieces::Small)).rarely(),
        Run::new("small", pipe(Pieces::Small))
            .beside("plain_small")
            .rarely(),
        Run::new("plain_terminal", streams::plain_terminal).rarely(),
        Run::new("terminal", || streams::terminal(executor))
            .beside("plain_terminal")
            .rarely(),
        Run::new("plain_end", || ends::plain(this)),
        Run::new("end", || ends::confined(executor, this)).beside("plain_end"),
    ]
}

/// A copy of this program where commands may run it.
pub(crate) fn copy_of_this(directory: &Path) -> Result<std::path::PathBuf, Failure> {
    let copy = directory.join("bench");
    std::fs::copy(std::env::current_exe()?, &copy)?;
    Ok(copy)
}
