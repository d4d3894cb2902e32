//! Variables that tools need once they have a home directory of their own, as reviewed data.
//!
//! Not set: `PYTHONPYCACHEPREFIX`, with which Python would ignore the compiled files of its installation and make
//! them again; the caches of uv, pnpm, Yarn and the like, which are below `HOME` anyway.

use super::BundleName::{self, Go, Java, Node, Python, Rust};
use super::Cache;

/// A directory that tools write to; each command gets its own.
#[derive(Debug)]
pub(super) struct Private {
    pub(super) bundle: BundleName,
    pub(super) variable: &'static str,
    /// Below the home directory of the command.
    pub(super) below: &'static str,
    /// The cache it belongs to, and its place in the directory of that cache; empty stands for all of it.
    pub(super) cache: Option<(Cache, &'static str)>,
}

/// The directories that tools write to.
pub(super) const PRIVATE: &[Private] = &[
    // Settings files that commands can read may put these two elsewhere.
    private(Python, "PIP_CACHE_DIR", ".cache/pip", Some((Cache::Pip, ""))),
    private(Node, "npm_config_cache", ".npm", Some((Cache::Npm, ""))),
    // rustup puts the programs in it into the PATH of what it runs.
    private(Rust, "CARGO_HOME", ".cargo", Some((Cache::Cargo, ""))),
    // GOPATH holds installed programs too, so what may be kept has places of its own.
    private(Go, "GOPATH", "go", None),
    private(Go, "GOMODCACHE", "go/pkg/mod", Some((Cache::Go, "mod"))),
    private(Go, "GOCACHE", ".cache/go-build", Some((Cache::Go, "build"))),
    // Java takes the home directory from the password database, not from HOME. The second is for the wrapper
    // of Maven.
    private(Java, "GRADLE_USER_HOME", ".gradle", None),
    private(Java, "MAVEN_USER_HOME", ".m2", None),
];

/// A variable with an option that names the home directory of the command.
#[derive(Debug)]
pub(super) struct HomeOption {
    pub(super) bundle: BundleName,
    pub(super) variable: &'static str,
    /// What stands before the path.
    pub(super) option: &'static str,
}

/// The variables that hold options.
pub(super) const OPTIONS: &[HomeOption] = &[
    // Maven has no variable for ~/.m2. JAVA_TOOL_OPTIONS would do for every program in Java, but each would print
    // a line about it.
    HomeOption {
        bundle: Java,
        variable: "MAVEN_OPTS",
        option: "-Duser.home=",
    },
];

/// A variable by which the caller chooses an installation: it is opened, and the command gets the variable.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) bundle: BundleName,
    pub(super) variable: &'static str,
    /// The program without which the directory is no such installation.
    pub(super) program: &'static str,
}

/// The installations that callers choose.
pub(super) const CHOSEN: &[Chosen] = &[
    // Tools that were built elsewhere find the standard library by it.
    Chosen {
        bundle: Go,
        variable: "GOROOT",
        program: "bin/go",
    },
    // Maven and Gradle run this one, whichever is in PATH.
    Chosen {
        bundle: Java,
        variable: "JAVA_HOME",
        program: "bin/java",
    },
];

const fn private(
    bundle: BundleName,
    variable: &'static str,
    below: &'static str,
    cache: Option<(Cache, &'static str)>,
) -> Private {
    Private {
        bundle,
        variable,
        below,
        cache,
    }
}
