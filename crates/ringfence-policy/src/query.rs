//! Questions an approval layer asks a profile.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::access::{Access, Axis};
use crate::path::{Resolve, ResolveError, Resolved, absolute, canonical, is_clean};
use crate::profile::Profile;
use crate::rule::Rule;

impl Profile {
    /// Answers a question given as texts; dependency-free, performs no I/O (PRO-28..37).
    ///
    /// | kind | scope | answer |
    /// |---|---|---|
    /// | `command.execute`, `network` | empty | that access |
    /// | `filesystem.read`, `filesystem.execute`, `filesystem.write` | `host:*` | the host access |
    /// | same | an absolute clean path | the access of the deepest root that contains it, else of the host |
    /// | same | `tree:` and a path | the access of the root or workspace at that very path, else deny |
    /// | same | `subtree:` and a path | the strictest access at or anywhere beneath the path |
    ///
    /// Guards count for paths; what one matches by a pattern beneath a path does not count for `subtree:`.
    ///
    /// The look-up is lexical: for a path that may lead through a symlink ask [`Profile::decide`] (PRO-36).
    ///
    /// # Errors
    /// An unknown kind, or a scope that is not of these forms (PRO-33).
    pub fn access_for(&self, kind: &str, scope: impl AsRef<OsStr>) -> Result<Access, QueryError> {
        let scope = scope.as_ref();
        let axis = match kind {
            "command.execute" => return unscoped(kind, scope, self.command()),
            "network" => return unscoped(kind, scope, self.network()),
            "filesystem.read" => Axis::Read,
            "filesystem.execute" => Axis::Execute,
            "filesystem.write" => Axis::Write,
            _ => return Err(QueryError::UnknownKind { kind: kind.into() }),
        };
        Ok(match Scope::parse(scope)? {
            Scope::Host => self.host_access().get(axis),
            Scope::Path(path) => self.judge(path, axis).0,
            // A guard may close what the root opens.
            Scope::Tree(path) => self
                .declared(&path, axis)
                .unwrap_or_default()
                .min(self.judge(&path, axis).0),
            Scope::Subtree(path) => self.tree().least_within(&path, axis),
        })
    }

    /// Decides about a path as the host sees it now: resolves it, then judges the canonical path (PRO-36).
    ///
    /// Promises nothing about later: act on the returned canonical path, and on the identity where it matters.
    ///
    /// # Errors
    /// The path could not be resolved.
    pub fn decide(
        &self,
        resolver: &dyn Resolve,
        path: &Path,
        axis: Axis,
    ) -> Result<ResolvedDecision, ResolveError> {
        let resolved = canonical(resolver, path)?;
        let (access, rule) = self.judge(&resolved.path, axis);
        let rule = rule.map(Cow::into_owned);
        Ok(ResolvedDecision {
            access,
            rule,
            resolved,
        })
    }

    /// The access of the root or workspace at exactly this path.
    fn declared(&self, path: &Path, axis: Axis) -> Option<Access> {
        if self.workspace().path == path {
            return Some(self.workspace_access().get(axis));
        }
        self.roots()
            .iter()
            .find(|root| root.at.path == path)
            .map(|root| root.access.get(axis))
    }
}

/// A decision about a path that was resolved for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResolvedDecision {
    /// The canonical path that was judged, and what was there.
    pub resolved: Resolved,
    /// What may be done.
    pub access: Access,
    /// The rule that decided; none means that no rule spoke and the answer is deny.
    pub rule: Option<Rule>,
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Nobody knows this kind of question.
    #[error("unknown kind {kind:?}")]
    UnknownKind {
        /// The kind as given.
        kind: String,
    },
    /// The kind takes no scope.
    #[error("{kind} takes no scope, got {scope:?}")]
    UnexpectedScope {
        /// The kind as given.
        kind: String,
        /// The scope as given.
        scope: OsString,
    },
    /// The scope has none of the documented forms.
    #[error("malformed scope {scope:?}")]
    MalformedScope {
        /// The scope as given.
        scope: OsString,
    },
}

impl QueryError {
    /// Stable identifier of the variant.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownKind { .. } => "unknown_kind",
            Self::UnexpectedScope { .. } => "unexpected_scope",
            Self::MalformedScope { .. } => "malformed_scope",
        }
    }

    /// What the reader can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::UnknownKind { .. } => "ask for command.execute, network or filesystem.{read,execute,write}",
            Self::UnexpectedScope { .. } => "leave the scope empty",
            Self::MalformedScope { .. } => {
                "give host:*, a clean absolute path, or such a path after tree: or subtree:"
            }
        }
    }
}

/// What a file question is about.
enum Scope<'a> {
    Host,
    Path(&'a Path),
    Tree(PathBuf),
    Subtree(PathBuf),
}

impl<'a> Scope<'a> {
    fn parse(scope: &'a OsStr) -> Result<Self, QueryError> {
        if scope == "host:*" {
            return Ok(Self::Host);
        }
        if is_clean(Path::new(scope)) {
            return Ok(Self::Path(Path::new(scope)));
        }
        let tree = || after(scope, "tree:").map(Self::Tree);
        let subtree = || after(scope, "subtree:").map(Self::Subtree);
        tree()
            .or_else(subtree)
            .ok_or_else(|| QueryError::MalformedScope { scope: scope.into() })
    }
}

/// The clean absolute path that follows `prefix`.
fn after(scope: &OsStr, prefix: &str) -> Option<PathBuf> {
    // Read as a path, the prefix is the name of the first component; what follows can be taken apart without
    // a detour over text. The bytes must then be the same again, or the path was not clean.
    let path = absolute(Path::new(scope).iter().skip(1));
    let same = [prefix.as_bytes(), path.as_os_str().as_encoded_bytes()].concat() == scope.as_encoded_bytes();
    (same && is_clean(&path)).then_some(path)
}

fn unscoped(kind: &str, scope: &OsStr, access: Access) -> Result<Access, QueryError> {
    if scope.is_empty() {
        return Ok(access);
    }
    Err(QueryError::UnexpectedScope {
        kind: kind.into(),
        scope: scope.into(),
    })
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
