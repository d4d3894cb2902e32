//! The region tree: the one place where precedence is decided.

use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::access::{Access, Axis, Verdict};
use crate::path::{Identity, Kind, bytes, clean, is_absolute, is_clean, lineage};
use crate::rule::{Reach, Rule};

/// An immutable set of rules that answers for every absolute path.
///
/// Each axis is decided on its own among the rules that mention it (POL-17..20, POL-25):
///
/// 1. the deepest path wins;
/// 2. at one path, [`Reach::Exact`] wins over [`Reach::Tree`] for the object itself and says nothing about
///    its descendants;
/// 3. on a true tie the stricter access wins;
/// 4. without any rule the answer is [`Access::Deny`].
///
/// Building costs O(n log n), an answer O(depth · log n); the order in which rules are given never matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionTree {
    /// Sorted by path bytes, so that parents come before children.
    rules: Vec<Rule>,
    /// One per path, in the same order, with inheritance already worked out.
    nodes: Vec<Node>,
}

impl RegionTree {
    /// Builds a tree from rules in any order.
    ///
    /// # Errors
    /// A rule whose path is relative or not lexically clean.
    pub fn new(rules: Vec<Rule>) -> Result<Self, TreeError> {
        match rules.iter().find(|rule| !is_clean(&rule.path)) {
            None => Ok(Self::from_clean(rules)),
            Some(rule) if is_absolute(&rule.path) => Err(TreeError::Unclean {
                path: rule.path.clone(),
            }),
            Some(rule) => Err(TreeError::Relative {
                path: rule.path.clone(),
            }),
        }
    }

    /// The same tree with more rules.
    ///
    /// # Errors
    /// As [`RegionTree::new`].
    pub fn with(&self, more: impl IntoIterator<Item = Rule>) -> Result<Self, TreeError> {
        Self::new(self.rules.iter().cloned().chain(more).collect())
    }

    /// Decides one axis of one path.
    ///
    /// The path is cleaned lexically first (POL-16) and must be free of symlinks: this is a pure look-up. A
    /// relative path is denied by no rule.
    pub fn decide(&self, path: &Path, axis: Axis) -> Decision<'_> {
        match clean(path) {
            Some(path) => self.decision(self.object(bytes(&path)), axis),
            None => Decision {
                access: Access::Deny,
                rule: None,
            },
        }
    }

    /// The accesses of one path on all axes.
    pub fn verdict(&self, path: &Path) -> Verdict {
        Verdict::from_fn(|axis| self.decide(path, axis).access)
    }

    /// The strictest access anywhere at or beneath a path (PRO-37); deny for a relative path.
    pub fn least_within(&self, path: &Path, axis: Axis) -> Access {
        let Some(path) = clean(path) else {
            return Access::Deny;
        };
        let path = bytes(&path);
        let beneath = if path == b"/" {
            path.to_vec()
        } else {
            [path, b"/"].concat()
        };
        let first = self
            .nodes
            .partition_point(|node| self.key(node) < beneath.as_slice());
        let nodes = self.nodes[first..]
            .iter()
            .take_while(|node| self.key(node).starts_with(&beneath));
        nodes
            .flat_map(|node| [node.object, node.subtree])
            .chain([self.object(path), self.subtree(path)])
            .map(|winners| self.decision(winners, axis).access)
            .min()
            .unwrap_or_default()
    }

    /// Every rule, sorted by path bytes; parents come before children.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Every path a rule speaks about, in the order of [`RegionTree::rules`].
    pub fn regions(&self) -> impl Iterator<Item = Region<'_>> {
        self.nodes.iter().map(|node| self.region(node))
    }

    /// Every path beneath this one that a rule speaks about, itself left out.
    pub fn beneath(&self, path: &Path) -> impl Iterator<Item = Region<'_>> {
        let top = match bytes(path) {
            b"/" => b"/".to_vec(),
            path => [path, b"/"].concat(),
        };
        let first = self.nodes.partition_point(|node| self.key(node) < top.as_slice());
        // The root itself is not beneath itself.
        let nodes = self.nodes[first..].iter().filter(|node| self.key(node) != b"/");
        nodes
            .take_while(move |node| self.key(node).starts_with(&top))
            .map(|node| self.region(node))
    }

    /// What would hold at a clean path without the rules at the path itself.
    pub(crate) fn surroundings(&self, path: &Path) -> Verdict {
        let winners = self.inherited(bytes(path));
        Verdict::from_fn(|axis| self.decision(winners, axis).access)
    }

    /// Builds from rules whose paths are known to be absolute and clean.
    pub(crate) fn from_clean(mut rules: Vec<Rule>) -> Self {
        rules.sort_by(|a, b| a.order().cmp(&b.order()));
        let mut end = 0;
        let groups: Vec<_> = rules
            .chunk_by(|a, b| bytes(&a.path) == bytes(&b.path))
            .map(|group| {
                end += group.len();
                end - group.len()..end
            })
            .collect();
        let mut tree = Self {
            rules,
            nodes: Vec::with_capacity(groups.len()),
        };
        for group in groups {
            // Parents sort first, so the node this one inherits from is already there.
            tree.nodes.push(tree.node(group));
        }
        tree
    }

    fn node(&self, rules: Range<usize>) -> Node {
        let strictest = |reach, axis| {
            rules
                .clone()
                .filter(|index| self.rules[*index].reach == reach)
                .filter_map(|index| Some((self.rules[index].axes.get(axis)?, index)))
                .min()
                .map(|(_, index)| index)
        };
        let inherited = self.inherited(bytes(&self.rules[rules.start].path));
        let subtree = Winners::from_fn(|axis| strictest(Reach::Tree, axis).or(inherited.get(axis)));
        let object = Winners::from_fn(|axis| strictest(Reach::Exact, axis).or(subtree.get(axis)));
        Node {
            rules,
            object,
            subtree,
        }
    }

    /// What decides about the object at a clean path.
    fn object(&self, path: &[u8]) -> Winners {
        self.find(path)
            .map_or_else(|| self.inherited(path), |node| node.object)
    }

    /// What decides about undeclared descendants of a clean path.
    fn subtree(&self, path: &[u8]) -> Winners {
        self.find(path)
            .map_or_else(|| self.inherited(path), |node| node.subtree)
    }

    /// What decides about a clean path for want of a rule at the path itself.
    fn inherited(&self, path: &[u8]) -> Winners {
        let enclosing = lineage(path).skip(1).find_map(|ancestor| self.find(ancestor));
        enclosing.map(|node| node.subtree).unwrap_or_default()
    }

    fn find(&self, path: &[u8]) -> Option<&Node> {
        let index = self
            .nodes
            .binary_search_by(|node| self.key(node).cmp(path))
            .ok()?;
        self.nodes.get(index)
    }

    fn key(&self, node: &Node) -> &[u8] {
        bytes(&self.rules[node.rules.start].path)
    }

    fn decision(&self, winners: Winners, axis: Axis) -> Decision<'_> {
        let rule = winners.get(axis).map(|index| &self.rules[index]);
        Decision {
            access: rule.and_then(|rule| rule.axes.get(axis)).unwrap_or_default(),
            rule,
        }
    }

    fn region<'a>(&'a self, node: &Node) -> Region<'a> {
        let rules = &self.rules[node.rules.clone()];
        let seen = rules
            .iter()
            .find(|rule| rule.identity.is_some())
            .unwrap_or(&rules[0]);
        Region {
            path: &seen.path,
            object: Verdict::from_fn(|axis| self.decision(node.object, axis).access),
            subtree: Verdict::from_fn(|axis| self.decision(node.subtree, axis).access),
            kind: seen.kind,
            identity: seen.identity,
            rules,
        }
    }
}

/// The answer for one axis of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// What may be done.
    pub access: Access,
    /// The rule that decided; none means that no rule spoke and the answer is deny.
    pub rule: Option<&'a Rule>,
}

/// One path that rules speak about, with everything worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region<'a> {
    /// The canonical path.
    pub path: &'a Path,
    /// The accesses of the object at the path.
    pub object: Verdict,
    /// The accesses of descendants that are not in a region of their own.
    pub subtree: Verdict,
    /// What was found at the path, according to the first rule that carries an identity, else the first rule.
    pub kind: Kind,
    /// Which object was found at the path, according to the same rule.
    pub identity: Option<Identity>,
    /// The rules at exactly this path.
    pub rules: &'a [Rule],
}

/// Why rules do not make a tree.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The path does not start at the root.
    #[error("the rule path {path:?} is not absolute")]
    Relative {
        /// The refused path.
        path: PathBuf,
    },
    /// The path has an empty, `.` or `..` component or a trailing separator.
    #[error("the rule path {path:?} is not lexically clean")]
    Unclean {
        /// The refused path.
        path: PathBuf,
    },
}

impl TreeError {
    /// Stable identifier of the variant.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Relative { .. } => "rule_relative",
            Self::Unclean { .. } => "rule_unclean",
        }
    }

    /// What the reader can do about it.
    pub const fn hint(&self) -> &'static str {
        "resolve the path on the host before making a rule of it"
    }
}

/// The rules at one path and, per axis, the index of the rule that decides there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    rules: Range<usize>,
    object: Winners,
    subtree: Winners,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Winners([Option<usize>; 3]);

impl Winners {
    fn from_fn(winner: impl FnMut(Axis) -> Option<usize>) -> Self {
        Self(Axis::ALL.map(winner))
    }

    fn get(self, axis: Axis) -> Option<usize> {
        self.0[axis as usize]
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
