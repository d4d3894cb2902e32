//! From options to a profile.

use std::path::{Path, PathBuf};

use ringfence::{Access, Host, Kind, Profile, ProfileConfig, Resolve, Root, Verdict};

use crate::args::{Choice, Run};
use crate::failure::Failure;

/// A profile, and where the command shall work in it.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) profile: Profile,
    pub(crate) directory: PathBuf,
}

/// Builds the profile that the options describe.
pub(crate) fn build(options: &Run) -> Result<Plan, Failure> {
    let current = current_directory()?;
    let workspace = match &options.workspace {
        Some(given) => current.join(given),
        None => current.clone(),
    };
    let workspace_access = if options.read_only {
        Verdict::READ_ONLY
    } else {
        Verdict::READ_WRITE
    };
    let mut roots = Vec::new();
    for (option, paths, access) in [
        ("--rw", &options.rw, Verdict::READ_WRITE),
        ("--ro", &options.ro, Verdict::READ_ONLY),
    ] {
        for path in paths {
            roots.push(root(option, &current.join(path), access)?);
        }
    }
    let config = ProfileConfig {
        workspace: workspace.clone(),
        workspace_access,
        host_access: if options.host_read == Choice::Allow {
            Verdict::READ_ONLY
        } else {
            Verdict::DENY
        },
        network: if options.net == Choice::Allow {
            Access::Allow
        } else {
            Access::Deny
        },
        command: Access::Allow,
        roots,
        ..ProfileConfig::default()
    };
    let profile = Profile::new(&config, &Host)?;
    let inside = |directory: &Path| {
        let workspace = &profile.workspace().path;
        Host.resolve(directory)
            .is_ok_and(|resolved| resolved.path.starts_with(workspace))
    };
    let directory = if inside(&current) { current } else { workspace };
    Ok(Plan { profile, directory })
}

fn root(option: &str, path: &Path, access: Verdict) -> Result<Root, Failure> {
    let resolved = Host
        .resolve(path)
        .map_err(|error| Failure::new(format!("{option} {}: {error}", path.display())).hint(error.hint()))?;
    match resolved.kind {
        Kind::Directory => Ok(Root::directory(path, access)),
        Kind::File => Ok(Root::file(path, access)),
        Kind::Absent => Err(
            Failure::new(format!("{option} {}: does not exist", path.display()))
                .hint("create it first: a path that is opened for the command must be there"),
        ),
    }
}

/// The current directory by the name the user gave it, if `PWD` still names it.
fn current_directory() -> Result<PathBuf, Failure> {
    let physical = std::env::current_dir().map_err(|error| {
        Failure::new(format!("the current directory: {error}")).hint("change to a directory that exists")
    })?;
    let named = std::env::var_os("PWD")
        .map(PathBuf::from)
        .filter(|named| named.is_absolute());
    let same = |named: &PathBuf| std::fs::canonicalize(named).is_ok_and(|path| path == physical);
    Ok(named.filter(same).unwrap_or(physical))
}
