//! Which options open what is closed, and close what is open.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use ringfence::{Access, Axis, Kind, RegionTree, Resolved, Rule, Source, Verdict};

use crate::args;
use crate::failure::Failure;
use crate::plan::{self, Plan};
use crate::text;

/// One axis of a path that is asked about. What an option would change is found by changing the regions.
#[derive(Debug)]
pub(super) struct Remedies<'a> {
    pub(super) plan: &'a Plan,
    pub(super) tree: &'a RegionTree,
    /// As it was written.
    pub(super) written: &'a Path,
    pub(super) at: &'a Resolved,
    pub(super) axis: Axis,
    /// Whether `--read-only` is given.
    pub(super) read_only: bool,
}

impl Remedies<'_> {
    /// What opens it although this rule closes it; nothing if no option can.
    pub(super) fn opening(&self, rule: Option<&Rule>) -> Result<Option<String>, Failure> {
        let source = rule.map(|rule| &rule.source);
        let file = self.plan.file().map(|file| text::shell_word(file.as_os_str()));
        if let Some(Source::Guard(index)) = source {
            let option = self
                .plan
                .guard_option(*index)
                .map(|option| format!("leave out {option}"));
            let option = option.or_else(|| Some(format!("take it out of {}", file?)));
            return self.without(*index, option);
        }
        if source == Some(&Source::Workspace) {
            if self.read_only && self.axis == Axis::Write {
                return Ok(Some("leave out --read-only".to_owned()));
            }
            if self.is_workspace() {
                return Ok(file.map(|file| format!("change `workspace_access` in {file}")));
            }
        }
        if self.at.path.starts_with("/dev") && self.at.kind == Kind::File {
            let device = text::shell_word(self.at.path.as_os_str());
            return Ok((self.axis != Axis::Execute).then(|| format!("--device {device}")));
        }
        if source == Some(&Source::System) {
            return Ok(None);
        }
        let guarded = rule.filter(|rule| matches!(rule.source, Source::Preset { .. }));
        if let Some(guarded) = guarded {
            let unprotect = format!("--unprotect {}", self.shown(&guarded.path)?);
            if self.is_open_with(Some(&guarded.path), Root::AsItIs) {
                return Ok(Some(unprotect));
            }
            if self.is_open_with(Some(&guarded.path), Root::Added) {
                return Ok(Some(format!("{unprotect} {}", self.root())));
            }
        }
        if let Some(rule) = rule.filter(|rule| self.is_root(rule)) {
            let there = self.plan.root_option(&rule.path);
            let instead = there.map(|option| format!(" instead of {option}"));
            return Ok(Some(format!("{}{}", self.root(), instead.unwrap_or_default())));
        }
        Ok(self.is_open_with(None, Root::Added).then(|| self.root()))
    }

    /// The option that gives commands a cache of their own, so that they need not write that of the host's tools.
    pub(super) fn instead(&self) -> Option<String> {
        let cache = self.plan.unkept_cache(&self.at.path)?;
        (self.axis == Axis::Write).then(|| format!("--cache {cache}"))
    }

    /// What opens it once the guard with this index is left out by an option: that may not be the only one.
    fn without(&self, guard: usize, option: Option<String>) -> Result<Option<String>, Failure> {
        let others = self
            .tree
            .rules()
            .iter()
            .filter(|rule| rule.source != Source::Guard(guard));
        let (Some(option), Ok(tree)) = (option, RegionTree::new(others.cloned().collect())) else {
            return Ok(None);
        };
        let left = tree.decide(&self.at.path, self.axis);
        if left.access == Access::Allow {
            return Ok(Some(option));
        }
        let rest = Remedies { tree: &tree, ..*self }.opening(left.rule)?;
        Ok(rest.map(|rest| format!("{option} and {rest}")))
    }

    /// What closes it although this rule opens it; nothing for what every command has.
    pub(super) fn closing(&self, rule: Option<&Rule>) -> Option<String> {
        if let Some(option) = self.plan.device_option(&self.at.path) {
            return Some(format!("leave out {option}"));
        }
        let is_own = rule.is_some_and(|rule| {
            matches!(
                rule.source,
                Source::Home
                    | Source::Temporary
                    | Source::Cache
                    | Source::Private
                    | Source::Device
                    | Source::System
            )
        });
        if is_own {
            return None;
        }
        match self.axis {
            Axis::Write if self.is_workspace() => Some("--read-only".to_owned()),
            Axis::Write => Some(format!("--protect {}", self.word())),
            Axis::Read | Axis::Execute if self.is_workspace() => None,
            Axis::Read | Axis::Execute => Some(format!("--secret {}", self.word())),
        }
    }

    /// The option that opens the path itself.
    fn root(&self) -> String {
        let option = match self.axis {
            Axis::Write => "--rw",
            Axis::Read | Axis::Execute => "--ro",
        };
        let there = if self.at.kind == Kind::Absent {
            ", once it is there"
        } else {
            ""
        };
        format!("{option} {}{there}", self.word())
    }

    fn is_workspace(&self) -> bool {
        self.at.path == self.plan.profile.workspace().path
    }

    /// Whether a rule is an additional root at the path itself.
    fn is_root(&self, rule: &Rule) -> bool {
        matches!(rule.source, Source::Root(_)) && rule.path == self.at.path
    }

    /// Whether it would be open without the presets' rules at and beneath a path, and with or without a root of its
    /// own.
    fn is_open_with(&self, unguarded: Option<&Path>, root: Root) -> bool {
        let is_left = |rule: &&Rule| {
            let is_preset = matches!(rule.source, Source::Preset { .. });
            !(is_preset && unguarded.is_some_and(|path| rule.path.starts_with(path)))
        };
        let mut rules: Vec<_> = self.tree.rules().iter().filter(is_left).cloned().collect();
        if root == Root::Added {
            let access = match self.axis {
                Axis::Write => Verdict::READ_WRITE,
                Axis::Read | Axis::Execute => Verdict::READ_ONLY,
            };
            rules.push(Rule::tree(&self.at.path, access, Source::Root(usize::MAX)));
        }
        RegionTree::new(rules).is_ok_and(|tree| tree.decide(&self.at.path, self.axis).access == Access::Allow)
    }

    /// The path as it was written, for an option that takes it literally.
    fn word(&self) -> String {
        literal(self.written.as_os_str())
    }

    /// Another path, from the current directory if it is beneath that.
    fn shown(&self, path: &Path) -> Result<String, Failure> {
        if path == self.at.path {
            return Ok(self.word());
        }
        let current = plan::current_directory()?;
        let current = std::fs::canonicalize(&current).unwrap_or(current);
        let below = path.strip_prefix(&current).unwrap_or(path);
        Ok(literal(below.as_os_str()))
    }
}

/// Whether a root is imagined at the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    AsItIs,
    Added,
}

fn literal(path: &OsStr) -> String {
    text::shell_word(&args::literal(OsString::from(path)))
}
