//! Options about the programs of the host, and what they find in their home directory and caches.

use clap::Args;
use ringfence::{BundleName, Cache};

use super::values::{self, Home};

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Programs")]
pub(crate) struct ProgramOptions {
    /// Open these bundles of the host's programs and libraries only [default: all of them]
    ///
    /// `base` is what every program needs to start; hardly anything runs without it.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = values::bundle())]
    pub(crate) bundle: Vec<BundleName>,

    /// Home directory of the command: isolated, real, or NAME for one that is kept [default: isolated]
    ///
    /// `isolated` is an empty one that vanishes with the run. `real` is the user's, which is named to the command and
    /// not opened by that. Any other NAME is a directory beneath `$XDG_DATA_HOME/ringfence/homes`, where `XDG_DATA_HOME` is
    /// `~/.local/share` unless set; one run at a time can have it.
    #[arg(long, value_name = "isolated|real|NAME", value_parser = values::home())]
    pub(crate) home: Option<Home>,

    /// Keep caches of package managers for runs to come; all that use one trust each other (repeatable)
    ///
    /// They are beneath `$XDG_CACHE_HOME/ringfence/caches`, where `XDG_CACHE_HOME` is `~/.cache` unless set.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = values::cache())]
    pub(crate) cache: Vec<Cache>,
}
