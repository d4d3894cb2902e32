//! The command line, as data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Run a command so that it can touch only what you allow.
#[derive(Debug, Parser)]
#[command(name = "ringfence", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) task: Task,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Run a command confined.
    Run(Run),
    /// Show what this host can enforce, by really trying it.
    Doctor(Doctor),
}

/// Run a command confined: the workspace is writable, the rest of the host unreadable but for programs and
/// libraries, the network closed, the home directory an empty one.
#[derive(Debug, Default, Args)]
#[command(
    after_help = "Exit status: the command's own; 124 timed out; 125 ringfence failed; 126 the program \
    can't be executed; 127 it was not found; 128+N ended by signal N; 137 killed."
)]
pub(crate) struct Run {
    /// Directory the command works in and may change [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// Let the command read the workspace but not change it
    #[arg(long)]
    pub(crate) read_only: bool,

    /// Let the command read, execute and change what is at PATH (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) rw: Vec<PathBuf>,

    /// Let the command read and execute, but not change, what is at PATH (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) ro: Vec<PathBuf>,

    /// Whether the rest of the host can be read
    #[arg(long, value_name = "ACCESS", default_value = "deny")]
    pub(crate) host_read: Choice,

    /// Whether the host's network can be used; the loopback inside always can
    #[arg(long, value_name = "ACCESS", default_value = "deny")]
    pub(crate) net: Choice,

    /// End the command after this time, such as 500ms, 30s, 10m or 1h
    #[arg(long, value_name = "DUR", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,

    /// Write what was enforced and how the command ended to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json_report: Option<PathBuf>,

    /// Show what would be enforced and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Say on standard error what is enforced and what is not
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Show what this host can enforce.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    #[default]
    Deny,
    Allow,
}

fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.len()
        - text
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
            .len();
    let (number, unit) = text.split_at(digits);
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` has no number; write for example 30s"))?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("`{unit}` is no unit; use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| error.to_string())
        .and_then(|duration| {
            if duration.is_zero() {
                Err("must be longer than 0".to_owned())
            } else {
                Ok(duration)
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "s", "1x", "-1s", "0s", "1e99h"] {
            assert!(duration(wrong).is_err(), "{wrong:?} was accepted");
        }
    }

    #[test]
    fn options_end_where_the_command_begins() {
        let arguments = Arguments::try_parse_from(["ringfence", "run", "-v", "ls", "-l", "--help"]).unwrap();
        let Task::Run(run) = arguments.task else {
            panic!("not run")
        };
        assert!(run.verbose);
        assert_eq!(run.command, ["ls", "-l", "--help"]);
    }

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
