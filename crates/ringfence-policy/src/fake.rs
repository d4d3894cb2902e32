//! Hosts that are not there, for tests: of other crates too, with the feature `fake`.

#[cfg(test)]
pub(crate) mod generate;
#[cfg(test)]
mod host;

use std::path::Path;

use crate::path::{Kind, Resolve, ResolveError, Resolved};
#[cfg(test)]
pub(crate) use host::*;

/// A host on which every path is a directory, by the very name it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Directories;

impl Resolve for Directories {
    fn resolve(&self, path: &Path) -> Result<Resolved, ResolveError> {
        Ok(Resolved {
            path: path.into(),
            kind: Kind::Directory,
            identity: None,
            links: Vec::new(),
        })
    }
}
