//! What an executor may use besides what its profile says.

use std::path::Path;

use ringfence_backend::Unavailable;
use ringfence_host::Host;
use ringfence_host::runtime::{Bundle, RuntimeAccess, RuntimeEntry};
use ringfence_policy::{Access, Axes, Device, Presence, Reach, Resolve, Rule, Source, Verdict};

use super::directories::Directories;
use crate::error::ExecutorError;
use crate::set::Shared;

impl Shared {
    /// What an executor may use besides what its profile says.
    pub(super) fn rules(
        &self,
        directories: &Directories,
        isolated: bool,
    ) -> Result<Vec<Rule>, ExecutorError> {
        let mut rules = vec![Rule::tree(&self.owned_path, Verdict::DENY, Source::Owned)];
        rules.push(own_directory(&directories.temporary, Source::Temporary)?);
        if isolated {
            rules.push(own_directory(&directories.home, Source::Home)?);
        }
        for (_, directory) in &directories.caches {
            rules.push(own_directory(directory, Source::Cache)?);
        }
        for device in self.profile.devices() {
            rules.extend(device_rule(device)?);
        }
        for bundle in self.bundles.get() {
            rules.extend(bundle.entries.iter().map(|entry| runtime_rule(bundle, entry)));
        }
        Ok(rules)
    }
}

fn own_directory(path: &Path, source: Source) -> Result<Rule, ExecutorError> {
    let resolved = Host.resolve(path).map_err(|error| ExecutorError::Scratch {
        path: path.to_owned(),
        why: error.to_string(),
    })?;
    if resolved.path != path {
        // Somebody put a link in its place since it was made.
        return Err(ExecutorError::Scratch {
            path: path.to_owned(),
            why: "was replaced".to_owned(),
        });
    }
    Ok(Rule::new(resolved, Reach::Tree, Verdict::READ_WRITE, source))
}

/// The rule for a device of the profile; nothing for one that is not there and need not be.
fn device_rule(device: &Device) -> Result<Option<Rule>, ExecutorError> {
    let refused = |why: &str| Unavailable::Path {
        path: device.path.clone(),
        why: why.to_owned(),
    };
    let missing = device.path.symlink_metadata().is_err();
    match (missing, device.presence) {
        (true, Presence::Optional) => return Ok(None),
        (true, Presence::Required) => return Err(refused("there is no such device").into()),
        (false, _) => {}
    }
    let at = Host
        .resolve(&device.path)
        .map_err(|error| refused(&error.to_string()))?;
    if !is_device(&at.path) {
        return Err(refused("it is not a device").into());
    }
    let axes = Verdict::READ_WRITE.with_execute(Access::Deny);
    Ok(Some(Rule::new(at, Reach::Exact, axes, Source::Device)))
}

fn is_device(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = path.symlink_metadata().map(|metadata| metadata.file_type());
        kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

fn runtime_rule(bundle: &Bundle, entry: &RuntimeEntry) -> Rule {
    let execute = match entry.access {
        RuntimeAccess::ReadExecute => Access::Allow,
        RuntimeAccess::Read => Access::Deny,
    };
    let axes = Axes {
        read: Some(Access::Allow),
        execute: Some(execute),
        write: None,
    };
    Rule::new(
        entry.resolved.clone(),
        Reach::Tree,
        axes,
        Source::Runtime {
            bundle: bundle.name.to_string(),
            why: entry.why.to_string(),
        },
    )
}
