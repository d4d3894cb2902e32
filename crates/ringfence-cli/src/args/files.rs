//! Options about files and directories.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use ringfence::Preset;

use super::Choice;
use super::values::{self, Device, Place};

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileOptions {
    /// Directory the command works in and may change [default: the current directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) workspace: Option<PathBuf>,

    /// Let the command read the workspace but not change it
    #[arg(long)]
    pub(crate) read_only: bool,

    /// Let the command read, execute and change what is at PATH (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) rw: Vec<PathBuf>,

    /// Let the command read and execute, but not change, what is at PATH (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) ro: Vec<PathBuf>,

    /// Whether the rest of the host can be read [default: deny]
    #[arg(long, value_name = "ACCESS")]
    pub(crate) host_read: Option<Choice>,

    /// Keep the command from what is at PATH, in whatever else is open (repeatable)
    ///
    /// A path is literal whatever characters it has. After `glob:` stands a pattern: `*` is anything in one name, `**`
    /// anything at all, as in `glob:**/*.pem`; a relative one is beneath the current directory. It is about what is
    /// there when the command starts. For a path that begins with `glob:` write `./glob:`.
    #[arg(long, value_name = "PATH|glob:PATTERN", value_parser = values::place(), value_hint = ValueHint::AnyPath)]
    pub(crate) secret: Vec<Place>,

    /// Let the command read but not change what is at PATH, in whatever else is open (repeatable)
    ///
    /// Paths and patterns are as those of --secret.
    #[arg(long, value_name = "PATH|glob:PATTERN", value_parser = values::place(), value_hint = ValueHint::AnyPath)]
    pub(crate) protect: Vec<Place>,

    /// Leave out a list of what is protected or secret by default (repeatable)
    ///
    /// `git` protects what makes the host's git run programs, `agent-config` what agents, editors and shells act on by
    /// themselves; `credentials` keeps keys, tokens and passwords secret.
    #[arg(long, value_name = "PRESET", value_delimiter = ',', value_parser = values::preset())]
    pub(crate) without: Vec<Preset>,

    /// Leave what is at PATH to the command although a preset protects it or keeps it secret (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) unprotect: Vec<PathBuf>,

    /// Refuse git repositories that the command makes, which the host's git might enter by itself
    #[arg(long)]
    pub(crate) no_new_repos: bool,

    /// Let the command make namespaces of its own, in which it has capabilities, as browsers need
    ///
    /// Mounting is refused all the same. Not for a caller with user id 0.
    #[arg(long)]
    pub(crate) nested_namespaces: bool,

    /// Open the device node at PATH, such as /dev/kvm; PATH? where it may be missing (repeatable)
    #[arg(long, value_name = "PATH[?]", value_parser = values::device(), value_hint = ValueHint::AnyPath)]
    pub(crate) device: Vec<Device>,
}
