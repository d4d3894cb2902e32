//! Where toolchains keep their files, as reviewed data.

use super::BundleName::{self, Go, Java, Node, Path, Python, Rust};

/// A directory that a tool calls its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The variable that moves it; empty if there is none.
    pub(super) variable: &'static str,
    /// Where it is otherwise: absolute, or below the home directory.
    pub(super) default: &'static str,
}

/// A toolchain manager: a `PATH` directory inside `found_in` opens what is listed.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) bundle: BundleName,
    pub(super) found_in: Place,
    /// Opened for reading and running: places, and what is in them; none stands for all of `found_in`.
    pub(super) opens: &'static [(Place, &'static str)],
    /// Set in the command's environment, since the default is below a home directory that it doesn't have.
    pub(super) exports: Option<Place>,
}

/// A file that tells what kind of installation a directory is; the directory is opened when its `bin` is in
/// `PATH`.
#[derive(Debug)]
pub(super) struct Marker {
    pub(super) bundle: BundleName,
    /// What is below the directory.
    pub(super) file: &'static str,
}

/// A program that is often installed apart from what it manages.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) bundle: BundleName,
    /// The name of its file in a `PATH` directory.
    pub(super) name: &'static str,
    /// Where it finds what it manages; opened as a whole, and its variable set.
    pub(super) place: Place,
}

const CARGO: Place = place("CARGO_HOME", ".cargo");
const RUSTUP: Place = place("RUSTUP_HOME", ".rustup");
const PYENV: Place = place("PYENV_ROOT", ".pyenv");
const UV: Place = place("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python");
const NVM: Place = place("NVM_DIR", ".nvm");
const FNM: Place = place("FNM_DIR", ".local/share/fnm");
const OLD_FNM: Place = place("FNM_DIR", ".fnm");
const PNPM: Place = place("PNPM_HOME", ".local/share/pnpm");
const NODENV: Place = place("NODENV_ROOT", ".nodenv");
const VOLTA: Place = place("VOLTA_HOME", ".volta");
const GOENV: Place = place("GOENV_ROOT", ".goenv");
const JENV: Place = place("JENV_ROOT", ".jenv");
const SDKMAN: Place = place("SDKMAN_DIR", ".sdkman");
const RBENV: Place = place("RBENV_ROOT", ".rbenv");
const ASDF: Place = place("ASDF_DATA_DIR", ".asdf");
const MISE: Place = place("MISE_DATA_DIR", ".local/share/mise");
const LINUXBREW: Place = place("", "/home/linuxbrew/.linuxbrew");

/// Managers whose programs find the rest by a variable or below the home directory.
pub(super) const LAYOUTS: &[Layout] = &[
    // Never the whole of CARGO_HOME: credentials.toml is there.
    parts(Rust, CARGO, &[(CARGO, "bin"), (RUSTUP, "")], Some(RUSTUP)),
    // Shims run `pyenv exec`, which reads versions, plugins and libexec. The same design five times.
    whole(Python, PYENV),
    whole(Node, NODENV),
    whole(Go, GOENV),
    whole(Java, JENV),
    whole(Path, RBENV),
    // Never what is around it: credentials are beside `python`.
    whole(Python, UV),
    // A function of the shell that nvm.sh defines; not its cache of downloads.
    parts(
        Node,
        NVM,
        &[
            (NVM, "alias"),
            (NVM, "nvm-exec"),
            (NVM, "nvm.sh"),
            (NVM, "versions"),
        ],
        Some(NVM),
    ),
    // PATH holds a link of the login session that leads into it.
    parts(Node, FNM, &[(FNM, "aliases"), (FNM, "node-versions")], Some(FNM)),
    parts(
        Node,
        OLD_FNM,
        &[(OLD_FNM, "aliases"), (OLD_FNM, "node-versions")],
        Some(OLD_FNM),
    ),
    // Without the variable the store is where the command can write it.
    parts(Node, PNPM, &[], None),
    // Shims look for the tools beside them.
    whole(Node, VOLTA),
    // `current` is a link to a version beside it.
    parts(Java, SDKMAN, &[(SDKMAN, "candidates")], None),
    // Shims run `asdf exec`, which reads the plugin of the tool.
    parts(
        Path,
        ASDF,
        &[
            (ASDF, "bin"),
            (ASDF, "installs"),
            (ASDF, "lib"),
            (ASDF, "plugins"),
            (ASDF, "shims"),
        ],
        Some(ASDF),
    ),
    parts(
        Path,
        MISE,
        &[(MISE, "installs"), (MISE, "plugins"), (MISE, "shims")],
        Some(MISE),
    ),
    // Every program links into the Cellar beside it.
    parts(Path, LINUXBREW, &[], None),
];

/// Installations that find their files relative to themselves: unpacked archives, nvm, fnm, conda, venv.
///
/// One of Python alone is known by its library, which has its version in its name.
pub(super) const MARKERS: &[Marker] = &[
    marker(Python, "conda-meta"),
    marker(Python, "pyvenv.cfg"),
    marker(Node, "include/node/node.h"),
    marker(Go, "pkg/tool"),
    // Since Java 9; a JDK and a JRE of Java 8.
    marker(Java, "lib/jrt-fs.jar"),
    marker(Java, "lib/tools.jar"),
    marker(Java, "lib/rt.jar"),
    // Maven, Gradle.
    marker(Java, "bin/m2.conf"),
    marker(Java, "init.d/readme.txt"),
    marker(Rust, "lib/rustlib"),
];

/// Managers that come with the system or lie alone in a directory of programs.
pub(super) const PROGRAMS: &[Program] = &[
    Program {
        bundle: Python,
        name: "uv",
        place: UV,
    },
    Program {
        bundle: Rust,
        name: "rustup",
        place: RUSTUP,
    },
];

/// The names of all programs.
pub(super) fn program_names() -> Vec<&'static str> {
    PROGRAMS.iter().map(|program| program.name).collect()
}

const fn place(variable: &'static str, default: &'static str) -> Place {
    Place { variable, default }
}

/// A manager that owns everything in its place and finds it by its variable.
const fn whole(bundle: BundleName, found_in: Place) -> Layout {
    parts(bundle, found_in, &[], Some(found_in))
}

const fn parts(
    bundle: BundleName,
    found_in: Place,
    opens: &'static [(Place, &'static str)],
    exports: Option<Place>,
) -> Layout {
    Layout {
        bundle,
        found_in,
        opens,
        exports,
    }
}

const fn marker(bundle: BundleName, file: &'static str) -> Marker {
    Marker { bundle, file }
}
