//! The file of `--json-report`.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use ringfence::{Executor, Outcome, RunError};

use super::json;
use crate::failure::Failure;

/// The file of `--json-report`, looked at before anything runs so that a wrong path costs nothing.
///
/// It may lie where the command can write. So nothing is opened by its name before the command is over, and then the
/// report is written under another name and put in place by renaming: whatever the command made of the name, a link
/// or a pipe, is replaced and never followed. Only what lies in `/dev` is written to as it is.
#[derive(Debug)]
pub(crate) struct JsonReport {
    path: PathBuf,
}

impl JsonReport {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let report = Self {
            path: path.to_owned(),
        };
        let probe = if report.is_device() {
            File::options().write(true).open(path)
        } else {
            report.aside()
        };
        match probe {
            Ok(_) if path.is_dir() => Err(Failure::new(format!(
                "--json-report {}: is a directory",
                path.display()
            ))
            .hint("give a file you can write")),
            Ok(_) => Ok(report),
            Err(error) => Err(failure(path, &error).hint("give a file you can write")),
        }
    }

    /// Writes the report; without a result for a run that was only planned.
    pub(crate) fn write(
        &self,
        executor: &Executor,
        result: Option<&Result<Outcome, RunError>>,
    ) -> Result<(), Failure> {
        let report = json::report(executor, result);
        self.put(&format!("{report:#}\n"))
            .map_err(|error| failure(&self.path, &error))
    }

    fn put(&self, text: &str) -> std::io::Result<()> {
        if self.is_device() {
            return File::options()
                .write(true)
                .open(&self.path)?
                .write_all(text.as_bytes());
        }
        self.aside()?.write_all(text.as_bytes())?;
        std::fs::rename(self.aside_path(), &self.path)
    }

    /// A new file beside the report's place; what had its name before is gone.
    fn aside(&self) -> std::io::Result<File> {
        let path = self.aside_path();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        File::options().write(true).create_new(true).open(path)
    }

    fn aside_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{}.tmp", std::process::id()));
        name.into()
    }

    fn is_device(&self) -> bool {
        self.path.starts_with("/dev")
    }
}

impl Drop for JsonReport {
    fn drop(&mut self) {
        if !self.is_device() {
            // After a report was put in place there is none.
            let _ = std::fs::remove_file(self.aside_path());
        }
    }
}

fn failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("--json-report {}: {error}", path.display()))
}
