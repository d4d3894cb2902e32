//! Limits: how much a command may use.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// How much each command of an executor may use; what is `None` has no limit of its own.
///
/// Memory, processes and CPU time count for the whole process tree of a command, open files and file size for each of
/// its processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Limits {
    /// Memory of the tree, swap included, in bytes.
    pub memory_bytes: Option<u64>,
    /// Processes and threads of the tree at one time.
    pub processes: Option<u64>,
    /// CPU time of the tree, all processors together.
    pub cpu_time: Option<Duration>,
    /// Time from start to end.
    pub wall_time: Option<Duration>,
    /// Descriptors of one process.
    pub open_files: Option<u64>,
    /// Size of one file written, in bytes.
    pub file_bytes: Option<u64>,
    /// Size of each private memory filesystem (`/tmp`, `/run`, …), in bytes. It holds for an executor, not for one
    /// command.
    pub private_bytes: Option<u64>,
    /// Bytes written to captured standard output and standard error together.
    pub output_bytes: Option<u64>,
}

/// One of the [`Limits`].
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::memory_bytes`].
    Memory,
    /// [`Limits::processes`].
    Processes,
    /// [`Limits::cpu_time`].
    CpuTime,
    /// [`Limits::wall_time`].
    WallTime,
    /// [`Limits::open_files`].
    OpenFiles,
    /// [`Limits::file_bytes`].
    FileSize,
    /// [`Limits::private_bytes`].
    PrivateSize,
    /// [`Limits::output_bytes`].
    Output,
}

impl Limit {
    /// Every limit, in reporting order.
    pub const ALL: [Self; 8] = [
        Self::Memory,
        Self::Processes,
        Self::CpuTime,
        Self::WallTime,
        Self::OpenFiles,
        Self::FileSize,
        Self::PrivateSize,
        Self::Output,
    ];

    /// The name in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::CpuTime => "CPU time",
            Self::WallTime => "wall time",
            Self::OpenFiles => "open files",
            Self::FileSize => "file size",
            Self::PrivateSize => "private filesystem size",
            Self::Output => "output",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Limits {
    /// The value of one limit: bytes, a count, or nanoseconds.
    pub fn get(&self, limit: Limit) -> Option<u64> {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match limit {
            Limit::Memory => self.memory_bytes,
            Limit::Processes => self.processes,
            Limit::CpuTime => self.cpu_time.map(nanoseconds),
            Limit::WallTime => self.wall_time.map(nanoseconds),
            Limit::OpenFiles => self.open_files,
            Limit::FileSize => self.file_bytes,
            Limit::PrivateSize => self.private_bytes,
            Limit::Output => self.output_bytes,
        }
    }

    /// The limits that are set, in the order of [`Limit::ALL`].
    pub fn set(&self) -> impl Iterator<Item = Limit> + '_ {
        Limit::ALL.into_iter().filter(|limit| self.get(*limit).is_some())
    }

    /// The smaller of each.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        Self {
            memory_bytes: least(self.memory_bytes, other.memory_bytes),
            processes: least(self.processes, other.processes),
            cpu_time: least(self.cpu_time, other.cpu_time),
            wall_time: least(self.wall_time, other.wall_time),
            open_files: least(self.open_files, other.open_files),
            file_bytes: least(self.file_bytes, other.file_bytes),
            private_bytes: least(self.private_bytes, other.private_bytes),
            output_bytes: least(self.output_bytes, other.output_bytes),
        }
    }
}

fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_of_two_limits_is_the_smaller_and_none_is_no_limit() {
        let a = Limits {
            memory_bytes: Some(5),
            wall_time: Some(Duration::from_secs(1)),
            ..Limits::default()
        };
        let b = Limits {
            memory_bytes: Some(3),
            processes: Some(0),
            ..Limits::default()
        };
        let met = a.meet(b);
        assert_eq!(met, b.meet(a));
        assert_eq!((met.memory_bytes, met.processes), (Some(3), Some(0)));
        assert_eq!(met.wall_time, a.wall_time);
        assert_eq!(
            met.set().collect::<Vec<_>>(),
            [Limit::Memory, Limit::Processes, Limit::WallTime]
        );
        assert_eq!(Limits::default().set().count(), 0);
    }
}
