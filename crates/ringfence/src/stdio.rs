//! Where a command's standard streams lead.

use std::io::{self, PipeReader};

use ringfence_backend::Stream;

use crate::input::ChildStdin;
use crate::output::{ChildStderr, ChildStdout, Output};

/// What a standard stream of a command is connected to.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum Stdio {
    /// The null device.
    #[default]
    Null,
    /// The same stream of this process.
    Inherit,
    /// A pipe whose other end the caller takes from the [`Process`](crate::Process).
    Piped,
    /// A pipe that is read into the [`Outcome`](crate::Outcome), within the capture limit.
    Captured,
    /// For standard error: wherever standard output leads, in one order.
    Merged,
    /// This descriptor (on Windows: handle). A directory is refused. A file passed like this can be read or written
    /// as it is open, and its owner can change its permissions through it, whatever the profile says of its path. Where
    /// a command could also open it anew for more than the profile allows at its path, it is refused.
    Owned(Stream),
}

/// The command's ends, and ours.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) theirs: [Stream; 3],
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
    /// Captured standard output and standard error.
    pub(crate) captured: [Option<PipeReader>; 2],
    /// Which of them are the terminal.
    pub(crate) terminal: [bool; 3],
}

/// Opens what the three settings ask for; what is not said is the terminal if there is one, else a pipe.
pub(crate) fn open(settings: [Option<Stdio>; 3], has_terminal: bool) -> io::Result<Streams> {
    let mut terminal = settings
        .each_ref()
        .map(|setting| setting.is_none() && has_terminal);
    let [stdin, stdout, stderr] = settings;
    if matches!(stderr, Some(Stdio::Merged)) {
        terminal[2] = terminal[1];
    }
    // The terminal takes the place of what is null here.
    let unsaid = || if has_terminal { Stdio::Null } else { Stdio::Piped };
    let (input, stdin) = match stdin.unwrap_or_else(unsaid) {
        Stdio::Piped => {
            let (reader, writer) = io::pipe()?;
            (reader.into(), Some(ChildStdin::pipe(writer)?))
        }
        Stdio::Inherit => (fit(own(Standard::Input)?)?, None),
        Stdio::Owned(stream) => (fit(stream)?, None),
        Stdio::Null | Stdio::Captured | Stdio::Merged => (null()?, None),
    };
    let (output, stdout, captured_output) = writing(stdout.unwrap_or_else(unsaid), Standard::Output)?;
    let (error, stderr, captured_error) = match stderr.unwrap_or_else(unsaid) {
        Stdio::Merged => (output.try_clone()?, None, None),
        other => writing(other, Standard::Error)?,
    };
    Ok(Streams {
        theirs: [input, output, error],
        stdin,
        stdout: stdout.map(|pipe| ChildStdout(Output::Pipe(pipe))),
        stderr: stderr.map(|pipe| ChildStderr(Output::Pipe(pipe))),
        captured: [captured_output, captured_error],
        terminal,
    })
}

#[derive(Clone, Copy)]
enum Standard {
    Input,
    Output,
    Error,
}

type WritingEnd = (Stream, Option<PipeReader>, Option<PipeReader>);

fn writing(setting: Stdio, standard: Standard) -> io::Result<WritingEnd> {
    Ok(match setting {
        Stdio::Piped | Stdio::Captured => {
            let captured = matches!(setting, Stdio::Captured);
            let (reader, writer) = io::pipe()?;
            if captured {
                (writer.into(), None, Some(reader))
            } else {
                (writer.into(), Some(reader), None)
            }
        }
        Stdio::Inherit => (fit(own(standard)?)?, None, None),
        Stdio::Owned(stream) => (fit(stream)?, None, None),
        Stdio::Null | Stdio::Merged => (null()?, None, None),
    })
}

/// An open directory, or a descriptor that only names a path, is a way out of the command's view: it is refused.
#[cfg(unix)]
fn fit(stream: Stream) -> io::Result<Stream> {
    use rustix::fs::{FileType, fcntl_getfl, fstat};
    /// `O_PATH`, which Linux alone has; no other system uses the bit for a file's flags.
    const NAMES_A_PATH: u32 = 0o10_000_000;
    let directory = FileType::from_raw_mode(fstat(&stream)?.st_mode) == FileType::Directory;
    if directory || fcntl_getfl(&stream)?.bits() & NAMES_A_PATH != 0 {
        let why = "a directory can't be a standard stream: it leads out of what the command may see";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    Ok(stream)
}

#[cfg(windows)]
fn fit(stream: Stream) -> io::Result<Stream> {
    Ok(stream)
}

#[cfg(unix)]
fn null() -> io::Result<Stream> {
    std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .map(Stream::from)
}

#[cfg(unix)]
fn own(standard: Standard) -> io::Result<Stream> {
    use std::os::fd::AsFd;
    match standard {
        Standard::Input => io::stdin().as_fd().try_clone_to_owned(),
        Standard::Output => io::stdout().as_fd().try_clone_to_owned(),
        Standard::Error => io::stderr().as_fd().try_clone_to_owned(),
    }
}

#[cfg(windows)]
fn null() -> io::Result<Stream> {
    std::fs::File::options()
        .read(true)
        .write(true)
        .open("NUL")
        .map(Stream::from)
}

#[cfg(windows)]
fn own(standard: Standard) -> io::Result<Stream> {
    use std::os::windows::io::AsHandle;
    match standard {
        Standard::Input => io::stdin().as_handle().try_clone_to_owned(),
        Standard::Output => io::stdout().as_handle().try_clone_to_owned(),
        Standard::Error => io::stderr().as_handle().try_clone_to_owned(),
    }
}
