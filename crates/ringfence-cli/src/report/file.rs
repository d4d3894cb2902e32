//! The file of `--json-report`.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use ringfence::{Executor, Outcome, RunError};

use super::directory::Directory;
use super::json;
use crate::failure::Failure;

/// The file of `--json-report`, looked at before anything runs so that a wrong path costs nothing.
///
/// It may lie where the command can write. So its directory is held from before the command, and whatever that makes
/// of the name, a link or a pipe, is never opened: the report is written under another name and put in place by
/// renaming. Only a device or pipe in `/dev` is written to as it is.
#[derive(Debug)]
pub(crate) struct JsonReport {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Device,
    File {
        directory: Directory,
        name: PathBuf,
        /// Where it is written first.
        aside: PathBuf,
    },
}

impl JsonReport {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            let problem = "--json-report -: standard output is the command's";
            return Err(Failure::new(problem)
                .hint("name a file; /dev/stdout is after the command's output, ./- a file of that name"));
        }
        if path.is_dir() {
            let problem = format!("--json-report {}: is a directory", path.display());
            return Err(Failure::new(problem).hint("give a file you can write"));
        }
        let opened = Self::open(path);
        opened.map_err(|error| failure(path, &error).hint("give a file you can write"))
    }

    fn open(path: &Path) -> std::io::Result<Self> {
        let report = Self {
            path: path.to_owned(),
            place: Place::of(path)?,
        };
        // Shows that it can be written.
        match &report.place {
            Place::Device => drop(report.device()?),
            Place::File { directory, aside, .. } => drop(create_anew(directory, aside)?),
        }
        Ok(report)
    }

    /// Writes the report; without a result for a run that was only planned.
    pub(crate) fn write(
        &self,
        executor: &Executor,
        result: Option<&Result<Outcome, RunError>>,
    ) -> Result<(), Failure> {
        let report = json::report(executor, result);
        self.put(&format!("{report:#}\n"))
            .map_err(|error| failure(&self.path, &error))?;
        match &self.place {
            Place::File { directory, .. } if !directory.is_in_place() => {
                Err(failure(&self.path, &"its directory was replaced").hint(
                    "the report is in the one that was there before the command; what is at the path is not from ringfence",
                ))
            }
            _ => Ok(()),
        }
    }

    fn put(&self, text: &str) -> std::io::Result<()> {
        match &self.place {
            Place::Device => self.device()?.write_all(text.as_bytes()),
            Place::File {
                directory,
                name,
                aside,
            } => {
                create_anew(directory, aside)?.write_all(text.as_bytes())?;
                directory.rename(aside, name)
            }
        }
    }

    /// What is there; if it is a file after all, that of a redirected descriptor, the report follows what is in it.
    fn device(&self) -> std::io::Result<File> {
        File::options().append(true).open(&self.path)
    }
}

impl Drop for JsonReport {
    fn drop(&mut self) {
        if let Place::File { directory, aside, .. } = &self.place {
            // After a report was put in place there is none.
            let _ = directory.remove(aside);
        }
    }
}

impl Place {
    fn of(path: &Path) -> std::io::Result<Self> {
        let is_file = path.symlink_metadata().map_or(true, |there| there.is_file());
        if path.starts_with("/dev") && !is_file {
            return Ok(Self::Device);
        }
        let is_name = !path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let (Some(parent), Some(name), true) = (path.parent(), path.file_name(), is_name) else {
            return Err(ErrorKind::IsADirectory.into());
        };
        let parent = Some(parent).filter(|parent| !parent.as_os_str().is_empty());
        let mut aside = name.to_owned();
        aside.push(format!(".{}.tmp", std::process::id()));
        Ok(Self::File {
            aside: aside.into(),
            directory: Directory::open(parent.unwrap_or(Path::new(".")))?,
            name: name.into(),
        })
    }
}

/// A new file; what had its name before is gone.
fn create_anew(directory: &Directory, name: &Path) -> std::io::Result<File> {
    match directory.remove(name) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    directory.create(name)
}

fn failure(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("--json-report {}: {why}", path.display()))
}
