//! Profile files: what a [`ProfileConfig`] says, as TOML.
//!
//! The text is read into a tree of values that know their place, and the tree is walked by hand: a derived reader
//! stops at the first problem, and the author of a file wants all of them.

mod amount;
mod entries;
mod node;
mod notes;
mod problem;
mod read;
mod reason;
mod variables;
mod vocabulary;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use ringfence_host::runtime::{BundleName, Cache};
use ringfence_policy::{Field, InvalidProfile, Problem, ProfileConfig};

use notes::{Notes, Places, Positions};
pub use problem::{FilePosition, FileProblem, ProfileFileError};
pub use reason::FileReason;
pub use variables::Variables;

/// The longest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A profile as a TOML file writes it down.
///
/// Everything is optional; what is not said is as in [`ProfileConfig::default`], which denies it. A file can't make
/// a profile unconfined: `isolation` and `acknowledgement` are the program's to set, and so is `homes`.
///
/// | key | value |
/// |---|---|
/// | `workspace` | an absolute path; [`Variables::workspace`] unless given |
/// | `workspace_access`, `host_access` | `"deny"`, `"read-only"`, `"read-write"`, or `read`, `execute`, `write`, each `"deny"`, `"gated"` or `"allow"`; unsaid, `execute` is as `read`, and the others are denied |
/// | `network`, `command` | `"deny"`, `"gated"` or `"allow"` |
/// | `home` | `"isolated"`, `"real"`, or `{ name = "x" }` for an isolated one that has a name |
/// | `[[roots]]` | `path`, `access` as for `workspace_access`, and `kind`, which is `"directory"` unless `"file"` or `"absent"` |
/// | `protect`, `secret` | lists of paths, and of patterns such as `{ glob = "**/*.pem", in = "${home}", except = ["**/test.pem"] }`; unsaid, `in` is the workspace |
/// | `presets` | the presets that apply, instead of every one |
/// | `without_presets` | the presets that do not apply; not besides `presets` |
/// | `unguarded` | a list of paths at and beneath which no preset holds |
/// | `new_repositories` | `"report"` or `"refuse"` |
/// | `nested_namespaces` | `"refuse"` or `"allow"` |
/// | `devices` | a list of paths, or of `path` with `presence`, which is `"required"` unless `"optional"` |
/// | `[environment]` | `inherit` and `unset`, lists of names, in `inherit` also `"CARGO_*"`; `set`, a table of values, which are taken as they are |
/// | `[limits]` | `memory`, `file_size`, `private_size`, `output` in bytes or as in `"512MiB"`; `cpu_time`, `wall_time` as in `"30s"`; `processes`, `open_files` |
/// | `require` | names of guarantees, such as `"process_boundary"` |
/// | `bundles`, `cache` | lists of names of [`BundleName`] and [`Cache`], such as `"python"` and `"cargo"` |
///
/// **Paths.** `${workspace}` and `${home}` stand for the [`Variables`], and `$$` for a dollar. A relative path is
/// beneath the workspace. Every other character is literal, in the variables too: a workspace named `a[b]` is never
/// a pattern. Globs have no variables; `in` says where they apply. A path that is not UTF-8 can't be written in TOML:
/// a variable may hold one, anything else needs a [`ProfileConfig`] made by a program.
///
/// **Sizes** are whole numbers with B, KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024),
/// **times** whole numbers with ms, s, m or h.
///
/// ```
/// use ringfence::{Access, ProfileFile, Variables, Verdict};
///
/// let variables = Variables { workspace: "/src/app".into(), home: "/home/me".into() };
/// let file = ProfileFile::parse(
///     r#"
///     workspace_access = "read-write"
///     command = "allow"
///     secret = ["keys", { glob = "**/*.pem" }]
///     [limits]
///     wall_time = "10m"
///     "#,
///     &variables,
/// )?;
/// assert_eq!(file.config.workspace_access, Verdict::READ_WRITE);
/// assert_eq!(file.config.network, Access::Deny);
///
/// let error = ProfileFile::parse("secrets = ['keys']\nnetwork = 'no'", &variables).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "1:1: secrets: there is no such key (did you mean `secret`?)\n\
///      2:11: network: \"no\" is not a word for it (write \"deny\", \"gated\" or \"allow\")"
/// );
/// # Ok::<(), ringfence::ProfileFileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileFile {
    /// What the file says about the profile.
    pub config: ProfileConfig,
    /// The name of the isolated home directory, if it has one; what a name means is up to the program.
    pub home_name: Option<String>,
    /// The bundles of the host's programs to open, each once; none leaves the choice to the program, and an empty list
    /// opens nothing.
    pub bundles: Option<Vec<BundleName>>,
    /// The caches to open, each once.
    pub caches: Vec<Cache>,
    file: Option<PathBuf>,
    places: Places,
}

impl ProfileFile {
    /// Reads the text of a profile file. It looks at nothing on the host: whether the paths exist is checked when
    /// the profile is made.
    ///
    /// # Errors
    /// Every problem of the text, in the order of the text; where it is not TOML, what is wrong with that alone.
    pub fn parse(text: &str, variables: &Variables) -> Result<Self, ProfileFileError> {
        let notes = Notes::default();
        let read = node::document(text, &notes, |top| read::profile(top, variables));
        let (problems, places) = notes.finish(text);
        match read {
            Some(read) if problems.is_empty() => Ok(Self {
                config: read.config,
                home_name: read.home_name,
                bundles: read.bundles,
                caches: read.caches,
                file: None,
                places,
            }),
            _ => Err(ProfileFileError { file: None, problems }),
        }
    }

    /// Reads a profile file.
    ///
    /// # Errors
    /// The same, naming the file; or the file can't be read, is longer than 1 MiB, or is not UTF-8.
    pub fn read(path: &Path, variables: &Variables) -> Result<Self, ProfileFileError> {
        let named = |problems| ProfileFileError {
            file: Some(path.to_owned()),
            problems,
        };
        let text = text(path).map_err(|problem| named(vec![problem]))?;
        let read = Self::parse(&text, variables).map_err(|error| named(error.problems))?;
        Ok(Self {
            file: Some(path.to_owned()),
            ..read
        })
    }

    /// Where the file says a part of the configuration: `FILE:LINE:COLUMN: field`, as for a problem. The same holds as for
    /// [`ProfileFile::explain`].
    #[must_use]
    pub fn place(&self, field: Field) -> Option<String> {
        let (name, position) = self.places.get(&field)?;
        let file = self.file.as_ref().map(|file| format!("{}:", file.display()));
        Some(format!("{}{position}: {name}", file.unwrap_or_default()))
    }

    /// Says where in the file the problems of a profile made from [`ProfileFile::config`] come from.
    ///
    /// What the file does not say has no position. Lists of the configuration may have grown at their ends since; were
    /// they changed otherwise, the positions are those of other entries.
    pub fn explain(&self, invalid: &InvalidProfile) -> ProfileFileError {
        let problem = |problem: &Problem| {
            let place = self.places.get(&problem.field);
            FileProblem {
                position: place.map(|(_, position)| *position),
                field: place.map_or_else(|| problem.field.to_string(), |(field, _)| field.clone()),
                reason: FileReason::Profile(problem.reason.clone()),
            }
        };
        let mut problems: Vec<_> = invalid.problems.iter().map(problem).collect();
        problems.sort_by_key(|problem| problem.position);
        ProfileFileError {
            file: self.file.clone(),
            problems,
        }
    }
}

/// The text of a file, or what keeps it from being one.
fn text(path: &Path) -> Result<String, FileProblem> {
    let whole = |reason| FileProblem {
        position: None,
        field: String::new(),
        reason,
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| {
            whole(FileReason::Unreadable {
                why: error.to_string(),
            })
        })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(whole(FileReason::TooLong { max: MAX_BYTES }));
    }
    String::from_utf8(bytes).map_err(|error| {
        let end = error.utf8_error().valid_up_to();
        FileProblem {
            position: Some(Positions::of(error.as_bytes()).at(end)),
            ..whole(FileReason::NotUtf8)
        }
    })
}

#[cfg(test)]
#[cfg(unix)]
#[path = "profile_file_tests.rs"]
mod tests;

#[cfg(test)]
#[cfg(unix)]
#[path = "profile_file/refusal_tests.rs"]
mod refusal_tests;

#[cfg(test)]
#[cfg(unix)]
#[path = "profile_file/property_tests.rs"]
mod property_tests;
