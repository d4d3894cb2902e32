//! The command line, as data: this one table feeds the parser, the help, the man pages and the completions.

mod amount;
mod environment;
mod files;
mod limits;
mod programs;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use ringfence::Guarantees;

pub(crate) use environment::EnvironmentOptions;
pub(crate) use files::FileOptions;
pub(crate) use limits::LimitOptions;
pub(crate) use programs::ProgramOptions;
pub(crate) use values::{Device, Home, Place, literal, pattern};

/// Run a command so that it can touch only what you allow.
#[derive(Debug, Parser)]
#[command(name = "ringfence", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) task: Task,
}

/// The tasks there are.
pub(crate) const TASKS: [&str; 6] = ["run", "explain", "doctor", "conformance", "man", "completions"];

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Run a command confined
    ///
    /// Unless options say otherwise, the workspace is writable, the rest of the host unreadable but for programs and
    /// libraries, the network closed, the home directory an empty one. What makes the host run programs of the command's
    /// choice, such as git hooks, is protected, and keys, tokens and passwords are secret.
    Run(Box<Run>),
    /// Say whether a run could use a file, the network or a variable, and why
    ///
    /// With the options of a run, it says which rule decides, what enforces it, and which option would change it. The
    /// permissions of a file count besides. Nothing runs.
    Explain(Box<Explain>),
    /// Show what this host can enforce, by really trying it
    Doctor(Doctor),
    /// Compare what policies say with what really happens on this host
    ///
    /// Generates profiles, builds a real tree of files for each in the directory for temporary files, and has a small
    /// program attempt every operation at every boundary: first unconfined, to know what is possible at all, then confined.
    /// Nothing is left behind.
    Conformance(Conformance),
    /// Print a man page, as in `ringfence man run | man -l -`
    Man(Man),
    /// Print completions, for a file where the shell looks for them
    Completions(Completions),
}

const STATUSES: &str = "Exit status: the command's own; 124 timed out; 125 ringfence failed; 126 the program can't be \
                        executed; 127 it was not found; 128+N ended by signal N; 137 killed.";

const RUN_DETAILS: &str = "\
What counts: without --profile, the defaults that are said above. With it, the file says what is open, and what it \
does not say is denied. Then come the options: one that can be given once replaces what the file says, one that can be \
repeated adds to it, and --rw or --ro for a path of the file's replaces that entry. --bundle replaces the file's list. \
--env-unset is stronger than --env. Where the file names another workspace, --workspace is an error: the file's paths \
are beneath that one.

Examples:
  # Write in the current directory only, without network.
  ringfence run -- make test
  # Read it only, and for half a minute.
  ringfence run --read-only --timeout 30s -- ./check
  # Two more places.
  ringfence run --rw ../build --ro ~/data -- ./job
  # Not even read these.
  ringfence run --secret notes.txt --secret 'glob:**/*.p12' -- ./job
  # Keep what cargo downloads for the next run.
  ringfence run --cache cargo --net allow -- cargo build
  # Limit all its processes together.
  ringfence run --memory 2G --pids 200 -- ./job
  # Show what would be enforced.
  ringfence run --profile ci.toml --dry-run -- ./job

Exit status: the command's own; 124 timed out; 125 ringfence failed; 126 the program can't be executed; 127 it was not \
found; 128+N ended by signal N; 137 killed.";

/// When something is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// Where it makes sense.
    #[default]
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

#[derive(Debug, Default, Args)]
#[command(after_help = STATUSES, after_long_help = RUN_DETAILS)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,

    /// Whether the command gets a terminal of its own
    ///
    /// With auto it does where standard output or standard error is a terminal. What you type goes there where standard
    /// input is one too, ringfence is in the foreground, and standard output is no pipe, whose reader may want the keys;
    /// else there is nothing to read. Your own terminal it never gets: without one of its own it gets pipes.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto, help_heading = "Terminal")]
    pub(crate) tty: When,

    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        value_name = "COMMAND",
        value_hint = ValueHint::CommandWithArguments,
        help_heading = None
    )]
    pub(crate) command: Vec<OsString>,
}

/// What a command may do: the same for every task that is about a run.
#[derive(Debug, Default, Args)]
pub(crate) struct PolicyOptions {
    #[command(flatten)]
    pub(crate) profile: ProfileOptions,

    #[command(flatten)]
    pub(crate) files: FileOptions,

    #[command(flatten)]
    pub(crate) programs: ProgramOptions,

    /// Whether the host's network can be used; the loopback inside always can [default: deny]
    #[arg(long, value_name = "ACCESS", help_heading = "Network")]
    pub(crate) net: Option<Choice>,

    #[command(flatten)]
    pub(crate) environment: EnvironmentOptions,

    #[command(flatten)]
    pub(crate) limits: LimitOptions,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Profile")]
pub(crate) struct ProfileOptions {
    /// Begin with what the profile in FILE says instead of the defaults
    ///
    /// It is TOML with the keys of the library's `ProfileFile`; `${workspace}` is --workspace or the current directory,
    /// `${home}` the home directory of the user. The command can't change the file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) profile: Option<PathBuf>,

    /// Refuse to run unless this guarantee is achieved (repeatable)
    #[arg(long, value_name = "GUARANTEE", value_delimiter = ',', value_parser = values::guarantee())]
    pub(crate) require: Vec<Guarantees>,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Report")]
pub(crate) struct ReportOptions {
    /// Write what was enforced and how the command ended to FILE, as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) json_report: Option<PathBuf>,

    /// Show what would be enforced and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Say on standard error what is enforced and what is not
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

const EXPLAIN_DETAILS: &str = "\
Examples:
  # What a run in this directory may do with a file.
  ringfence explain .git/config
  # Whether it could write there with this option: the exit status says it.
  ringfence explain --rw ../build ../build write
  ringfence explain network
  ringfence explain env:AWS_PROFILE

Exit status: 0; where OP is given, 1 if it is denied; 125 ringfence failed.";

#[derive(Debug, Default, Args)]
#[command(after_help = EXPLAIN_DETAILS)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,

    /// As JSON
    #[arg(long, help_heading = "Report")]
    pub(crate) json: bool,

    /// A path, `network`, `command`, or `env:NAME`; for a file of such a name write `./network`
    #[arg(value_name = "SUBJECT", value_hint = ValueHint::AnyPath, help_heading = None)]
    pub(crate) subject: OsString,

    /// What would be done [default: everything that can be]
    #[arg(value_name = "OP", help_heading = None)]
    pub(crate) operation: Option<Operation>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const CONFORMANCE_DETAILS: &str = "\
Examples:
  # A short run.
  ringfence conformance
  # The same cases again.
  ringfence conformance --cases 500 --seed 7

Exit status: 0; 1 if policy and reality differ anywhere; 125 ringfence failed.";

#[derive(Debug, Args)]
#[command(after_help = CONFORMANCE_DETAILS)]
pub(crate) struct Conformance {
    /// How many cases are generated
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) cases: u64,

    /// Where the random numbers begin; the same seed gives the same cases [default: another one each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The task the page is about [default: the whole command]
    #[arg(value_name = "TASK", value_parser = TASKS)]
    pub(crate) task: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    #[default]
    Deny,
    Allow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Operation {
    /// Read a path or a variable
    Read,
    /// Execute a path or a command
    Execute,
    /// Change a path
    Write,
    /// Connect to the network
    Connect,
}

impl Operation {
    /// Its name, as it is given.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Execute => "execute",
            Self::Write => "write",
            Self::Connect => "connect",
        }
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
