//! The keys and words of a profile file.

use ringfence_policy::{Access, Home, NestedNamespaces, NewRepositories, Presence, RootKind, Verdict};

/// The keys at the top of the file.
pub(super) const TOP: &[&str] = &[
    "workspace",
    "workspace_access",
    "host_access",
    "network",
    "command",
    "home",
    "roots",
    "protect",
    "secret",
    "presets",
    "without_presets",
    "unguarded",
    "new_repositories",
    "nested_namespaces",
    "devices",
    "environment",
    "limits",
    "require",
    "bundles",
    "cache",
];

pub(super) const VERDICT: &[&str] = &["read", "execute", "write"];
pub(super) const HOME: &[&str] = &["name"];
pub(super) const ROOT: &[&str] = &["path", "access", "kind"];
pub(super) const PATTERN: &[&str] = &["glob", "in", "except"];
pub(super) const DEVICE: &[&str] = &["path", "presence"];
pub(super) const ENVIRONMENT: &[&str] = &["inherit", "set", "unset"];
pub(super) const LIMITS: &[&str] = &[
    "memory",
    "processes",
    "cpu_time",
    "wall_time",
    "open_files",
    "file_size",
    "private_size",
    "output",
];

pub(super) const ACCESSES: [(&str, Access); 3] = [
    ("deny", Access::Deny),
    ("gated", Access::Gated),
    ("allow", Access::Allow),
];
pub(super) const VERDICTS: [(&str, Verdict); 3] = [
    ("deny", Verdict::DENY),
    ("read-only", Verdict::READ_ONLY),
    ("read-write", Verdict::READ_WRITE),
];
pub(super) const HOMES: [(&str, Home); 2] = [("isolated", Home::Isolated), ("real", Home::Real)];
pub(super) const ROOT_KINDS: [(&str, RootKind); 3] = [
    ("directory", RootKind::Directory),
    ("file", RootKind::File),
    ("absent", RootKind::Absent),
];
pub(super) const PRESENCES: [(&str, Presence); 2] =
    [("required", Presence::Required), ("optional", Presence::Optional)];
pub(super) const NEW_REPOSITORIES: [(&str, NewRepositories); 2] = [
    ("report", NewRepositories::Report),
    ("refuse", NewRepositories::Refuse),
];
pub(super) const NESTED_NAMESPACES: [(&str, NestedNamespaces); 2] = [
    ("refuse", NestedNamespaces::Refuse),
    ("allow", NestedNamespaces::Allow),
];
