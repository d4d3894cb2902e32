//! The variables every command has: those of its parent that are inherited, and those of its executor.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::NameCase;
use super::name::fits;

/// A variable that is inherited by default, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inherited {
    /// The name; a trailing `*` stands for any rest.
    pub name: &'static str,
    /// Why a command needs it, and why it is harmless.
    pub reason: &'static str,
}

impl Inherited {
    /// Every row for systems where names have this case.
    pub(super) fn all(case: NameCase) -> impl Iterator<Item = &'static Self> {
        let windows = match case {
            NameCase::Sensitive => &[],
            NameCase::Insensitive => INHERITED_ON_WINDOWS,
        };
        INHERITED.iter().chain(windows)
    }

    /// Whether the row is about a name in [key form](NameCase::key).
    pub(super) fn covers(&self, case: NameCase, key: &OsStr) -> bool {
        fits(
            case.key(OsStr::new(self.name)).as_encoded_bytes(),
            key.as_encoded_bytes(),
        )
    }
}

/// Every variable that is inherited by default on every system (ENV-1, EXE-20).
pub const INHERITED: &[Inherited] = &[
    inherited(
        "PATH",
        "programs are looked up by it; the policy decides which may run",
    ),
    inherited(
        "HOME",
        "replaced by the executor; kept so that its place in the list is stable",
    ),
    inherited(
        "TERM",
        "full-screen and colour output depend on it; names a terminal type only",
    ),
    inherited("LANG", "language and character set of messages"),
    inherited("LC_*", "the same for single categories"),
    inherited(
        "USER",
        "name of the invoking user, which the user id gives away anyway",
    ),
    inherited("LOGNAME", "the other customary spelling of USER"),
    inherited("SHELL", "programs that start a subshell ask for it"),
    inherited("TZ", "local time"),
];

/// What is inherited by default on Windows beyond [`INHERITED`] (ENV-10).
pub const INHERITED_ON_WINDOWS: &[Inherited] = &[
    inherited(
        "SystemRoot",
        "sockets, cryptography and .NET find their libraries by it; the same on most hosts",
    ),
    inherited("windir", "the older spelling of SystemRoot"),
    inherited(
        "SystemDrive",
        "installers and build tools begin their default paths with it",
    ),
    inherited(
        "ComSpec",
        "runtimes start batch files through it; the policy decides what may run",
    ),
    inherited(
        "PATHEXT",
        "decides which names are programs; without it no program is found without its extension",
    ),
    inherited(
        "OS",
        "scripts ask it whether this is Windows; the same on every host",
    ),
    inherited(
        "NUMBER_OF_PROCESSORS",
        "build tools take it for the number of jobs",
    ),
    inherited(
        "PROCESSOR_*",
        "build tools choose the architecture by it; the processor tells the same",
    ),
    inherited(
        "ProgramFiles*",
        "compilers and SDKs are looked up there; names a directory of the administrator's",
    ),
    inherited("ProgramW6432", "ProgramFiles as 32-bit programs see it"),
    inherited("CommonProgram*", "the same for shared components"),
    inherited(
        "ProgramData",
        "settings for all users are looked up there; the policy decides about the files",
    ),
    inherited("USERNAME", "USER as Windows spells it"),
    inherited("USERPROFILE", "HOME as Windows spells it, and like it replaced"),
    inherited(
        "APPDATA",
        "a directory below USERPROFILE, replaced together with it",
    ),
    inherited(
        "LOCALAPPDATA",
        "a directory below USERPROFILE, replaced together with it",
    ),
];

/// The variables that lead to the directories of one executor, for it to force (ENV-3).
///
/// `TMPDIR` is `temporary`, and with a private `home` `HOME` is that; without one the names of the home directory
/// are left to be inherited. Windows programs know these directories as `TEMP`, `TMP`, `USERPROFILE`, `APPDATA`
/// and `LOCALAPPDATA` (ENV-10, EXE-27); the last two are below `home` and are not created here.
pub fn private_directories(
    case: NameCase,
    temporary: &Path,
    home: Option<&Path>,
) -> BTreeMap<OsString, OsString> {
    let (temporary_names, home_names) = match case {
        NameCase::Sensitive => (["TMPDIR"].as_slice(), [("HOME", "")].as_slice()),
        NameCase::Insensitive => (
            ["TMPDIR", "TEMP", "TMP"].as_slice(),
            [
                ("HOME", ""),
                ("USERPROFILE", ""),
                ("APPDATA", "AppData/Roaming"),
                ("LOCALAPPDATA", "AppData/Local"),
            ]
            .as_slice(),
        ),
    };
    let temporary = temporary_names.iter().map(|name| (*name, temporary.to_owned()));
    let home = home.iter().flat_map(|home| {
        home_names.iter().map(|(name, below)| {
            // Component by component: joining nothing would leave a separator at the end.
            (*name, home.iter().chain(Path::new(below)).collect())
        })
    });
    temporary
        .chain(home)
        .map(|(name, path)| (name.into(), path.into()))
        .collect()
}

const fn inherited(name: &'static str, reason: &'static str) -> Inherited {
    Inherited { name, reason }
}

#[cfg(test)]
#[path = "inherited_tests.rs"]
mod tests;
