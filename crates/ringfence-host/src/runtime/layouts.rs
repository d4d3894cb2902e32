//! Where toolchains keep their files, as reviewed data.

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
    /// Name of the bundle.
    pub(super) name: &'static str,
    pub(super) found_in: Place,
    /// Opened for reading and running: places, and directories in them; none stands for all of `found_in`.
    pub(super) opens: &'static [(Place, &'static str)],
    /// Set in the command's environment, since the default is below a home directory that it doesn't have.
    pub(super) exports: Option<Place>,
    /// What the tools write to: each command gets its own, at the usual place below its home directory.
    pub(super) private: &'static [Place],
}

/// A file that tells what kind of installation a directory is; the directory is opened when its `bin` is in
/// `PATH`.
#[derive(Debug)]
pub(super) struct Marker {
    /// Name of the bundle.
    pub(super) name: &'static str,
    /// What is below the directory.
    pub(super) file: &'static str,
}

const CARGO: Place = place("CARGO_HOME", ".cargo");
const RUSTUP: Place = place("RUSTUP_HOME", ".rustup");
const PYENV: Place = place("PYENV_ROOT", ".pyenv");
const RBENV: Place = place("RBENV_ROOT", ".rbenv");
const NODENV: Place = place("NODENV_ROOT", ".nodenv");
const GOENV: Place = place("GOENV_ROOT", ".goenv");
const JENV: Place = place("JENV_ROOT", ".jenv");
const VOLTA: Place = place("VOLTA_HOME", ".volta");
const ASDF: Place = place("ASDF_DATA_DIR", ".asdf");
const MISE: Place = place("MISE_DATA_DIR", ".local/share/mise");
const SDKMAN: Place = place("SDKMAN_DIR", ".sdkman");
const LINUXBREW: Place = place("", "/home/linuxbrew/.linuxbrew");

/// Managers whose programs find the rest by a variable or below the home directory.
pub(super) const LAYOUTS: &[Layout] = &[
    // Never the whole of CARGO_HOME: credentials.toml is there.
    Layout {
        name: "rustup",
        found_in: CARGO,
        opens: &[(CARGO, "bin"), (RUSTUP, "")],
        exports: Some(RUSTUP),
        private: &[CARGO],
    },
    // Shims run `pyenv exec`, which reads versions, plugins and libexec. The same design five times.
    whole("pyenv", PYENV),
    whole("rbenv", RBENV),
    whole("nodenv", NODENV),
    whole("goenv", GOENV),
    whole("jenv", JENV),
    // Shims look for the tools beside them.
    whole("volta", VOLTA),
    // Shims run `asdf exec`, which reads the plugin of the tool.
    Layout {
        name: "asdf",
        found_in: ASDF,
        opens: &[
            (ASDF, "bin"),
            (ASDF, "installs"),
            (ASDF, "lib"),
            (ASDF, "plugins"),
            (ASDF, "shims"),
        ],
        exports: Some(ASDF),
        private: &[],
    },
    Layout {
        name: "mise",
        found_in: MISE,
        opens: &[(MISE, "installs"), (MISE, "plugins"), (MISE, "shims")],
        exports: Some(MISE),
        private: &[],
    },
    // `current` is a link to a version beside it.
    Layout {
        name: "sdkman",
        found_in: SDKMAN,
        opens: &[(SDKMAN, "candidates")],
        exports: None,
        private: &[],
    },
    // Every program links into the Cellar beside it.
    Layout {
        name: "homebrew",
        found_in: LINUXBREW,
        opens: &[(LINUXBREW, "")],
        exports: None,
        private: &[],
    },
];

/// Installations that find their files relative to themselves: unpacked archives, nvm, fnm, conda, venv.
pub(super) const MARKERS: &[Marker] = &[
    Marker {
        name: "conda",
        file: "conda-meta",
    },
    Marker {
        name: "venv",
        file: "pyvenv.cfg",
    },
    Marker {
        name: "node",
        file: "include/node/node.h",
    },
    Marker {
        name: "go",
        file: "pkg/tool",
    },
    Marker {
        name: "java",
        file: "lib/jrt-fs.jar",
    },
    Marker {
        name: "rust",
        file: "lib/rustlib",
    },
];

const fn place(variable: &'static str, default: &'static str) -> Place {
    Place { variable, default }
}

/// A manager that owns everything in its place and finds it by its variable.
const fn whole(name: &'static str, found_in: Place) -> Layout {
    Layout {
        name,
        found_in,
        opens: &[],
        exports: Some(found_in),
        private: &[],
    }
}
