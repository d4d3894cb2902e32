//! A home directory that is all the command's.

use ringfence::{Access, Host, Resolve};

use super::{Plan, draft};

impl Plan {
    /// What to say of a workspace in which the home directory is: hardly anybody means that.
    pub(crate) fn warning(&self) -> Option<String> {
        let home = Host.resolve(&draft::home_directory()?).ok()?.path;
        let workspace = &self.profile.workspace().path;
        let access = self.profile.workspace_access();
        let (deeds, but) = match (access.read, access.write) {
            (Access::Allow, Access::Allow) => ("read and change", "protected or secret"),
            (Access::Allow, _) => ("read", "secret"),
            (_, Access::Allow) => ("change", "protected or secret"),
            _ => return None,
        };
        let is = if home == *workspace {
            "is the home directory".to_owned()
        } else if home.starts_with(workspace) {
            format!("holds the home directory {}", home.display())
        } else {
            return None;
        };
        Some(format!(
            "the workspace {} {is}: the command can {deeds} everything in it but what is {but} (give a project \
             directory: --workspace DIR)",
            workspace.display(),
        ))
    }
}
