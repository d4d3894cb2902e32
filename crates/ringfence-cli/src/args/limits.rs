//! Options about how much a command may use.

use std::time::Duration;

use clap::Args;

use super::amount;

/// A limit that nothing here can keep is an error: nothing runs.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitOptions {
    /// End the command after this time, such as 500ms, 30s, 10m or 1h
    #[arg(long, value_name = "DUR", value_parser = amount::duration)]
    pub(crate) timeout: Option<Duration>,

    /// Memory of all its processes, swap included, such as 512K, 64M or 2G
    ///
    /// K, M, G and T, or KiB to TiB, are powers of 1024; KB to TB are powers of 1000.
    #[arg(long, value_name = "SIZE", value_parser = amount::size)]
    pub(crate) memory: Option<u64>,

    /// Processes and threads at one time
    #[arg(long, value_name = "N", value_parser = amount::count)]
    pub(crate) pids: Option<u64>,

    /// Processor time of all its processes, all processors together
    #[arg(long, value_name = "DUR", value_parser = amount::duration)]
    pub(crate) cpu_time: Option<Duration>,

    /// Open files of each of its processes
    #[arg(long, value_name = "N", value_parser = amount::count)]
    pub(crate) open_files: Option<u64>,

    /// Size of each file it writes
    #[arg(long, value_name = "SIZE", value_parser = amount::size)]
    pub(crate) file_size: Option<u64>,

    /// Size of each of its private memory file systems, such as /tmp [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = amount::size)]
    pub(crate) tmp_size: Option<u64>,

    /// Bytes it may write to standard output and standard error together
    ///
    /// They then pass through ringfence, and neither is a terminal to the command unless you type into one.
    #[arg(long, value_name = "SIZE", value_parser = amount::size)]
    pub(crate) output_limit: Option<u64>,
}
