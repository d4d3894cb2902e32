//! What a region wants to be in the view.

use ringfence_policy::{Access, Kind, Reach, Region, Source, Verdict};

use super::{Builder, Placement, READ, ViewError};
use crate::surroundings::{DEV, PROC, PTS};

pub(super) enum Wanted {
    Hidden,
    Private,
    Dev,
    Pts,
    /// The zygote mounts it; only rules are needed.
    Proc,
    Bound {
        writable: bool,
        executable: bool,
    },
}

impl Builder<'_> {
    pub(super) fn wanted(&self, region: &Region<'_>, placement: &mut Placement) -> Result<Wanted, ViewError> {
        let only = |source: &Source| region.rules.iter().all(|rule| rule.source == *source);
        if only(&Source::Private) {
            return Ok(Wanted::Private);
        }
        if only(&Source::System) {
            match region.path.to_str() {
                Some(DEV) => return Ok(Wanted::Dev),
                Some(PTS) => return Ok(Wanted::Pts),
                Some(PROC) if region.subtree.allows_any() => return Ok(Wanted::Proc),
                _ => {}
            }
        }
        let verdict = whole(region)?;
        if !verdict.allows_any() {
            return Ok(Wanted::Hidden);
        }
        let writable = verdict.write == Access::Allow;
        if verdict.read != Access::Allow {
            // A rule of Landlock reaches through whatever is mounted beneath its object.
            let inherited = self
                .enclosing(region.path)
                .map_or(0, |at| self.inherited_rights[at]);
            if inherited & self.landlock.rights(READ, Kind::Directory) != 0 || self.landlock.abi.is_none() {
                placement.narrowed =
                    Some("writing and executing are withheld together with reading".to_owned());
                return Ok(Wanted::Hidden);
            }
            if verdict.execute == Access::Allow {
                // The kernel opens for reading what it executes, and Landlock asks for that right too.
                placement.narrowed = Some("executing is withheld together with reading".to_owned());
                if !writable {
                    return Ok(Wanted::Hidden);
                }
            }
            placement.read_by_landlock = true;
        }
        Ok(Wanted::Bound {
            writable,
            executable: verdict.execute == Access::Allow,
        })
    }
}

/// The one verdict of a region whose object and descendants agree; a file has no descendants.
fn whole(region: &Region<'_>) -> Result<Verdict, ViewError> {
    if region.kind != Kind::Directory {
        return Ok(region.object);
    }
    let exact = region.rules.iter().any(|rule| rule.reach == Reach::Exact);
    if exact && region.object != region.subtree {
        let why = "a directory can't have other access than what it contains".to_owned();
        return Err(ViewError::Unenforceable(region.path.to_owned(), why));
    }
    Ok(region.subtree)
}
