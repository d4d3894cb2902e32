//! Options about environment variables.

use std::ffi::OsString;

use clap::Args;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Environment")]
pub(crate) struct EnvironmentOptions {
    /// Pass on the variable NAME or those that begin with PREFIX_, or set NAME to VALUE (repeatable)
    ///
    /// Only PATH, TERM, LANG, TZ and the like are passed on by default. Variables that hold secrets or make programs run
    /// code are passed on only by their full names, and then -v says so. Give secrets as NAME: a VALUE shows in lists of
    /// processes.
    #[arg(long, value_name = "NAME[=VALUE]|PREFIX_*")]
    pub(crate) env: Vec<OsString>,

    /// Keep the variable NAME from the command, whatever else passes it on (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) env_unset: Vec<OsString>,
}
