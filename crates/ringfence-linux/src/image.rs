//! The embedded program, in a form that this host executes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;

use ringfence_os::spawn;
use ringfence_zygote::IMAGE;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;

/// Where the embedded program is executed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An installed copy, which a security module can name in a profile.
    Installed,
    /// Memory that nobody can change any more.
    SealedMemory,
    /// A file without a name, where executing memory is not allowed.
    UnlinkedFile,
}

impl Form {
    pub(crate) const fn description(self) -> &'static str {
        match self {
            Self::Installed => INSTALLED,
            Self::SealedMemory => "a sealed memfd",
            Self::UnlinkedFile => "an unlinked file",
        }
    }
}

/// Where a copy may be installed.
const INSTALLED: &str = "/usr/libexec/ringfence/zygote";

/// Executes the program from the first form this host allows, and remembers which.
pub(crate) fn execute(base: &Path, fds: &[BorrowedFd<'_>]) -> io::Result<OwnedFd> {
    static IN_USE: OnceLock<(OwnedFd, Form)> = OnceLock::new();
    if let Some((image, _)) = IN_USE.get() {
        return spawn::spawn(image.as_fd(), fds);
    }
    let mut refused = io::ErrorKind::NotFound.into();
    let forms: [(Form, &dyn Fn() -> io::Result<OwnedFd>); 3] = [
        (Form::Installed, &installed_copy),
        (Form::SealedMemory, &|| {
            Ok(sealed_file("ringfence-zygote", IMAGE, MemfdFlags::EXEC)?)
        }),
        (Form::UnlinkedFile, &|| {
            unlinked_file(base).or_else(|_| unlinked_file(&std::env::temp_dir()))
        }),
    ];
    for (form, open) in forms {
        match open().and_then(|image| Ok((spawn::spawn(image.as_fd(), fds)?, image))) {
            Ok((first, image)) => {
                FORM.get_or_init(|| form);
                // Another thread may have been first, with the same program.
                let _ = IN_USE.set((image, form));
                return Ok(first);
            }
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

static FORM: OnceLock<Form> = OnceLock::new();

/// The form in use; `None` before the first zygote.
pub(crate) fn form() -> Option<Form> {
    FORM.get().copied()
}

/// The installed copy, if only root can have put it there and it is the program of this library.
fn installed_copy() -> io::Result<OwnedFd> {
    use std::io::Read;
    use std::os::unix::fs::MetadataExt;
    let mut file = std::fs::File::open(INSTALLED)?;
    let metadata = file.metadata()?;
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    let trusted = metadata.uid() == 0 && metadata.mode() & 0o022 == 0 && content == IMAGE;
    if trusted {
        Ok(file.into())
    } else {
        Err(io::ErrorKind::InvalidData.into())
    }
}

/// A file that only this process has: executable, and unlinked before anybody else could open it for writing.
fn unlinked_file(directory: &Path) -> io::Result<OwnedFd> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let path = directory.join(format!("ringfence-zygote-{}", std::process::id()));
    let mut file = std::fs::File::options()
        .write(true)
        .create_new(true)
        .mode(0o500)
        .open(&path)?;
    // A file that is open for writing can't be executed.
    let reopened = file.write_all(IMAGE).and_then(|()| std::fs::File::open(&path));
    std::fs::remove_file(&path)?;
    Ok(reopened?.into())
}

/// A file in memory that nobody can change any more.
pub(crate) fn sealed_file(name: &str, content: &[u8], executable: MemfdFlags) -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = match rustix::fs::memfd_create(name, flags | executable) {
        // Before Linux 6.3 every memfd is executable and nobody could say so.
        Err(Errno::INVAL) => rustix::fs::memfd_create(name, flags)?,
        created => created?,
    };
    let mut rest = content;
    while !rest.is_empty() {
        match rustix::io::write(&file, rest) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    rustix::fs::fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL,
    )?;
    Ok(file)
}
